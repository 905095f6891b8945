"""The paper's own results, transcribed from its tables. Where it prints a spread, each mean stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Mean(NamedTuple):
    """A mean and its spread, in the units that the paper prints."""

    value: float
    spread: float


@dataclass(frozen=True)
class PaperRow:
    """One method in one table. NormGED is None for the methods that have no map."""

    method: str
    test_accu: Mean  # percent
    imp_fallback: Mean  # percent
    ratio_sp: Mean
    norm_ged: Mean | None


@dataclass(frozen=True)
class PaperTable:
    """One table, by the label that it has in the paper's source."""

    label: str
    world: str
    rows: tuple[PaperRow, ...]

    def row(self, method: str) -> PaperRow | None:
        return next((row for row in self.rows if row.method == method), None)


def _row(
    method: str,
    test_accu: tuple[float, float],
    imp_fallback: tuple[float, float],
    ratio_sp: tuple[float, float],
    norm_ged: tuple[float, float] | None = None,
) -> PaperRow:
    ged = None if norm_ged is None else Mean(*norm_ged)
    return PaperRow(method, Mean(*test_accu), Mean(*imp_fallback), Mean(*ratio_sp), ged)


ALIASED_ROOM = PaperTable(
    label="table:aliased",
    world="ten 15x20 rooms, 4 observations",
    rows=(
        _row("Vanilla transformer", (99.00, 0.01), (29.53, 0.75), (16.82, 0.92)),
        _row("Vanilla LSTM", (98.85, 0.01), (31.97, 0.66), (16.81, 0.83)),
        _row("TDB(S=1, M=1)", (98.94, 0.05), (6.61, 0.53), (1.00, 0.00), (0.532, 0.005)),
        _row("TDB(S=1, enc, M=1)", (98.74, 0.04), (99.20, 0.20), (1.00, 0.00), (0.118, 0.022)),
        _row("TDB(S=3, M=1)", (99.06, 0.01), (99.55, 0.13), (1.00, 0.00), (0.124, 0.019)),
        _row("TDB(S=3, M=4)", (99.00, 0.01), (96.59, 0.15), (1.00, 0.00), (0.186, 0.018)),
    ),
)

ALIASED_ROOM_12 = PaperTable(
    label="table:aliased_appendix",
    world="ten 15x20 rooms, 12 observations",
    rows=(
        _row("Vanilla transformer", (99.75, 0.00), (29.89, 0.94), (17.45, 0.57)),
        _row("Vanilla LSTM", (99.75, 0.00), (29.89, 0.94), (17.45, 0.57)),
        _row("TDB(S=1, M=1)", (89.46, 2.48), (17.31, 4.52), (1.00, 0.00), (0.265, 0.053)),
        _row("TDB(S=1, M=4)", (99.75, 0.00), (59.37, 3.93), (1.00, 0.00), (0.033, 0.002)),
        _row("TDB(S=1, enc, M=1)", (92.57, 3.04), (58.21, 10.98), (1.00, 0.00), (0.145, 0.038)),
        _row("TDB(S=1, enc, M=4)", (99.71, 0.00), (96.58, 2.13), (1.01, 0.00), (0.157, 0.016)),
        _row("TDB(S=3, M=1)", (99.33, 0.01), (97.09, 2.06), (1.00, 0.00), (0.157, 0.010)),
        _row("TDB(S=3, M=4)", (99.73, 0.01), (99.75, 0.14), (1.01, 0.00), (0.160, 0.017)),
    ),
)

ALIASED_CUBE = PaperTable(
    label="table:aliased_cube",
    world="ten cubes of edge 6, 12 observations",
    rows=(
        _row("Vanilla transformer", (99.76, 0.00), (43.82, 1.17), (22.74, 0.84)),
        _row("Vanilla LSTM", (99.76, 0.00), (43.82, 1.17), (22.74, 0.84)),
        _row("TDB(S=1, enc, M=1)", (99.36, 0.06), (99.07, 0.88), (1.02, 0.00), (0.334, 0.016)),
        _row("TDB(S=3, M=1)", (99.76, 0.00), (99.05, 0.23), (1.03, 0.00), (0.304, 0.011)),
    ),
)

EGOCENTRIC_ROOM = PaperTable(
    label="table:agix_room",
    world="ten simulated 3D rooms, 128 clusters of views",
    rows=(
        _row("Vanilla transformer", (99.80, 0.00), (26.60, 0.58), (16.38, 0.87)),
        _row("Vanilla LSTM", (99.79, 0.00), (26.85, 0.58), (16.38, 0.87)),
        _row("TDB(S=1, enc, M=1)", (72.88, 2.86), (2.85, 1.33), (1.32, 0.21), (0.733, 0.082)),
        _row("TDB(S=3, M=1)", (58.51, 1.43), (1.35, 0.27), (1.35, 0.13), (0.946, 0.007)),
        _row("TDB(S=1, enc, M=4)", (99.79, 0.01), (97.55, 0.42), (1.03, 0.01), (0.005, 0.001)),
        _row("TDB(S=3, M=4)", (99.79, 0.00), (99.95, 0.05), (1.02, 0.00), (0.017, 0.004)),
    ),
)

