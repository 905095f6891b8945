"""`cogmap compare` on a small log of a machine, and the cells of the bench."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments.chance import from_probabilities
from cogmap.environments.machines import MachineWorld, load_machine
from cogmap.errors import BadConfig, BadOutput
from cogmap.experiments.cell_rows import METHODS, merge_table, read_table
from cogmap.experiments.cell_scores import exactness, scores_of
from cogmap.experiments.cells import Cell, CellJob, attempt_cell, measure, read_cell
from cogmap.experiments.comparison import LogData, compare, cut, default_sizes, table_lines
from cogmap.experiments.worlds import WORLDS, WorldData, bench_cells, never_made, unseen_moves
from cogmap.hmm.states import count_states
from cogmap.maps.store import save_map
from cogmap.records import TableWorld, Walks
from cogmap.tasks.states import map_of_states
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    world = MachineWorld(load_machine("coffee_mealy"))
    walks, _ = sample_walks(world, 60, 15, np.random.default_rng(0))
    test, truth = sample_walks(world, 20, 15, np.random.default_rng(1))
    save_walks(folder / "log.npz", walks)
    save_walks(folder / "test.npz", test)
    save_truth(folder / "test.npz", truth)
    return folder


def cell_of(folder, method, steps=900):
    data = LogData(folder / "log.npz", folder / "test.npz", steps)
    return Cell("log.npz", steps, 0, method, 1.0, data, folder / "cells" / method, "a command")


@pytest.mark.parametrize("method", ["edsm", "ngram"])
def test_a_cell_has_its_figures_and_a_record(folder, method):
    if method == "edsm":
        pytest.importorskip("aalpy")
    cell = cell_of(folder, method)
    row = measure(cell)
    assert read_cell(cell) == json.loads(json.dumps(row))
    assert row["accuracy"] > 0.95
    assert row["ceiling"] == 1
    if method == "edsm":
        assert row["exact"] is True
        assert row["optimal"] == row["distinction_recall"] == row["compression_precision"] == 1
        assert row["detours"] > 0.9


def test_a_method_that_cannot_take_a_log_has_a_note_and_dashes(folder):
    walks, _ = sample_walks(WORLDS["room-6x8"](0), 10, 50, np.random.default_rng(0))
    save_walks(folder / "room.npz", walks)
    data = LogData(folder / "room.npz", folder / "room.npz", 500)
    row = measure(Cell("room", 500, 0, "rpni", 1.0, data, folder / "cells" / "room", "a command"))
    assert row["accuracy"] is None
    assert "begin in one known state" in row["note"]
    lines = table_lines([row])
    assert lines[-1].startswith("rpni: --method rpni needs logs")
    assert " -" in lines[1] or lines[1].rstrip().endswith("-") or "rpni" in lines[1]


def test_a_missing_extra_is_a_note_and_is_tried_again(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "aalpy", None)
    cell = cell_of(folder, "alergia")
    outcome = attempt_cell(CellJob(cell.as_trial))
    assert outcome.failed == '--method alergia needs AALpy: pip install "cogmap[automata]"'
    assert read_cell(cell) is None


def test_of_a_network_and_its_map_the_one_that_predicts_more_is_scored(folder, tmp_path):
    import cogmap

    walks, test, _ = LogData(folder / "log.npz", folder / "test.npz", 900).load()
    run = cogmap.learn(walks, tmp_path, steps=3, quiet=True)
    assert run.map.explained > run.map.model_accuracy  # three steps teach a network nothing
    row = scores_of(run, walks, test, None)
    assert row["predictor"] == "map"
    assert row["accuracy"] > 0.9
    save_map(tmp_path / "map.npz", replace(run.map, model_accuracy=1.0))
    assert scores_of(cogmap.load_run(tmp_path), walks, test, None)["predictor"] == "network"


def test_a_world_with_chance_is_known_when_its_probabilities_are():
    """Of two places one action leads to either: a map with these shares is exact, with others it is not."""
    moves = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    world = from_probabilities(moves, np.array([0, 1]))
    walks, truth = sample_walks(world, 50, 40, np.random.default_rng(0))
    found = map_of_states(count_states(truth.positions, walks, 2), walks)
    position = found.node_observation
    assert exactness(found, position, walks, truth)
    sure = replace(found, edge_probability=np.where(found.edge_target == 0, 0.9, 0.1))
    assert not exactness(sure, position, walks, truth)
    assert not exactness(found, np.zeros(2, dtype=int), walks, truth)


def test_compare_writes_a_table_and_two_pictures_and_resumes(folder, tmp_path, capsys):
    words = ["compare", str(folder / "log.npz"), "--test", str(folder / "test.npz"), "--methods", "ngram"]
    words += ["--out", str(tmp_path / "out"), "--jobs", "1", "--sizes", "300", "900"]
    assert main(words) == 0
    assert "predicted" in capsys.readouterr().out
    assert {path.suffix for path in (tmp_path / "out").iterdir()} >= {".csv", ".png"}
    rows = read_table(tmp_path / "out" / "comparison.csv")
    assert [row["steps"] for row in rows] == ["300", "900"]
    assert main(words) == 0
    assert "2 of 2 cells are measured already" in capsys.readouterr().out
    assert main([*words, "--minutes", "3"]) == 2
    assert "it holds another: give --out" in capsys.readouterr().err


def test_wrong_words_are_refused_before_anything_is_learned(folder, tmp_path):
    log, test = folder / "log.npz", folder / "test.npz"
    with pytest.raises(BadConfig, match=r"a method must be one of .*, got 'cscgg', did you mean cscg\?"):
        compare(log, test, tmp_path / "a", methods=["cscgg"])
    with pytest.raises(BadConfig, match=r"`sizes` must be from 2 to the 900 steps of the log, got 901"):
        compare(log, test, tmp_path / "a", sizes=[901])
    with pytest.raises(BadConfig, match=r"`minutes` must be above 0"):
        compare(log, test, tmp_path / "a", minutes=0)
    with pytest.raises(BadOutput, match="must be a new folder"):
        compare(log, test, folder)
    assert not (tmp_path / "a").exists()


def test_a_log_is_cut_after_whole_walks_or_within_the_only_one():
    walks = Walks(np.zeros((3, 5), dtype=int), np.zeros((3, 4), dtype=int), np.array([5, 3, 4]), 1, 1)
    assert cut(walks, 8).num_walks == 2
    assert cut(walks, 12).num_walks == 3
    assert cut(walks, 3).lengths.tolist() == [3]
    assert default_sizes(16_000) == [1000, 4000, 16_000]
    assert default_sizes(1000) == [250, 1000]


def test_rows_take_the_place_of_those_with_their_key(tmp_path):
    row = {"log": "a", "steps": 10, "seed": 0, "method": "tdb", "accuracy": 0.5}
    merge_table(tmp_path / "t.csv", [row, {**row, "method": "cscg"}])
    rows = merge_table(tmp_path / "t.csv", [{**row, "accuracy": 0.75}])
    assert [(each["method"], str(each["accuracy"])) for each in rows] == [("tdb", "0.75"), ("cscg", "0.5")]


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_of_the_bench_gives_a_log(name):
    walks, test, truth = WorldData(name, 1200, 0).load()
    assert abs(int(walks.lengths.sum()) - 1200) <= 400
    assert truth is not None
    assert test.num_observations == walks.num_observations


def test_moves_that_a_log_never_makes_are_counted():
    assert unseen_moves("room-6x8", 10_000, 0) == 0
    assert unseen_moves("coffee_mealy", 60, 0) == 0  # its two states have two moves each
    ring = TableWorld(np.array([[1, 0], [2, 1], [0, 2]]), np.array([0, 0, 1]), 2)
    walks, truth = sample_walks(ring, 1, 2, np.random.default_rng(0))
    assert never_made(ring, truth.positions, walks) == 5


def test_the_bench_refuses_a_world_that_it_does_not_have(tmp_path):
    cells = bench_cells(("maze",), tuple(METHODS), (10_000,), 2, 1.0, tmp_path)
    assert len(cells) == 2 * len(METHODS)
    assert len({cell.folder for cell in cells}) == len(cells)
    with pytest.raises(BadConfig, match=r"a world must be one of .*, got 'mase'"):
        bench_cells(("mase",), ("tdb",), (10_000,), 1, 1.0, tmp_path)


def test_the_figures_of_a_map_are_those_of_its_truth(folder):
    """A clone-structured graph of a world that it can learn is scored without truth, too."""
    import cogmap

    walks, test, _ = LogData(folder / "log.npz", folder / "test.npz", 900).load()
    run = cogmap.learn(walks, method="cscg", clones=4, restarts=1, quiet=True)
    row = scores_of(run, walks, test, None)
    assert set(row) == {"accuracy", "log_loss", "predictor", "states"}
