"""The explorer in a real browser: open it, plan, forbid a colour, walk, replay, compare."""

from dataclasses import replace

import pytest
from selenium.webdriver.common.keys import Keys
from served_runs import ROOM, found_map, write_run
from serving import serving

from cogmap.maps.store import save_map
from cogmap.planning.shortest_paths import solve

MAP = found_map()


def follow(steps, position):
    """Where a plan's steps lead in the room, what is seen there checked on the way."""
    for action, seen in steps:
        position = int(ROOM.next_position[position, ROOM.action_labels.index(action)])
        assert seen == ROOM.observation_labels[ROOM.observation[position]]
    return position


def test_it_opens_without_an_error_and_asks_nobody_else(page, address):
    assert page.text("h1") == "run: TDB(S=3, M=1)"
    assert page.text("#summary").startswith("48 nodes for 48 places")
    assert page.text("#message") == "Choose a start."
    assert page.find("#room-pane").is_displayed()
    page.picture("opened")
    assert page.said() == []
    assert page.hosts() == {address.removeprefix("http://").rstrip("/")}


def test_two_clicks_make_a_plan_on_the_map_and_in_the_room(page):
    page.click_node(0)
    assert (
        page.text("#message")
        == f"From node 0: {ROOM.observation_labels[ROOM.observation[0]]}. Choose a goal."
    )
    page.click_node(47)
    assert page.text("#message") == f"{len(solve(MAP, 0, 47))} actions. In the true world they lead there."
    assert follow(page.steps(), 0) == 47
    drawn = page.run("return document.getElementById('map').mapView.marks.path")
    assert (drawn[0], drawn[-1], len(drawn)) == (0, 47, len(page.steps()) + 1)
    page.picture("plan")


def test_a_forbidden_colour_is_planned_around_and_can_be_allowed_again(page):
    page.click_node(0)
    page.click_node(47)
    direct = len(page.steps())
    page.click("#avoid button:nth-child(2)")
    assert page.find("#avoid button:nth-child(2)").get_attribute("aria-pressed") == "true"
    around = page.steps()
    assert len(around) == len(solve(MAP, 0, 47, avoid=[1]))
    assert follow(around, 0) == 47
    assert "green" not in [seen for _, seen in around[:-1]]
    page.picture("forbidden")
    page.click("#avoid button:nth-child(2)")
    assert len(page.steps()) == direct


def test_a_click_into_the_room_chooses_the_node_of_that_place(page):
    for position in (3, 44):
        x, y = page.run(
            "const host = document.getElementById('room'); const box = host.getBoundingClientRect();"
            "const view = host.roomView; const place = view.stage.camera.toStage(...view.room.points[arguments[0]]);"
            "return [box.left + place[0], box.top + place[1]];",
            position,
        )
        for kind in ("mousePressed", "mouseReleased"):
            page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert [page.find(end).get_attribute("value") for end in ("#start", "#goal")] == ["3", "44"]
    assert follow(page.steps(), 3) == 44


