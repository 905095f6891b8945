"""Small walks, and files written without our own code."""

import numpy as np

from cogmap.records import Walks

OBSERVATIONS = np.array([[0, 1, 2], [2, 0, 0]])
ACTIONS = np.array([[1, 0], [1, 1]])
COLOURS = Walks(
    observations=OBSERVATIONS,
    actions=ACTIONS,
    lengths=np.array([3, 3]),
    num_observations=4,
    num_actions=2,
    observation_labels=("red", "blue", "grey", "black"),
    action_labels=("go", "turn"),
)


def save_npz(folder, **arrays):
    path = folder / "walks.npz"
    np.savez(path, **arrays)
    return path


def save_text(folder, name, text):
    path = folder / name
    path.write_bytes(text.encode())
    return path
