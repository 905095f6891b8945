"""The explorer's pictures in docs/images: a run of a 15 x 20 room, test walks with their truth beside them; a 3D run.

python docs/make_explorer_pictures.py RUN WALKS RUN_3D
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "app" / "browser"))  # the browser and the server of the tests
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1360, "height": 800}
THIN = ("--trail", "--path", "--action-0", "--action-1", "--action-2", "--action-3")
START, GOAL = 2 * 20 + 2, 12 * 20 + 17  # true positions


def node_at(page: Any, position: int) -> int:
    script = "return document.getElementById('map').mapView.map.nodes.position.indexOf(arguments[0])"
    return int(page.run(script, position))


def save(page: Any, name: str) -> None:
    """In 256 colours, for a small file: the most frequent ones, and those of thin lines, which are rare."""
    from PIL import Image, ImageColor

    IMAGES.mkdir(exist_ok=True)
    picture = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
    style = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()"
    thin = [ImageColor.getrgb(page.run(style, colour)) for colour in THIN]
    common = [colour for _, colour in sorted(picture.getcolors(1 << 24), reverse=True)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in (thin + common)[:256] for part in colour])
    small = picture.quantize(palette=palette, dither=Image.Dither.NONE)
    small.save(IMAGES / f"{name}.png", optimize=True)


def plan(page: Any) -> None:
    page.run("document.querySelector('#placements input[value=layout]').click()")
    page.click_node(node_at(page, START))
    page.click_node(node_at(page, GOAL))
    page.click("#avoid button:nth-child(1)")
    page.run("document.activeElement.blur(); document.getElementById('card').hidden = true")


def walk(page: Any) -> None:
    page.click("#tab-walk")
    page.click("#walk-begin")
    page.wait(lambda: page.text("#walk-seen"), "an observation")
    for step, action in enumerate(("right", "down"), 1):
        page.click(f"#pad .{action}")
        page.wait(lambda step=step: len(page.all("#walk-steps li")) == step + 1, "a step")
    page.run("document.activeElement.blur()")


def views(page: Any) -> None:
    """A plan from node 10, looked at closely."""
    for end, node in (("start", 10), ("goal", 40)):
        page.find(f"#{end}").send_keys(str(node))
    page.run(
        "const {stage, points} = document.getElementById('map').mapView;"
        "stage.fly({x: points[20], y: points[21], scale: 5 * stage.camera.scale}, false);"
        "document.activeElement.blur()"
    )
    page.wait(lambda: len([one for one in page.asked_for() if "/api/view/" in one]) > 10, "views")


def take(page: Any, server: Any, name: str, work: Callable[[Any], None], dark: bool = False) -> None:
    page.open(server.address, **SIZE, dark=dark)
    page.wait(lambda: page.run("return document.getElementById('map')?.mapView?.scene"), "a map")
    work(page)
    time.sleep(1)  # until it is painted, and the pictures in it are here
    save(page, name)
    print(f"wrote {IMAGES / name}.png")


def main(run: str, walks: str, run_3d: str) -> None:
    from chromium import started
    from serving import serving

    with tempfile.TemporaryDirectory() as profile, started(profile) as page:
        with serving(run, walks) as server:
            take(page, server, "explorer_plan", plan)
            take(page, server, "explorer_walk", walk, dark=True)
        with serving(run_3d) as server:
            take(page, server, "explorer_views", views)


if __name__ == "__main__":
    main(*sys.argv[1:4])
