"""A share of `make campaign`: a few kills of each command, at write points that the seed chooses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from campaigns.kills import STORIES, Story, problems

KILLS = 3


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_is_killed_is_taken_up_again(story: Story, tmp_path: Path) -> None:
    points = random.Random(story.name).sample(range(10_000), KILLS)
    wrong = [(kill, found) for kill, found in problems(story, tmp_path / "kills", 1, 0, points) if found]
    assert wrong == []
