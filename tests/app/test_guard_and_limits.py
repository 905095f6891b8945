"""Who may ask, how much, and how a refusal looks."""

import asyncio

import pytest
from served_runs import application, client_of, write_run

from cogmap.app.bodies import check, parse_json
from cogmap.app.schema import LocateRequest, PlanRequest, PlansRequest, StepRequest, WalkRequest, limited
from cogmap.app.security import Hosts, Limits, Refusal, is_loopback, status_of
from cogmap.app.watcher import RunWatcher
from cogmap.errors import BadRun, BadWalks, CogmapError, NoPath, NotOnMap

REQUESTS = limited(Limits())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("guarded"))


@pytest.fixture(scope="module")
def client(folder):
    return client_of(application(*folder))


@pytest.mark.parametrize("path", ["/", "/api/run", "/api/nothing", "/static/../../pyproject.toml"])
def test_every_answer_carries_the_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%00",
        "/static/shared",
        "/static/%2e%2e/server.py",
        "/static/..%2f..%2fcli.py",
        "/static//etc/passwd",
        "/static/shared/../../run.py",
        "/api/map/..%2fmap.npz",
        "/api/map/map.npz",
    ],
)
def test_no_address_leads_out_of_the_served_files(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8321", True),
        ("localhost:8321", True),
        ("LOCALHOST", True),
        ("[::1]:8321", True),
        ("127.0.0.2", True),
        ("evil.example:8321", False),
        ("127.0.0.1.evil.example", False),
        ("192.168.0.7:8321", False),
        ("", False),
    ],
)
def test_a_loopback_server_answers_to_its_own_names_only(host, allowed):
    assert Hosts.of("127.0.0.1").allow(host) is allowed


def test_a_server_beyond_loopback_answers_to_addresses_and_its_name():
    hosts = Hosts.of("0.0.0.0")
    assert hosts.allow("192.168.0.7:8321")
    assert not hosts.allow("rebound.example")
    assert Hosts.of("map.lan").allow("map.lan:80")
    assert [is_loopback(host) for host in ("localhost", "::1", "127.1.1.1", "0.0.0.0", "map.lan")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_foreign_host_or_origin_is_refused(client):
    rebound = client.get("/api/run", headers={"host": "evil.example"})
    assert (rebound.status_code, rebound.json()["error"]) == (
        400,
        "the Host header must name this server, got 'evil.example'",
    )
    twice = [("host", "127.0.0.1:8321"), ("host", "127.0.0.1:8321")]
    assert client.get("/api/run", headers=twice).status_code == 400
    plan = {"start": 0, "goal": 1}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999"):
        assert client.post("/api/plan", json=plan, headers={"origin": origin}).status_code == 403
    assert client.post("/api/plan", json=plan, headers={"origin": "http://127.0.0.1:8321"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 422, "the body must have the field `start`, got no fields"),
        (b'{"goal": 1}', 422, "the body must have the field `start`, got goal"),
        (b"{", 400, "the body must be JSON"),
        (b"\xff\xfe", 400, "the body must be JSON"),
        (b"[" * 100_000, 400, "the body must be JSON"),
        (b'{"start": NaN, "goal": 1}', 400, "NaN is no JSON"),
        (b'{"start": ' + b"9" * 5000 + b', "goal": 1}', 400, "the body must be JSON"),
        (b"[]", 422, "the body must be an object, got []"),
        (b'{"start": 0}', 422, "the body must have one of `goal` and `showing`, got neither"),
        (b'{"start": 0, "goal": 1, "showing": 2}', 422, "must have one of `goal` and `showing`, got both"),
        (b'{"start": true, "goal": 1}', 422, "`start` must be an integer, got true"),
        (b'{"start": -1, "goal": 1}', 422, "`start` must be at least 0, got -1"),
        (b'{"start": 1.5, "goal": 1}', 422, "`start` must be an integer, got 1.5"),
        (b'{"start": 1e3, "goal": 1}', 404, "`start` must be a node of the map, 0 to 47, got 1000"),
        (b'{"start": 0, "goal": 1, "gaol": 2}', 422, "must have no other fields than start, goal"),
        (
            b'{"start": 0, "goal": 1, "avoid": [null]}',
            422,
            "`avoid`[0] must be an integer or a string, got null",
        ),
        (b'{"start": 0, "goal": 1, "map": "true"}', 422, '`map` must be one of minimal, paper, got "true"'),
        (b'{"start": 0, "goal": 1, "revision": "old"}', 409, "`revision` must be that of the map"),
        (b'{"start": 0, "showing": "\\ud800"}', 404, "`goal` must be an observation of the map"),
    ],
)
def test_a_bad_body_is_reported_rule_first(client, body, status, told):
    answer = client.post("/api/plan", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert told in answer.json()["error"]


@pytest.mark.parametrize(
    ("kind", "body", "status", "told"),
    [
        (PlanRequest, {"start": 0, "goal": None}, 422, "`goal` must be an integer, got null"),
        (PlanRequest, {"start": 0, "goal": 1, "avoid": "red"}, 422, '`avoid` must be an array, got "red"'),
        (PlanRequest, {"start": 0, "goal": 1, "strict": 1}, 422, "`strict` must be a boolean, got 1"),
        (PlanRequest, {"start": "0", "goal": 1}, 422, '`start` must be an integer, got "0"'),
        (
            PlanRequest,
            {"start": 2**31, "goal": 1},
            422,
            "`start` must be at most 2147483647, got 2147483648",
        ),
        (
            PlanRequest,
            {"start": 0, "goal": 1, "revision": "x" * 41},
            422,
            f'`revision` must have at most 40 characters, got "{"x" * 41}"',
        ),
        (
            PlansRequest,
            {"problems": [{"start": 0, "goal": 1}, {"start": 1, "gaol": 2}]},
            422,
            '`problems`[1] must have no other fields than start, goal, showing, avoid, strict, got "gaol"',
        ),
        (
            PlansRequest,
            {"problems": [{"goal": 2}]},
            422,
            "`problems`[0] must have the field `start`, got goal",
        ),
        (PlansRequest, {"problems": [3]}, 422, "`problems`[0] must be an object, got 3"),
        (
            LocateRequest,
            {"observations": [], "actions": []},
            422,
            "`observations` must hold at least 1 entries, got 0",
        ),
        (
            LocateRequest,
            {"observations": [0] * 10_001, "actions": []},
            413,
            "`observations` must hold at most 10000 entries, got 10001",
        ),
        (StepRequest, {"action": -1}, 422, "`action` must be an integer or a string, got -1"),
    ],
)
def test_every_broken_rule_is_reported_with_the_value(kind, body, status, told):
    with pytest.raises(Refusal) as refused:
        check(body, REQUESTS[kind])
    assert (refused.value.status, str(refused.value)) == (status, told)


def test_a_body_must_say_that_it_is_json(client):
    answer = client.post("/api/plan", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]) == (
        415,
        "the body must be application/json, got text/plain",
    )


