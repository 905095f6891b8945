"""What builds maps is compiled before a training with a limit, so that the map has its time."""

from __future__ import annotations

import numpy as np

import cogmap
from cogmap.hmm import passes, viterbi
from cogmap.maps import agreed, canonical, fold, opinions, rewire, traces
from cogmap.tasks.compiling import compile_map_building

_DISPATCHERS = [
    each
    for module in (agreed, canonical, fold, opinions, rewire, traces, passes, viterbi)
    for each in vars(module).values()
    if hasattr(each, "signatures")
]


def _signatures() -> int:
    return sum(len(each.signatures) for each in _DISPATCHERS)


def test_a_map_compiles_nothing_that_was_not_compiled_before() -> None:
    compile_map_building()
    before = _signatures()
    entrances = (
        canonical._join,
        fold._grow,
        fold._fold,
        fold._contradict,
        opinions._distances,
        rewire.repair,
        rewire._lead_all,
        agreed._few_contradict,
        passes.forward_backward,
    )
    # What these call is not loaded if it was compiled before.
    assert all(each.signatures for each in entrances)
    world = cogmap.random_machine(4, 2, 3, seed=0)
    walks, _ = cogmap.sample_walks(cogmap.MachineWorld(world), 60, 30, np.random.default_rng(0))
    cogmap.learn(walks, encoder="gru", steps=60, width=32, num_codes=40, quiet=True, device="cpu")
    assert _signatures() == before
