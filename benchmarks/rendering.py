"""Views per second, the time to render all views of a room, and to cluster and quantize the paper's number of views.

python -m benchmarks.rendering
"""

from __future__ import annotations

import sys

import numpy as np

from cogmap.environments.egocentric.renderer import load_mujoco, open_renderer
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import MissingExtra
from cogmap.walks.quantize import fit_quantizer
from cogmap.walks.views import sample_view_walks

from ._timing import best_seconds

WALKS, STEPS = 2048, 400
MIN_VIEWS_A_SECOND, MAX_CACHE_SECONDS, MAX_QUANTIZE_SECONDS = 1000, 5.0, 10.0
REPEATS = 7


def render_seconds(room: EgocentricRoom) -> float:
    """Seconds to render all views of a room once, after the room is built; the renderer's threads included."""
    with open_renderer(room) as renderer:
        places = room.places().tolist()
        return best_seconds(lambda: [renderer.view(*place) for place in places], REPEATS)


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    try:
        load_mujoco()
    except MissingExtra as error:
        print(f"rendering: skipped, {error}")
        return True
    room = EgocentricRoom(seed=0)
    print(f"a 3D room of {room.num_positions} places, views of 64 x 64, processor time, best of {REPEATS}")
    rate = room.num_positions / render_seconds(room)
    cache = best_seconds(lambda: EgocentricRoom(seed=0).views)
    walks, _ = sample_view_walks(room, WALKS, STEPS, np.random.default_rng(0))
    fit_quantizer(walks)  # imports scikit-learn
    fit = best_seconds(lambda: fit_quantizer(walks))
    quantizer = fit_quantizer(walks)
    quantize = best_seconds(lambda: quantizer.walks(walks))
    print(f"  rendering            {rate:6.0f} views/s (at least {MIN_VIEWS_A_SECOND})")
    print(f"  all views of a room  {cache:6.2f} s (at most {MAX_CACHE_SECONDS:g})")
    print(f"  fitting k-means      {fit:6.2f} s")
    print(f"  quantizing {WALKS} x {STEPS} cached views {quantize:6.3f} s (at most {MAX_QUANTIZE_SECONDS:g})")
    return (
        rate >= MIN_VIEWS_A_SECOND and cache <= MAX_CACHE_SECONDS and fit + quantize <= MAX_QUANTIZE_SECONDS
    )


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
