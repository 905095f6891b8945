"""The explorer against those who would stop it: slow sockets, long walks, broken folders, large maps."""

import asyncio
import json
import os
import socket
import threading
from contextlib import asynccontextmanager

import numpy as np
import pytest
from edgeless_maps import edgeless_map
from served_runs import application, client_of, found_map, opened, write_run

from cogmap.app import shown_map
from cogmap.app.application import Application
from cogmap.app.bodies import encode_columns, encode_json
from cogmap.app.connections import patient_protocol
from cogmap.app.endpoints import ENDPOINTS
from cogmap.app.security import Deadline, Limits, Refusal
from cogmap.app.watcher import RunWatcher
from cogmap.maps.store import save_map


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("attacked"))


@asynccontextmanager
async def serving(app, seconds, log_level="error"):
    """A server whose connections may do nothing for so many seconds; gives it and its address."""
    import uvicorn

    config = uvicorn.Config(app, http=patient_protocol(seconds), log_level=log_level, lifespan="off")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(config)
        task = asyncio.create_task(server._serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield server, listening.getsockname()
        finally:
            server.should_exit = True
            await task


async def exchanged(app, sent, seconds=0.2):
    """What a server answers to bytes until it closes the connection."""
    async with serving(app, seconds) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()


def test_a_request_that_never_ends_is_closed(folder):
    assert asyncio.run(exchanged(application(*folder).asgi, b"GET /api/live HTTP/1.1\r\nHost: local")) == b""
    assert asyncio.run(exchanged(application(*folder).asgi, b"")) == b""


def test_a_body_that_never_ends_is_refused(folder):
    app = Application(opened(*folder), Limits(body_seconds=0.1)).asgi
    kind = b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
    head = b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\n" + kind
    answer = asyncio.run(exchanged(app, head))
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"the body must arrive within 0.1 seconds" in answer


def test_an_answer_that_nobody_takes_is_closed():
    async def endless(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
                lines.append(1)
                if len(lines) > 500:
                    return
        finally:
            ended.set()

    async def stuck():
        async with serving(endless, 0.2, log_level="critical") as (server, address):
            with socket.create_connection(address) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while server.server_state.connections or not lines:  # closed without our reading anything
                    await asyncio.sleep(0.01)

    lines, ended = [], threading.Event()
    asyncio.run(stuck())
    assert len(lines) > 0


@pytest.mark.parametrize(
    "hosts",
    [
        b"Host: localhost\r\nHost: evil.example",
        b"Host: evil.example\r\nHost: localhost",
        b"host: a\r\nHOST: b",
    ],
)
def test_two_host_headers_are_refused(folder, hosts):
    sent = b"GET /api/live HTTP/1.1\r\n" + hosts + b"\r\nConnection: close\r\n\r\n"
    assert asyncio.run(exchanged(application(*folder).asgi, sent)).startswith(b"HTTP/1.1 400")


def test_long_walks_do_not_keep_others_from_showing(folder):
    """All threads that compute are busy until the metrics have been shown."""
    app = Application(opened(*folder), Limits(workers=1))
    shown, waiting = threading.Event(), threading.Event()

    def busy():
        waiting.set()
        shown.wait()
        raise Refusal(503, "it was busy")

    async def both():
        walking = asyncio.create_task(app._computes.run(busy, 2))
        await asyncio.to_thread(waiting.wait)
        metrics = await app._shows.run(lambda: encode_json(app.handlers.metrics(None)), 1)
        shown.set()
        with pytest.raises(Refusal, match="it was busy"):
            await walking
        return metrics

    assert b"validation_accuracy" in asyncio.run(both())


def test_every_endpoint_that_computes_has_the_other_pool():
    computing = {one.work.__name__ for one in ENDPOINTS if one.computes}
    assert computing == {"replay", "replay_step", "plans", "policy", "locate", "new_walk"}
    assert {one.work.__name__ for one in ENDPOINTS if one.grows} == {"plan", "step", "walk"}


def test_an_answer_that_takes_too_long_is_refused():
    now = iter([0.0, 1.0, 2.5])
    until = Deadline(2.0, lambda: next(now))
    until.check()
    with pytest.raises(Refusal, match=r"must be made within 2.0 seconds") as caught:
        until.check()
    assert caught.value.status == 503


def test_a_replay_of_too_many_steps_and_nodes_is_refused(folder):
    client = client_of(Application(opened(*folder), Limits(replayed=100)))
    answer = client.get("/api/replay/0")
    assert answer.status_code == 413
    assert "steps times nodes of a replay must be at most 100, got 5760" in answer.json()["error"]


def test_plans_on_a_large_map_are_made_in_a_thread(folder):
    app = Application(opened(*folder), Limits(large_map=10))
    ran = []
    run = app._computes.run
    app._computes.run = lambda work, most: ran.append(most) or run(work, most)
    assert client_of(app).post("/api/plan", json={"start": 0, "goal": 3}).status_code == 200
    assert ran == [1000]  # as many as there may be connections: 200 planners are no attack


def test_pipes_in_the_folder_are_problems_and_not_waited_for(tmp_path):
    run, _ = write_run(tmp_path)
    for name in ("metrics.jsonl", "scores.json", "map.npz", "views.npz", "concepts.json"):
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
    watcher = RunWatcher(run)
    watcher.refresh()
    assert any("metrics.jsonl must be a file, got a pipe" in problem for problem in watcher.problems)


def test_numbers_that_json_cannot_express_are_null(tmp_path):
    run, _ = write_run(tmp_path)
    rows = [{"step": 1, "seconds": float("nan"), "loss": float("inf"), "perplexity": [float("nan"), 2.0]}]
    (run / "metrics.jsonl").write_text(json.dumps(rows[0]))
    client = client_of(application(run))
    assert client.get("/api/live").json()["seconds"] is None
    columns = client.get("/api/metrics").json()["columns"]
    assert (columns["loss"], columns["perplexity"]) == ([None], [[None, 2.0]])


@pytest.mark.parametrize(
    "change",
    [
        {"observation_labels": ["red"]},
        {"action_labels": [1, 2]},
        {"observation_labels": {}},
        {"walks": float("nan")},
    ],
)
def test_labels_that_do_not_fit_are_one_problem(tmp_path, change):
    run, _ = write_run(tmp_path)
    stored = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(stored | change))
    answer = client_of(application_of_any(run)).get("/api/run")
    assert answer.status_code == 409
    assert "\n" not in answer.json()["error"]


def application_of_any(run):
    watcher = RunWatcher(run)
    watcher.refresh()
    return Application(watcher)


def test_columns_are_encoded_as_json_in_pieces_too(monkeypatch):
    monkeypatch.setattr("cogmap.app.bodies._PIECE", 3)
    value = {
        "kind": "minimal",
        "nodes": {"x": [1.5, 2, float("nan"), None, "ä", 3, 4], "none": []},
        "n": np.int32(3),
    }
    expected = {"kind": "minimal", "nodes": {"x": [1.5, 2, None, None, "ä", 3, 4], "none": []}, "n": 3}
    assert json.loads(encode_columns(value)) == expected


def test_a_map_in_very_many_pieces_is_not_laid_out(tmp_path, monkeypatch):
    few = found_map()
    pieces = edgeless_map(few.node_observation, few.num_observations, few.num_actions)
    monkeypatch.setattr(shown_map, "_MOST_PIECES", 40)
    monkeypatch.setattr(shown_map, "layout_map", lambda found: pytest.fail("it was laid out"))
    save_map(tmp_path / "map.npz", pieces)
    nodes = json.loads(shown_map.open_map(tmp_path / "map.npz", "minimal", False).answer)["nodes"]
    assert len(set(zip(nodes["x"], nodes["y"], strict=True))) == few.num_nodes


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://localhost/api/live", b"localhost", b"200"),
        (b"http://localhost:1/api/live", b"localhost:1", b"200"),
        (b"http://evil.example/api/live", b"localhost", b"400"),
        (b"http://evil.example/api/live", b"evil.example", b"400"),
        (b"http://localhost@evil.example/api/live", b"localhost", b"400"),
        (b"http://localhost/api/live", b"evil.example", b"400"),
        (b"ftp://localhost/api/live", b"evil.example", b"400"),
    ],
)
def test_an_absolute_target_must_name_the_host_of_the_header(folder, target, host, status):
    sent = b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
    answer = asyncio.run(exchanged(application(*folder).asgi, sent, seconds=5))
    assert answer.startswith(b"HTTP/1.1 " + status)
