"""Every address of the explorer against the room that it serves."""

import json
import subprocess
import sys

import numpy as np
import pytest
from served_runs import ROOM, ROWS, application, client_of, write_run

from cogmap.environments.oracle import optimal_distances


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(folder):
    return client_of(application(*folder))


@pytest.fixture(scope="module")
def blind(folder):
    """The same run without its walks: no truth, no replay."""
    return client_of(application(folder[0]))


def test_the_run_in_words(client):
    run = client.get("/api/run").json()
    assert run["name"] == "TDB(S=3, M=1)"
    assert run["observations"]["labels"] == list(ROOM.observation_labels)
    assert len(run["observations"]["colours"]) == 4
    assert run["actions"]["labels"] == ["up", "down", "left", "right"]
    assert [(one["kind"], one["nodes"]) for one in run["maps"]] == [("minimal", 48), ("paper", 48)]
    assert run["truth"] is True
    assert run["world"] == "true"
    assert run["walks"] == {"count": 20, "longest": 120}
    assert run["folder"] == "run"
    assert run["config"]["model"]["num_codes"] == 100
    names = [row[0] for row in run["scores"]["rows"]]
    assert names == ["TDB(S=3, M=1), here", "TDB(S=3, M=1), in the paper", "ceiling"]


def test_a_perfect_map_stands_at_its_true_places(client):
    found = client.get("/api/map/minimal").json()
    nodes, edges = found["nodes"], found["edges"]
    assert nodes["observation"] == ROOM.observation.tolist()
    assert nodes["position"] == list(range(48))
    assert sum(nodes["merged"]) == sum(edges["wrong"]) == sum(edges["doubtful"]) == 0
    assert np.array_equal(np.stack([nodes["true_y"], nodes["true_x"]], axis=1), ROOM.coordinates)
    apart = np.hypot(*(np.diff(np.array([nodes[axis] for axis in "xy"])[:, [0, 1]], axis=1)[:, 0]))
    assert 0.5 < apart < 1.5


def test_a_map_is_sent_once(client):
    first = client.get("/api/map/minimal")
    again = client.get("/api/map/minimal", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_room_and_its_moves(client):
    room = client.get("/api/room").json()
    assert room["observation"] == ROOM.observation.tolist()
    moves = list(zip(*room["moves"].values(), strict=True))
    assert all(ROOM.next_position[source, action] == target != source for source, action, target in moves)
    assert len(moves) == (ROOM.next_position != np.arange(48)[:, None]).sum()


def test_metrics_are_columns(client):
    metrics = client.get("/api/metrics").json()
    assert metrics["num_codes"] == 100
    assert metrics["columns"]["step"] == [100, 200]
    assert metrics["columns"]["late_accuracy"] == [None, 0.95]
    assert metrics["columns"]["codes_in_use"] == [[], [80]]


def test_live_tells_the_last_row(client):
    live = client.get("/api/live").json()
    assert live["state"] == "finished"
    assert (live["step"], live["rows"], live["last_step"]) == (200, len(ROWS), 6000)
    assert live["revisions"]["minimal"] == client.get("/api/map/minimal").json()["revision"]
    assert live["problems"] == []


def test_a_plan_is_short_and_true(client):
    distances = optimal_distances(ROOM)
    rng = np.random.default_rng(1)
    for start, goal in rng.integers(48, size=(30, 2)).tolist():
        plan = client.post("/api/plan", json={"start": start, "goal": goal}).json()
        assert plan["nodes"][0] == start
        assert plan["nodes"][-1] == plan["positions"][-1] == goal
        assert len(plan["actions"]) == distances[start, goal]
        assert plan["observations"] == ROOM.observation[plan["nodes"]].tolist()
        assert plan["positions"] == plan["nodes"]


def test_a_goal_by_sight_and_what_to_avoid_by_label(client):
    plan = client.post("/api/plan", json={"start": 0, "showing": "grey", "map": "paper"}).json()
    assert plan["observations"][-1] == 3
    assert 3 not in plan["observations"][:-1]
    around = client.post(
        "/api/plan", json={"start": 0, "goal": 47, "avoid": ["blue", 0], "strict": False}
    ).json()
    assert around["avoided"] == (not {0, 2} & set(around["observations"][1:-1]))


def test_no_way_round_is_reported(client):
    every = {"start": 0, "goal": 47, "avoid": [0, 1, 2, 3]}
    assert client.post("/api/plan", json=every).json()["avoided"] is False
    strict = client.post("/api/plan", json={**every, "strict": True})
    assert strict.status_code == 404
    assert "no path that avoids 0, 1, 2, 3" in strict.json()["error"]


def test_many_plans_in_their_places(client):
    problems = [{"start": 0, "goal": 5}, {"start": 0, "goal": 48}, {"start": 3, "showing": "red"}]
    answer = client.post("/api/plans", json={"problems": problems}).json()["plans"]
    assert answer[0] == client.post("/api/plan", json=problems[0]).json()
    assert answer[1] == {"error": "`goal` must be a node of the map, 0 to 47, got 48"}
    assert answer[2]["observations"][-1] == 0


def walked(actions, start):
    """Positions and observations met from a start."""
    positions = [start]
    for action in actions:
        positions.append(int(ROOM.next_position[positions[-1], action]))
    return positions, ROOM.observation[positions].tolist()


def test_a_history_is_located(client):
    actions = np.random.default_rng(3).integers(4, size=60).tolist()
    positions, seen = walked(actions, 17)
    labels = [ROOM.observation_labels[one] for one in seen]
    place = client.post("/api/locate", json={"observations": labels, "actions": actions}).json()
    assert place["node"] == positions[-1]
    assert place["sure"] is True
    assert place["belief"]["nodes"][0] == positions[-1]
    assert place["belief"]["candidates"] < 1.5
    assert sum(place["belief"]["probabilities"]) + place["belief"]["rest"] == pytest.approx(1, abs=1e-4)


def test_a_history_needs_one_action_fewer(client):
    answer = client.post("/api/locate", json={"observations": [0, 1], "actions": []})
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "a history must have one action fewer than observations, got 2 and 0",
    )


