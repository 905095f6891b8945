"""Maps that stand beside a run's own two in the tables, to see what each part of the method does.

Of a model with bottlenecks: the paper's builder on codes as they are, without our canonical codes, and our map with the
agent localised by its codes alone. Of a model without: both builders on k-means of its states, and ours on the
observations alone. All are built from the first training walks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cogmap.maps.build import build_map
from cogmap.planning.localise import estimated_nodes, nodes_by_code
from cogmap.records import Codes, CognitiveMap, Integers, Walks

if TYPE_CHECKING:
    from cogmap.models.tdb import VanillaModel

MOST_WALKS = 512  # of the training walks
FITTED_WALKS = 128  # whose states k-means is fitted on
CLUSTERS = 1000  # as many as a bottleneck has codes


@dataclass(frozen=True, eq=False)
class Located:
    """A map, and where test walks are on it."""

    cognitive_map: CognitiveMap
    codes: Codes  # of the test walks, as this map has them
    nodes: Integers  # (B, N)


def located(cognitive_map: CognitiveMap, codes: Codes, test: Walks) -> Located:
    nodes = estimated_nodes(cognitive_map, test.observations, test.actions, test.lengths, codes)
    return Located(cognitive_map, codes, nodes)


def of_bottlenecks(
    own: Mapping[str, CognitiveMap], training: tuple[Walks, Codes], test: tuple[Walks, Codes]
) -> dict[str, Located]:
    """The run's own maps, and those beside them; `training` and `test` are walks with their codes."""
    walks, codes = test
    found = {kind: located(one, codes, walks) for kind, one in own.items()}
    found["minimal, by codes"] = Located(own["minimal"], codes, nodes_by_code(own["minimal"], codes))
    as_printed = build_map(training[1], training[0], "paper")
    return found | {"paper, as printed": located(as_printed, codes, walks)}


def without_bottlenecks(model: VanillaModel, training: Walks, test: Walks) -> dict[str, Located]:
    """Maps of k-means of the model's states, and of observations alone."""
    by_states, at_test = _clustered(model, training, test)
    found = {
        f"{kind}, k-means of states": located(build_map(by_states, training, kind), at_test, test)
        for kind in ("minimal", "paper")
    }
    alone = build_map(_observed(training), training)
    return found | {"minimal, observations alone": located(alone, _observed(test), test)}


def _observed(walks: Walks) -> Codes:
    """Observations in place of codes."""
    return Codes(walks.observations[..., None], walks.lengths, walks.num_observations)


def _clustered(model: VanillaModel, training: Walks, test: Walks) -> tuple[Codes, Codes]:
    """The cluster of every state, of both sets of walks."""
    from sklearn.cluster import MiniBatchKMeans

    from cogmap.models.inference import encoder_outputs

    some = training.rows(slice(0, FITTED_WALKS))
    fitted_on = np.concatenate(list(encoder_outputs(model, some)))[some.step_mask()]
    clusters = min(CLUSTERS, len(fitted_on))
    fitted = MiniBatchKMeans(clusters, batch_size=4096, n_init=1, random_state=0).fit(fitted_on)

    def codes(walks: Walks) -> Codes:
        parts = [
            fitted.predict(part.reshape(-1, part.shape[2])).reshape(part.shape[:2])
            for part in encoder_outputs(model, walks)
        ]
        return Codes(np.concatenate(parts)[..., None].astype(np.int32), walks.lengths, clusters)

    return codes(training), codes(test)
