"""Views to observations: k-means on reduced views, as in section 4.3. The quantizer is stored for new views.

Images are averaged over a coarse grid of pixels, then projected onto their principal components. An image of 64 x 64
pixels has twelve thousand numbers; a few dozen components distinguish views as well.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig, BadRun, BadWalks, MissingExtra
from cogmap.files import read_arrays, write_arrays
from cogmap.records import CognitiveMap, Integers, Truth, Walks
from cogmap.walks.views import Views, ViewWalks, portions, truth_as_clusters

CLUSTERS = 128  # the paper's k
GRID = 16  # blocks of pixels along each side of a reduced image
DIRECTIONS = 48  # principal components that are kept
MOST_VIEWS = 20_000  # distinct views, at most, that are used to fit a quantizer
REPEATS = 3  # times that a view is seen on average, from which on views are their own clusters
FEW_VIEWS = 20  # different ones, that are their own clusters in any case
LADDER = (*range(2, 13), 14, 16, 18, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128)  # numbers of clusters to try
COMPARED = 1500  # views that numbers of clusters are compared on
NOISE = 2.0  # times the median variance: a component with less is noise
Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ViewQuantizer:
    """Maps a view to the index of its cluster: a linear projection, then the nearest centre."""

    view_shape: NDArray[np.int64]  # (H, W, C) of images or (F,) of vectors
    mean: Numbers  # (R,) of the reduced views
    directions: Numbers  # (R, Q)
    centres: Numbers  # (K, Q)
    typical: Views  # (K, H, W, C) or (K, F): the view nearest to each centre

    @property
    def num_clusters(self) -> int:
        return len(self.centres)

    def __call__(self, views: Views) -> Integers:
        """(U,): the clusters of views (U, H, W, C) or (U, F)."""
        views = np.asarray(views)
        expected = tuple(self.view_shape.tolist())
        if views.shape[1:] != expected or (len(expected) == 3) != (views.dtype == np.uint8):
            kind = "uint8 images" if len(expected) == 3 else "vectors of numbers"
            got = f"got shape {views.shape[1:]} and dtype {views.dtype}"
            raise BadWalks(
                f"views must be {kind} of shape {expected}, as those the quantizer was fitted on, {got}"
            )
        return _nearest(project(views, self.mean, self.directions), self.centres)

    def walks(self, walks: Walks) -> Walks:
        """Walks with clusters as observations; plain walks are returned unchanged."""
        if not isinstance(walks, ViewWalks):
            return walks
        return walks.as_clusters(self(walks.views), self.num_clusters)

    def walks_and_truth(self, walks: Walks, truth: Truth) -> tuple[Walks, Truth]:
        """Both with clusters as observations; plain walks and their truth are returned unchanged."""
        if not isinstance(walks, ViewWalks):
            return walks, truth
        cluster = self(walks.views)
        seen = walks.as_clusters(cluster, self.num_clusters)
        return seen, truth_as_clusters(truth, walks, cluster, self.num_clusters)

    def save(self, path: str | Path) -> None:
        write_arrays(path, {entry.name: getattr(self, entry.name) for entry in fields(self)})


def load_quantizer(path: str | Path) -> ViewQuantizer:
    arrays = read_arrays(path, BadRun)
    missing = [entry.name for entry in fields(ViewQuantizer) if entry.name not in arrays]
    if missing:
        raise BadRun(f"{path} must be a quantizer of views, `{missing[0]}` is missing")
    found = ViewQuantizer(**{entry.name: arrays[entry.name] for entry in fields(ViewQuantizer)})
    _check_quantizer(found, path)
    return found


def _check_quantizer(found: ViewQuantizer, path: str | Path) -> None:
    """Every array must have the shape that follows from the views and the centres."""
    shape = found.view_shape
    if shape.dtype.kind not in "iu" or shape.shape not in ((1,), (3,)) or shape.min() < 1:
        raise BadRun(
            f"{path}: `view_shape` must be (H, W, C) or (F,), all at least 1, got {shape.tolist()!s:.60}"
        )
    view = tuple(shape.tolist())
    images = len(view) == 3
    reduced = min(GRID, view[0]) * min(GRID, view[1]) * view[2] if images else view[0]
    if found.centres.ndim != 2 or 0 in found.centres.shape:
        raise BadRun(f"{path}: `centres` must have shape (K, Q), got {found.centres.shape}")
    clusters, kept = found.centres.shape
    expected = {"mean": (reduced,), "directions": (reduced, kept), "typical": (clusters, *view)}
    for name, sizes in expected.items():
        if getattr(found, name).shape != sizes:
            raise BadRun(f"{path}: `{name}` must have shape {sizes}, got {getattr(found, name).shape}")
    for name in ("mean", "directions", "centres", *(() if images else ("typical",))):
        array = getattr(found, name)
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise BadRun(f"{path}: `{name}` must hold finite numbers of 32 bits, got {array.dtype}")
    if images and found.typical.dtype != np.uint8:
        raise BadRun(f"{path}: `typical` must hold bytes (uint8), got {found.typical.dtype}")


@dataclass(frozen=True)
class ClusterCurve:
    """How well numbers of clusters fit some views: silhouettes, from -1 to 1."""

    clusters: tuple[int, ...]
    silhouettes: tuple[float, ...]

    @property
    def best(self) -> int:
        return self.clusters[int(np.argmax(self.silhouettes))]

    def sentence(self) -> str:
        """The best number, with its neighbours on the curve."""
        at = int(np.argmax(self.silhouettes))
        near = range(max(0, at - 2), min(len(self.clusters), at + 3))
        curve = ", ".join(f"{self.clusters[i]}: {self.silhouettes[i]:.2f}" for i in near)
        return f"{self.best} clusters fit the views best (silhouette by number of clusters: {curve})"


def cluster_curve(walks: ViewWalks, seed: int = 0) -> ClusterCurve | None:
    """Silhouettes of numbers of clusters; None where views repeat, so that each is a cluster of its own."""
    views, weight = _seen_views(walks, seed)
    if _repeat(weight):
        return None
    mean, directions = _principal_components(coarse(views), weight, standardised=views.ndim == 2)
    return _curve(project(views, mean, directions), seed)


def _repeat(visits: NDArray[np.float64]) -> bool:
    """Whether views (U,) are few or come again as they were, so that there is no noise to be clustered away."""
    return len(visits) <= FEW_VIEWS or visits.sum() >= REPEATS * len(visits)


def _curve(reduced: Numbers, seed: int) -> ClusterCurve:
    """The curve on a sample of rows, in the components that stand out of the noise."""
    from sklearn.metrics import silhouette_score

    rng = np.random.default_rng(seed)
    some = reduced[rng.permutation(len(reduced))[:COMPARED]]
    variance = some.var(axis=0)
    clear = variance > NOISE * np.median(variance)
    some = some[:, clear] if clear.any() else some
    tried = [count for count in LADDER if count <= len(np.unique(some, axis=0)) // 2]
    found = []
    for count in tried:
        cluster = _nearest(some, _kmeans(some, np.ones(len(some)), count, seed))
        found.append(float(silhouette_score(some, cluster)) if len(np.unique(cluster)) > 1 else -1.0)
    return ClusterCurve(tuple(tried), tuple(found)) if tried else ClusterCurve((1,), (0.0,))


def _seen_views(walks: ViewWalks, seed: int) -> tuple[Views, NDArray[np.float64]]:
    """The views that the walks show, or a sample of them, and how often each is seen."""
    visits = np.bincount(walks.observations[walks.step_mask()], minlength=len(walks.views))
    chosen = np.flatnonzero(visits)
    if len(chosen) > MOST_VIEWS:
        chosen = np.sort(np.random.default_rng(seed).choice(chosen, MOST_VIEWS, replace=False))
    return walks.views[chosen], visits[chosen].astype(np.float64)


def fit_quantizer(walks: ViewWalks, clusters: int | None = None, seed: int = 0) -> ViewQuantizer:
    """k-means over all steps of the walks: each distinct view is weighted by how often it was seen.

    clusters: k. By default, where views repeat, their number, at most 128; otherwise the number that fits them best.
    """
    views, weight = _seen_views(walks, seed)
    mean, directions = _principal_components(coarse(views), weight, standardised=views.ndim == 2)
    reduced = project(views, mean, directions)
    different = len(np.unique(reduced, axis=0))
    if clusters is not None and not 1 <= clusters <= different:
        raise BadConfig(
            f"`clusters` (={clusters}) must be from 1 to the number of distinct views (={different})"
        )
    if clusters is None:
        _need_sklearn()
        clusters = min(CLUSTERS, different) if _repeat(weight) else _curve(reduced, seed).best
    centres = _kmeans(reduced, weight, clusters, seed)
    typical = views[_nearest(centres, reduced)]
    return ViewQuantizer(np.array(views.shape[1:]), mean, directions, centres, typical)


def without_views(
    walks: Walks, clusters: int | None = None, seed: int = 0
) -> tuple[Walks, ViewQuantizer | None]:
    """Walks of views with clusters as observations, and their quantizer; plain walks unchanged, and None."""
    if isinstance(walks, ViewWalks):
        quantizer = fit_quantizer(walks, clusters, seed)
        return quantizer.walks(walks), quantizer
    if clusters is not None:
        raise BadConfig(f"`clusters` (={clusters}) is for walks of views, got plain walks")
    return walks, None


def save_node_views(path: str | Path, quantizer: ViewQuantizer, cognitive_map: CognitiveMap) -> None:
    """Save a typical view of each cluster and the view of each node, for pages that show a map. Images only."""
    if quantizer.typical.ndim == 4:
        write_arrays(path, {"views": quantizer.typical, "view_of_node": cognitive_map.node_observation})


def project(views: Views, mean: Numbers, directions: Numbers) -> Numbers:
    """(U, Q): views in principal components."""
    parts = [(coarse(views[some]) - mean) @ directions for some in portions(len(views))]
    return np.concatenate(parts) if parts else np.zeros((0, directions.shape[1]), dtype=np.float32)


def coarse(views: Views) -> Numbers:
    """(U, R): means over at most 16 x 16 blocks of an image's pixels, from 0 to 1; vectors are unchanged."""
    if views.ndim == 2:
        return views.astype(np.float32)
    reduced: NDArray[Any] = views.astype(np.float32) / np.float32(255)
    for axis in (1, 2):
        size = reduced.shape[axis]
        first = np.arange(min(GRID, size)) * size // min(GRID, size)  # pixel of each block
        width = np.diff(np.append(first, size)).astype(np.float32)
        shape = [1] * reduced.ndim
        shape[axis] = len(width)
        reduced = np.add.reduceat(reduced, first, axis=axis) / width.reshape(shape)
    return reduced.reshape(len(views), -1).astype(np.float32, copy=False)


