"""The explorer in chromium: the time from a click to the plan, and the frame rate of panning a map of 10,000 nodes.

python -m benchmarks.drawing [LIBRARIES]

LIBRARIES: a folder with sigma, graphology and pixi.js (`npm install sigma graphology pixi.js` there), to draw the same
map with them. Without a graphics card, as here, WebGL runs in software; with one these libraries would be faster. The
canvas needs none.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.files import write_json
from cogmap.maps.store import save_map
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "app" / "browser"))  # the browser and the server of the tests
CLICK_LIMITS = {300: 100, 10_000: 500}  # nodes: milliseconds from a click to the plan on the screen
LEAST_FRAMES = 30  # a second, while a map of 10,000 nodes pans
CLICKS = 7


class _Files(SimpleHTTPRequestHandler):
    extensions_map: ClassVar = {
        ".html": "text/html",
        ".css": "text/css",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
    }

    def __init__(self, folders: dict[str, Path], *arguments: Any) -> None:
        self.folders = folders
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        name, _, rest = path.partition("?")[0].lstrip("/").partition("/")
        return str(self.folders[name] / rest) if name in self.folders else "/nowhere"

    def log_message(self, format: str, *arguments: Any) -> None:
        return


@contextmanager
def _served(folders: dict[str, Path]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, folders))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def drawing_figures(address: str, engine: str, nodes: int, flags: Sequence[str]) -> dict[str, Any]:
    """First paint and frames per second of an engine, measured by benchmarks/pages/drawing.js in a new browser."""
    from chromium import started
    from selenium.common.exceptions import TimeoutException

    with tempfile.TemporaryDirectory() as profile, started(profile, *flags) as page:
        page.open(f"{address}/pages/drawing.html?engine={engine}&nodes={nodes}")
        try:
            return dict(page.wait(lambda: page.run("return window.figures"), "figures", patience=120))
        except (TimeoutException, AssertionError):  # the page did not answer, or did not finish
            return {"error": "no result within the timeout"}


def write_run(folder: Path, height: int, width: int) -> tuple[Path, Path]:
    """A run with the true map of a room, and walks in it."""
    room = AliasedRoom(height, width, observations=4, seed=0)
    run, walks = folder / "run", folder / "walks.npz"
    run.mkdir()
    save_map(run / "map.npz", replace(true_map(room), kind="minimal"))
    sizes = {"num_observations": 4, "num_targets": 4, "num_actions": room.num_actions}
    config = {"format": 1, "name": "TDB(S=3, M=1)", "model": sizes, "training": {}, "walks": 8}
    write_json(
        run / "config.json", {**config, "action_labels": room.action_labels, "observation_labels": None}
    )
    (run / "metrics.jsonl").write_text("")
    (run / "model.safetensors").write_bytes(b"")
    taken, truth = sample_walks(room, 8, 400, np.random.default_rng(0))
    save_walks(walks, taken)
    save_truth(walks, truth)
    return run, walks


_WATCH = """
window.shown = [];
let clicked = 0;
addEventListener("pointerup", (event) => { clicked = event.timeStamp; }, true);
new MutationObserver(() => {
  if (document.querySelectorAll("#steps li").length === 0) return;
  const from = clicked;
  requestAnimationFrame(() => setTimeout(() => window.shown.push(performance.now() - from), 0));
}).observe(document.getElementById("steps"), { childList: true });
"""


def click_to_plan(page: Any, height: int, width: int) -> float:
    """Milliseconds from the second click to the frame with the plan, from corner to corner; the median of a few."""
    from serving import serving

    nodes = height * width
    with tempfile.TemporaryDirectory() as folder, serving(*write_run(Path(folder), height, width)) as server:
        page.open(server.address)
        page.wait_for_map(nodes)
        # In the layout every node has a point.
        page.run("document.querySelector('#placements input[value=layout]').click()")
        page.run(_WATCH)
        for click in range(CLICKS):
            page.click_node(0)
            page.click_node(nodes - 1 - click)
            page.wait(lambda click=click: len(page.run("return window.shown")) > click, "a plan")
        return float(np.median(page.run("return window.shown")))


def _row(name: str, figures: dict[str, Any]) -> str:
    if "error" in figures:
        return f"  {name:24s} {figures['error']}"
    whole, near = figures["whole"], figures["near"]
    return (
        f"  {name:24s} first paint {figures['firstPaint']:7.0f} ms   panning {whole['framesPerSecond']:5.1f} frames/s "
        f"(longest {whole['longestFrame']:.0f} ms), zoomed in {near['framesPerSecond']:5.1f} frames/s"
    )


def main(libraries: Path | None = None) -> bool:
    """Print the tables; true if clicks and panning are within their limits."""
    from chromium import BROWSER, DRIVER, started

    if BROWSER is None or DRIVER is None:
        print("drawing: needs chromium and chromedriver, not measured")
        return True
    good = _compare(libraries)
    print(f"from a click to the plan on the screen, median of {CLICKS}")
    with tempfile.TemporaryDirectory() as profile, started(profile) as page:
        for (nodes, limit), size in zip(CLICK_LIMITS.items(), [(15, 20), (100, 100)], strict=True):
            spent = click_to_plan(page, *size)
            good &= spent < limit
            print(f"  {nodes:6d} nodes {spent:6.0f} ms (limit {limit} ms)", flush=True)
    return good


def _compare(libraries: Path | None) -> bool:
    """Measure the canvas, and the libraries if there are any; true if the canvas is fast enough."""
    folders = {
        "pages": ROOT / "benchmarks" / "pages",
        "shared": ROOT / "src" / "cogmap" / "report" / "shared",
    }
    folders |= {} if libraries is None else {"library": libraries / "node_modules"}
    flags = [] if libraries is None else ["--enable-unsafe-swiftshader"]  # WebGL without a graphics card
    print("a map drawn in chromium, 1360 x 860 pixels, no graphics card")
    good = True
    with _served(folders) as address:
        for nodes in CLICK_LIMITS:
            for engine in ["own"] if libraries is None else ["own", "pixi", "sigma"]:
                figures = drawing_figures(address, engine, nodes, flags)
                print(_row(f"{engine}, {nodes} nodes", figures), flush=True)
                if engine == "own":
                    good &= "error" not in figures and figures["whole"]["framesPerSecond"] >= LEAST_FRAMES
    return good


if __name__ == "__main__":
    sys.exit(0 if main(*map(Path, sys.argv[1:2])) else 1)
