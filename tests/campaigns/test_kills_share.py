"""A share of `make campaign`: a few kills of each command, at write points that the seed chooses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from campaigns.forked import forked, kill_at
from campaigns.kills import STORIES, Story, problems

KILLS = 3


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_what_is_killed_is_taken_up_again(story: Story, tmp_path: Path) -> None:
    points = random.Random(story.name).sample(range(10_000), KILLS)
    wrong = [(kill, found) for kill, found in problems(story, tmp_path / "kills", 1, 0, points) if found]
    assert wrong == []


def test_every_change_is_counted_wherever_the_folder_is_named_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporary files have absolute names, also those of a folder that is given relative to the current one."""
    from cogmap.files import write_json

    counts = []
    for folder in (tmp_path / "work", Path("work")):
        monkeypatch.chdir(tmp_path)

        def work(folder: Path = folder) -> int:
            kill_at(None, folder, tmp_path / "count")
            write_json(folder / "x.json", 1)
            return 0

        assert forked(work, tmp_path / "log").code == 0
        counts.append(int((tmp_path / "count").read_text()))
    assert counts[0] == counts[1] >= 4  # the folder, a temporary file in it, its mode, its new name
