"""The paper's rows: found by the names that our models print."""

import pytest

from cogmap.models.config import ModelConfig
from cogmap.report.paper_rows import (
    ALIASED_CUBE,
    ALIASED_ROOM,
    ALIASED_ROOM_12,
    EGOCENTRIC_ROOM,
    PAPER_TABLES,
    paper_table,
)


def model_name(**choices):
    return ModelConfig(num_observations=4, num_actions=4, num_targets=4, **choices).name


def test_every_row_is_a_model_of_ours():
    ours = {
        model_name(vanilla=True, prediction_steps=1, encoder=encoder) for encoder in ("transformer", "lstm")
    }
    ours |= {
        model_name(prediction_steps=steps, bottlenecks=bottlenecks, next_encoding=encoding)
        for steps in (1, 3)
        for bottlenecks in (1, 4)
        for encoding in (False, True)
    }
    assert {row.method for table in PAPER_TABLES for row in table.rows} <= ours


def test_a_row_by_name():
    assert ALIASED_ROOM.row("TDB(S=3, M=1)").imp_fallback == (99.55, 0.13)
    assert ALIASED_CUBE.row("TDB(S=3, M=4)") is None


def test_only_models_without_a_map_lack_a_distance():
    for table in PAPER_TABLES:
        assert all((row.norm_ged is None) == row.method.startswith("Vanilla") for row in table.rows)


@pytest.mark.parametrize(
    ("world", "observations", "table"),
    [
        ("room", 4, ALIASED_ROOM),
        ("room", 12, ALIASED_ROOM_12),
        ("cube", 12, ALIASED_CUBE),
        ("vending machine", 4, None),
        ("room3d", 128, EGOCENTRIC_ROOM),
    ],
)
def test_the_table_of_the_same_kind_of_world(world, observations, table):
    assert paper_table(world, observations) is table
