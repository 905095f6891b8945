"""One page of all that was measured, with the machine, the commit and a plot; and the comparison of two commits."""

from __future__ import annotations

import io
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks._report import FOLDER, Figure

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "bench"
Run = Callable[[str], bool]


class _Both(io.TextIOBase):
    """Prints, and keeps what was printed."""

    def __init__(self) -> None:
        self._shown, self.kept = sys.stdout, io.StringIO()

    def write(self, text: str) -> int:
        self._shown.write(text)
        self._shown.flush()
        return self.kept.write(text)


def measured(names: Sequence[str], run: Run) -> list[str]:
    """Run benchmarks, write their page, and return those that were outside their limits."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        told, missed = {}, []
        for name in names:
            both = _Both()
            print(f"== {name}")
            try:
                with redirect_stdout(both):
                    good = run(name)
            except Exception as problem:  # one that fails must not lose the others
                both.write(f"failed: {type(problem).__name__}: {problem}\n")
                good = False
            told[name] = both.kept.getvalue()
            missed += [] if good else [name]
        figures = read_figures(Path(folder))
        del os.environ[FOLDER]
    write_page(told, figures, missed)
    return missed


def read_figures(folder: Path) -> dict[str, list[Figure]]:
    return {
        path.stem: [Figure(**each) for each in json.loads(path.read_text())]
        for path in sorted(folder.glob("*.json"))
    }


def write_page(told: dict[str, str], figures: dict[str, list[Figure]], missed: Sequence[str]) -> None:
    commit = _commit()
    RESULTS.mkdir(parents=True, exist_ok=True)
    machine = described_machine()
    stored = {
        "commit": commit,
        "machine": machine,
        "figures": {name: [asdict(one) for one in each] for name, each in figures.items()},
    }
    (RESULTS / f"{commit}.json").write_text(json.dumps(stored, indent=1) + "\n")
    drawn = draw([one for each in figures.values() for one in each], RESULTS / f"{commit}.png")
    lines = [f"# Speed at {commit}", "", *(f"- {name}: {value}" for name, value in machine.items()), ""]
    lines += [f"Outside their goals: {', '.join(missed) or 'none'}.", ""]
    lines += [f"![cost against size]({commit}.png)", ""] if drawn else []
    for name, text in told.items():
        lines += [f"## {name}", "", "```text", text.rstrip(), "```", ""]
    (RESULTS / f"{commit}.md").write_text("\n".join(lines))
    print(f"wrote {(RESULTS / f'{commit}.md').relative_to(ROOT)}")


def described_machine() -> dict[str, str]:
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    busy = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": f"{_processor()}, {cores} cores",
        "load before the end": f"{busy} processes, ours among them",
        "python": f"{platform.python_version()}, torch {torch.__version__}",
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": "python -m benchmarks",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine()
    )


def draw(figures: Sequence[Figure], path: Path) -> bool:
    """Plot costs against sizes; false where there are none."""
    series: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for one in figures:
        if one.size is not None:
            series.setdefault((one.unit, one.name), []).append((one.size, one.value))
    series = {name: points for name, points in series.items() if len(points) > 1}
    if not series:
        return False
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(7, 4.5), layout="constrained")
    axes = picture.subplots()
    for (unit, name), points in series.items():
        sizes, values = zip(*sorted(points), strict=True)
        axes.loglog(sizes, values, marker="o", label=f"{name} ({unit})")
    axes.set_xlabel("size: steps, nodes, walks or plans at once")
    axes.set_ylabel("cost of one")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    picture.savefig(path, dpi=120)
    return True


def compared(commit: str, names: Sequence[str]) -> int:
    """Run benchmarks with the sources of an earlier commit and then with these, and print the ratios."""
    with _sources_of(commit) as earlier, tempfile.TemporaryDirectory() as folder:
        found = {}
        for label, sources in (("earlier", earlier), ("now", ROOT / "src")):
            kept = Path(folder) / label
            kept.mkdir()
            for name in names:
                _run_with(sources, kept, name)
            found[label] = {
                (name, one.name, one.size): one for name, each in read_figures(kept).items() for one in each
            }
    print(f"{'':60s} {commit:>12s} {_commit():>14s}   ratio")
    for key, now in found["now"].items():
        before = found["earlier"].get(key)
        size = "" if now.size is None else f", {now.size:,.0f}"
        old = "-" if before is None else f"{before.value:.3f}"
        ratio = "" if before is None or not before.value else f"{now.value / before.value:8.2f}"
        print(f"{key[0] + ': ' + now.name + size:60s} {old:>12s} {now.value:>14.3f} {ratio}  {now.unit}")
    return 0 if found["now"] else 1


def _run_with(sources: Path, folder: Path, name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{sources}{os.pathsep}{ROOT}", FOLDER: str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"], cwd=ROOT, env=environment, capture_output=True
    )
    if done.returncode not in (0, 1) or not (folder / f"{name}.json").exists():
        reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it kept no figures"]
        print(f"{name} does not run with {sources}: {reason[0]}", file=sys.stderr)


@contextmanager
def _sources_of(commit: str) -> Iterator[Path]:
    """The sources at a commit, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = str(Path(folder) / "tree")
        added = subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "add", "--detach", "--quiet", tree, commit],
            capture_output=True,
            text=True,
        )
        if added.returncode:
            raise SystemExit(f"benchmarks: --compare takes a commit, got {commit!r}: {added.stderr.strip()}")
        try:
            yield Path(tree) / "src"
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", tree], check=False)


def _commit() -> str:
    from cogmap.experiments.commits import current_commit

    return current_commit()
