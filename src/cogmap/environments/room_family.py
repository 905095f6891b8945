"""Rooms that share one partition and differ in colours: the in-context problem of the paper's section 4.5.

A room of the family is an injective map from the O sets of the partition to the colours. Let i_1, ..., i_O be
the sets in the order of their colours, lowest first. The rule R of the last appendix is "i_k is not k, for
every k": set k never has the room's k-th lowest colour. The number of k with i_k = k is how often a room *breaks* R.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.room import AliasedRoom, Bump
from cogmap.errors import BadConfig, BadWorld
from cogmap.records import Integers, TableWorld, Walks

FamilyRooms = Literal["train", "test", "restricted", "A", "B", "C", "D"]
MAX_SETS = 8  # all O! orders of the sets are listed


@dataclass(frozen=True, eq=False)
class RoomFamily:
    """Many rooms with one partition. Sample walks in `base`, which shows the sets, then `paint` them.

    `family.paint(walks, rooms)` gives the observations of the same routes in the given rooms.
    """

    base: AliasedRoom  # its observation is the index of the set that a position belongs to, in [0, O)
    colours: Integers  # (R, O) the colour of each set in each room
    num_colours: int

    def __post_init__(self) -> None:
        colours = np.array(self.colours, dtype=np.int32)
        if colours.ndim != 2 or colours.shape[1] != self.base.num_observations:
            rule = f"`colours` must have shape (R, O) with O = {self.base.num_observations}"
            raise BadWorld(f"{rule}, got {colours.shape}")
        if colours.size and (colours.min() < 0 or colours.max() >= self.num_colours):
            raise BadWorld(
                f"`colours` must be in [0, {self.num_colours}), got {colours.min()} to {colours.max()}"
            )
        if (np.diff(np.sort(colours, axis=1), axis=1) == 0).any():
            raise BadWorld("`colours` must differ within a room: the map from sets to colours is injective")
        colours.flags.writeable = False
        object.__setattr__(self, "colours", colours)

    def __len__(self) -> int:
        return self.colours.shape[0]

    @property
    def partition(self) -> Integers:
        """(P,): the set that each position belongs to, in [0, O)."""
        return self.base.observation

    def room(self, index: int) -> TableWorld:
        """One room of the family as a world of `num_colours` observations."""
        if not 0 <= index < len(self):
            raise BadWorld(f"`index` must be in [0, {len(self)}), got {index}")
        return TableWorld(
            next_position=self.base.next_position,
            observation=self.colours[index][self.partition],
            num_observations=self.num_colours,
            legal=self.base.legal,
            coordinates=self.base.coordinates,
            action_labels=self.base.action_labels,
            name=f"room {index} of a family",
        )

    def paint(self, walks: Walks, rooms: NDArray[np.integer]) -> Walks:
        """Walks in `base` with the colours of `rooms` (B,): the same routes, other observations."""
        if walks.num_observations != self.base.num_observations:
            rule = f"walks to paint must show the {self.base.num_observations} sets of the partition"
            raise BadWorld(f"{rule}, got {walks.num_observations} observations")
        rooms = np.asarray(rooms)
        if rooms.shape != (walks.num_walks,):
            raise BadWorld(f"`rooms` must have shape (B,) = {(walks.num_walks,)}, got {rooms.shape}")
        if rooms.min() < 0 or rooms.max() >= len(self):
            raise BadWorld(f"`rooms` must be in [0, {len(self)}), got {rooms.min()} to {rooms.max()}")
        seen = self.colours[rooms[:, None], walks.observations]  # (B, N)
        return replace(
            walks,
            observations=np.where(walks.step_mask(), seen, 0),
            num_observations=self.num_colours,
            observation_labels=None,
        )

    def breaks(self) -> Integers:
        """(R,): how often each room breaks the rule R."""
        order = np.argsort(self.colours, axis=1)  # (R, O) i_1, ..., i_O, 0-based
        return (order == np.arange(order.shape[1])).sum(axis=1).astype(np.int32)


def room_families(
    train_rooms: int = 10_000,
    test_rooms: int = 512,
    base: AliasedRoom | None = None,
    num_colours: int = 30,
    seed: int = 0,
) -> tuple[RoomFamily, RoomFamily]:
    """Disjoint training and test rooms over one partition, by default that of the paper's 6 x 8 room."""
    base = default_base(seed=seed) if base is None else base
    rng = np.random.default_rng([seed, num_colours])
    orders = _orders(base.num_observations)
    train, test = _draw_colours(rng, [train_rooms, test_rooms], orders, num_colours)
    return RoomFamily(base, train, num_colours), RoomFamily(base, test, num_colours)


