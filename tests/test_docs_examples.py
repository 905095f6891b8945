"""What README and the documentation tell people to type does what they say.

The blocks of a page run in order, in one folder, at a smaller size, and what each command prints or writes is checked.
A `text` block after a block is what it prints, up to numbers and labels.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import networkx
import pytest

import cogmap
from cogmap.cli import main
from cogmap.evaluation.scores import Scores
from cogmap.maps.store import load_map
from cogmap.planning.localise import has_chance
from cogmap.training import config
from cogmap.walks.truth_store import load_truth, truth_path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNS, SHOWS, PLAIN = ("sh", "python"), "text", ("json", "{toctree}")
NOT_RUN = "# not run in the tests: "

# The sizes of the worlds on the pages, and those that are walked in here.
SMALLER_WORLDS = {"--height 6 --width 8 --observations 4": "--height 3 --width 4 --observations 3"}
MOST_WALKS = 64


@dataclass
class Block:
    language: str
    source: str

    @property
    def runs(self) -> bool:
        return self.language in RUNS and not self.source.startswith(NOT_RUN)


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def pages_that_run() -> list[Path]:
    return [page for page in PAGES if any(block.runs for block in blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs_or_says_why_not(page: Path) -> None:
    for block in blocks(page):
        assert block.language in (*RUNS, SHOWS, *PLAIN), f"what is this block written in?\n{block.source}"
        if block.language in RUNS and not block.runs:
            reason = block.source.splitlines()[0].removeprefix(NOT_RUN)
            assert len(reason.split()) >= 2, f"the reason is missing: {block.source}"
    indented = re.findall(
        r"^ {4,}(?:cogmap|python|pip|curl) .*$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert not indented, "a command outside of a fenced block is not run by anybody"


def test_there_are_examples_to_run() -> None:
    assert {"README.md", "quick_start.md", "own_log.md", "formats.md"} <= {
        page.name for page in pages_that_run()
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Models that learn twelve places in seconds; and the checkout's stored models in reach."""
    chosen = config._fast_recurrent

    def smaller(base: Any, steps_seen: int) -> tuple[Any, config.TrainingConfig]:
        model, training = chosen(base, steps_seen)
        return replace(model, width=48, head_width=64, num_codes=100), replace(training, batch_size=40)

    monkeypatch.setattr(config, "_fast_recurrent", smaller)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "results").symlink_to(ROOT / "results")
    return tmp_path


