"""Runs by other methods: clone-structured graphs and automata. A hidden Markov model, and no network.

Such a run folder has states.npz in place of model.safetensors, and a map like any other. A step's code is the state in
which the model believes to be, so planning, scores, reports and the explorer read these runs as they read any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from cogmap.baselines.cscg import CloneOptions, learn_clones
from cogmap.errors import BadConfig, BadOutput
from cogmap.files import write_json
from cogmap.hmm.inference import expect, predict
from cogmap.hmm.states import StateCounts
from cogmap.maps.build import minimal_record, with_rewards
from cogmap.maps.store import save_map, save_states
from cogmap.maps.trust import HeldOut, Trust, hold_out, trust
from cogmap.records import CognitiveMap, Walks
from cogmap.runs.names import CONFIG_FILE, FORMAT, MAP_FILES, STATES_FILE, Method
from cogmap.version import __version__

Tell = Callable[[str], None]
_MOST_CHOICE = 2**31 - 1
_NAMES = {"rpni": "RPNI", "edsm": "EDSM", "alergia": "IOAlergia"}


def learn_states(walks: Walks, folder: Path, method: Method, choices: Mapping[str, Any], tell: Tell) -> None:
    """Learn by another method than TDB, and write the run folder."""
    if any((folder / name).exists() for name in (CONFIG_FILE, STATES_FILE)):
        raise BadOutput(f"the run folder must be new or empty, {folder} is not: give another --out")
    choices = _checked(choices, method)
    held = hold_out(walks, np.zeros(walks.observations.shape, dtype=np.int64), None)
    counts, name = _learned(held, method, choices, tell)
    if not counts.num_states:
        raise BadConfig(f"{name} found no state that a walk visits: give it fewer clones, or longer walks")
    record = map_of_states(counts, walks, trust(counts, held).by_map)
    save_states(folder / STATES_FILE, expect(counts, walks).counts)
    save_map(folder / MAP_FILES["minimal"], record)
    _save_config(folder, walks, method, name, choices)  # last: with it, the folder is a run


def map_of_states(counts: StateCounts, walks: Walks, explained: float | None = None) -> CognitiveMap:
    """The map of walks under a hidden Markov model: a node for each of its states.

    explained: the share of held-out observations that the model predicts; by default of these.
    """
    final, number = expect(counts, walks), np.arange(counts.num_states)
    if explained is None:
        known = walks.step_mask()[:, 1:]
        explained = float((predict(counts, walks)[1] == walks.observations[:, 1:])[known].mean())
    record = minimal_record(number[:, None], number, final.counts, walks, Trust(explained, None, ()))
    return with_rewards(record, walks, final.path)


def _learned(
    held: HeldOut, method: Method, choices: Mapping[str, Any], tell: Tell
) -> tuple[StateCounts, str]:
    if method == "cscg":
        graph = learn_clones(held.kept, held.apart, CloneOptions(**choices), tell)
        return graph.counts, f"CSCG({graph.clones} clones)"
    from cogmap.baselines.automata import learn_automaton

    return learn_automaton(held.kept, method, choices.get("minutes")), _NAMES[method]


def _checked(choices: Mapping[str, Any], method: Method) -> dict[str, Any]:
    """The choices that were made, as numbers: words of a command line among them."""
    known = [field.name for field in fields(CloneOptions)] if method == "cscg" else ["minutes", "seed"]
    made = {name: value for name, value in choices.items() if value is not None}
    for name, value in made.items():
        if name not in known:
            raise BadConfig(f"--method {method} has the options {', '.join(known)}, got `{name}`")
        try:
            made[name] = float(value) if name == "minutes" else int(value)
        except (TypeError, ValueError, OverflowError):
            raise BadConfig(f"`{name}` must be a number, got {value!r:.60}") from None
        least = 0 if name in ("seed", "minutes") else 1
        if not least <= made[name] <= _MOST_CHOICE:  # nor is NaN
            raise BadConfig(f"`{name}` must be from {least} to {_MOST_CHOICE}, got {made[name]!s:.60}")
    return made


def _save_config(folder: Path, walks: Walks, method: Method, name: str, choices: Mapping[str, Any]) -> None:
    assert method in get_args(Method)
    sizes = {"num_observations": walks.num_observations, "num_actions": walks.num_actions}
    training = {name: choices[name] for name in ("seed", "minutes") if name in choices}
    stored = {
        "format": FORMAT,
        "cogmap": __version__,
        "task": "places",
        "method": method,
        "name": name,
        "model": {**sizes, "num_targets": walks.num_observations},
        "training": training,
        "observation_labels": walks.observation_labels,
        "action_labels": walks.action_labels,
        "walks": walks.num_walks,
    }
    write_json(folder / CONFIG_FILE, stored)
