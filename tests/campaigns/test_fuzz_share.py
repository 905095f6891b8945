"""A share of `make campaign`: some inputs of each kind; what is read is a record or the one error."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pytest
from campaigns.fuzz import command_input, file_input
from campaigns.material import material
from campaigns.readers import TARGETS, Target

INPUTS = 40
COMMANDS = 60


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "files"
    material(folder)
    return folder


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_broken_file_is_a_record_or_the_one_error(target: Target, files: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(files, tmp_path / "files"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, about numbers that are none
        wrong = [
            (number, found) for number in range(INPUTS) if (found := file_input(target, folder, number, 7))
        ]
    assert wrong == []


def test_whole_files_are_read(files: Path) -> None:
    for target in TARGETS:
        target.read(files / target.file)


def test_hostile_command_lines_end_in_one_line(files: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(files, tmp_path / "files"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [found for number in range(COMMANDS) if (found := command_input(folder, number, 7))]
    assert wrong == []
