"""The truth of a walks file, in `<name>.truth.npz`: positions and the world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.files import read_arrays, write_arrays
from cogmap.records import ChanceWorld, Integers, Labels, TableWorld, Truth, Walks
from cogmap.walks.npz import Arrays, integer_array, label_arrays, read_labels, read_size
from cogmap.walks.store import prefix_errors
from cogmap.walks.vocabulary import vocabulary_size

_SUFFIX = ".truth.npz"
_CHANCE = {  # the arrays of a world with chance in it, and what they hold
    **dict.fromkeys(("move_source", "move_action", "move_target"), ("iu", "integers")),
    **dict.fromkeys(("move_probability", "move_reward", "observation_probability"), ("f", "numbers")),
}


def truth_path(walks_path: str | Path) -> Path:
    """`room.truth.npz` for `room.npz`, `room.jsonl` and `room.csv`; the path of a truth file is returned unchanged."""
    path = Path(walks_path)
    return path if path.name.endswith(_SUFFIX) else path.with_name(path.stem + _SUFFIX)


def save_truth(
    walks_path: str | Path, truth: Truth, rooms: Integers | None = None, positions: bool = True
) -> Path:
    """Write the truth of the walks at `walks_path`.

    rooms: (B,), for walks in a family of rooms.
    positions: false for a log that is too long to keep them: the truth is then the world alone.
    """
    world = truth.world
    arrays: dict[str, NDArray[Any]] = {
        **({"positions": truth.positions} if positions else {}),
        "next_position": world.next_position,
        "observation": world.observation,
        "num_observations": np.array(world.num_observations),
        "name": np.array(world.name),
    }
    optional = {
        "legal": world.legal,
        "coordinates": world.coordinates,
        "start_probability": world.start_probability,
        **{name: getattr(world, name, None) for name in _CHANCE},
        "rooms": rooms,
    }
    arrays |= {name: array for name, array in optional.items() if array is not None}
    path = truth_path(walks_path)
    write_arrays(path, arrays | label_arrays(world.observation_labels, world.action_labels))
    return path


def load_truth(walks_path: str | Path, walks: Walks | None = None) -> Truth:
    """The truth of the walks at `walks_path`; checked against `walks` and in their vocabulary, if given.

    Walks from CSV, or walks read `like` others, may number labels differently from the world.
    """
    path = truth_path(walks_path)
    arrays = read_arrays(path, BadWalks)
    with prefix_errors(path):
        world = _world(arrays)
        if "positions" not in arrays and walks is not None and hasattr(walks, "starts"):
            rule = "the truth of a log drawn part by part is its world, without positions"
            raise BadWalks(f"{rule}: draw fewer walks with another --walk-seed, as .npz, to score on")
        positions = integer_array(arrays, "positions", 2)
        if walks is None:
            return Truth(positions, world)
        if positions.shape != walks.observations.shape:
            rule = f"`positions` must have the shape of the walks, {walks.observations.shape}"
            raise BadWalks(f"{rule}, got {positions.shape}")
        return Truth(positions, _in_vocabulary_of(walks, world))


def count_true_places(walks_path: str | Path) -> int:
    """The places of the true world of the walks at `walks_path`."""
    path = truth_path(walks_path)
    arrays = read_arrays(path, BadWalks)
    with prefix_errors(path):
        return _world(arrays).num_positions


def _world(arrays: Arrays) -> TableWorld:
    observation = integer_array(arrays, "observation", 1)
    observation_labels = read_labels(arrays, "observation_labels")
    size = vocabulary_size(read_size(arrays, "num_observations"), observation_labels, observation)
    fields: dict[str, Any] = {
        "next_position": integer_array(arrays, "next_position", 2),
        "observation": observation,
        "num_observations": size,
        "legal": _optional(arrays, "legal", "b", "booleans"),
        "coordinates": _coordinates(arrays),
        "observation_labels": observation_labels,
        "action_labels": read_labels(arrays, "action_labels"),
        "name": _name(arrays),
        "start_probability": _optional(arrays, "start_probability", "f", "numbers"),
    }
    if not arrays.keys() & _CHANCE.keys():
        return TableWorld(**fields)
    for name in ("move_source", "move_action", "move_target", "move_probability"):
        if name not in arrays:
            raise BadWalks(f"the truth of a world with chance must have `{name}`, got none")
    fields |= {name: _optional(arrays, name, *kind) for name, kind in _CHANCE.items()}
    return ChanceWorld(**fields)


def _coordinates(arrays: Arrays) -> NDArray[Any] | None:
    found = _optional(arrays, "coordinates", "fiu", "numbers")
    if found is not None and not np.isfinite(found).all():
        raise BadWalks("`coordinates` must be finite, got NaN or infinity")
    return found


def _name(arrays: Arrays) -> str:
    name = arrays.get("name", np.array("table"))
    if name.dtype.kind != "U" or name.ndim != 0:
        raise BadWalks(f"`name` must be a word, got {name.dtype} of shape {name.shape}")
    return str(name)


def _in_vocabulary_of(walks: Walks, world: TableWorld) -> TableWorld:
    """The world with its labels numbered as in the walks."""
    new_action = _new_numbers("action", world.action_labels, walks.action_labels)  # (A,)
    seen_labels = _with_unseen(world.observation_labels, walks.observation_labels)
    new_observation = _new_numbers("observation", world.observation_labels, seen_labels)  # (O,)
    if new_action is not None:
        columns = np.argsort(new_action)
        legal = None if world.legal is None else world.legal[:, columns]
        changed: dict[str, Any] = {"next_position": world.next_position[:, columns], "legal": legal}
        if isinstance(world, ChanceWorld):
            changed["move_action"] = new_action[world.move_action]
        world = replace(world, **changed, action_labels=walks.action_labels)
    if new_observation is not None:
        changed = {"observation": new_observation[world.observation]}
        if isinstance(world, ChanceWorld) and world.observation_probability is not None:
            changed["observation_probability"] = world.observation_probability[:, np.argsort(new_observation)]
        world = replace(world, **changed, observation_labels=seen_labels)
    return world


def _with_unseen(of_world: Labels | None, of_walks: Labels | None) -> Labels | None:
    """The walks' labels and then those that were never seen, which a file without a vocabulary does not have."""
    if of_world is None or of_walks is None:
        return of_walks
    return (*of_walks, *(label for label in of_world if label not in set(of_walks)))


def _new_numbers(kind: str, of_world: Labels | None, of_walks: Labels | None) -> Integers | None:
    """The walks' number for each label of the world; None if they agree or one of them has no labels."""
    if of_world is None or of_walks is None or of_world == of_walks:
        return None
    if set(of_world) != set(of_walks):
        odd = min(set(of_world) ^ set(of_walks))
        raise BadWalks(f"the {kind} labels must be those of the walks, only one of them has {odd!r:.60}")
    number = {label: index for index, label in enumerate(of_walks)}
    return np.array([number[label] for label in of_world], dtype=np.int32)


def _optional(arrays: Arrays, name: str, kinds: str, what: str) -> NDArray[Any] | None:
    array = arrays.get(name)
    if array is not None and array.dtype.kind not in kinds:
        raise BadWalks(f"`{name}` must hold {what}, got dtype {array.dtype}")
    return array
