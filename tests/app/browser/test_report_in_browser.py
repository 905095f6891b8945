"""report.html in a real browser, from a file: click two nodes, forbid a colour, use the keys, zoom and pan."""

import re

import pytest
from report_material import ROOM, perfect
from selenium.webdriver.common.keys import Keys

from cogmap.evaluation.ged import true_map
from cogmap.planning.shortest_paths import solve
from cogmap.report.page import write_report

MAP = true_map(ROOM)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report"), perfect()).as_uri()


@pytest.fixture
def report(browser, written):
    browser.open(written)
    browser.wait_for_map(48)
    return browser


def camera(report):
    return report.run(
        "const {x, y, scale} = document.getElementById('map').mapView.stage.camera; return [x, y, scale];"
    )


def test_it_opens_with_its_example_asks_for_nothing_and_says_nothing(report):
    assert len(report.steps()) > 0
    report.picture("report")
    assert report.said() == []
    asked = report.asked_for()
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert len([address for address in asked if address.startswith("file:")]) == 1


def test_the_whole_label_of_a_node_is_its_tooltip(report):
    x, y = report.place_of(7)
    report.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    told = "return document.getElementById('map').title"
    assert report.wait(lambda: report.run(told), "a tooltip").startswith(f"node 7: {ROOM.observation[7]}, ")


def test_clicks_choose_a_start_and_a_goal_and_the_plan_appears(report):
    report.click_node(0)
    assert report.text("#message") == f"From node 0: {ROOM.observation[0]}. Choose a goal."
    report.click_node(47)
    assert report.text("#message") == f"{len(solve(MAP, 0, 47))} actions."
    position = 0
    for action, seen in report.steps():
        position = int(ROOM.next_position[position, ROOM.action_labels.index(action)])
        assert seen == str(ROOM.observation[position])
    assert position == 47


def test_a_forbidden_colour_is_planned_around(report):
    report.click_node(0)
    report.click_node(47)
    report.click("#avoid button:nth-child(2)")
    assert len(report.steps()) == len(solve(MAP, 0, 47, avoid=[1]))
    assert report.run("return [...document.getElementById('map').mapView.look.avoid]") == [1]


def test_keys_move_choose_clear_and_zoom(report):
    report.click("#clear")
    assert report.text("#message") == "Choose a start."
    report.run("document.querySelector('#map .above').focus()")
    report.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    cursor = re.fullmatch(r"node (\d+): \d", report.text("#message"))
    report.press(Keys.ENTER)
    assert report.find("#start").get_attribute("value") == cursor[1]
    before = camera(report)
    report.press("+")
    assert camera(report)[2] == pytest.approx(1.4 * before[2])
    report.press("0")
    assert camera(report) == pytest.approx(before)
    report.find("#goal").send_keys("99")
    assert report.text("#message") == "Nodes go from 0 to 47."


def test_a_drag_pans_and_a_wheel_zooms_once_the_map_has_the_focus(report):
    x, y = report.place_of(20)
    before, scrolled = camera(report), report.run("return scrollY")
    report.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    report.wait(lambda: report.run("return scrollY") == scrolled - 200, "the page to scroll instead")
    assert camera(report) == before
    x, y = report.place_of(20)
    for kind, at in (
        ("mousePressed", x),
        ("mouseMoved", x + 20),
        ("mouseMoved", x + 40),
        ("mouseReleased", x + 40),
    ):
        report.command("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", clickCount=1)
    panned = camera(report)
    assert panned[0] < before[0]
    assert panned[1:] == before[1:]
    report.run("document.querySelector('#map .above').focus()")
    report.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    report.wait(lambda: camera(report)[2] > 1.3 * before[2], "a zoom")


def test_the_other_placement(report):
    before = report.run("return [...document.getElementById('map').mapView.points]")
    report.all("[name=placement]")[1].click()
    after = "return [...document.getElementById('map').mapView.points]"
    report.wait(lambda: report.run(after) != before, "nodes elsewhere")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(browser, written, dark):
    browser.open(written, dark=dark)
    browser.wait_for_map(48)
    assert browser.violations() == []
    browser.picture("report_dark" if dark else "report_light")


def test_a_narrow_screen_holds_it(browser, written):
    browser.open(written, width=390, height=844, touch=True)
    browser.wait_for_map(48)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    browser.tap_node(0)
    browser.tap_node(9)
    browser.wait(lambda: browser.text("#message") == "2 actions.", "a plan")
