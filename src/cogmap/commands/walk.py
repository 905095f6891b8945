"""Sample walks in a world and write them to a file, with the truth beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cogmap.commands.output import print_json, refuse_to_overwrite
from cogmap.commands.walk_room3d import Room3d
from cogmap.commands.walk_worlds import Cube, Family, Gym, Maze, Room, Sample, Sampling, Torus
from cogmap.errors import BadConfig
from cogmap.walks.family import save_family_walks
from cogmap.walks.sample import add_noise
from cogmap.walks.store import check_output, save_walks
from cogmap.walks.truth_store import save_truth, truth_path
from cogmap.walks.views import ViewWalks

Args = Room | Room3d | Cube | Family | Torus | Maze | Gym
FIGURE_STEPS = 60  # of the first walk: a longer one hides the room


def run(args: Sampling) -> None:
    _check(args)
    sample = args.sample(_generator(args))
    if args.noise:
        noise_rng = np.random.default_rng([_walk_seed(args), 2])
        sample = sample._replace(walks=add_noise(sample.walks, args.noise, noise_rng))
    written = _write(args, sample)
    if args.json:
        print_json(_described(sample, written))
    else:
        _tell(sample, written)


def _check(args: Sampling) -> None:
    """Everything that can be refused before the work."""
    check_output(args.out)
    if args.figure is not None:
        from cogmap.report.style import check_figure_path

        check_figure_path(args.figure)
    if not 0 <= args.noise <= 1:
        raise BadConfig(f"`--noise` must be in [0, 1], got {args.noise}")
    if min(args.seed, _walk_seed(args)) < 0:
        raise BadConfig(
            f"`--seed` and `--walk-seed` must be 0 or more, got {min(args.seed, _walk_seed(args))}"
        )
    outputs = [args.out, truth_path(args.out), *([] if args.figure is None else [args.figure])]
    refuse_to_overwrite(outputs, args.force)


def _walk_seed(args: Sampling) -> int:
    return args.seed if args.walk_seed is None else args.walk_seed


def _generator(args: Sampling) -> np.random.Generator:
    """Not the world's own stream, which starts from the bare seed."""
    return np.random.default_rng([_walk_seed(args), 1])


def _write(args: Sampling, sample: Sample) -> dict[str, Path]:
    """Write truth, walks and figure, the truth first: walks that are there have theirs beside them."""
    written = {"walks": args.out}
    if sample.truth is None:
        truth_path(args.out).unlink(missing_ok=True)  # of the walks that are being overwritten
    else:
        written["truth"] = save_truth(args.out, sample.truth, sample.rooms)
    if sample.rooms is not None and args.out.suffix == ".npz":
        save_family_walks(args.out, sample.walks, sample.rooms)
    else:
        save_walks(args.out, sample.walks)
    if args.figure is not None and sample.truth is not None and sample.pictured is not None:
        from cogmap.report.room_figures import world_figure
        from cogmap.report.style import save_figure

        save_figure(world_figure(sample.pictured, sample.truth.positions[0, :FIGURE_STEPS]), args.figure)
        written["figure"] = args.figure
    return written


def _described(sample: Sample, written: dict[str, Path]) -> dict[str, Any]:
    walks, truth = sample.walks, sample.truth
    return {
        **{kind: str(path) for kind, path in written.items()},
        "num_walks": walks.num_walks,
        "num_steps": walks.num_steps,
        "num_observations": walks.num_observations,
        "num_actions": walks.num_actions,
        "num_positions": None if truth is None else truth.world.num_positions,
    }


def _tell(sample: Sample, written: dict[str, Path]) -> None:
    walks, truth = sample.walks, sample.truth
    kind = "distinct views" if isinstance(walks, ViewWalks) else "observations"
    sizes = f"{walks.num_observations} {kind}, {walks.num_actions} actions"
    print(f"wrote {written['walks']}: {walks.num_walks} walks of {walks.num_steps} steps, {sizes}")
    if truth is not None:
        print(f"wrote {written['truth']}: where they really were, among {truth.world.num_positions} places")
    if "figure" in written:
        steps = min(walks.num_steps, FIGURE_STEPS)
        print(f"wrote {written['figure']}: the world, and the first {steps} steps of walk 0")