def _principal_components(
    numbers: Numbers, weight: NDArray[Any], standardised: bool
) -> tuple[Numbers, Numbers]:
    """Mean (R,) and principal components (R, Q) of weighted rows; `standardised` gives all columns unit variance."""
    share = weight / weight.sum()
    mean = share @ numbers
    centred = numbers - mean
    spread = np.sqrt(share @ centred**2)
    scale = np.where(spread > 0, spread, 1.0) if standardised else np.ones_like(spread)
    covariance = (centred / scale).T @ (share[:, None] * (centred / scale))
    variance, directions = np.linalg.eigh(covariance)
    kept = [index for index in np.argsort(-variance)[:DIRECTIONS] if variance[index] > 1e-9]
    kept = kept or [len(variance) - 1]  # all views are equal
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(variance))])
    basis = (directions * signs / scale[:, None])[:, kept]  # eigh does not fix the sign
    return mean.astype(np.float32), basis.astype(np.float32)


def _need_sklearn() -> None:
    if find_spec("sklearn") is None:
        raise MissingExtra('clusters of views need scikit-learn: pip install "cogmap[views]"')


def _kmeans(reduced: Numbers, weight: NDArray[Any], clusters: int, seed: int) -> Numbers:
    """(K, Q): the centres."""
    _need_sklearn()
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # One thread: for so little work threads cost more than they save, on a busy machine seconds.
    with threadpool_limits(1):
        fitted = KMeans(clusters, n_init=4, random_state=seed).fit(reduced, sample_weight=weight)
    return fitted.cluster_centers_.astype(np.float32)


def _nearest(rows: Numbers, among: Numbers) -> Integers:
    """(U,): the index of the row of `among` nearest to each of `rows`."""
    length = (among.astype(np.float64) ** 2).sum(axis=1)
    best = [(length - 2 * (rows[some] @ among.T)).argmin(axis=1) for some in portions(len(rows))]
    return np.concatenate(best).astype(np.int32) if best else np.zeros(0, dtype=np.int32)
