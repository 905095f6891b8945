"""`cogmap serve` and `cogmap learn --serve` as a user meets them: in a process of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.app.server import serve_run
from cogmap.cli import main
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.files import write_json
from cogmap.maps.store import save_map
from cogmap.walks.store import save_walks

QUIET = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture
def run_folder(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    sizes = {"num_observations": 4, "num_actions": 4, "num_targets": 4, "num_codes": 10}
    write_json(run / "config.json", {"format": 1, "name": "TDB(S=3, M=1)", "model": sizes, "training": {}})
    save_map(run / "map.npz", true_map(AliasedRoom(6, 8, observations=4, seed=0)))
    return run


@contextmanager
def started(*arguments):
    """A cogmap process and the first line that it prints."""
    told = [sys.executable, "-m", "cogmap", *map(str, arguments)]
    process = subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=QUIET)
    try:
        yield process, process.stdout.readline()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def address_in(line):
    return "http" + line.partition("http")[2].split()[0]


def get(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return json.load(answer)


def plan(address):
    request = urllib.request.Request(
        f"{address}api/plan", b'{"start": 0, "goal": 20}', {"content-type": "application/json"}
    )
    return get(request)


def test_it_serves_until_ctrl_c_and_ends_quietly(run_folder):
    with started("serve", run_folder, "--port", "0") as (process, line):
        assert line.startswith(f"serving {run_folder} at http://127.0.0.1:")
        assert plan(address_in(line))["nodes"][-1] == 20
        assert "add --walks FILE" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert (process.wait(20), process.stdout.read(), process.stderr.read()) == (0, "", "")


def test_killed_in_the_middle_and_started_again_it_opens(run_folder):
    before = sorted(path.name for path in run_folder.iterdir())
    with started("serve", run_folder, "--port", "0") as (process, line):
        plan(address_in(line))
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    assert sorted(path.name for path in run_folder.iterdir()) == before
    with started("serve", run_folder, "--port", "0") as (_, line):
        assert plan(address_in(line))["nodes"][-1] == 20


def test_a_taken_port_is_reported_and_the_next_free_one_taken(run_folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(run_folder), "--port", str(port)]) == 2
        assert f"`--port` must be free, {port} is taken" in capsys.readouterr().err
    with started("serve", run_folder) as (_, first), started("serve", run_folder) as (_, second):
        assert address_in(first) != address_in(second)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "a run must be a folder made by `cogmap learn`, there is no folder nowhere"),
        (["{run}", "--port", "99999"], "`--port` must be from 0 to 65535, got 99999"),
        (["{run}", "--host", "no such host"], "`--host` must be an address of this machine"),
        (["{run}", "--walks", "nothing.npz"], "cannot read nothing.npz"),
        (["{run}", "--prot", "1"], "see `cogmap serve --help`"),
    ],
)
def test_what_cannot_be_served_is_reported_in_one_line(run_folder, capsys, arguments, told):
    assert main(["serve", *(argument.format(run=run_folder) for argument in arguments)]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_beyond_loopback_there_is_a_warning(run_folder):
    with started("serve", run_folder, "--port", "0", "--host", "0.0.0.0") as (process, _):
        assert "warning: 0.0.0.0 lets other machines in" in process.stderr.readline()


def test_a_run_is_served_from_python_too(run_folder):
    met = []

    def started(served):
        met.append(served)
        served.stop()

    serve_run(run_folder, port=0, started=started)
    (served,) = met
    assert served.address.startswith("http://127.0.0.1:")
    assert (served.problems, served.on_loopback) == ((), True)


@pytest.mark.parametrize(
    ("module", "name"),
    [("uvicorn", "uvicorn"), ("starlette", "starlette"), ("pydantic", "pydantic"), ("PIL", "pillow")],
)
def test_without_the_extra_the_line_that_installs_it(run_folder, capsys, monkeypatch, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["serve", str(run_folder)]) == 2
    assert f'serving needs {name}: pip install "cogmap[serve]"' in capsys.readouterr().err


def ring_walks(path: Path):
    forward = (np.arange(6) + 1) % 6
    ring = cogmap.TableWorld(
        next_position=np.stack([forward, np.argsort(forward)], axis=1),
        observation=np.array([0, 1, 2, 0, 1, 3]),
        num_observations=4,
    )
    save_walks(path, cogmap.sample_walks(ring, 60, 40, np.random.default_rng(0))[0])
    return path


def test_a_training_is_watched_and_its_server_ends_with_it(tmp_path):
    """The address is told before the training, the run is seen while it trains, and nothing stays behind."""
    walks = ring_walks(tmp_path / "ring.npz")
    small = ["width=48", "head_width=48", "num_codes=60", "batch_size=32", "window=20", "validate_every=25"]
    told = [
        sys.executable,
        "-m",
        "cogmap",
        "learn",
        str(walks),
        "--out",
        str(tmp_path / "watched"),
        "--serve",
    ]
    told += ["--encoder", "gru", "--steps", "150", "--json", "--change", *small]
    process = subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=QUIET)
    try:
        line = process.stderr.readline()
        assert line.startswith("watch it at http://127.0.0.1:")
        address, seen = address_in(line), set()
        while process.poll() is None:
            try:
                seen.add(get(f"{address}api/live")["state"])
            except OSError:
                break
            time.sleep(0.1)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    assert seen & {"waiting", "training"}
    assert json.loads(out)["nodes"] > 0
    with suppress(OSError):  # nobody answers, or by now another test's server has the port
        assert get(f"{address}api/run")["folder"] != "watched"


def test_a_killed_training_leaves_no_server(tmp_path):
    walks = ring_walks(tmp_path / "ring.npz")
    told = [sys.executable, "-m", "cogmap", "learn", str(walks), "--out", str(tmp_path / "run"), "--serve"]
    process = subprocess.Popen(told, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=QUIET)
    address = address_in(process.stderr.readline())
    assert get(f"{address}api/live")["problems"] == []
    process.kill()
    process.communicate()
    for _ in range(100):
        try:
            get(f"{address}api/live")
            time.sleep(0.1)
        except OSError:
            return
    pytest.fail("the server outlived the training that it was beside")
