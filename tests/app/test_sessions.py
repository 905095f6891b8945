"""Walking as the agent: belief narrows, nothing is lost when a client vanishes, and there is an end to everything."""

import numpy as np
import pytest
from served_runs import ROOM, application, client_of, opened, write_run

from cogmap.app.schema import WalkRequest
from cogmap.app.security import Deadline, Limits, Refusal
from cogmap.app.sessions import Sessions, new_session
from cogmap.planning.navigator import Navigator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("sessions"))


@pytest.fixture(scope="module")
def client(folder):
    return client_of(application(*folder))


def test_belief_narrows_as_a_navigator_s_does(client, folder):
    """Step by step the same belief as the navigator's own, which knows nothing of servers."""
    begun = client.post("/api/walks", json={"position": 20})
    assert begun.status_code == 201
    walk = begun.json()
    navigator = Navigator(opened(folder[0]).map("minimal").map)
    navigator.observe(None, walk["observation"])
    spread = [walk["belief"]["candidates"]]
    for action in np.random.default_rng(0).integers(4, size=40).tolist():
        walk = client.post(
            f"/api/walks/{walk['id']}/steps", json={"action": action, "step": walk["step"]}
        ).json()
        navigator.observe(action, walk["observation"])
        assert walk["node"] == navigator.where()
        assert walk["certainty"] == pytest.approx(navigator.certainty, abs=1e-6)
        spread.append(walk["belief"]["candidates"])
    assert spread[0] > 5
    assert spread[-1] < 1.5
    assert walk["node"] == walk["position"]


def test_a_label_is_an_action_and_the_world_answers(client):
    walk = client.post("/api/walks", json={"position": 0}).json()
    stepped = client.post(f"/api/walks/{walk['id']}/steps", json={"action": "right"}).json()
    assert stepped["position"] == ROOM.next_position[0, 3] == 1
    assert stepped["observation"] == ROOM.observation[1]
    assert stepped["surprise"] > 0


def test_the_same_seed_begins_at_the_same_place(client):
    first, second = (client.post("/api/walks", json={"seed": 5}).json() for _ in range(2))
    assert first["origin"] == second["origin"]
    assert first["id"] != second["id"]


def test_a_step_sent_twice_steps_once(client):
    walk = client.post("/api/walks", json={"position": 3}).json()
    step = {"action": 1, "step": 0}
    address = f"/api/walks/{walk['id']}/steps"
    assert client.post(address, json=step).json()["step"] == 1
    again = client.post(address, json=step)
    assert (again.status_code, again.json()["error"]) == (
        409,
        "`step` must be where the walk is, at 1, got 0",
    )
    assert client.get(f"/api/walks/{walk['id']}").json()["step"] == 1


def test_a_client_that_comes_back_finds_its_walk_and_a_new_server_takes_it_up(client, folder):
    actions = [3, 1, 1, 0, 3, 3, 2]
    walk = client.post("/api/walks", json={"position": 8}).json()
    for action in actions:
        client.post(f"/api/walks/{walk['id']}/steps", json={"action": action})
    kept = client.get(f"/api/walks/{walk['id']}").json()
    assert kept["history"]["actions"] == actions
    assert len(kept["history"]["observations"]) == len(actions) + 1
    anew = client_of(application(*folder))
    assert anew.get(f"/api/walks/{walk['id']}").status_code == 404
    taken_up = anew.post("/api/walks", json={"position": kept["origin"], "actions": actions}).json()
    assert {**taken_up, "id": ""} == {**kept, "id": ""}


def test_an_end_is_an_end(client):
    walk = client.post("/api/walks").json()
    address = f"/api/walks/{walk['id']}"
    ended = client.delete(address)
    assert (ended.status_code, ended.content) == (204, b"")
    assert client.delete(address).status_code == 404


def test_what_cannot_be_done_changes_nothing(folder):
    """In a world that is the map, an action that no edge tells of is refused."""
    run, _ = folder
    found = opened(run).map("minimal")
    lost = found.next_node.copy()
    lost[5, 2] = -1
    object.__setattr__(found, "next_node", lost)
    session = new_session(found, None, WalkRequest(position=5), 10, Deadline(60))
    before = session.belief
    with pytest.raises(Refusal, match="`action` must be possible here, 0, 1, 3 is, got 2"):
        session.step(2)
    assert session.steps == 0
    assert session.belief is before


def test_the_least_recently_used_makes_room_and_time_runs_out(folder):
    found, now = opened(folder[0]).map("minimal"), [0.0]
    sessions = Sessions(Limits(sessions=2, session_seconds=10), clock=lambda: now[0])
    first, second, third = (
        new_session(found, None, WalkRequest(seed=seed), 10, Deadline(60)) for seed in range(3)
    )
    sessions.keep(first)
    sessions.keep(second)
    sessions.find(first.id)
    sessions.keep(third)
    assert len(sessions) == 2
    with pytest.raises(Refusal, match="the walk must be one that was begun"):
        sessions.find(second.id)
    now[0] = 9.0
    assert sessions.find(first.id) is first
    now[0] = 11.0
    assert sessions.find(first.id) is first
    with pytest.raises(Refusal):
        sessions.find(third.id)


def test_history_is_bounded(folder):
    client = client_of(application(*folder, kept_steps=5))
    walk = client.post("/api/walks", json={"position": 0, "actions": [3, 2] * 10}).json()
    assert walk["step"] == 20
    assert len(walk["history"]["observations"]) == 5
    assert walk["history"]["actions"] == [3, 2, 3, 2]


def test_an_unknown_place_or_action_is_reported(client):
    assert "0 to 47, got 48" in client.post("/api/walks", json={"position": 48}).json()["error"]
    answer = client.post("/api/walks", json={"position": 4, "actions": ["north"]})
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        "`action` must be one of up, down, left, right, got 'north'",
    )
