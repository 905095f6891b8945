"""Read and write walks. The suffix gives the format: `.npz`, `.jsonl`, `.csv`, or `.walks`, a folder."""

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
from cogmap.walks.log import WalkLog, translate_log
from cogmap.walks.log_store import SUFFIX, open_log, save_log
from cogmap.walks.npz import (
    arrays_from_walks,
    holds_views,
    view_arrays,
    view_walks_from_arrays,
    walks_from_arrays,
)
from cogmap.walks.views import ViewWalks
from cogmap.walks.vocabulary import check_labels, translate

SUFFIXES = (".npz", ".jsonl", ".csv", SUFFIX)
MOST_TEXT = 256 << 20  # bytes of a .jsonl or .csv that is read at once, some 60 bytes of memory for each
_RULE = "a walks file must end in .npz, .jsonl, .csv or .walks"  # and .tsv is read as .csv is


def load_walks(path: str | Path, like: Walks | None = None) -> Walks:
    """The walks in a file.

    like: walks whose vocabulary to use; read a test set `like` its training set. Without it, if the file does not
        state its vocabulary, labels are sorted and the number of observations or actions is the largest index plus one.

    A `.walks` folder is mapped and may be larger than memory. Walks of which a few are far longer than the rest stay
    as they are. Both are a `WalkLog`.
    A file of images or vectors gives `ViewWalks`; `learn` clusters them, and a run's quantizer turns new ones into
    plain walks.
    """
    path = Path(path)
    parse = _parser(path, like)
    with prefix_errors(path):
        walks = parse()
        if like is None or isinstance(walks, ViewWalks):  # views have no vocabulary until they are clustered
            return walks
        return translate_log(walks, like) if isinstance(walks, WalkLog) else translate(walks, like)


def _parser(path: Path, like: Walks | None) -> Callable[[], Walks]:
    """A function that parses the file, whose content is read here."""
    match path.suffix:
        case ".npz":
            arrays = read_arrays(path, BadWalks)
            return partial(view_walks_from_arrays if holds_views(arrays) else walks_from_arrays, arrays)
        case ".jsonl":
            return partial(parse_jsonl, _text(path))
        case ".csv" | ".tsv":
            return partial(parse_csv, _text(path), like)
        case ".walks":
            walks = open_log(path)
            return lambda: walks
    raise BadWalks(f"{_RULE}, got {path.name!r}")


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = 0  # reading it says why
    if size > MOST_TEXT:
        rule = f"{path} must have at most {MOST_TEXT} bytes to be read at once, got {size}"
        raise BadWalks(f"{rule}: convert it once with `cogmap convert {path} --out {path.stem}{SUFFIX}`")
    return read_text(path, BadWalks, "walks")


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
    if path.suffix == SUFFIX:
        save_log(path, walks)
        return
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
