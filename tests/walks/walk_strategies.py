"""Hypothesis strategies for walks, and what it means that two are equal."""

import numpy as np
from hypothesis import strategies as st

from cogmap.records import Walks


def words():
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


@st.composite
def walks_records(draw, labels=None):
    """Walks of unequal lengths whose vocabulary may be larger than what they show."""
    lengths = draw(st.lists(st.integers(2, 7), min_size=1, max_size=5))
    shape = (len(lengths), max(lengths))
    num_observations, num_actions = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    inside = np.arange(shape[1]) < np.array(lengths)[:, None]
    label_lists = st.none() if labels is None else labels
    return Walks(
        observations=np.where(inside, rng.integers(num_observations, size=shape), 0),
        actions=np.where(inside, rng.integers(num_actions, size=shape), 0)[:, 1:] * inside[:, 1:],
        lengths=np.array(lengths),
        num_observations=num_observations,
        num_actions=num_actions,
        observation_labels=draw(label_lists.map(lambda make: make and make(draw, num_observations))),
        action_labels=draw(label_lists.map(lambda make: make and make(draw, num_actions))),
    )


def distinct_words(draw, count):
    return tuple(draw(st.lists(words(), min_size=count, max_size=count, unique=True)))


def with_or_without_labels():
    return walks_records(labels=st.sampled_from([None, distinct_words]))


def unlike(first, second):
    """The fields in which two walks records differ."""
    arrays = ["observations", "actions", "lengths"]
    different = [name for name in arrays if not np.array_equal(getattr(first, name), getattr(second, name))]
    plain = ["num_observations", "num_actions", "observation_labels", "action_labels"]
    return different + [name for name in plain if getattr(first, name) != getattr(second, name)]
