"""GINC, the text of the paper's last experiment: documents and prompts sampled from hidden Markov models.

The published set cannot be shipped. This package generates it again, byte for byte, with numpy's legacy generator.
"""

from cogmap.environments.ginc.config import GincConfig
from cogmap.environments.ginc.files import read_prompts, read_truth, write_ginc
from cogmap.environments.ginc.prompts import Prompts, sample_prompts
from cogmap.environments.ginc.world import Documents, GincWorld, build_world, sample_training_and_validation

__all__ = [
    "Documents",
    "GincConfig",
    "GincWorld",
    "Prompts",
    "build_world",
    "read_prompts",
    "read_truth",
    "sample_prompts",
    "sample_training_and_validation",
    "write_ginc",
]