@pytest.mark.parametrize("page", pages_that_run(), ids=lambda page: page.name)
def test_blocks_of_a_page_run_in_order(page: Path, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {}
    printed, shown = "", 0
    for block in blocks(page):
        if block.runs:
            run = _run_shell if block.language == "sh" else _run_python
            printed = run(block.source, namespace, capsys)
        elif block.language == SHOWS and printed:
            _check_shown(block.source, printed)
            shown += 1
        if block.language == SHOWS:
            printed = ""
    assert page.name in ("README.md",) or shown, "a page shows what its examples print"


def _run_python(source: str, namespace: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(source, "example", "exec"), namespace)
    printed = capsys.readouterr().out
    assert bool(printed) >= ("print(" in source)
    return printed


def _run_shell(source: str, namespace: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    printed = ""
    for line in source.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            printed += OTHER_PROGRAMS[words[0]](words) if words[0] != "cogmap" else _cogmap(words[1:], capsys)
    return printed


def _cogmap(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    arguments = _smaller(words)
    code = main(arguments)
    printed, problems = capsys.readouterr()
    assert code == 0, f"{shlex.join(words)}\n{problems}"
    CHECKS[words[0]](Called(arguments), printed)
    return printed


def _smaller(words: list[str]) -> list[str]:
    """The same command on fewer walks in a smaller room."""
    line = shlex.join(words)
    if words[0] == "walk":
        for size, smaller in SMALLER_WORLDS.items():
            line = line.replace(size, smaller)
        line = re.sub(r"--walks (\d+)", lambda found: f"--walks {min(int(found[1]), MOST_WALKS)}", line)
    return shlex.split(line)


@dataclass
class Called:
    """A command as it was called."""

    arguments: list[str]

    def option(self, name: str) -> str | None:
        return self.arguments[self.arguments.index(name) + 1] if name in self.arguments else None

    def path(self, name: str) -> Path:
        given = self.option(name)
        assert given is not None
        return Path(given)

    @property
    def run(self) -> Path:
        return Path(self.arguments[1])


def _check_walk(called: Called, printed: str) -> None:
    path = called.path("--out")
    assert cogmap.load_walks(path).num_walks == int(called.option("--walks") or 0)
    assert f"wrote {path}" in printed
    assert truth_path(path).exists() == ("gym" not in called.arguments)
    if called.option("--figure"):
        assert called.path("--figure").stat().st_size > 1000


def _check_check(called: Called, printed: str) -> None:
    walks = cogmap.load_walks(called.arguments[1])
    assert f"{walks.num_walks} walks of" in printed
    assert f"{walks.num_observations} observations" in printed
    assert "no problems found" in printed


def _check_learn(called: Called, printed: str) -> None:
    run = called.path("--out")
    learned = ("states.npz",) if "--method" in called.arguments else ("model.safetensors", "metrics.jsonl")
    for name in ("config.json", *learned, "map.npz"):
        assert (run / name).stat().st_size > 100
    found = load_map(run / "map.npz")
    assert f"of {found.num_nodes} " in printed
    assert found.num_nodes > 5
    if "--words" in called.arguments or "--method" in called.arguments:
        return
    assert found.warnings == ()
    assert found.explained > (0.85 if has_chance(found) else 0.95)


def _check_plan(called: Called, printed: str) -> None:
    walks = called.path("--walks")
    if "--json" in called.arguments:
        plan = json.loads(printed)
        assert len(plan["actions"]) == len(plan["observations"]) - 1 == len(plan["nodes"]) - 1 > 0
        assert called.option("--avoid") not in plan["observations"][1:-1]
        return
    count, actions = re.search(r"^(\d+) actions?: (.+)$", printed, re.MULTILINE).groups()  # type: ignore[union-attr]
    labels = cogmap.load_run(called.run).action_labels
    assert labels is not None
    taken = [labels.index(action) for action in actions.split()]
    assert len(taken) == int(count) > 0
    if truth_path(walks).exists() and called.option("--to"):
        truth = load_truth(walks, cogmap.load_walks(walks))
        (walk, step), goal = (map(int, (called.option(end) or "").split(":")) for end in ("--from", "--to"))
        position = truth.positions[walk, step]
        for action in taken:
            position = truth.world.next_position[position, action]
        assert position == truth.positions[tuple(goal)], "the plan leads to where the walk really was"


METRICS = {"TestAccu", "TestAccu ceiling", "ImpFallback", "RatioSP", "NormGED"}


def _check_policy(called: Called, printed: str) -> None:
    """Every node has an action, is the goal, or leads nowhere; an action arrives with some probability."""
    if "--json" not in called.arguments:
        assert printed.startswith("Policy(")
        return
    policy = json.loads(printed)
    assert len(policy["action"]) == len(policy["arrival"]) == load_map(called.run / "map.npz").num_nodes
    acts = [
        arrival
        for arrival, index in zip(policy["arrival"], policy["action_indices"], strict=True)
        if index >= 0
    ]
    assert acts
    assert all(0 < arrival <= 1 for arrival in acts)
    assert all(policy["arrival"][goal] == 1 for goal in policy["goals"])


def _check_evaluate(called: Called, printed: str) -> None:
    if (called.run / "scores.rooms.json").exists():
        by_room = json.loads((called.run / "scores.rooms.json").read_text())
        assert "ImpFallback" in printed
        assert by_room
        return
    scores = Scores.load(called.run / "scores.json")
    assert set(scores.printed()) >= METRICS
    assert all(name in printed for name in METRICS)
    assert scores.test_accu > 0.97
    assert scores.imp_fallback == 1.0
    assert scores.norm_ged == 0.0


def _check_report(called: Called, printed: str) -> None:
    page = (called.run / "report.html").read_text(encoding="utf-8")
    assert "TDB(S=3, M=1)" in page
    assert not re.search(r"(src|href)=.https?://", page), "opens offline"
    figures = list((called.run / "figures").glob("*.svg"))
    assert figures
    assert all("<svg" in figure.read_text(encoding="utf-8") for figure in figures)


def _check_map(called: Called, printed: str) -> None:
    graph = networkx.read_graphml(called.path("--out"))
    assert f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges" in printed
    assert all(steps >= 0 for _, steps in graph.nodes(data="support"))


def _check_doctor(called: Called, printed: str) -> None:
    assert f"cogmap {cogmap.__version__}" in printed
    assert "torch 2." in printed


def _check_convert(called: Called, printed: str) -> None:
    assert printed.startswith(f"wrote {called.option('--out')}: ")


def _check_compare(called: Called, printed: str) -> None:
    assert all((called.path("--out") / name).is_file() for name in ("comparison.csv", "accuracy-by-time.png"))
    assert "log-loss" in printed


CHECKS: dict[str, Callable[[Called, str], None]] = {
    "walk": _check_walk,
    "check": _check_check,
    "convert": _check_convert,
    "learn": _check_learn,
    "plan": _check_plan,
    "policy": _check_policy,
    "evaluate": _check_evaluate,
    "compare": _check_compare,
    "report": _check_report,
    "map": _check_map,
    "doctor": _check_doctor,
}


def _make(words: list[str]) -> str:
    """These set up what this test runs in."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), words
    return ""


def _pip(words: list[str]) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert words[1] == "install"
    package, extra = re.fullmatch(r"(\w+)(?:\[(\w+)\])?", words[2]).groups()  # type: ignore[union-attr]
    assert package == project["name"]
    assert extra is None or extra in project["optional-dependencies"]
    return ""


def _copy(words: list[str]) -> str:
    assert words[:2] == ["cp", "-r"]
    shutil.copytree(words[2], words[3])
    return ""


OTHER_PROGRAMS: dict[str, Callable[[list[str]], str]] = {"make": _make, "pip": _pip, "cp": _copy}


def _check_shown(block: str, printed: str) -> None:
    """Every line shown was printed, in that order; numbers and labels depend on the size."""
    lines = iter([_shape(line) for line in printed.splitlines()])
    for line in block.splitlines():
        whole, start = not line.endswith("..."), _shape(line.removesuffix("..."))
        found = any(each == start if whole else each.startswith(start) for each in lines)
        assert found, f"{line!r} was not printed, or in another place:\n{printed}"


LABELS = "up|down|left|right|wood|tiles|carpet"


def _shape(line: str) -> str:
    """A line without its numbers and labels, however many of them follow each other."""
    line = re.sub(rf"\b(?:{LABELS})\b", "label", line)
    line = re.sub(r"'label'(?:, 'label')*|label(?: label)*", "labels", line)
    line = re.sub(r"\d+(?:\.\d+)?", "0", line).replace("0 action:", "0 actions:")
    return re.sub(r"\s+", " ", re.sub(r"0(?:, 0)+", "0", line)).strip()


def test_shapes_differ_where_words_do() -> None:
    assert _shape("3 actions: up up down") == _shape("1 action: left")
    assert _shape("  TestAccu   99.64 %") == _shape("  TestAccu  7 %")
    assert _shape("wrote a") != _shape("wrote b")
