"""Logs of the kinds that people have, each with its truth: the examples of the documentation, made by one command.

    python examples/logs.py NAME --out FILE [--seed 0] [--steps 10000]

NAME is one of vending, robot, shop, elevator, minigrid, camera. Beside FILE (.csv, .jsonl or .npz) lies its truth,
which only `cogmap evaluate` reads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import cogmap
from cogmap.environments.table import GRID_ACTIONS, grid_coordinates, grid_moves
from cogmap.records import Integers, TableWorld, Truth, Walks

Log = tuple[Walks, Truth]
State = Hashable
Rules = Callable[[Any, str], State]


def world_of(
    first: State,
    actions: Sequence[str],
    moves: Rules,
    shows: Callable[[Any], str],
    name: str,
    offers: Callable[[Any, str], bool] = lambda state, action: True,
) -> TableWorld:
    """The states that are reached from the first one, as tables. offers: whether an action can be taken in a state."""
    states = [first]
    for state in states:  # grows while it is read
        reached = (moves(state, action) for action in actions if offers(state, action))
        states += dict.fromkeys(after for after in reached if after not in states)
    number = {state: index for index, state in enumerate(states)}
    labels = tuple(sorted({shows(state) for state in states}))
    start = np.zeros(len(states))
    start[0] = 1
    return TableWorld(
        next_position=np.array(
            [[number.get(moves(state, action), number[state]) for action in actions] for state in states]
        ),
        observation=np.array([labels.index(shows(state)) for state in states]),
        num_observations=len(labels),
        observation_labels=labels,
        action_labels=tuple(actions),
        legal=np.array([[offers(state, action) for action in actions] for state in states]),
        name=name,
        start_probability=start,
    )


def walked(world: TableWorld, steps: int, lengths: tuple[int, int], rng: np.random.Generator) -> Log:
    """Walks of random lengths, from the world's starts, with so many steps in all."""
    drawn: list[int] = []
    while sum(drawn) < steps:
        drawn.append(int(rng.integers(*lengths, endpoint=True)))
    walks, truth = cogmap.sample_walks(world, len(drawn), lengths[1], rng)
    sizes = np.array(drawn, dtype=np.int32)
    longest = int(sizes.max())
    kept = np.arange(longest) < sizes[:, None]
    cut = replace(
        walks,
        observations=np.where(kept, walks.observations[:, :longest], 0),
        actions=np.where(kept[:, 1:], walks.actions[:, : longest - 1], 0),
        lengths=sizes,
    )
    return cut, Truth(truth.positions[:, :longest], truth.world)


def vending(seed: int, steps: int, price: int = 0) -> Log:
    """A machine that keeps count of the coins to itself: the display says only when a drink can be had.

    Its states are the credit, and the drink in the tray.
    """
    rng = np.random.default_rng(seed)
    price = price or int(rng.integers(2, 11))

    def moves(credit: int, action: str) -> int:
        if action == "coin" and credit < price:
            return credit + 1
        if action == "button" and credit == price:
            return price + 1
        return 0 if action == "take" and credit > price else credit

    def shows(credit: int) -> str:
        return (
            "insert coins" if credit < price else "press the button" if credit == price else "take your drink"
        )

    world = world_of(0, ("coin", "button", "take"), moves, shows, "vending machine")
    return walked(world, steps, (40, 160), rng)