PAPER_TABLES = (ALIASED_ROOM, ALIASED_ROOM_12, ALIASED_CUBE, EGOCENTRIC_ROOM)


# Training steps until the accuracy on the training walks is above 98 % (table:appendix_faster_trainig_aliased).
TRAINING_ABOVE_98 = {
    "TDB(S=1, M=1)": Mean(9400, 290),
    "TDB(S=1, M=4)": Mean(4300, 145),
    "TDB(S=1, enc, M=1)": Mean(9300, 425),
    "TDB(S=1, enc, M=4)": Mean(4500, 158),
    "TDB(S=3, M=1)": Mean(8300, 284),
    "TDB(S=3, M=4)": Mean(4000, 0),
}
# Training accuracy after 1,000 steps in 3D rooms, per cent (table:appendix_faster_trainig_agix).
TRAINING_AFTER_1K = {
    "TDB(S=1, M=1)": Mean(41.40, 0.09),
    "TDB(S=1, M=4)": Mean(99.72, 0.03),
    "TDB(S=1, enc, M=1)": Mean(40.81, 0.93),
    "TDB(S=1, enc, M=4)": Mean(99.71, 0.04),
    "TDB(S=3, M=1)": Mean(28.05, 1.88),
    "TDB(S=3, M=4)": Mean(99.63, 0.06),
}
# Training steps until 98 % of the best training accuracy on GINC (table:appendix_faster_trainig_ginc).
GINC_TRAINING_ABOVE_98 = {
    "TDB(S=1, M=1)": 16_000,
    "TDB(S=1, M=4)": 6000,
    "TDB(S=3, M=1)": 13_000,
    "TDB(S=3, M=4)": 5000,
    "TDB(S=5, M=1)": 11_000,
    "TDB(S=5, M=4)": 5000,
}


def paper_table(world_name: str | None, num_observations: int) -> PaperTable | None:
    """The paper's table on worlds of this kind; None for a world of which it has none, or that is not known."""
    if world_name == "cube":
        return ALIASED_CUBE
    if world_name == "room3d":
        return EGOCENTRIC_ROOM
    if world_name == "room":
        return ALIASED_ROOM_12 if num_observations > 8 else ALIASED_ROOM
    return None


# In-context learning: what models reached in new rooms, by the number of rooms that they were trained on.
ICL_ROOMS = (200, 500, 1000, 2000, 5000, 10_000)
ICL_METHODS = ("Vanilla LSTM", "Vanilla transformer", "TDB(S=3, M=4)", "TDB(S=1, enc, M=4)")

# By metric and method, one value for each of ICL_ROOMS. The paper heads the shares with a % sign and prints fractions.
ICL: dict[str, dict[str, tuple[float, ...]]] = {
    "test_accu": {
        "Vanilla LSTM": (0.508, 0.741, 0.899, 0.919, 0.848, 0.924),
        "Vanilla transformer": (0.426, 0.595, 0.864, 0.977, 0.985, 0.985),
        "TDB(S=3, M=4)": (0.38, 0.461, 0.568, 0.868, 0.974, 0.977),
        "TDB(S=1, enc, M=4)": (0.379, 0.481, 0.58, 0.8, 0.784, 0.912),
    },
    "imp_fallback": {
        "Vanilla LSTM": (0.005, 0.148, 0.382, 0.447, 0.312, 0.305),
        "Vanilla transformer": (0.002, 0.007, 0.189, 0.725, 0.809, 0.771),
        "TDB(S=3, M=4)": (0.038, 0.05, 0.115, 0.690, 0.964, 0.970),
        "TDB(S=1, enc, M=4)": (0.032, 0.064, 0.124, 0.495, 0.605, 0.782),
    },
    "ratio_sp": {
        "Vanilla LSTM": (51.79, 29.73, 25.52, 27.01, 24.79, 24.27),
        "Vanilla transformer": (34.79, 45.26, 26.14, 25.98, 24.53, 25.13),
        "TDB(S=3, M=4)": (1.46, 1.17, 1.18, 1.07, 1.01, 1.01),
        "TDB(S=1, enc, M=4)": (1.33, 1.27, 1.20, 1.11, 1.06, 1.01),
    },
    "norm_ged": {
        "TDB(S=3, M=4)": (0.707, 0.658, 0.579, 0.164, 0.019, 0.017),
        "TDB(S=1, enc, M=4)": (0.723, 0.660, 0.602, 0.29, 0.294, 0.118),
    },
}

# In-context accuracy in rooms that break the rule R never, once, twice and always.
ICL_RULE = {"A": 0.9805, "B": 0.5697, "C": 0.5025, "D": 0.4620}

