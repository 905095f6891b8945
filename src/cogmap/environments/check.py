"""The rules that every world must follow, for users who write their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.environments.chance import moves_of
from cogmap.environments.oracle import reachable_from, unreachable_by
from cogmap.errors import BadWorld
from cogmap.records import ChanceWorld, TableWorld


def check_environment(world: TableWorld) -> None:
    """Raise `BadWorld` with the first rule that `world` breaks.

    The record's own checks (shapes, ranges, labels) run again, because a subclass may have bypassed them.
    """
    if not isinstance(world, TableWorld):
        raise BadWorld(f"a world must be a TableWorld, got {type(world).__name__}")
    kind = ChanceWorld if isinstance(world, ChanceWorld) else TableWorld
    kind(**{name: getattr(world, name) for name in kind.__dataclass_fields__})
    _check_frozen(world)
    _check_illegal_moves(world)
    _check_coordinates(world)
    _check_reachable(world)


def _check_reachable(world: TableWorld) -> None:
    """By all moves that may happen. Where walks have a start, as in a machine, it need not be reachable again."""
    source, action, target, _, _ = moves_of(world)
    taken = world.legal_actions()[source, action]
    source, target = source[taken], target[taken]
    if world.start_probability is not None:
        lost = np.flatnonzero(~reachable_from(world.start_probability > 0, source, target))
        if lost.size:
            rule = "every position must be reachable from where walks start"
            raise BadWorld(f"{rule}, no route leads to position {lost[0]}")
        return
    stranded = unreachable_by(source, target, world.num_positions)
    if stranded is not None:
        start, goal = stranded
        rule = "every position must be reachable from every other"
        raise BadWorld(f"{rule}, no route leads from position {start} to position {goal}")


def _check_frozen(world: TableWorld) -> None:
    """If tables could change, walks and truth recorded earlier would no longer match the world."""
    for name in ("next_position", "observation", "legal", "coordinates", "start_probability"):
        array: Any = getattr(world, name)
        if array is not None and array.flags.writeable:
            raise BadWorld(f"`{name}` must be read-only, got a writeable array")


def _check_illegal_moves(world: TableWorld) -> None:
    """An illegal action leaves the agent in place, so that every table means the same."""
    stays = world.next_position == np.arange(world.num_positions)[:, None]  # (P, A)
    if isinstance(world, ChanceWorld):
        strays = world.move_target != world.move_source
        stays = stays.copy()
        stays[world.move_source[strays], world.move_action[strays]] = False
    wrong = np.argwhere(~world.legal_actions() & ~stays)
    if wrong.size:
        position, action = wrong[0].tolist()
        target = world.next_position[position, action]
        rule = "an illegal action must stay in place"
        raise BadWorld(f"{rule}, action {action} leads from position {position} to {target}")


def _check_coordinates(world: TableWorld) -> None:
    if world.coordinates is None:
        return
    if not np.isfinite(world.coordinates).all():
        raise BadWorld("`coordinates` must be finite, got NaN or infinity")
    distinct, times = np.unique(world.coordinates, axis=0, return_counts=True)
    if (times > 1).any():
        twice = tuple(distinct[times > 1][0].tolist())
        raise BadWorld(f"`coordinates` must be distinct, got {twice} more than once")
