"""Walks (sequences of observations and actions): sampled, recorded, read and written, batched."""

from cogmap.walks.family import base_targets
from cogmap.walks.sample import Agent, add_noise, sample_family_walks, sample_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import load_truth, save_truth

__all__ = [
    "Agent",
    "add_noise",
    "base_targets",
    "load_truth",
    "load_walks",
    "sample_family_walks",
    "sample_walks",
    "save_truth",
    "save_walks",
]