# GINC (table:appendix_ginc): in-context accuracies as fractions, with their standard errors.
GINC_METHODS = ("Vanilla LSTM", "Vanilla transformer", "TDB(S=3, M=4)", "TDB(S=5, M=1)")

# For each (k, n), tokens of an example and complete examples, a pair for each of GINC_METHODS.
_GINC: dict[tuple[int, int], tuple[tuple[float, float], ...]] = {
    (3, 0): ((0.426, 0.01), (0.502, 0.01), (0.426, 0.01), (0.284, 0.009)),
    (3, 1): ((0.369, 0.01), (0.488, 0.01), (0.464, 0.01), (0.369, 0.01)),
    (3, 2): ((0.387, 0.01), (0.538, 0.01), (0.554, 0.01), (0.443, 0.01)),
    (3, 4): ((0.394, 0.01), (0.553, 0.01), (0.588, 0.01), (0.526, 0.01)),
    (3, 8): ((0.386, 0.01), (0.595, 0.01), (0.618, 0.01), (0.549, 0.01)),
    (3, 16): ((0.39, 0.01), (0.631, 0.01), (0.655, 0.01), (0.574, 0.01)),
    (3, 32): ((0.38, 0.01), (0.633, 0.01), (0.67, 0.009), (0.618, 0.01)),
    (3, 64): ((0.377, 0.01), (0.651, 0.01), (0.676, 0.009), (0.646, 0.01)),
    (5, 0): ((0.692, 0.009), (0.805, 0.008), (0.777, 0.008), (0.656, 0.01)),
    (5, 1): ((0.742, 0.009), (0.822, 0.008), (0.853, 0.007), (0.768, 0.008)),
    (5, 2): ((0.754, 0.009), (0.831, 0.008), (0.857, 0.007), (0.802, 0.008)),
    (5, 4): ((0.749, 0.009), (0.841, 0.007), (0.905, 0.006), (0.872, 0.007)),
    (5, 8): ((0.761, 0.009), (0.847, 0.007), (0.901, 0.006), (0.882, 0.006)),
    (5, 16): ((0.756, 0.009), (0.871, 0.007), (0.922, 0.005), (0.908, 0.006)),
    (5, 32): ((0.767, 0.008), (0.871, 0.007), (0.926, 0.005), (0.915, 0.006)),
    (5, 64): ((0.758, 0.009), (0.88, 0.006), (0.924, 0.005), (0.917, 0.006)),
    (8, 0): ((0.849, 0.007), (0.881, 0.006), (0.895, 0.006), (0.816, 0.008)),
    (8, 1): ((0.869, 0.007), (0.888, 0.006), (0.93, 0.005), (0.899, 0.006)),
    (8, 2): ((0.869, 0.007), (0.886, 0.006), (0.93, 0.005), (0.917, 0.006)),
    (8, 4): ((0.877, 0.007), (0.897, 0.006), (0.933, 0.005), (0.936, 0.005)),
    (8, 8): ((0.873, 0.007), (0.897, 0.006), (0.935, 0.005), (0.94, 0.005)),
    (8, 16): ((0.875, 0.007), (0.916, 0.006), (0.942, 0.005), (0.95, 0.004)),
    (8, 32): ((0.862, 0.007), (0.909, 0.006), (0.948, 0.004), (0.956, 0.004)),
    (8, 64): ((0.883, 0.006), (0.92, 0.005), (0.952, 0.004), (0.955, 0.004)),
    (10, 0): ((0.878, 0.007), (0.888, 0.006), (0.915, 0.006), (0.858, 0.007)),
    (10, 1): ((0.889, 0.006), (0.898, 0.006), (0.93, 0.005), (0.926, 0.005)),
    (10, 2): ((0.878, 0.007), (0.901, 0.006), (0.938, 0.005), (0.935, 0.005)),
    (10, 4): ((0.902, 0.006), (0.904, 0.006), (0.936, 0.005), (0.945, 0.005)),
    (10, 8): ((0.881, 0.006), (0.906, 0.006), (0.947, 0.004), (0.956, 0.004)),
    (10, 16): ((0.882, 0.006), (0.908, 0.006), (0.934, 0.005), (0.947, 0.004)),
    (10, 32): ((0.889, 0.006), (0.918, 0.005), (0.946, 0.005), (0.96, 0.004)),
    (10, 64): ((0.89, 0.006), (0.911, 0.006), (0.941, 0.005), (0.956, 0.004)),
}


def ginc_accuracy(method: str, length: int, examples: int) -> Mean | None:
    """What the paper prints for a model and a kind of prompt, if it does."""
    row = _GINC.get((length, examples))
    return Mean(*row[GINC_METHODS.index(method)]) if row is not None and method in GINC_METHODS else None


def best_ginc_accuracy(length: int, examples: int) -> Mean | None:
    """The best of the paper's four models for a kind of prompt."""
    row = _GINC.get((length, examples))
    return None if row is None else Mean(*max(row))