def test_a_replay_finds_itself_and_does_not_jump(client):
    replay = client.get("/api/replay/4").json()
    sure = np.array(replay["sure"], dtype=bool)
    assert sure[-1]
    assert np.array_equal(np.array(replay["nodes"])[sure], np.array(replay["positions"])[sure])
    assert replay["teleported"] == []
    step = client.get("/api/replay/4/7").json()
    assert step["node"] == replay["nodes"][7]
    # A replay drops nodes that are next to impossible.
    assert step["certainty"] == pytest.approx(replay["certainty"][7], abs=1e-3)
    assert step["observation"] == replay["observations"][7]


def test_what_a_walks_file_does_not_hold(client):
    assert client.get("/api/replay/20").status_code == 404
    assert "0 to 119, got step 120" in client.get("/api/replay/0/120").json()["error"]
    assert client.get("/api/replay/one").status_code == 404
    assert client.get("/api/replay/" + "9" * 6000).status_code == 404


def test_without_truth_the_map_is_the_world(blind):
    run = blind.get("/api/run").json()
    assert (run["truth"], run["walks"], run["world"]) == (False, None, "map")
    assert blind.get("/api/room").status_code == 404
    assert "--walks" in blind.get("/api/replay/0").json()["error"]
    assert "position" not in blind.get("/api/map/minimal").json()["nodes"]
    assert blind.post("/api/plan", json={"start": 0, "goal": 9}).json()["positions"] is None
    assert blind.post("/api/walks", json={"position": 9}).json()["world"] == "map"


def test_an_unknown_label_is_reported_as_on_the_command_line(client):
    answer = client.post("/api/plan", json={"start": 0, "showing": "purple"})
    assert answer.status_code == 404
    assert "which knows red, green, blue, grey; got 'purple'" in answer.json()["error"]


def test_the_page_and_its_files(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/static/main.js").headers["content-type"].startswith("text/javascript")
    tag = page.headers["etag"]
    assert client.get("/", headers={"if-none-match": tag}).status_code == 304


def test_the_description_names_every_address(client):
    described = client.get("/api/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    assert {"/api/run", "/api/plan", "/api/walks/{id}/steps"} <= set(described["paths"])
    names = [one["operationId"] for path in described["paths"].values() for one in path.values()]
    assert len(names) == len(set(names))
    assert json.dumps(described).count("$ref") > 10


def test_files_of_both_folders_are_asked_for_again_each_time(client):
    for path in ("/static/main.js", "/static/shared/theme.css"):
        first = client.get(path)
        assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
        again = client.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.headers["cache-control"], again.content) == (304, "no-cache", b"")


def test_pydantic_waits_until_something_is_served():
    script = "import sys, cogmap, cogmap.cli; cogmap.cli.main(['--help']); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pydantic", "starlette", "PIL"} & set(run.stdout.split())


def test_the_explorer_loads_no_network_and_no_plotting():
    script = "import sys, cogmap.app.application, cogmap.app.server; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "sklearn"} & {name.split(".")[0] for name in run.stdout.split()}


def test_the_policy_to_a_goal_and_how_likely_it_arrives(client):
    found = client.post("/api/policy", json={"goal": 17}).json()
    assert found["goals"] == [17]
    assert found["actions"][17] is None
    assert found["steps"] == pytest.approx(optimal_distances(ROOM)[:, 17])  # there is no chance in this map
    assert set(found["arrival"]) == {1}
    edges = client.get("/api/map/minimal").json()["edges"]
    leads = dict(zip(zip(edges["source"], edges["action"], strict=True), edges["target"], strict=True))
    assert all(
        leads[node, action] == found["targets"][node]
        for node, action in enumerate(found["actions"])
        if node != 17
    )
    assert set(edges["probability"]) == {1}
    assert client.post("/api/policy", json={"goal": 48}).status_code == 404
    assert client.post("/api/policy", json={}).status_code == 422
    assert client.post("/api/policy", json={"goal": 1, "showing": "red"}).status_code == 422
