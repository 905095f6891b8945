"""The explorer on narrow screens, by touch, in the dark, and for those who cannot see it."""

from dataclasses import replace

import pytest
from edgeless_maps import edgeless_map
from served_runs import found_map, write_run
from serving import serving

from cogmap.maps.store import save_map
from cogmap.planning.shortest_paths import solve

NARROW = {"width": 390, "height": 844, "touch": True}
SIZES = ({"width": 1360, "height": 860}, {"width": 400, "height": 800, "touch": True})
ON_SCREEN = (
    "return arguments[0].every((id) => { const box = document.getElementById(id).getBoundingClientRect();"
    "return box.top >= 0 && box.bottom <= innerHeight + 1 && box.height > 0 && box.right <= innerWidth; })"
)


def ground(page):
    return page.run("return getComputedStyle(document.body).backgroundColor")


def lightness(colour):
    numbers = [int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    return sum(numbers) / 3 / 255


@pytest.fixture
def narrow(browser, address):
    browser.open(address, **NARROW)
    browser.wait_for_map(48)
    yield browser
    browser.open("about:blank")


def test_a_narrow_screen_holds_everything_and_fingers_plan(narrow):
    assert narrow.run("return document.documentElement.scrollWidth") <= 390
    narrow.tap_node(0)
    narrow.tap_node(47)
    narrow.wait(narrow.steps, "a plan")
    assert len(narrow.steps()) == len(solve(found_map(), 0, 47))
    narrow.picture("narrow")
    for name in ("walk", "replay", "run"):
        narrow.click(f"#tab-{name}")
        assert narrow.run("return document.documentElement.scrollWidth") <= 390
    narrow.picture("narrow_run")
    assert narrow.said() == []


def test_one_finger_pans_and_two_zoom(narrow):
    camera = (
        "const {x, y, scale} = document.getElementById('map').mapView.stage.camera; return [x, y, scale];"
    )
    x, y = narrow.place_of(20)

    def touch(kind, *points):
        places = [{"x": at[0], "y": at[1]} for at in points]
        narrow.command("Input.dispatchTouchEvent", type=kind, touchPoints=places)

    before = narrow.run(camera)
    touch("touchStart", (x, y))
    touch("touchMove", (x + 30, y))
    touch("touchMove", (x + 60, y))
    touch("touchEnd")
    panned = narrow.run(camera)
    assert panned[0] < before[0]
    assert panned[1:] == before[1:]
    for device in ("touch", "mouse"):  # two fingers on the screen, then on a trackpad
        before = narrow.run(camera)
        narrow.command("Input.synthesizePinchGesture", x=x, y=y, scaleFactor=2, gestureSourceType=device)
        narrow.wait(lambda before=before: narrow.run(camera)[2] > 1.6 * before[2], f"a zoom by {device}")
    assert narrow.steps() == []  # none of this was a tap


def test_dark_follows_the_system_and_the_button_overrules_it_for_good(browser, address):
    browser.open(address, dark=True)
    browser.wait_for_map(48)
    assert lightness(ground(browser)) < 0.2
    browser.click_node(0)
    browser.click_node(47)
    browser.picture("dark")
    browser.click("#theme")
    assert lightness(ground(browser)) > 0.8
    browser.driver.refresh()
    browser.wait_for_map(48)
    assert lightness(ground(browser)) > 0.8
    assert browser.find("#theme").get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_any_panel(browser, address, dark):
    browser.open(address, dark=dark)
    browser.wait_for_map(48)
    browser.click_node(0)
    browser.click_node(47)
    browser.click("#avoid button:nth-child(2)")
    assert browser.violations() == []
    browser.click("#tab-walk")
    browser.click("#walk-begin")
    browser.wait(lambda: browser.text("#walk-seen"), "an observation")
    assert browser.violations() == []
    browser.click("#tab-replay")
    browser.wait(lambda: browser.text("#replay-at"), "a walk")
    assert browser.violations() == []
    browser.click("#tab-run")
    browser.wait(lambda: browser.all("#curves .chart"), "curves")
    assert browser.violations() == []


def test_axe_finds_nothing_on_a_narrow_screen(narrow):
    assert narrow.violations() == []


def test_focus_is_seen_on_everything_that_can_have_it(page):
    unseen = page.run(
        "const lost = [];"
        "for (const one of document.querySelectorAll('button, input, [tabindex=\"0\"]')) {"
        "  if (one.closest('[hidden]') || one.disabled || !one.offsetParent) continue;"
        "  one.focus({focusVisible: true});"
        "  const near = [one, one.nextElementSibling].filter((it) => it !== null);"
        "  const shown = near.some((it) => getComputedStyle(it).outlineStyle !== 'none');"
        "  if (document.activeElement !== one || !shown) lost.push(one.id || one.outerHTML.slice(0, 80));"
        "} return lost;"
    )
    assert unseen == []


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_map_and_panel_are_on_the_screen_together(browser, address, size):
    browser.open(address, **size)
    browser.wait_for_map(48)
    browser.click_node(0)
    browser.click_node(47)
    browser.run("document.getElementById('message').scrollIntoView({block: 'end'})")
    assert browser.run(ON_SCREEN, ["map", "message"])
    browser.picture(f"together_plan_{size['width']}")
    browser.click("#tab-walk")
    browser.click("#walk-begin")
    browser.wait(lambda: browser.text("#walk-seen"), "an observation")
    browser.run("document.getElementById('walk-message').scrollIntoView({block: 'end'})")
    assert browser.run(ON_SCREEN, ["map", "pad", "walk-message"])
    assert browser.text("#brief") == ""  # the plan's message is no message of a walk
    browser.picture(f"together_walk_{size['width']}")
    browser.click("#tab-run")
    browser.wait(lambda: browser.all("#curves .chart"), "curves")
    inside = "const panel = document.querySelector('#panel-run').getBoundingClientRect();"
    wider = "[...document.querySelectorAll('#panel-run .chart, #panel-run .scroll')].filter((one) => "
    wider += (
        "one.getBoundingClientRect().right > panel.right || one.getBoundingClientRect().left < panel.left)"
    )
    assert browser.run(f"{inside} return {wider}.length") == 0
    assert "table:" not in browser.run("return document.getElementById('panel-run').textContent")
    browser.picture(f"together_run_{size['width']}")
    browser.open("about:blank")


@pytest.mark.parametrize(
    ("label", "radius", "lines"),
    [
        ("red", 20, ["red"]),
        ("insert coins", 30, ["insert", "coins"]),
        ("insert coins", 14, ["inser…"]),
        ("press the button", 16, ["press", "the b…"]),
        ("a", 3, None),
    ],
)
def test_labels_are_broken_between_words_and_cut_with_an_ellipsis(page, label, radius, lines):
    fitted = page.driver.execute_async_script(
        "const done = arguments[2]; import('/static/shared/labels.js')"
        ".then(({fitLabel}) => done(fitLabel(arguments[0], arguments[1])));",
        label,
        radius,
    )
    assert (fitted and fitted["lines"]) == lines


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_guesses_have_a_legend_and_the_card_names_them(browser, tmp_path, size):
    run, walks = write_run(tmp_path, truth=False)
    full = found_map()
    save_map(run / "map.npz", replace(full, edge_guessed=full.edge_source == 20))
    with serving(run, walks) as server:
        browser.open(server.address, **size)
        browser.wait_for_map(48)
        assert browser.text("#legend-guesses") == "a guess: tried too seldom, no plan uses it"
        assert browser.run("return document.documentElement.scrollWidth") <= size["width"]
        x, y = browser.place_of(20)
        browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        card = browser.wait(lambda: browser.text("#card"), "a card")
        assert card.count("1×, a guess)") == 4
        browser.picture(f"guesses_{size['width']}")
    browser.open("about:blank")


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_warnings_stand_above_the_map_and_an_empty_map_says_why(browser, tmp_path, size):
    run, walks = write_run(tmp_path, truth=False)
    told = "the walks do not repeat themselves, so the map is empty and there are no plans"
    full = found_map()
    empty = edgeless_map([], full.num_observations, full.num_actions, warnings=(told,))
    save_map(run / "map.npz", empty)
    with serving(run, walks) as server:
        browser.open(server.address, **size)
        browser.wait(lambda: browser.find("#warnings").is_displayed(), "the banner")
        assert browser.text("#warnings") == told
        browser.wait(lambda: browser.text("#empty-title") == "The map is empty", "the reason on the canvas")
        assert told in browser.text("#empty-words")
        assert browser.run("return document.documentElement.scrollWidth") <= size["width"]
        browser.picture(f"empty_{size['width']}")
    browser.open("about:blank")
