"""Arrows go right only: a room imports the records, the errors, the files and rooms to its left."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cogmap

PACKAGE = Path(cogmap.__file__).parent
# From left to right.
ROOMS = ["environments", "walks", "models", "training", "hmm", "search", "maps", "baselines", "planning"]
ROOMS += ["evaluation", "report", "runs", "tasks", "experiments", "app", "commands", "cli"]
# What every room may import; they import no room.
SHARED = {"records", "errors", "files", "parts", "checks", "signals", "version"}
FRONT = {"__init__", "__main__"}  # the package's face: public names, and the command line as a module
# Methods of the map may call public functions, by `import cogmap` inside of them.
ASKS_THE_FRONT = {"records/cognitive_map.py"}
# Truth is reachable only where it is made or scored. Of the rooms that train, map and plan none may name it.
MAKES_OR_SCORES_TRUTH = {
    "environments",
    "walks",
    "evaluation",
    "report",
    "runs",
    "experiments",
    "app",
    "commands",
}
SCORES_TRUTH_TOO = {f"tasks/{name}.py" for name in ("evaluation", "places", "family", "text")} | {
    "__init__.py"
}
TRUTH = {"Truth", "load_truth", "save_truth", "read_truth"}
MAY_USE_TORCH = {"models", "training"}
MAY_USE_TORCH_TOO = {"evaluation/disentanglement.py"}


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
        elif isinstance(node, ast.Constant) and re.fullmatch(r"cogmap\.[a-z_.]+", str(node.value)):
            yield node.value, None  # what `import_module` is given


def parts_imported(path, source):
    """The rooms and root files of this package that a file imports from."""
    for module, name in imports_of(path, source):
        inside = module.split(".")
        if inside[0] == "cogmap" and (module, name, path) not in {
            ("cogmap", None, each) for each in ASKS_THE_FRONT
        }:
            yield inside[1] if len(inside) > 1 else name


def faults(path, source):
    """What a file imports that it may not."""
    part = part_of(path)
    imported = list(imports_of(path, source))
    if part in FRONT:
        allowed = {*SHARED, *ROOMS}
    else:
        allowed = SHARED | set(ROOMS[: ROOMS.index(part) + 1] if part in ROOMS else ())
    yield from (f"{path} imports {other}" for other in parts_imported(path, source) if other not in allowed)
    if part not in {*MAKES_OR_SCORES_TRUTH, *SHARED} and path not in SCORES_TRUTH_TOO:
        yield from (f"{path} imports {name}" for _, name in imported if name in TRUTH)
    modules = {module.split(".")[0] for module, _ in imported}
    if "torch" in modules and part not in MAY_USE_TORCH and path not in MAY_USE_TORCH_TOO:
        yield f"{path} imports torch"


@pytest.mark.parametrize("path", sources())
def test_a_file_imports_only_what_it_may(path):
    assert part_of(path) in {*ROOMS, *SHARED, *FRONT}, "a new room needs its place in the order above"
    assert list(faults(path, (PACKAGE / path).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("path", "line", "fault"),
    [
        ("maps/build.py", "from cogmap.planning.shortest_paths import solve", "imports planning"),
        ("maps/build.py", "from cogmap import planning", "imports planning"),
        ("maps/build.py", "import cogmap.planning.shortest_paths", "imports planning"),
        ("maps/build.py", "from ..planning import solve", "imports planning"),
        ("maps/build.py", "def late():\n    from cogmap.report import page", "imports report"),
        ("records/plan.py", "import_module('cogmap.report.sketch')", "imports report"),
        ("maps/build.py", "import_module(f'cogmap.tasks.{name}')", "imports tasks"),
        ("records/cognitive_map.py", "from cogmap import learn", "imports learn"),
        ("walks/ginc/deep.py", "from ...models import tdb", "imports models"),
        ("records/walks.py", "import cogmap", "imports None"),
        ("records/walks.py", "from cogmap.environments import AliasedRoom", "imports environments"),
        ("training/loop.py", "from cogmap.records import Truth, Walks", "imports Truth"),
        ("planning/shortest_paths.py", "import torch.nn as nn", "imports torch"),
        ("runs/run.py", "from torch import nn", "imports torch"),
        ("runs/run.py", "from cogmap.tasks.learning import learn", "imports tasks"),
        ("app/watcher.py", "from cogmap.commands.serve import run", "imports commands"),
        ("tasks/learning.py", "from cogmap.walks.truth_store import load_truth", "imports load_truth"),
    ],
)
def test_a_wrong_arrow_would_be_seen(path, line, fault):
    assert list(faults(path, line)) == [f"{path} {fault}"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("maps/build.py", "from cogmap.walks.sample import sample_walks\nfrom .counts import counts"),
        ("evaluation/planning.py", "from cogmap.records import Truth"),
        ("models/tdb.py", "import torch"),
        ("cli.py", "from cogmap.report import page"),
        ("records/cognitive_map.py", "def late():\n    import cogmap\n    cogmap.sketch(None)"),
    ],
)
def test_a_right_arrow_is_let_through(path, line):
    assert list(faults(path, line)) == []


@pytest.mark.parametrize("module", ["cogmap", "cogmap.environments", "cogmap.evaluation.prediction"])
def test_heavy_libraries_wait_until_they_are_needed(module):
    script = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "scipy", "matplotlib", "networkx", "gymnasium"} & set(run.stdout.split())


@pytest.mark.parametrize("module", ["cogmap.runs.folder", "cogmap.runs.plans", "cogmap.tasks.evaluation"])
def test_a_run_is_read_without_torch(module):
    script = f"import sys, {module}; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
