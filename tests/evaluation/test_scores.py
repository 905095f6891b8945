"""All scores: of a perfect model, of one that merges places, of a baseline without a map, and from a file."""

import dataclasses

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadRun, BadWalks
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.scores import Scores, score, score_by_rollouts, score_without_map
from cogmap.planning.localise import nodes_by_code
from cogmap.planning.rollouts import read_by_steps
from cogmap.records import Codes
from cogmap.walks.sample import sample_walks

ROOM = AliasedRoom(5, 6)
WALKS, TRUTH = sample_walks(ROOM, 30, 60, np.random.default_rng(0))
PERFECT = Codes(TRUTH.positions[:, :, None], WALKS.lengths, ROOM.num_positions)


def scores_of(cognitive_map, codes=PERFECT, **settings):
    return score(cognitive_map, codes, WALKS.observations[:, 1:], WALKS, TRUTH, context_length=10, **settings)


def test_a_perfect_model():
    by_code = nodes_by_code(true_map(ROOM), PERFECT)
    # It takes a fraction of a second.
    scores = scores_of(true_map(ROOM), networkx_timeout=60.0, nodes=by_code)
    assert (scores.test_accu, scores.imp_fallback, scores.ratio_sp, scores.norm_ged) == (1.0, 1.0, 1.0, 0.0)
    assert (scores.constrained_imp_fallback, scores.constrained_ratio_sp) == (1.0, 1.0)
    assert (scores.optimal, scores.constrained_optimal) == (1.0, 1.0)
    assert (scores.nodes, scores.positions, scores.problems, scores.exact) == (30, 30, 30, True)
    assert (scores.purity, scores.places_covered, scores.nodes_per_place, scores.located) == (1, 1, 1, 1)
    assert scores.norm_ged_networkx == 0.0
    assert 0.8 < scores.ceiling < 1
    assert scores.constrained_mean_optimal_length >= scores.mean_optimal_length
    printed = scores.printed()
    assert printed["TestAccu"] == "100.00 %"
    assert printed["RatioSP"] == "1.000"
    assert "valid candidates" not in printed


def test_a_map_that_merges_two_places_plans_along_shortcuts_that_do_not_exist():
    right = true_map(ROOM)
    alike = np.flatnonzero(ROOM.observation == ROOM.observation[0])[[0, -1]]
    merged = np.where(np.arange(30) == alike[1], alike[0], np.arange(30))
    wrong = dataclasses.replace(
        right,
        edge_probability=None,
        edge_imagined=None,
        edge_source=merged[right.edge_source],
        edge_target=merged[right.edge_target],
        code_node=merged,
    )
    scores = scores_of(wrong)
    assert scores.imp_fallback < 1
    assert scores.exact is False
    there = (TRUTH.positions == alike[1]).sum()
    assert 0 < there < (TRUTH.positions == alike[0]).sum()
    assert scores.purity == pytest.approx(1 - there / TRUTH.positions.size)
    # The corner's four edges are wrong at one node and missing at the other, which stands for no place.
    assert scores.norm_ged == (4 + 4 + 1) / (2 * 30 + 2 * 98)


def test_scores_are_saved_and_loaded(tmp_path):
    scores = dataclasses.replace(scores_of(true_map(ROOM)), warnings=("thin ice",))
    scores.save(tmp_path / "scores.json")
    assert Scores.load(tmp_path / "scores.json") == scores
    (tmp_path / "other.json").write_text('{"test_accu": 1.0, "zest": 2}')
    with pytest.raises(BadRun, match="`zest` must not be there"):
        Scores.load(tmp_path / "other.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(BadRun, match="must hold scores"):
        Scores.load(tmp_path / "list.json")


class PerfectPredictor:
    """Knows the room, and starts every rollout from a given position."""

    class Places:
        def __init__(self, at):
            self.at = at

        def rows(self, index):
            return PerfectPredictor.Places(self.at[index])

    def __init__(self, start):
        self.start = start

    def begin(self, observations, actions):
        return PerfectPredictor.Places(self.start[: len(observations)])

    def predict(self, state, actions):
        at = ROOM.next_position[state.at, actions]
        return np.eye(ROOM.num_observations)[ROOM.observation[at]], PerfectPredictor.Places(at)

    def advance(self, state, observations):
        return state

    def read(self, state, actions, observations):
        return read_by_steps(self, state, actions, observations)


def test_a_baseline_that_predicts_perfectly_finds_valid_but_long_paths():
    right = PerfectPredictor(TRUTH.positions[:, 9])
    settings = {"context_length": 10, "problems": 30, "rollouts": 20, "rows_at_once": 10_000}
    scores = score_without_map(right, WALKS.observations[:, 1:], WALKS, TRUTH, **settings)
    assert scores.valid_share < scores.valid_share_with_tail
    assert scores.imp_fallback > 0.8
    assert scores.ratio_sp > 1.2
    assert scores.norm_ged is None
    lost = PerfectPredictor((TRUTH.positions[:, 9] + 7) % 30)
    poor = score_without_map(lost, WALKS.observations[:, 1:], WALKS, TRUTH, **settings)
    assert poor.valid_share_with_tail < scores.valid_share_with_tail
    assert poor.ratio_sp > 2 * scores.ratio_sp


def test_fewer_rollouts_are_the_first_of_many():
    right, shares = PerfectPredictor(TRUTH.positions[:, 9]), []
    settings = {"context_length": 10, "problems": 30, "rows_at_once": 47}
    told = (right, WALKS.observations[:, 1:], WALKS, TRUTH)
    found = score_by_rollouts(*told, (20, 1, 5), **settings, shown=shares.append)
    assert found[20] == score_without_map(*told, rollouts=20, **settings)
    assert found[1].imp_fallback < found[5].imp_fallback < found[20].imp_fallback
    assert found[1].ratio_sp > found[20].ratio_sp
    assert found[1].test_accu == found[20].test_accu
    assert {scores.context_length for scores in found.values()} == {10}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_records_must_belong_together():
    short = Codes(PERFECT.codes[:, :-1], np.full(30, 59), 30)
    with pytest.raises(
        BadWalks, match=r"codes must have the walks' shape \(B, N\) = \(30, 60\), got \(30, 59\)"
    ):
        scores_of(true_map(ROOM), short)
