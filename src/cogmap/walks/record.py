"""Walks recorded in any Gymnasium environment. Views become categorical: equal views get equal labels."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks
from cogmap.walks.ragged import walks_from_rows, with_rewards

if TYPE_CHECKING:
    import gymnasium

SPELLED = 8  # numbers of a view that are its name


def record_walks(
    env: gymnasium.Env[Any, Any],
    walks: int,
    steps: int,
    seed: int = 0,
    actions: Sequence[int] | None = None,
    same_place: bool = True,
    observation_labels: Labels | None = None,
    rng: np.random.Generator | None = None,
) -> Walks:
    """Random walks of at most `steps` observations in any environment with discrete actions.

    Discrete observations keep their numbers. Any other view is identified by its `view_label`; wrap the
    environment to change what it shows. An episode that ends early gives a shorter walk. If `info` has an
    `action_mask`, only legal actions are drawn. Rewards are kept, unless all of them are 0.

    actions: the environment's actions to draw from, renumbered 0, 1, ...; None is all of them.
    same_place: reset with the same seed before every walk, so that a randomly generated place stays the same.
        Otherwise only the first reset is seeded.
    observation_labels: number views as in an earlier recording; a view it did not have is an error.
    rng: draws the actions; None is a generator seeded with `seed`. The environment is reset with `seed` in any case.
    """
    offered = _offered_actions(env.action_space, actions)
    if walks < 1 or steps < 2:
        raise BadWalks(f"`walks` (={walks}) must be at least 1 and `steps` (={steps}) at least 2")
    rng = np.random.default_rng(seed) if rng is None else rng
    seeds = [seed if walk == 0 or same_place else None for walk in range(walks)]
    episodes = [_episode(env, steps, reset_seed, offered, rng) for reset_seed in seeds]
    views = [seen for seen, _, _ in episodes]
    taken = [indices for _, indices, _ in episodes]
    rewards = np.array([reward for _, _, paid in episodes for reward in paid], dtype=np.float64)
    action_labels = None if actions is None else tuple(str(action) for action in actions)
    space: Any = env.observation_space
    if not _is_discrete(space):
        recorded = walks_from_views(views, taken, len(offered), observation_labels, action_labels)
        return with_rewards(recorded, rewards) if rewards.any() else recorded
    recorded = walks_from_rows(
        [np.array(row) - int(space.start) for row in views],
        [np.array(row) for row in taken],
        num_observations=int(space.n),
        num_actions=len(offered),
        action_labels=action_labels,
    )
    return with_rewards(recorded, rewards) if rewards.any() else recorded


def _is_discrete(space: Any) -> bool:
    """Gymnasium is imported here, because a caller who has an environment has it installed."""
    from gymnasium.spaces import Discrete

    return isinstance(space, Discrete)


def _offered_actions(space: Any, actions: Sequence[int] | None) -> list[int]:
    """The actions to draw from, in the environment's own numbering."""
    if not _is_discrete(space):
        raise BadWalks(f"an environment must have discrete actions, got {space}")
    every = range(int(space.start), int(space.start + space.n))
    if actions is None:
        return list(every)
    if not actions or len(set(actions)) < len(actions) or not set(actions) <= set(every):
        raise BadWalks(
            f"`actions` must be distinct and from {every.start} to {every.stop - 1}, got {list(actions)}"
        )
    return list(actions)


def _episode(
    env: gymnasium.Env[Any, Any], steps: int, seed: int | None, offered: list[int], rng: np.random.Generator
) -> tuple[list[Any], list[int], list[float]]:
    """Up to `steps` views of one episode, its actions as indices into `offered`, and their rewards."""
    first = int(env.action_space.start)  # type: ignore[attr-defined]
    # Views are identified at once, because an environment may return the same array with new content.
    identify = int if _is_discrete(env.observation_space) else view_label
    seen, info = env.reset(seed=seed)
    views: list[Any] = [identify(seen)]
    taken: list[int] = []
    rewards: list[float] = []
    while len(views) < steps:
        mask = info.get("action_mask")
        legal = [index for index, action in enumerate(offered) if mask is None or mask[action - first]]
        if not legal:
            raise BadWalks(f"one of the actions {offered} must be legal, got none at step {len(taken)}")
        taken.append(int(rng.choice(legal)))
        seen, reward, terminated, truncated, info = env.step(offered[taken[-1]])
        rewards.append(float(reward))
        views.append(identify(seen))
        if terminated or truncated:
            break
    return views, taken, rewards


def view_label(seen: Any) -> str:
    """A few numbers as they are, otherwise a short hash of the view: arrays, strings, and lists of these."""
    numbers = _few_numbers(seen)
    if numbers is not None:
        return numbers
    return blake2b(_canonical(seen), digest_size=6).hexdigest()


def _few_numbers(seen: Any) -> str | None:
    """A row of at most SPELLED whole numbers as it is read."""
    if isinstance(seen, dict | str | bytes) or not _is_row_of_numbers(seen):
        return None
    if np.ndim(seen) == 0:
        return str(int(seen))
    return "(" + ", ".join(str(int(number)) for number in np.asarray(seen)) + ")"


def _is_row_of_numbers(seen: Any) -> bool:
    try:
        array = np.asarray(seen)
    except ValueError:  # parts of different sizes
        return False
    return array.dtype.kind in "biu" and array.ndim <= 1 and 0 < array.size <= SPELLED


def walks_from_views(
    views: Sequence[Sequence[str]],
    actions: Sequence[Sequence[int]],
    num_actions: int,
    observation_labels: Labels | None = None,
    action_labels: Labels | None = None,
) -> Walks:
    """Walks from labels of views, numbered as in `observation_labels` or in sorted order."""
    labels = observation_labels or tuple(sorted({label for walk in views for label in walk}))
    index = {label: number for number, label in enumerate(labels)}
    unknown = next((label for walk in views for label in walk if label not in index), None)
    if unknown is not None:
        raise BadWalks(f"every view must be one of the {len(labels)} known ones, got {unknown!r}")
    return walks_from_rows(
        [np.array([index[label] for label in walk]) for walk in views],
        [np.asarray(walk) for walk in actions],
        num_observations=len(labels),
        num_actions=num_actions,
        observation_labels=labels,
        action_labels=action_labels,
    )


def _canonical(seen: Any) -> bytes:
    """Bytes that are equal for equal views only: each part is preceded by its kind and size."""
    if isinstance(seen, dict):
        parts = [_canonical(key) + _canonical(seen[key]) for key in sorted(seen, key=str)]
        return _tagged(b"d", b"".join(parts))
    if isinstance(seen, list | tuple):
        return _tagged(b"s", b"".join(map(_canonical, seen)))
    if isinstance(seen, str):
        return _tagged(b"t", seen.encode())
    if isinstance(seen, bytes):
        return _tagged(b"y", seen)
    array = np.asarray(seen)
    if array.dtype.kind in "biu":
        return _tagged(b"i%r" % (array.shape,), array.astype(np.int64).tobytes())
    if array.dtype.kind == "f":
        return _tagged(b"f%r" % (array.shape,), (array.astype(np.float64) + 0.0).tobytes())  # -0.0 is 0.0
    if array.dtype.kind in "US":
        return _canonical(array.tolist())
    raise BadWalks(f"a view must be made of numbers and strings, got {type(seen).__name__}")


def _tagged(kind: bytes, content: bytes) -> bytes:
    return b"%b%d:%b" % (kind, len(content), content)
