"""How many steps of each rung of the ladder are equal processor minutes: python scripts/ladder_steps.py [MINUTES]

Times some steps and one validation of each rung on one thread, by processor time, so that other work on the machine
counts little. `RUNGS` in experiments/tables.py has the steps of four minutes.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

from cogmap.experiments.ladder import Rung, changes_of
from cogmap.experiments.tables import RUNGS, TABLES
from cogmap.models.config import ModelConfig
from cogmap.training.config import changed, preset_configs
from cogmap.training.devices import Processes
from cogmap.training.loop import Trainer
from cogmap.training.split import DataSplit, split_walks
from cogmap.walks.views import draw_walks

UNTIMED, TIMED = 5, 20  # steps


def trainer_of(rung: Rung, data: DataSplit) -> Trainer:
    """With the bottleneck on from the first step, as it is for most of every rung's steps."""
    walks = data.training
    base = ModelConfig(
        walks.num_observations,
        walks.num_actions,
        walks.num_observations,
        encoder=rung.encoder,
        prediction_steps=3,
    )
    usual = preset_configs(rung.preset, base, walks.observations.size)
    changes = changes_of(RUNGS, RUNGS.index(rung)) | {"threads": 1, "bottleneck_from": 0}
    return Trainer(*changed(*usual, changes), data, torch.device("cpu"), Processes())


def seconds_a_step(trainer: Trainer) -> float:
    for _ in range(UNTIMED):
        trainer.step()
    began = time.process_time()
    for _ in range(TIMED):
        trainer.step()
    step = (time.process_time() - began) / TIMED
    began = time.process_time()
    trainer.validate()
    return step + (time.process_time() - began) / trainer.config.validate_every


def main(minutes: float) -> None:
    torch.set_num_threads(1)
    walks, _ = draw_walks(TABLES["ladder"].world(0), 512, 400, np.random.default_rng([0, 1]))  # type: ignore[attr-defined]
    data = split_walks(walks, walks.observations, seed=0)
    for number, rung in enumerate(RUNGS):
        seconds = seconds_a_step(trainer_of(rung, data))
        print(
            f"{number}: {rung.name}: {seconds * 1e3:.0f} ms, {60 * minutes / seconds:.0f} steps", flush=True
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0)
