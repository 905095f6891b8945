"""Arrows go right only: a room imports the records, the errors, the files and rooms to its left."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import cogmap.records

PACKAGE = Path(cogmap.records.__file__).parent
LEFT_TO_RIGHT = "environments walks models training maps planning evaluation report app"
ROOMS = LEFT_TO_RIGHT.split()
SHARED = {"records", "errors", "files", "version"}  # what every room may import; they import no room
TOP = {
    "__init__",
    "__main__",
    "run",
    "learning",
    "early_maps",
    "text_learning",
    "family_learning",
    "experiments",
    "cli",
    "commands",
}  # what may import every room
EXCEPTIONS = {"records.py imports maps"}  # `CognitiveMap.to_networkx`, which users ask the map itself for
MAY_KNOW_TRUTH = {"environments", "walks", "evaluation", "report", "app"}
MAY_USE_TORCH = {"models", "training"}
MAY_USE_TORCH_TOO = {"evaluation/disentanglement.py", "commands/doctor.py"}


def sources():
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def part_of(path):
    """The room, or the file at the package's root, that a source file belongs to."""
    return Path(path).parts[0].removesuffix(".py")


def imports_of(path, source):
    """Every (module, name) that a file imports, at its head or inside a function, by its full name."""
    package = ["cogmap", *Path(path).parts[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((module, alias.name) for alias in node.names)


def parts_imported(path, source):
    """The rooms and root files of this package that a file imports from."""
    for module, name in imports_of(path, source):
        inside = module.split(".")
        if inside[0] == "cogmap":
            yield inside[1] if len(inside) > 1 else name


def faults(path, source):
    """What a file imports that it may not."""
    part = part_of(path)
    modules = {module.split(".")[0] for module, _ in imports_of(path, source)}
    if part not in TOP:
        allowed = SHARED | set(ROOMS[: ROOMS.index(part) + 1] if part in ROOMS else ())
        yield from (
            f"{path} imports {other}" for other in parts_imported(path, source) if other not in allowed
        )
    if part in ROOMS and part not in MAY_KNOW_TRUTH:
        names = {name for _, name in imports_of(path, source)}
        yield from (f"{path} imports Truth" for _ in names & {"Truth"})
    if "torch" in modules and part not in MAY_USE_TORCH and path not in MAY_USE_TORCH_TOO:
        yield f"{path} imports torch"


@pytest.mark.parametrize("path", sources())
def test_a_file_imports_only_what_it_may(path):
    assert part_of(path) in {*ROOMS, *SHARED, *TOP}, "a new room needs its place in the order above"
    assert set(faults(path, (PACKAGE / path).read_text(encoding="utf-8"))) <= EXCEPTIONS


@pytest.mark.parametrize(
    ("path", "line", "fault"),
    [
        ("maps/build.py", "from cogmap.planning.shortest_paths import solve", "imports planning"),
        ("maps/build.py", "from cogmap import planning", "imports planning"),
        ("maps/build.py", "import cogmap.planning.shortest_paths", "imports planning"),
        ("maps/build.py", "from ..planning import solve", "imports planning"),
        ("maps/build.py", "def late():\n    from cogmap.report import page", "imports report"),
        ("walks/ginc/deep.py", "from ...models import tdb", "imports models"),
        ("records.py", "from cogmap.environments import AliasedRoom", "imports environments"),
        ("training/loop.py", "from cogmap.records import Truth, Walks", "imports Truth"),
        ("planning/shortest_paths.py", "import torch.nn as nn", "imports torch"),
        ("run.py", "from torch import nn", "imports torch"),
    ],
)
def test_a_wrong_arrow_would_be_seen(path, line, fault):
    assert list(faults(path, line)) == [f"{path} {fault}"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("maps/build.py", "from cogmap.models.inference import encode\nfrom .counts import counts"),
        ("evaluation/planning.py", "from cogmap.records import Truth"),
        ("models/tdb.py", "import torch"),
        ("cli.py", "from cogmap.report import page"),
    ],
)
def test_a_right_arrow_is_let_through(path, line):
    assert list(faults(path, line)) == []


@pytest.mark.parametrize("module", ["cogmap", "cogmap.environments", "cogmap.evaluation.prediction"])
def test_heavy_libraries_wait_until_they_are_needed(module):
    script = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "scipy", "matplotlib", "networkx", "gymnasium"} & set(run.stdout.split())
