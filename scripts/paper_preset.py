"""Which reading of the paper's quantizer trains: the table in docs/paper_readings.md, on a small network.

`python scripts/paper_preset.py [STEPS]` trains the preset `paper` at width 64 in windows of 24 steps of the 6x8 room,
once for each reading, and prints the accuracy of held-out windows and the use of the codes: 500 steps (the default)
take half a minute of a core for each reading.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import torch

from cogmap.environments.room import AliasedRoom
from cogmap.models.config import ModelConfig
from cogmap.records import Walks
from cogmap.training.config import changed, preset_configs
from cogmap.training.devices import Processes
from cogmap.training.loop import Trainer
from cogmap.training.split import DataSplit, split_walks
from cogmap.walks.views import draw_walks

SIZE = {"width": 64, "heads": 4, "mlp_width": 128, "head_width": 64, "window": 24, "context_length": 24}
SIZE |= {"warm_up": 50}  # as when it was tried
HELD_OUT_WALKS, HELD_OUT_STEPS = 16, 64


def data(walks: Walks) -> DataSplit:
    """The beginnings of a few held-out walks are read for validation."""
    split = split_walks(walks, walks.observations, seed=0)
    some = split.validation.rows(slice(HELD_OUT_WALKS))
    seen, done = some.observations[:, :HELD_OUT_STEPS], some.actions[:, : HELD_OUT_STEPS - 1]
    short = replace(some, observations=seen, actions=done, lengths=np.full(HELD_OUT_WALKS, HELD_OUT_STEPS))
    return replace(split, validation=short, validation_targets=seen)


def main(steps: int) -> None:
    room = AliasedRoom(height=6, width=8, observations=4, seed=0)
    walks, _ = draw_walks(room, 512, 400, np.random.default_rng([0, 1]))
    usual = preset_configs("paper", ModelConfig(num_observations=4, num_actions=4, num_targets=4))
    for norm, start, mean in product((True, False), ("normal", "uniform"), (False, True)):
        reading = {"output_norm": norm, "dictionary_start": start, "bottleneck_mean": mean}
        trainer = Trainer(*changed(*usual, SIZE | reading), data(walks), torch.device("cpu"), Processes())
        for _ in range(steps):
            trainer.step()
            if trainer.done_steps % 100 == 0:
                row = trainer.validate()
                (codes,), (perplexity,) = row["codes_in_use"], row["perplexity"]
                told = f"{row['validation_accuracy']:.1%}, {codes} codes, perplexity {perplexity:.1f}"
                print(
                    ", ".join(f"{name}={value}" for name, value in reading.items()),
                    row["step"],
                    told,
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
