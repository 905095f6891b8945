"""The explorer's pictures in docs/images, from a run of a 15 x 20 room and test walks with their truth beside them.

python docs/make_explorer_pictures.py RUN WALKS
"""

from __future__ import annotations

import io
import sys
import tempfile
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


def main(run: str, walks: str) -> None:
    from chromium import started
    from serving import serving

    with tempfile.TemporaryDirectory() as profile, serving(run, walks) as server, started(profile) as page:
        for name, work, dark in (("explorer_plan", plan, False), ("explorer_walk", walk, True)):
            page.open(server.address, **SIZE, dark=dark)
            page.wait_for_map(300)
            work(page)
            page.wait_for_map(300)  # painted
            save(page, name)
            print(f"wrote {IMAGES / name}.png")


if __name__ == "__main__":
    main(*sys.argv[1:3])
