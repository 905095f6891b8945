"""The page in a real browser: click two nodes, forbid a colour, use the keys, zoom and pan."""

import html
import json
import re
import shutil
import subprocess

import pytest
from report_material import ROOM, perfect

from cogmap.evaluation.true_map import true_map
from cogmap.planning.solve import solve
from cogmap.report.page import write_report

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

# Done by a script that is added to the page, whose policy is taken out for that.
CLICKS = """
const seen = {};
addEventListener("error", (event) => { seen.error = event.message; });
const node = (index) => document.querySelector(`[data-node="${index}"]`);
const map = document.getElementById("map");
const click = (index) => node(index).dispatchEvent(new MouseEvent("click", { bubbles: true }));
const key = (name) => map.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
const told = () => document.getElementById("told").textContent;
const steps = () => [...document.querySelectorAll("#steps li")].map((item) => item.textContent);
seen.nodes = document.querySelectorAll(".node").length;
click(0); seen.start = told();
click(47); seen.goal = told(); seen.steps = steps(); seen.paths = document.querySelectorAll(".path").length;
const colours = document.querySelectorAll("#avoid button");
colours[1].click(); seen.around = steps(); seen.off = document.querySelectorAll(".off").length;
seen.pressed = colours[1].getAttribute("aria-pressed"); colours[1].click();
key("Escape"); seen.cleared = told(); key("ArrowRight"); key("ArrowDown"); seen.cursor = told();
key("Enter"); seen.chosen = document.getElementById("start").value;
const goal = document.getElementById("goal");
goal.value = "99"; goal.dispatchEvent(new Event("input")); seen.unknown = told();
const box = () => map.getAttribute("viewBox");
seen.fit = box(); key("+"); seen.zoomed = box(); key("0"); seen.fitAgain = box();
const at = (kind, x) => map.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: x, clientY: 300 }));
at("pointerdown", 300); at("pointermove", 340); at("pointerup", 340); seen.panned = box();
document.querySelectorAll("[name=placement]")[1].click(); seen.laidOut = box();
document.body.dataset.seen = JSON.stringify(seen);
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    page = write_report(folder, perfect()).read_text(encoding="utf-8")
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (folder / "clicks.html").write_text(
        page.replace("</body>", f"<script>{CLICKS}</script></body>"), encoding="utf-8"
    )
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    command = [CHROMIUM, *options, f"--user-data-dir={folder / 'profile'}", (folder / "clicks.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    return json.loads(html.unescape(re.search(r'data-seen="(.*?)"', dom)[1]))


def test_clicks_choose_a_start_and_a_goal_and_the_plan_appears(seen):
    plan = solve(true_map(ROOM), 0, 47)
    assert "error" not in seen
    assert seen["nodes"] == 48
    assert seen["start"] == f"From node 0: {ROOM.observation[0]}. Choose a goal."
    assert seen["goal"] == f"{len(plan)} actions."
    assert seen["paths"] == 1
    position = 0
    for step in seen["steps"]:
        action, observation = step.split(" → ")
        position = ROOM.next_position[position, ROOM.action_labels.index(action)]
        assert observation == str(ROOM.observation[position])
    assert position == 47


def test_a_forbidden_colour_is_planned_around(seen):
    around = solve(true_map(ROOM), 0, 47, avoid=[1])
    assert len(seen["around"]) == len(around)
    assert seen["pressed"] == "true"
    ends = int((ROOM.observation[[0, 47]] == 1).sum())
    assert seen["off"] == int((ROOM.observation == 1).sum()) - ends


def test_keys_move_choose_and_clear(seen):
    assert seen["cleared"] == "Choose a start."
    assert re.fullmatch(r"node \d+: \d", seen["cursor"])
    assert seen["chosen"] == re.match(r"node (\d+)", seen["cursor"])[1]
    assert seen["unknown"] == "nodes go from 0 to 47"


def test_zoom_pan_and_the_other_placement(seen):
    def numbers(name):
        return [float(part) for part in seen[name].split()]

    assert numbers("zoomed")[2] == pytest.approx(numbers("fit")[2] / 1.4)
    assert seen["fitAgain"] == seen["fit"]
    assert numbers("panned")[0] < numbers("fit")[0]
    assert numbers("panned")[1:] == numbers("fit")[1:]
    assert seen["laidOut"] != seen["fit"]