def test_keys_alone_are_enough(page):
    page.run("document.querySelector('#map .above').focus()")
    page.press(Keys.ARROW_RIGHT, Keys.ENTER, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    start, goal = (int(page.find(end).get_attribute("value")) for end in ("#start", "#goal"))
    assert start != goal
    assert len(page.steps()) == len(solve(MAP, start, goal)) == 3
    page.press(Keys.ESCAPE)
    assert page.text("#message") == "Choose a start."
    before = page.run("return document.getElementById('map').mapView.stage.camera.scale")
    page.press("+")
    assert page.run("return document.getElementById('map').mapView.stage.camera.scale") > before


def test_numbers_are_taken_and_wrong_ones_refused(page):
    page.find("#start").send_keys("5")
    page.find("#goal").send_keys("99")
    assert page.text("#message") == "Nodes go from 0 to 47."


def test_a_reload_shows_the_same_plan(page):
    page.click_node(2)
    page.click_node(40)
    page.click("#avoid button:nth-child(1)")
    before = page.steps()
    page.driver.refresh()
    page.wait_for_map(48)
    page.wait(lambda: page.steps() == before, "the earlier plan")
    assert page.find("#avoid button:nth-child(1)").get_attribute("aria-pressed") == "true"


def test_walking_as_the_agent_narrows_the_belief_down(page):
    page.click("#tab-walk")
    page.click("#walk-begin")
    page.wait(lambda: page.text("#walk-seen"), "an observation")
    first = page.text("#walk-message")
    assert first.startswith("Not localised: about ")
    keys = {"up": Keys.ARROW_UP, "down": Keys.ARROW_DOWN, "left": Keys.ARROW_LEFT, "right": Keys.ARROW_RIGHT}
    for step in range(1, 40):  # to a corner, and along a wall from there: no two places agree for long
        action = ("right", "down")[step % 2] if step < 20 else "left"
        if step % 3:
            page.press(keys[action])
        else:
            page.click(f"#pad .{action}")
        page.wait(lambda step=step: len(page.all("#walk-steps li")) == step + 1, f"step {step}")
        if step == 2:
            page.picture("walk")
        localised = page.text("#walk-message").startswith("Localised: node ")
        if localised and page.text("#walk-steps li:first-child .spread") == "1 node":
            break  # nine parts in ten on one node, and the rest on few: it depends on where the walk began
    assert page.text("#walk-message").startswith("Localised: node ")
    assert page.text("#walk-steps li:first-child .spread") == "1 node"
    believed = page.run("return document.getElementById('map').mapView.marks.agent")
    really = page.run("return document.getElementById('room').roomView.marks.agent")
    assert believed == really
    page.click("#walk-plan")
    assert page.find("#start").get_attribute("value") == str(believed)
    assert page.said() == []


def test_a_walk_is_replayed_by_slider_button_and_key(page):
    page.click("#tab-replay")
    page.wait(lambda: page.text("#replay-at") == "Step 0, at the start", "the walk")
    page.find("#replay-step").send_keys(Keys.ARROW_RIGHT * 3)
    assert page.text("#replay-at").startswith("Step 3, after ")
    page.click("#replay-next")
    page.picture("replay")
    page.run(
        "const slider = arguments[0]; slider.value = 119; slider.dispatchEvent(new Event('input'));",
        page.find("#replay-step"),
    )
    assert page.text("#replay-message").startswith("Estimated node: ")
    page.click("#replay-back")
    page.click("#replay-play")
    page.wait(lambda: page.text("#replay-at").startswith("Step 119"), "the end of the walk")
    page.wait(lambda: page.text("#replay-play") == "Play", "it to stop")
    assert page.said() == []


def test_a_walk_that_is_not_in_the_file_is_refused_in_words(page):
    page.click("#tab-replay")
    page.wait(lambda: page.text("#replay-at"), "the walk")
    page.run(
        "const box = arguments[0]; box.value = 77; box.dispatchEvent(new Event('change'));",
        page.find("#replay-walk"),
    )
    page.wait(lambda: "77" in page.text("#replay-error"), "the server's own words")


def test_the_papers_map_beside_the_minimal_one(page):
    page.click("#besides input[value=paper]")
    page.wait(lambda: "merged" in page.text("#other-caption"), "the other map")
    page.click_node(0)
    page.click_node(47)
    assert page.text("#compared").startswith("The paper's map, between the same places: ")
    page.picture("compare")
    page.click("#kinds input[value=paper]")
    page.wait(lambda: page.text("#map-caption").startswith("The paper's map"), "the paper's map")
    page.click("#show-merged")
    page.click("#show-weak")
    look = page.run(
        "const {look} = document.getElementById('map').mapView;"
        "return [look.merged.length, look.weak.size, look.markWeak]"
    )
    assert look[0] > 0
    assert look[1] > 0
    assert look[2]
    page.picture("paper_map")
    assert page.said() == []


def test_the_other_placement_needs_no_truth(browser, tmp_path):
    run, walks = write_run(tmp_path)
    save_map(run / "map.npz", replace(found_map(), action_labels=tuple("abcd")))  # which say no directions
    points = "return [...document.getElementById('map').mapView.points]"
    with serving(run, walks) as server:
        browser.open(server.address)
        browser.wait_for_map(48)
        before = browser.run(points)
        browser.click("#placements input[value=layout]")
        browser.wait(lambda: browser.run(points) != before, "nodes elsewhere")
        browser.picture("own_layout")


def test_scores_and_curves_of_the_run(page):
    page.click("#tab-run")
    page.wait(lambda: page.all("#curves .chart"), "curves")
    heads = [cell.text for cell in page.all("#scores thead th")]
    assert (heads[0], heads[-1]) == ("here", "ceiling")
    first = [cell.text for cell in page.all("#scores tbody tr:first-child > *")]
    assert first[:2] == ["TestAccu (%) ↑", "98.00"]
    assert [chart.get_attribute("aria-label") for chart in page.all("#curves .chart > svg")] == [
        "Accuracy: validation 90%, late steps 95.0%",
        "Loss: loss 1.0",
        "Dictionary of 100 codes: in use 80",
    ]
    page.picture("run")


@pytest.mark.parametrize("key", [Keys.ARROW_RIGHT, Keys.END])
def test_tabs_follow_the_arrows(page, key):
    page.find("#tab-plan").send_keys(key)
    name = {Keys.ARROW_RIGHT: "walk", Keys.END: "run"}[key]
    assert page.find(f"#panel-{name}").is_displayed()
    assert page.run("return document.activeElement.id") == f"tab-{name}"
