"""From walks in many rooms of a family to one model that maps a new room from a few walks there.

Training in base (section 4.5): what is foretold is the rank of the next observation among those seen so far, which
means the same in every room. What the encoder knows an observation by decides how many rooms and steps that takes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.records import CognitiveMap, Integers, Walks
from cogmap.walks.family import base_targets, observations_in_a_room, room_of_each_walk

if TYPE_CHECKING:
    from cogmap.run import Run

Names = Literal["auto", "none", "seen", "plain"]

# What the encoder knows an observation by: nothing (models/slot_encoder.py); its name, and the names of all that the
# walk has shown (models/seen_set_encoder.py); its name alone, as in the paper.
NAMES: dict[Names, dict[str, Any]] = {
    "none": {"nameless": True},
    "seen": {"seen_so_far": True, "present_weight": 1.0},
    "plain": {},
}
MOST_NAMELESS = 16  # observations in a room: each has a slot, and each slot costs a recurrent network

# What learned new rooms soonest in short trials; `cogmap reproduce icl-small` shows what it comes to.
RECURRENT: dict[str, Any] = {
    "batch_size": 48,
    "fresh_share": 0.3,
    "steps": 40_000,
    "bottleneck_from": 40_000,
    "validate_every": 200,
}
TRANSFORMER: dict[str, Any] = RECURRENT | {
    "batch_size": 32,
    "window": 100,
    "attention_span": 100,
    "fresh_share": 1.0,
}
ATLAS_FILE = "atlas.npz"
ATLAS_WALKS = 10_000  # that it is made from, at the most; each of many code tuples must have been met often


def rooms_for(path: str | Path) -> Integers:
    """(B,): the room of each of the walks in a file."""
    rooms = room_of_each_walk(path)
    if rooms is None:
        raise BadWalks(
            f"{path} must say which room each walk is of, in an array `rooms` (B,) of the .npz file"
        )
    return rooms


def learn_family(
    walks: Walks,
    rooms: Integers,
    out: str | Path,
    *,
    names: Names = "auto",
    resume: bool = False,
    **choices: Any,
) -> Run:
    """Train on walks in many rooms, `rooms` (B,) saying which, into the run folder `out`; `choices` are `learn`'s,
    with a GRU unless told.

    names: what the encoder knows an observation by, see `NAMES`; "auto" is what `chosen_names` says.
    """
    from cogmap.learning import learn

    if len(np.unique(rooms)) < 2:
        raise BadWalks(
            "a family must have at least 2 rooms, the walks are all of one: learn it without --family"
        )
    most = observations_in_a_room(walks, rooms)
    if most == walks.num_observations:
        rule = f"a room of a family must show fewer observations than there are (={walks.num_observations})"
        raise BadWalks(f"{rule}, one shows {most}")
    change = dict(choices.pop("change", None) or {})
    steps = choices.pop("steps", None)
    encoder, preset = choices.setdefault("encoder", "gru"), choices.get("preset", "fast")
    known_by = chosen_names(names, encoder, preset, most)
    if preset == "fast":
        ours = TRANSFORMER if encoder == "transformer" else RECURRENT
        change = {**ours, **NAMES[known_by], **change, **({} if steps is None else {"steps": steps})}
    run = learn(
        walks,
        out,
        targets=base_targets(walks),
        num_targets=most,
        rooms=rooms,
        steps=steps,
        change={"in_base": True, **change},
        resume=resume,
        **choices,
    )
    write_atlas(run, walks)
    return run


def chosen_names(names: Names, encoder: str, preset: str, observations: int) -> Names:
    """What an encoder knows observations by, where a room shows at most so many different ones.

    "auto" is "none" where that can be, with a GRU, and "seen" otherwise; the paper's preset has plain names.
    """
    if preset == "paper":
        if names not in ("auto", "plain"):
            raise BadConfig(f"`names` must be plain in the preset paper, got {names!r}")
        return "plain"
    if names != "auto":
        return names
    return "none" if encoder == "gru" and observations <= MOST_NAMELESS else "seen"


def write_atlas(run: Run, walks: Walks) -> None:
    """What the codes of a family's run stand for, from walks in its training rooms; see `maps/atlas.py`."""
    from cogmap.maps.atlas import build_atlas
    from cogmap.maps.store import save_map
    from cogmap.models.tdb import TDB

    if isinstance(run.model, TDB) and run.model.bottlenecks.ready:
        some = walks.rows(slice(0, ATLAS_WALKS))
        codes, _ = run.encode(some)
        save_map(run.folder / ATLAS_FILE, build_atlas(codes, some, run.config.num_targets))


def load_atlas(run: Run) -> CognitiveMap:
    from cogmap.maps.store import load_map

    path = run.folder / ATLAS_FILE
    if not path.is_file():
        rule = f"a family's run must hold {ATLAS_FILE}, {run.folder} does not yet"
        raise BadRun(f"{rule}: go on with `cogmap learn --family --resume`")
    return load_map(path)


def new_room_map(run: Run, walks: Walks, kind: str = "minimal") -> CognitiveMap:
    """The map of a room that the run's model has never been trained in, from walks there and nowhere else.

    "minimal" knows the family's atlas, and so the places and moves that the walks did not come by. "paper" is made of
    the walks' codes alone.
    """
    from cogmap.maps.atlas import room_map
    from cogmap.maps.build import build_map
    from cogmap.planning.localise import nodes_by_code

    check_new_room(run, walks)
    codes, _ = run.encode(walks)
    if kind == "minimal":
        atlas = load_atlas(run)
        found = room_map(atlas, nodes_by_code(atlas, codes), codes, walks)
    else:
        found = build_map(codes, walks, kind=kind)
    shown = len(np.unique(walks.observations[walks.step_mask()]))
    if shown == run.config.num_targets:
        return found
    doubt = (
        f"the walks show {shown} of the {run.config.num_targets} observations that rooms of the family have"
    )
    return replace(found, warnings=(*found.warnings, f"{doubt}: more of the room may be unseen"))


def check_new_room(run: Run, walks: Walks) -> None:
    """Walks that a family's model can map: of its vocabulary, and of no more observations than its rooms have."""
    if not run.config.in_base:
        raise BadRun(f"a run must be of a family of rooms to map a new one, {run.folder} is not")
    run.check_walks(walks)
    shown = len(np.unique(walks.observations[walks.step_mask()]))
    if shown > run.config.num_targets:
        rule = f"a room of this family must show at most {run.config.num_targets} different observations"
        raise BadWalks(f"{rule}, these walks show {shown}: are they of one room?")


def one_room(walks: Walks, rooms: Integers | None, room: int | None) -> Walks:
    """The walks of one room, where a file has the walks of several."""
    if rooms is None:
        if room is not None:
            raise BadConfig("`--room` needs walks that say which room each is of, these do not")
        return walks
    names = np.unique(rooms)
    if room is None and len(names) > 1:
        raise BadConfig(
            f"the walks must be of one room, these are of {len(names)}: give --room, such as {names[0]}"
        )
    if room is not None and room not in names:
        raise BadConfig(
            f"`--room` must be one of the walks' {len(names)} rooms, {names[0]} to {names[-1]}, got {room}"
        )
    return walks if room is None else walks.rows(np.flatnonzero(rooms == room))
