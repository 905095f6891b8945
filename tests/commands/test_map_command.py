"""`cogmap map`: a run's map rebuilt, built of other walks, and written for other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import networkx
import numpy as np
import pytest

import cogmap
from cogmap.cli import main
from cogmap.maps.store import load_map
from cogmap.records import CognitiveMap
from cogmap.walks.store import save_walks


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with walks on a ring of four places, and a run that learned them."""
    folder = tmp_path_factory.mktemp("ring")
    on = np.array([1, 2, 3, 0])
    world = cogmap.TableWorld(np.stack([on, np.argsort(on)], axis=1), np.array([0, 1, 0, 2]), 3)
    walks, _ = cogmap.sample_walks(world, 80, 30, np.random.default_rng(0))
    save_walks(folder / "walks.npz", walks)
    change = {"width": 32, "head_width": 32, "num_codes": 40, "batch_size": 32, "window": 15}
    cogmap.learn(walks, folder / "run", encoder="gru", steps=200, **change, quiet=True, device="cpu")
    return folder


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return "".join(capsys.readouterr())


def test_map_is_rebuilt_from_walks(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = load_map(place / "run" / "map.npz")
    assert main(["map", str(place / "run"), "--walks", str(place / "walks.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == before.num_nodes == 4


def edges_of(found: CognitiveMap) -> set[tuple[int, int, str]]:
    ends = zip(
        found.edge_source.tolist(), found.edge_target.tolist(), found.edge_action.tolist(), strict=True
    )
    return {(source, target, str(action)) for source, target, action in ends}


def from_graphml(path: Path) -> set[tuple[int, int, str]]:
    graph = networkx.read_graphml(path, node_type=int, force_multigraph=True)
    return {(source, target, data["label"]) for source, target, data in graph.edges(data=True)}


def from_dot(path: Path) -> set[tuple[int, int, str]]:
    found = re.findall(r'^  (\d+) -> (\d+) \[label="(.*)", ', path.read_text(), re.MULTILINE)
    return {(int(source), int(target), label) for source, target, label in found}


def from_json(path: Path) -> set[tuple[int, int, str]]:
    return {(edge["source"], edge["target"], edge["label"]) for edge in json.loads(path.read_text())["edges"]}


READERS = {
    ".npz": lambda path: edges_of(load_map(path)),
    ".graphml": from_graphml,
    ".dot": from_dot,
    ".json": from_json,
}


@pytest.mark.parametrize("suffix", READERS)
def test_map_is_written_for_other_programs(
    place: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = place / f"map{suffix}"
    assert main(["map", str(place / "run"), "--out", str(out)]) == 0
    assert READERS[suffix](out) == edges_of(load_map(place / "run" / "map.npz"))
    assert "4 nodes" in told(capsys)
    assert main(["map", str(place / "run"), "--out", str(out)]) == 2
    assert "exists; add --force" in told(capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "run"], "there is nothing to do"),
        (["map", "run", "--engine", "ray", "--out", "m.npz"], "`--engine ray` counts walks: give --walks"),
        (["map", "nowhere", "--out", "x.json"], "there is no folder nowhere"),
        (["map", "run", "--out", "map.png"], "an exported map must end in"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    place: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    assert main(arguments) == 2
    line = capsys.readouterr().err
    assert message in line
    assert line.count("\n") == 1
