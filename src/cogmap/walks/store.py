"""Read and write walks files. The suffix gives the format: `.npz`, `.jsonl` or `.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cogmap.errors import BadOutput, BadWalks, BadWorld
from cogmap.files import read_arrays, read_text, write_arrays, write_whole
from cogmap.records import Walks
from cogmap.walks.csv_table import format_csv, parse_csv
from cogmap.walks.jsonl import format_jsonl, parse_jsonl
from cogmap.walks.npz import (
    arrays_from_walks,
    holds_views,
    view_arrays,
    view_walks_from_arrays,
    walks_from_arrays,
)
from cogmap.walks.views import ViewWalks
from cogmap.walks.vocabulary import check_labels, translate

SUFFIXES = (".npz", ".jsonl", ".csv")
_RULE = "a walks file must end in .npz, .jsonl or .csv"


def load_walks(path: str | Path, like: Walks | None = None) -> Walks:
    """The walks in a file.

    like: walks whose vocabulary to use; read a test set `like` its training set. Without it, if the file does not
        state its vocabulary, labels are sorted and the number of observations or actions is the largest index plus one.

    A file of images or vectors gives `ViewWalks`; `learn` clusters them, and a run's quantizer turns new ones into
    plain walks.
    """
    path = Path(path)
    parse = _parser(path, like)
    with prefix_errors(path):
        walks = parse()
        if like is None or isinstance(walks, ViewWalks):  # views have no vocabulary until they are clustered
            return walks
        return translate(walks, like)


def _parser(path: Path, like: Walks | None) -> Callable[[], Walks]:
    """A function that parses the file, whose content is read here."""
    match path.suffix:
        case ".npz":
            arrays = read_arrays(path, BadWalks)
            return partial(view_walks_from_arrays if holds_views(arrays) else walks_from_arrays, arrays)
        case ".jsonl":
            return partial(parse_jsonl, read_text(path, BadWalks, "walks"))
        case ".csv":
            return partial(parse_csv, read_text(path, BadWalks, "walks"), like)
    raise BadWalks(f"{_RULE}, got {path.name!r}")


def save_walks(path: str | Path, walks: Walks) -> None:
    """Write a walks file whole or not at all. An existing one is replaced."""
    path = Path(path)
    check_output(path)
    for name in ("observation_labels", "action_labels"):
        check_labels(name, getattr(walks, name) or ())
    if path.suffix == ".npz":
        write_arrays(path, arrays_from_walks(walks) | view_arrays(walks))
        return
    if isinstance(walks, ViewWalks):
        raise BadOutput(f"walks of views must be saved as .npz, got {path.name!r}")
    with write_whole(path) as stream:
        for piece in format_jsonl(walks) if path.suffix == ".jsonl" else format_csv(walks):
            stream.write(piece.encode())


def check_output(path: str | Path) -> None:
    """Refuse an unknown suffix before any work is done."""
    if Path(path).suffix not in SUFFIXES:
        raise BadOutput(f"{_RULE}, got {Path(path).name!r}")


@contextmanager
def prefix_errors(path: str | Path) -> Iterator[None]:
    """Prefix errors about a file's content with its name."""
    try:
        yield
    except (BadWalks, BadWorld) as error:
        raise BadWalks(f"{path}: {error}") from error
