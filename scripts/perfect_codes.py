"""The best possible maps of new rooms: both builders on perfect codes, one per place, of four walks per room.

`python scripts/perfect_codes.py` prints the numbers in results/README.md.
"""

from __future__ import annotations

from functools import partial

from cogmap.environments.room_family import room_families
from cogmap.evaluation.new_rooms import score_new_rooms
from cogmap.experiments import TABLES
from cogmap.experiments.families import walks_in_each
from cogmap.maps.build import KINDS, build_map
from cogmap.records import Codes


def main() -> None:
    _, new = room_families(10_000, TABLES["icl"].test_rooms)
    walks, truth, rooms = walks_in_each(new, seed=0)
    codes = Codes(truth.positions[:, :, None], walks.lengths, truth.world.num_positions)
    for kind in KINDS:
        found = score_new_rooms(codes, walks, truth, rooms, partial(build_map, kind=kind), 100)
        print(
            f"{kind}: ImpFallback {found.imp_fallback:.1%}, NormGED {found.norm_ged:.3f}, {found.nodes:.2f} nodes"
        )


if __name__ == "__main__":
    main()