def test_too_much_is_refused(folder):
    client = client_of(application(*folder, body_bytes=200, problems=2, history=3))
    many = client.post("/api/plans", json={"problems": [{"start": 0, "goal": 1}] * 3})
    assert (many.status_code, many.json()["error"]) == (413, "`problems` must hold at most 2 entries, got 3")
    long = client.post("/api/locate", json={"observations": [0] * 4, "actions": [0] * 3})
    assert long.status_code == 413
    large = client.post("/api/plan", json={"start": 0, "goal": 1, "revision": "x" * 300})
    assert (large.status_code, "at most 200 bytes" in large.json()["error"]) == (413, True)


def test_a_body_without_a_length_is_cut_off_too(folder):
    client = client_of(application(*folder, body_bytes=200))

    async def endless():
        while True:
            yield b" " * 50

    answer = client.post("/api/plan", content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_too_many_at_once_are_asked_to_wait(folder):
    client = client_of(application(*folder, workers=1, waiting_jobs=2))

    async def all_at_once():
        body = {"observations": [0] * 2000, "actions": [0] * 1999}
        asked = [client.ask("POST", "/api/locate", json=body) for _ in range(12)]
        return await asyncio.gather(*asked)

    answers = asyncio.run(all_at_once())
    assert {answer.status_code for answer in answers} == {200, 429}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.headers["retry-after"] == "1"
    assert "at most 2 long answers" in refused.json()["error"]


def test_a_method_that_an_address_does_not_know(client):
    answer = client.request("PUT", "/api/plan")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json() == {"error": "this address does not allow the method"}


def test_a_bug_of_ours_is_no_traceback(folder, monkeypatch, caplog):
    app = application(*folder)
    monkeypatch.setattr(RunWatcher, "problems", property(lambda watcher: 1 / 0))
    answer = client_of(app).get("/api/live")
    assert (answer.status_code, answer.json()) == (500, {"error": "this is a bug of ours: ZeroDivisionError"})
    assert "ZeroDivisionError" in caplog.text


def test_every_error_has_its_status():
    kinds = {NoPath: 404, NotOnMap: 404, BadRun: 409, BadWalks: 422, CogmapError: 400}
    assert {kind: status_of(kind("x")) for kind in kinds} == kinds
    assert status_of(Refusal(429, "x")) == 429


def test_long_values_are_cut_short():
    with pytest.raises(Refusal, match=r"`map` must be a string, got \[0, 0, .*\.\.\.$"):
        check({"start": 0, "goal": 1, "map": [0] * 500}, REQUESTS[PlanRequest])


def test_an_empty_body_is_an_object_without_fields():
    assert parse_json(b" \t\r\n") == {}
    for other in (b"\x0c", b"\x0b\n"):  # white space to Python and not to JSON
        with pytest.raises(Refusal, match="the body must be JSON"):
            parse_json(other)
    check({}, REQUESTS[WalkRequest])
