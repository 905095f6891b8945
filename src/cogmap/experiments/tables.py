"""The paper's tables as data: which worlds, which models, which sizes."""

from __future__ import annotations

from collections.abc import Callable

from cogmap.environments.cube import AliasedCube
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import default_base
from cogmap.experiments.families import Families, RuleFamilies
from cogmap.experiments.ginc import Ginc
from cogmap.experiments.ladder import METHOD, Ladder, Rung
from cogmap.experiments.places import Places
from cogmap.experiments.trials import Kind
from cogmap.report.paper_rows import GINC_METHODS, ICL_METHODS

VANILLA = ("Vanilla transformer", "Vanilla LSTM")
CLONES = "TDB(S=3, M=1), clones"


def _room(observations: int) -> Callable[[int], AliasedRoom]:
    """The paper's room, by seed."""
    return lambda seed: AliasedRoom(height=15, width=20, observations=observations, seed=seed)


def _small_room(seed: int) -> AliasedRoom:
    return AliasedRoom(height=6, width=8, observations=4, seed=seed)


# The fast preset's size and windows in the small room, so that rungs differ in what they name alone.
_SIZE = {"width": 64, "layers": 3, "heads": 4, "mlp_width": 128, "window": 100, "context_length": 50}
_PRINTED = {"bottleneck_mean": False, "dictionary_start": "normal", "output_norm": True}
_AS_READ = {"bottleneck_mean": True, "dictionary_start": "uniform", "output_norm": False}
_MUON: dict[str, float | None] = {
    "muon_rate": 0.02,
    "learning_rate": 2e-3,
    "second_moment": 0.99,
    "clip": 1.0,
}
_MUON |= {"dropout": 0.0, "bfloat16": None}  # products in lower precision where the processor has them
_DECAY = {"decays": True, "warm_up": 50, "hold_out": True}
_AVERAGES = {"dictionary": "averages", "projected": True, "bottleneck_mean": False, "output_norm": True}
RUNGS = (
    Rung("the paper's, its loss summed over D, entries from a normal", _SIZE | _PRINTED, 580),
    Rung("mean over D, small entries, no LayerNorm", _AS_READ, 600),
    Rung("one token a step", {"alternating": False}, 1460),
    Rung("attention by path", {"attention": "path"}, 1540),
    Rung("Muon, decaying rate, no dropout", _MUON | _DECAY, 1610),
    Rung("dictionary by averages", _AVERAGES | {"revival": False}, 1840),
    Rung("revival of dead entries", {"revival": True}, 1840),
    Rung("annealed bottleneck", {"bottleneck_from": 1500}, 1840),
    Rung("GRU", {}, 4620, preset="fast", encoder="gru"),
)

TABLES: dict[str, Kind] = {
    "small-room": Places(
        "6x8 room, O=4, 3x3 patch twice",
        _small_room,
        ("TDB(S=3, M=1)", "TDB(S=1, M=1)"),
        walks=512,
        test_walks=512,
    ),
    "ladder": Ladder(
        "6x8 room, O=4, 3x3 patch twice", _small_room, (METHOD,), walks=512, test_walks=512, rungs=RUNGS
    ),
    "short-windows": Places(
        "6x8 room, O=4, 3x3 patch twice, windows of 24 steps",
        _small_room,
        ("TDB(S=3, M=1)", "TDB(S=3, M=4)"),
        walks=512,
        test_walks=512,
        change={"window": 24, "context_length": 24},
    ),
    "table-1": Places(
        "15x20 room, O=4, 4x4 patch twice",
        _room(4),
        (*VANILLA, "TDB(S=1, M=1)", "TDB(S=1, enc, M=1)", "TDB(S=3, M=1)", "TDB(S=3, M=4)", CLONES),
    ),
    "table-12-colours": Places(
        "15x20 room, O=12, 4x4 patch twice",
        _room(12),
        ("TDB(S=1, M=4)", "TDB(S=1, enc, M=4)", "TDB(S=3, M=1)", "TDB(S=3, M=4)"),
    ),
    "table-cube": Places(
        "cube of edge 6, O=12",
        lambda seed: AliasedCube(edge=6, observations=12, seed=seed),
        ("TDB(S=1, enc, M=1)", "TDB(S=3, M=1)"),
    ),
    "table-3d": Places(
        "3D room of 9x9 m seen through the agent's eyes, 128 clusters of views",
        lambda seed: EgocentricRoom(seed=seed),
        (*VANILLA, "TDB(S=1, enc, M=1)", "TDB(S=3, M=1)", CLONES, "TDB(S=1, enc, M=4)", "TDB(S=3, M=4)"),
    ),
    "table-3d-aliased": Places(  # where a cluster says less about the place, as in the paper's rooms
        "3D room of 9x9 m seen through the agent's eyes, 32 clusters of views",
        lambda seed: EgocentricRoom(seed=seed),
        ("Vanilla LSTM", "TDB(S=3, M=1)", "TDB(S=3, M=4)"),
        change={"clusters": 32},
    ),
    "noise": Places(
        "15x20 room, O=4, 10 % of the training observations random",
        _room(4),
        ("TDB(S=3, M=1)",),
        noise=0.1,
    ),
    "ginc": Ginc(GINC_METHODS),
    "ginc-heads": Ginc(GINC_METHODS[2:], change={"code_logits": False}),  # TDBs with the paper's heads alone
    "icl": Families(
        ICL_METHODS,
        lambda seed: default_base(seed=seed),
        colours=30,
        training_rooms=(200, 1000, 10_000),
        test_rooms=512,
        training_walks=8092,
    ),
    "icl-small": Families(
        ICL_METHODS,
        lambda seed: AliasedRoom(height=4, width=5, observations=3, patch=2, seed=seed),
        colours=12,
        training_rooms=(20, 100, 1000),
        test_rooms=64,
        training_walks=4096,
        change={"width": 128, "num_codes": 200, "steps": 3000},
        beside_paper=False,
    ),
    "icl-rule": RuleFamilies(
        ("TDB(S=3, M=4)",),
        lambda seed: default_base(seed=seed),
        colours=30,
        training_rooms=(5000,),
        test_rooms=512,
        training_walks=8092,
    ),
}
