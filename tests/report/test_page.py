"""report.html: one file, no request, no user's text becomes markup, and only sections for which there is data."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from report_material import ROOM, TRUTH, WALKS, material, merging, perfect

from cogmap.evaluation.ged import true_map
from cogmap.records import TableWorld, Truth
from cogmap.report.colours import observation_colours
from cogmap.report.html import script_json
from cogmap.report.material import example_problem
from cogmap.report.page import write_report
from cogmap.report.pictures import map_data

EVIL = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'&amp;", "\u2028$title")


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.scripts, self.text = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        (self.scripts if self.found and self.found[-1][0] == "script" else self.text).append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, perfect(), merging(), ["cogmap learn WALKS --out runs/room"])
    return folder


@pytest.fixture(scope="module")
def page(both):
    return (both / "report.html").read_text(encoding="utf-8")


def headings(page):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", page)


def data_of(page):
    return json.loads(re.search(r'id="map-data">(.*?)</script>', page, re.DOTALL)[1])


def test_it_makes_no_request(page):
    addresses = [
        value
        for _, attributes in Elements(page).found
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "data", "poster")
    ]
    assert addresses
    assert all(address.startswith("data:image/svg+xml;base64,") for address in addresses)
    assert re.findall(r"url\(|@import", page.replace("url(#head)", "")) == []
    assert {tag for tag, _ in Elements(page).found}.isdisjoint({"link", "iframe", "object", "base", "form"})


def test_its_policy_forbids_requests_and_lets_only_its_own_script_run(page):
    (policy,) = [meta["content"] for meta in Elements(page).named("meta") if "http-equiv" in meta]
    assert "default-src 'none'" in policy
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_sections_in_order(page):
    assert headings(page) == [
        "Scores",
        "Plan on the map yourself",
        "The map beside the truth",
        "A plan",
        "For comparison: TDB(S=1, M=1)",
        "Diagnostics",
        "How to reproduce this page",
    ]
    assert "There are 48 places, and the map is exact; it solves 100.00% of the planning problems." in page
    assert "cogmap learn WALKS --out runs/room" in page
    assert '<pre tabindex="0">{\n  &quot;name&quot;: &quot;TDB(S=3, M=1)&quot;' in page


def test_every_picture_is_in_the_page_and_in_its_folder_and_described(both, page):
    images = Elements(page).named("img")
    inside = {base64.b64decode(image["src"].split(",")[1]) for image in images}
    beside = {path.stem: path.read_bytes() for path in (both / "figures").iterdir()}
    assert inside == set(beside.values())
    assert sorted(beside) == [
        "accuracy",
        "baseline_map",
        "baseline_plan",
        "codes",
        "map",
        "map_at_places",
        "plan",
        "room",
        "teleportation",
        "training",
    ]
    assert all(len(image["alt"]) > 20 for image in images)


def test_the_page_contains_the_map(page):
    data, found = data_of(page), true_map(ROOM)
    assert data["nodes"]["observation"] == found.node_observation.tolist()
    for name in ("source", "action", "target", "support"):
        assert data["edges"][name] == getattr(found, f"edge_{name}").tolist()
    assert data["actionLabels"] == list(ROOM.action_labels)
    assert data["observationLabels"] == ["0", "1", "2", "3"]
    assert data["colours"] == list(observation_colours(4))
    places, layout = data["placements"]
    assert [point[::-1] for point in places["points"]] == ROOM.coordinates.tolist()
    assert places["radius"] == 0.25
    assert len(layout["points"]) == 48


def test_the_explorer_opens_with_the_example(page):
    example = example_problem(perfect(), merging())
    assert data_of(page)["example"] == {
        "start": int(example.own.plan.nodes[0]),
        "goal": int(example.own.plan.nodes[-1]),
    }
    assert f"Test walk {example.walk}: after its first {example.start_step + 1} observations" in page


def test_the_example_is_one_that_the_baseline_gets_wrong():
    example = example_problem(perfect(), merging())
    assert example.own.visited[-1] == example.goal
    assert example.baseline.visited[-1] != example.goal
    assert example.context[-1] == example.own.visited[0] == example.baseline.visited[0]


def test_labels_are_text_and_never_markup(tmp_path):
    found = replace(true_map(ROOM), observation_labels=EVIL, action_labels=EVIL, warnings=(EVIL[1],))
    own = material(found, config={"walks": EVIL[0], "model": {EVIL[1]: EVIL[0]}})
    written = write_report(tmp_path, replace(own, name=EVIL[0]), None, [EVIL[0]]).read_text(encoding="utf-8")
    elements = Elements(written)
    assert len(elements.named("script")) == 2
    assert all(
        "onerror" not in attributes and attributes.get("src") != "x" for _, attributes in elements.found
    )
    assert data_of(written)["observationLabels"] == list(EVIL)
    assert EVIL[1] in elements.text


def test_json_in_a_script_is_ascii_without_angle_brackets_and_loads_as_the_same():
    text = script_json(EVIL)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == list(EVIL)


def test_without_truth_what_needs_it_is_left_out(tmp_path):
    page = write_report(tmp_path, material(true_map(ROOM), truth=None)).read_text(encoding="utf-8")
    assert headings(page) == ["Plan on the map yourself", "The map", "Diagnostics"]
    assert sorted(path.stem for path in (tmp_path / "figures").iterdir()) == [
        "accuracy",
        "codes",
        "map",
        "teleportation",
        "training",
    ]
    assert [placement["name"] for placement in data_of(page)["placements"]] == ["laid out without truth"]


def test_a_map_alone_is_enough(tmp_path):
    bare = replace(perfect(), rows=(), scored=(), reading=None)
    page = write_report(tmp_path, bare).read_text(encoding="utf-8")
    assert headings(page) == ["Plan on the map yourself", "The map"]
    assert data_of(page)["example"] is None


def test_a_world_that_cannot_be_drawn_still_has_plans(tmp_path):
    bare = TableWorld(ROOM.next_position, ROOM.observation, 4, action_labels=ROOM.action_labels)
    truth = Truth(TRUTH.positions, bare)
    page = write_report(tmp_path, material(true_map(bare), truth=truth)).read_text(encoding="utf-8")
    assert "A plan" in headings(page)
    assert not (tmp_path / "figures" / "plan.svg").exists()


def test_a_node_without_a_place_is_null_in_the_data():
    found = true_map(ROOM)
    unseen = replace(
        found,
        node_observation=np.append(found.node_observation, 0),
        node_support=np.append(found.node_support, 0),
    )
    at_places, laid_out = map_data(material(unseen))["placements"]
    assert at_places["points"][48] is None
    assert laid_out["points"][48] is not None


def test_warnings_of_the_map_are_shown(tmp_path):
    found = replace(true_map(ROOM), warnings=("the model predicts too little",))
    bare = replace(perfect(), cognitive_map=found, rows=(), scored=(), reading=None)
    page = write_report(tmp_path, bare).read_text(encoding="utf-8")
    assert '<div class="warning" role="note"><ul><li>the model predicts too little</li></ul></div>' in page


def test_walks_too_short_for_a_problem_have_no_plan():
    short = replace(WALKS, lengths=np.full(WALKS.num_walks, 3, dtype=np.int32))
    assert example_problem(replace(perfect(), reading=replace(perfect().reading, walks=short))) is None