def restricted_families(
    train_rooms: int = 5_000,
    test_rooms: int = 512,
    base: AliasedRoom | None = None,
    num_colours: int = 30,
    seed: int = 0,
) -> Mapping[str, RoomFamily]:
    """Training rooms that follow the rule R, and new test rooms that break it 0, 1, 2 and O times.

    Returns: the families "train", "A", "B", "C" and "D".
    """
    base = default_base(seed=seed) if base is None else base
    rng = np.random.default_rng([seed, num_colours])
    orders = _orders(base.num_observations)
    broken = (orders == np.arange(base.num_observations)).sum(axis=1)  # (Q,)
    train, unbroken = _draw_colours(rng, [train_rooms, test_rooms], orders[broken == 0], num_colours)
    drawn = {"train": train, "A": unbroken}
    for name, times in [("B", 1), ("C", 2), ("D", base.num_observations)]:
        (drawn[name],) = _draw_colours(rng, [test_rooms], orders[broken == times], num_colours)
    return {name: RoomFamily(base, colours, num_colours) for name, colours in drawn.items()}


def choose_family(
    rooms: FamilyRooms = "train",
    train_rooms: int | None = None,
    test_rooms: int = 512,
    colours: int = 30,
    height: int = 6,
    width: int = 8,
    observations: int = 4,
    patch: int | None = None,
    bump: Bump = "stay",
    seed: int = 0,
) -> RoomFamily:
    """One family by name: "train" or "test" of `room_families`, or "A" to "D" of `restricted_families`, whose training
    rooms are "restricted".

    train_rooms: by default 10,000, or 5,000 for the restricted families.
    """
    plain = rooms in ("train", "test")
    train_rooms = train_rooms if train_rooms is not None else (10_000 if plain else 5_000)
    if train_rooms < 1 or test_rooms < 1:
        raise BadConfig(f"`train_rooms` (={train_rooms}) and `test_rooms` (={test_rooms}) must be at least 1")
    base = AliasedRoom(height, width, observations, patch, bump=bump, seed=seed)
    if plain:
        return room_families(train_rooms, test_rooms, base, colours, seed)[rooms == "test"]
    families = restricted_families(train_rooms, test_rooms, base, colours, seed)
    return families["train" if rooms == "restricted" else rooms]


def default_base(bump: Bump = "stay", seed: int = 0) -> AliasedRoom:
    """The paper's partition: 6 x 8 cells in 4 sets, with a 3 x 3 patch that occurs twice."""
    return AliasedRoom(height=6, width=8, observations=4, patch=3, bump=bump, seed=seed)


def _orders(sets: int) -> Integers:
    """(O!, O): all orders i_1, ..., i_O of the sets."""
    if sets > MAX_SETS:
        raise BadWorld(f"a family's partition must have at most {MAX_SETS} sets, got {sets}")
    return np.array(list(permutations(range(sets))), dtype=np.int32)


def _draw_colours(
    rng: np.random.Generator, counts: list[int], orders: Integers, num_colours: int
) -> list[Integers]:
    """Colours of `counts` rooms, all different, uniform over the rooms whose sets have one of the `orders`."""
    sets = orders.shape[1]
    choices = comb(num_colours, sets)
    total = len(orders) * choices
    if min(counts) < 1 or sum(counts) > total:
        raise BadWorld(f"the number of rooms must be from 1 to all possible rooms (={total}), got {counts}")
    drawn = rng.choice(total, size=sum(counts), replace=False)  # (R,)
    order, ranked = orders[drawn // choices], _choose(drawn % choices, num_colours, sets)  # each (R, O)
    colours = np.empty_like(ranked)
    np.put_along_axis(colours, order, ranked, axis=1)  # set i_k gets the k-th lowest colour
    return np.split(colours, np.cumsum(counts)[:-1])


def _choose(number: NDArray[np.int_], num_colours: int, sets: int) -> Integers:
    """(R, O): the `number`-th choice of `sets` colours out of `num_colours`, each row ascending.

    In the combinatorial number system a choice c_1 < ... < c_O has the number C(c_1, 1) + ... + C(c_O, O).
    """
    chosen = np.empty((number.size, sets), dtype=np.int32)
    left = number.copy()
    for place in range(sets, 0, -1):
        counts = np.array([comb(colour, place) for colour in range(num_colours)])
        chosen[:, place - 1] = np.searchsorted(counts, left, side="right") - 1
        left -= counts[chosen[:, place - 1]]
    return chosen
