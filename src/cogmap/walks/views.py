"""Walks of views (images or vectors): the observation of a step is an index into the distinct views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import BadWalks
from cogmap.records import Integers, TableWorld, Truth, Walks
from cogmap.walks.sample import PLAIN, Agent, sample_walks

Views = NDArray[Any]  # (U, H, W, C) bytes or (U, F) numbers; U distinct views
AT_ONCE = 4096  # views processed together


@dataclass(frozen=True, eq=False)
class ViewWalks(Walks):
    """`observations[b, n]` is an index into `views`. A quantizer turns these walks into plain walks."""

    views: Views = field(kw_only=True)  # (U, H, W, C) uint8, or (U, F) float32; U is num_observations

    def __post_init__(self) -> None:
        super().__post_init__()
        views = checked_views(self.views)
        if len(views) != self.num_observations:
            rule = f"there must be a view for each of the {self.num_observations} observations"
            raise BadWalks(f"{rule}, got {len(views)}")
        views.flags.writeable = False
        object.__setattr__(self, "views", views)

    def as_clusters(self, cluster: Integers, clusters: int) -> Walks:
        """Plain walks in which each view is replaced by its cluster (U,)."""
        fields = {name: getattr(self, name) for name in Walks.__dataclass_fields__}
        fields |= {"observations": cluster[self.observations], "num_observations": clusters}
        return Walks(**fields | {"observation_labels": None})


def checked_views(views: Any) -> Views:
    """A copy of images (U, H, W, C) of bytes or vectors (U, F) of finite numbers; anything else is `BadWalks`."""
    array = np.asarray(views)
    if array.ndim == 4:
        if array.dtype != np.uint8:
            raise BadWalks(f"images must hold bytes (uint8), got dtype {array.dtype}")
        if 0 in array.shape:
            raise BadWalks(f"images must have shape (U, H, W, C) with none of them 0, got {array.shape}")
        return array.copy()
    if array.ndim != 2 or 0 in array.shape:
        raise BadWalks(f"views must be images (U, H, W, C) or vectors (U, F), got shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise BadWalks(f"features must hold numbers, got dtype {array.dtype}")
    numbers = array.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise BadWalks("features must be finite, got NaN or infinity")
    return numbers


def distinct_views(views: Views) -> tuple[Views, Integers]:
    """The distinct views (U, ...) among many (R, ...), and the index of each (R,).

    They are sorted by a hash of their content, so that an index does not reveal when or where a view was seen.
    """
    names = np.array([blake2b(view.tobytes(), digest_size=12).digest() for view in views])
    _, first, index = np.unique(names, return_index=True, return_inverse=True)
    return views[first], index.reshape(-1).astype(np.int32)


def sample_view_walks(
    room: EgocentricRoom, walks: int, steps: int, rng: np.random.Generator, agent: Agent = PLAIN
) -> tuple[ViewWalks, Truth]:
    """Random walks of views in a 3D room, and their truth with the same indices of views."""
    views, index = distinct_views(room.views)
    fields = {name: getattr(room, name) for name in TableWorld.__dataclass_fields__}
    world = TableWorld(**fields | {"observation": index, "num_observations": len(views)})
    plain, truth = sample_walks(world, walks, steps, rng, agent)
    shown = {name: getattr(plain, name) for name in Walks.__dataclass_fields__}
    return ViewWalks(**shown, views=views), truth


def truth_as_clusters(truth: Truth, seen: ViewWalks, cluster: Integers, clusters: int) -> Truth:
    """The truth with the cluster (U,) of each position's view as its observation.

    If the truth's observations are not indices into the views, as in a camera log, only its positions are used:
    the observation of a position is then the cluster seen there most often.
    """
    own = truth.world.observation
    mask = seen.step_mask()
    numbered = own.max() < len(cluster) and (own[truth.positions] == seen.observations)[mask].all()
    shown = cluster[own] if numbered else _most_often(truth, cluster[seen.observations], mask, clusters)
    world = replace(truth.world, observation=shown, num_observations=clusters, observation_labels=None)
    return Truth(truth.positions, world)


def _most_often(truth: Truth, observations: Integers, mask: NDArray[np.bool_], clusters: int) -> Integers:
    """(P,): the cluster that was seen most often at each position."""
    times = np.zeros((truth.world.num_positions, clusters), dtype=np.int64)
    np.add.at(times, (truth.positions[mask], observations[mask]), 1)
    never = np.flatnonzero(times.sum(axis=1) == 0)
    if never.size:
        rule = "walks of views must visit every position of their truth"
        raise BadWalks(f"{rule}, {never.size} are never visited, the first is {never[0]}")
    return times.argmax(axis=1).astype(np.int32)


def draw_walks(
    world: TableWorld, walks: int, steps: int, rng: np.random.Generator, agent: Agent = PLAIN
) -> tuple[Walks, Truth]:
    """Random walks: walks of views in a 3D room, plain walks in any other world."""
    if isinstance(world, EgocentricRoom):
        return sample_view_walks(world, walks, steps, rng, agent)
    return sample_walks(world, walks, steps, rng, agent)


def shows_views(observations: Any) -> bool:
    """Whether a user's observations are views, and not indices or labels."""
    first = next(iter(observations), 0)
    return isinstance(first, Path) or np.ndim(first) > 0


def as_views(observations: Any) -> Views:
    """(N, H, W, C) or (N, F): views from arrays or from image files."""
    views = [read_image(view) if isinstance(view, Path) else np.asarray(view) for view in observations]
    shapes = sorted({view.shape for view in views})
    if len(shapes) > 1:
        raise BadWalks(f"views must all have one shape, got {shapes[0]} and {shapes[1]}")
    return np.stack(views)


def read_image(path: str | Path) -> NDArray[np.uint8]:
    """(H, W, 3): the picture in an image file."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB"))
    except (
        Exception
    ) as error:  # a damaged picture raises many kinds of errors; one that is too large, a bomb's
        reason = getattr(error, "strerror", None) or (
            "unknown format" if isinstance(error, OSError) else f"{error!s:.80}"
        )
        raise BadWalks(f"{path} must be an image file: {reason}") from error


def portions(count: int) -> Iterator[slice]:
    """Slices that cover `count` rows, small enough to fit in memory."""
    return (slice(first, first + AT_ONCE) for first in range(0, count, AT_ONCE))
