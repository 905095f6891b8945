"""Automata learned from logs with a known start, through AALpy: RPNI, EDSM and IOAlergia.

They merge states of the tree of all logs. RPNI and EDSM merge what does not contradict itself, so one wrong observation
misleads them; IOAlergia compares shares, and takes chance. An automaton with outputs on its moves (Mealy) or on its
states (Moore) becomes what every other map here is made from: states with counts.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from cogmap.errors import BadConfig, MissingExtra
from cogmap.hmm.states import StateCounts, count_states
from cogmap.records import Walks

LEARNERS = ("rpni", "edsm", "alergia")
INSTALL_LINE = 'pip install "cogmap[automata]"'
INSTEAD = "use --method cscg, or leave out --method"
_EPSILON = 0.05  # of IOAlergia's Hoeffding test, AALpy's default


def learn_automaton(walks: Walks, method: str, minutes: float | None = None) -> StateCounts:
    """The states of the automaton that `method` finds, with what the walks count in them."""
    check_start(walks, method)
    try:
        import aalpy  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"--method {method} needs AALpy: {INSTALL_LINE}") from error
    mealy = outputs_on_moves(walks)
    root = _merged(_traces(walks, mealy), method, mealy, minutes)
    path = np.full(walks.observations.shape, -1, dtype=np.int64)
    number: dict[tuple[Any, int], int] = {}
    for walk, length in enumerate(walks.lengths.tolist()):
        seen = walks.observations[walk, :length].tolist()
        nodes = _followed(root, walks.actions[walk, : length - 1].tolist(), seen)
        # The last output is part of a state: a map has what is seen at its nodes.
        path[walk, : len(nodes)] = [
            number.setdefault((id(node), shown), len(number))
            for node, shown in zip(nodes, seen, strict=False)
        ]
    return count_states(path, walks, len(number))


def outputs_on_moves(walks: Walks) -> bool:
    """Whether all walks begin with an observation that none shows later: then it stands for the start alone."""
    start = walks.observations[0, 0]
    later = walks.observations[:, 1:][walks.step_mask()[:, 1:]]
    return bool((walks.observations[:, 0] == start).all() and (later != start).all())


def check_start(walks: Walks, method: str) -> None:
    """Refuse logs that do not all begin in one state; for RPNI and EDSM also logs in which chance shows."""
    begins = np.unique(walks.observations[:, 0])
    if len(begins) > 1:
        rule = f"--method {method} needs logs that begin in one known state"
        raise BadConfig(f"{rule}, these begin with {len(begins)} different observations: {INSTEAD}")
    if method == "alergia":
        return
    histories, conflicts = _conflicts(walks)
    if conflicts:
        rule = f"--method {method} needs logs from one known start and without chance"
        found = f"{conflicts} of {histories} repeated histories continue in several ways"
        raise BadConfig(f"{rule}, {found}: {INSTEAD}, or --method alergia if only chance is at work")


def _conflicts(walks: Walks) -> tuple[int, int]:
    """How many histories from the start, with the next action, are repeated, and how many continue differently."""
    history = np.zeros(walks.num_walks, dtype=np.int64)
    repeated = differing = 0
    for step in range(walks.num_steps - 1):
        alive = np.flatnonzero(walks.lengths > step + 1)
        key = history[alive] * walks.num_actions + walks.actions[alive, step]
        _, asked, times = np.unique(key, return_inverse=True, return_counts=True)
        if not (times > 1).any():
            break
        following = asked.reshape(-1) * walks.num_observations + walks.observations[alive, step + 1]
        distinct, history_next = np.unique(following, return_inverse=True)
        ways = np.bincount(distinct // walks.num_observations, minlength=len(times))
        repeated += int((times > 1).sum())
        differing += int((ways > 1).sum())
        history[alive] = history_next.reshape(-1)
    return repeated, differing


def _traces(walks: Walks, mealy: bool) -> list[list[Any]]:
    """As AALpy reads them: pairs of input and output, after the first output where it belongs to a state."""
    traces = []
    for walk, length in enumerate(walks.lengths.tolist()):
        done, seen = walks.actions[walk, : length - 1].tolist(), walks.observations[walk, :length].tolist()
        traces.append([*([] if mealy else seen[:1]), *zip(done, seen[1:], strict=True)])
    return traces


def _followed(root: Any, actions: list[int], seen: list[int]) -> list[Any]:
    """The node of each step, as far as the automaton goes."""
    nodes = [root]
    for action, shown in zip(actions, seen[1:], strict=True):
        following = nodes[-1].transitions.get(action, {}).get(shown)
        if following is None:
            break
        nodes.append(following)
    return nodes


def _merged(traces: list[list[Any]], method: str, mealy: bool, minutes: float | None) -> Any:
    """The root of AALpy's merged tree."""
    from aalpy.learning_algs import run_GSM
    from aalpy.learning_algs.general_passive.DataHandler import CountOnPTADataHandler
    from aalpy.learning_algs.general_passive.GsmNode import GsmNode
    from aalpy.learning_algs.general_passive.ScoreFunctionsGSM import (
        ScoreIOAlergiaWithEDSM,
        SimpleScoreCalculation,
    )

    shared = {
        "output_behavior": "mealy" if mealy else "moore",
        "data_format": "io_traces",
        "convert": False,
        "instrumentation": _deadline(method, minutes),
    }
    if method == "alergia":
        score = ScoreIOAlergiaWithEDSM(_EPSILON, True, True, False)
        handler = CountOnPTADataHandler()
        return run_GSM(
            traces, transition_behavior="stochastic", data_handler=handler, score_calc=score, **shared
        )
    evidence = {"score_function": _evidence} if method == "edsm" else {}
    score = SimpleScoreCalculation(local_compatibility=GsmNode.deterministic_compatible, **evidence)
    return run_GSM(traces, transition_behavior="deterministic", score_calc=score, **shared)


def _evidence(part: dict[Any, Any]) -> int:
    """How many nodes fall together: the score of EDSM, where every output is known."""
    return sum(times - 1 for times in Counter(map(id, part.values())).values())


def _deadline(method: str, minutes: float | None) -> Any:
    """Ends a search that takes too long; an unfinished automaton says nothing."""
    from aalpy.learning_algs.general_passive.GeneralizedStateMerging import Instrumentation

    until = np.inf if minutes is None else time.monotonic() + 60 * minutes

    class Deadline(Instrumentation):
        def log_promote(self, node: Any) -> None:
            if time.monotonic() > until:
                raise BadConfig(f"--method {method} did not finish within {minutes:g} minutes: {INSTEAD}")

        def log_merge(self, part: Any) -> None:
            self.log_promote(None)

    return Deadline()