def vending_answers(seed: int, steps: int) -> Log:
    """The same kind of machine, of which the log has what came out of it: outputs on moves."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(4, 13))
    machine = cogmap.random_machine(states, 3, 3, seed=seed)
    return walked(cogmap.MachineWorld(machine), steps, (40, 160), rng)


def drawn_floor(rng: np.random.Generator, cells: int) -> Integers:
    """(H, W): a connected floor of so many cells, grown at random."""
    side = int(np.ceil(np.sqrt(cells))) + 2
    free = np.zeros((side, side), dtype=bool)
    free[side // 2, side // 2] = True
    while free.sum() < cells:
        row, column = rng.integers(0, side, size=2)
        near = [(row + down, column + right) for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        free[row, column] |= any(0 <= r < side and 0 <= c < side and free[r, c] for r, c in near)
    return free.astype(np.int32)


def robot(seed: int, steps: int, cells: int = 23, floors: int = 5) -> Log:
    """A robot that feels the floor under it, in rooms with a few kinds of floor."""
    rng = np.random.default_rng(seed)
    free = drawn_floor(rng, cells).astype(bool)
    names = ("carpet", "cork", "stone", "tiles", "wood")[:floors]
    world = TableWorld(
        next_position=grid_moves(free)[0],
        observation=rng.integers(len(names), size=cells),
        num_observations=len(names),
        coordinates=grid_coordinates(free),
        observation_labels=names,
        action_labels=GRID_ACTIONS,
        name="house",
    )
    return walked(world, steps, (20, 200), rng)


def own_eyes(seed: int, steps: int, cells: int = 12) -> Log:
    """A robot that turns and drives, and sees what is ahead of it: a wall, or the next floor."""
    rng = np.random.default_rng(seed)
    free = drawn_floor(rng, cells).astype(bool)
    kinds = rng.choice(["carpet", "tiles", "wood"], size=free.shape)
    ways = ((-1, 0), (0, 1), (1, 0), (0, -1))

    def ahead(state: tuple[int, int, int]) -> tuple[int, int] | None:
        row, column, heading = state
        row, column = row + ways[heading][0], column + ways[heading][1]
        inside = 0 <= row < free.shape[0] and 0 <= column < free.shape[1]
        return (row, column) if inside and free[row, column] else None

    def moves(state: tuple[int, int, int], action: str) -> tuple[int, int, int]:
        row, column, heading = state
        if action == "forward":
            return (*(ahead(state) or (row, column)), heading)
        return row, column, (heading + (1 if action == "right" else -1)) % 4

    def shows(state: tuple[int, int, int]) -> str:
        cell = ahead(state)
        return "wall" if cell is None else str(kinds[cell])

    first = (*(int(part) for part in np.argwhere(free)[0]), 0)
    world = world_of(first, ("forward", "left", "right"), moves, shows, "house")
    return walked(replace(world, start_probability=None), steps, (60, 300), rng)


def elevator(seed: int, steps: int, floors: int = 0) -> Log:
    """A car and its door: between the ground and the top all floors look alike."""
    rng = np.random.default_rng(seed)
    floors = floors or int(rng.integers(5, 9))

    def moves(state: tuple[int, bool], action: str) -> tuple[int, bool]:
        floor, is_open = state
        if action in ("open", "close"):
            return floor, action == "open"
        if is_open:
            return state
        return (min(floor + 1, floors - 1) if action == "up" else max(floor - 1, 0)), is_open

    def shows(state: tuple[int, bool]) -> str:
        floor, is_open = state
        lamp = "lobby" if floor == 0 else "roof" if floor == floors - 1 else "between"
        return f"{lamp}, open" if is_open else lamp

    world = world_of((0, False), ("up", "down", "open", "close"), moves, shows, "elevator")
    return walked(replace(world, start_probability=None), steps, (40, 120), rng)


def shop(seed: int, steps: int, most: int = 3) -> Log:
    """Sessions in a web shop: the page shows neither the number of things in the cart nor whether one is logged in."""
    rng = np.random.default_rng(seed)
    pages = {"search": "list", "item": "product", "home": "home", "cart": "cart"}

    def moves(state: tuple[str, int, bool], action: str) -> tuple[str, int, bool]:
        page, cart, known = state
        if action in pages:
            return pages[action], cart, known
        if action == "add" and page == "product":
            return page, min(cart + 1, most), known
        if action == "remove" and page == "cart":
            return page, max(cart - 1, 0), known
        if action == "checkout" and page == "cart" and cart:
            return ("pay" if known else "login"), cart, known
        if action == "back":
            return "cart", cart, known
        if action == "submit" and page == "login":
            return "cart", cart, True
        if action == "submit" and page == "pay":
            return "home", 0, False
        return state

    def shows(state: tuple[str, int, bool]) -> str:
        page, cart, _ = state
        return "empty cart" if page == "cart" and not cart else page

    def offers(state: tuple[str, int, bool], action: str) -> bool:
        page = {
            "login": "submit back",
            "pay": "submit back",
            "product": "add search cart",
            "cart": "remove checkout home",
        }
        return action in page.get(state[0], "search item cart").split()

    actions = ("home", "search", "item", "cart", "add", "remove", "checkout", "submit", "back")
    world = world_of(("home", 0, False), actions, moves, shows, "shop", offers)
    return walked(world, steps, (30, 120), rng)


def camera(seed: int, steps: int, side: int = 4, textures: int = 5, noise: float = 25.0) -> Log:
    """A camera over floors of a few textures, 12 x 12 pixels, with noise in every picture."""
    from cogmap.walks.views import ViewWalks

    rng = np.random.default_rng(seed)
    free = np.ones((side, side), dtype=bool)
    seen = rng.integers(textures, size=side * side)
    seen[rng.permutation(side * side)[:textures]] = np.arange(textures)
    world = TableWorld(
        next_position=grid_moves(free)[0],
        observation=seen,
        num_observations=textures,
        coordinates=grid_coordinates(free),
        action_labels=GRID_ACTIONS,
        name="floor",
    )
    walks, truth = walked(world, steps, (100, 100), rng)
    patterns = rng.uniform(40, 215, size=(textures, 12, 12, 3))
    pictures = patterns[walks.observations[walks.step_mask()]]
    views = np.clip(pictures + rng.normal(scale=noise, size=pictures.shape), 0, 255).astype(np.uint8)
    fields = {name: getattr(walks, name) for name in Walks.__dataclass_fields__}
    numbers = np.arange(len(views)).reshape(walks.observations.shape)
    fields |= {"observations": numbers, "num_observations": len(views), "observation_labels": None}
    return ViewWalks(**fields, views=views), truth


def minigrid(seed: int, steps: int, env_id: str = "MiniGrid-Empty-6x6-v0") -> Log:
    """Random episodes in MiniGrid, which shows the cells ahead of the agent; true places are cells with a heading."""
    import gymnasium
    import minigrid  # noqa: F401  registers its environments

    class Noted(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Notes where the agent is after each reset and step."""

        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.places: list[list[tuple[int, int, int]]] = []

        def _here(self) -> tuple[int, int, int]:
            row, column = self.env.unwrapped.agent_pos  # type: ignore[attr-defined]
            return int(row), int(column), int(self.env.unwrapped.agent_dir)  # type: ignore[attr-defined]

        def reset(self, **options: Any) -> Any:
            answer = self.env.reset(**options)
            self.places.append([self._here()])
            return answer

        def step(self, action: Any) -> Any:
            answer = self.env.step(action)
            self.places[-1].append(self._here())
            return answer

    env = Noted(gymnasium.make(env_id))
    rng = np.random.default_rng(seed)
    length = min(steps, int(env.unwrapped.max_steps))  # type: ignore[attr-defined]
    walks = cogmap.record_walks(env, 4 * steps // length, length + 1, seed=seed, rng=rng)
    enough = int(np.searchsorted(np.cumsum(walks.lengths), steps)) + 1
    return walks.rows(slice(enough)), _truth_seen(walks.rows(slice(enough)), env.places[:enough])


def _truth_seen(walks: Walks, places: Sequence[Sequence[State]]) -> Truth:
    """Positions from what was noted, and as much of the tables as the walks show."""
    number: dict[State, int] = {}
    positions = np.zeros(walks.observations.shape, dtype=np.int32)
    for walk, noted in enumerate(places):
        positions[walk, : len(noted)] = [number.setdefault(place, len(number)) for place in noted]
    mask = walks.step_mask()
    here, there = positions[:, :-1][mask[:, 1:]], positions[:, 1:][mask[:, 1:]]
    table = np.tile(np.arange(len(number))[:, None], (1, walks.num_actions))
    table[here, walks.actions[mask[:, 1:]]] = there
    legal = np.zeros(table.shape, dtype=bool)
    legal[here, walks.actions[mask[:, 1:]]] = True
    legal[~legal.any(axis=1), 0] = True  # an episode ends there
    seen = np.zeros(len(number), dtype=np.int32)
    seen[positions[mask]] = walks.observations[mask]
    world = TableWorld(
        table, seen, walks.num_observations, legal, observation_labels=walks.observation_labels
    )
    return Truth(positions, world)


def fourrooms(seed: int, steps: int) -> Log:
    return minigrid(seed, steps, "MiniGrid-FourRooms-v0")


def one_walk(seed: int, steps: int) -> Log:
    """One walk without end in a house of 30 places."""
    _, truth = robot(seed, 40, cells=30)
    return cogmap.sample_walks(truth.world, 1, steps, np.random.default_rng(seed))


KINDS: Mapping[str, Callable[..., Log]] = {
    "vending": vending,
    "vending_answers": vending_answers,
    "robot": robot,
    "own_eyes": own_eyes,
    "elevator": elevator,
    "shop": shop,
    "camera": camera,
    "minigrid": minigrid,
    "fourrooms": fourrooms,
    "one_walk": one_walk,
}


def write(path: Path, log: Log) -> None:
    cogmap.save_walks(path, log[0])
    cogmap.save_truth(path, log[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=tuple(KINDS))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=10_000)
    args = parser.parse_args()
    write(args.out, KINDS[args.name](args.seed, args.steps))


if __name__ == "__main__":
    main()
