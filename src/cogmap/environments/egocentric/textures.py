"""Textures of a 3D room: DeepMind Lab's own if `labmaze` is installed, painted ones otherwise.

Painted textures (wallpapers, floors, skies, posters) need only a seed.
"""

from __future__ import annotations

import colorsys
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig, MissingExtra

Image = NDArray[np.uint8]  # (side, side, 3)
Plane = NDArray[np.float64]  # (side, side)
TextureSource = Literal["auto", "lab", "painted"]
SIDE = 256  # pixels of a texture; a view has 64
SKY_SIDES = ("right", "left", "up", "down", "front", "back")
_SKY_FILES = dict(zip(SKY_SIDES, ("rt", "lf", "up", "dn", "ft", "bk"), strict=True))
_GOLDEN = 0.618033988749895


@dataclass(frozen=True, eq=False)
class Textures:
    """All textures of a room."""

    walls: tuple[Image, ...]
    floor: Image
    sky: dict[str, Image]  # by SKY_SIDES
    posters: tuple[Image, ...]


def choose_source(source: TextureSource) -> TextureSource:
    """The source that `auto` means on this machine."""
    if source not in ("auto", "lab", "painted"):
        raise BadConfig(f'`textures` must be "auto", "lab" or "painted", got {source!r}')
    if source == "auto":
        return "painted" if find_spec("labmaze") is None else "lab"
    return source


def draw_textures(source: TextureSource, walls: int, posters: int, rng: np.random.Generator) -> Textures:
    """Different wallpapers and posters, as many as asked for or available, a floor and a sky."""
    pictures = tuple(_paint_poster(SIDE // 2, rng) for _ in range(posters))
    if choose_source(source) == "painted":
        return Textures(
            walls=tuple(_paint_wall(SIDE, turn, rng) for turn in range(walls)),
            floor=_paint_floor(SIDE, rng),
            sky={side: _paint_sky(SIDE, side, rng) for side in SKY_SIDES},
            posters=pictures,
        )
    assets = _lab_assets()
    papers = sorted(assets.glob("style_*/wall_*_d.png"))
    floors = sorted(assets.glob("style_*/floor_*_d.png"))
    sky = assets / f"sky_0{rng.integers(2, 4)}"  # sky_01 is a night scene
    return Textures(
        walls=tuple(_load(papers[index]) for index in rng.permutation(len(papers))[:walls]),
        floor=_load(floors[rng.integers(len(floors))]),
        sky={side: _load(sky / f"{name}.png") for side, name in _SKY_FILES.items()},
        posters=pictures,
    )


def _lab_assets() -> Path:
    """The folder of textures in labmaze, found without importing its compiled modules."""
    spec = find_spec("labmaze")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra('textures="lab" needs labmaze: pip install "cogmap[3d]" on Python below 3.13')
    return Path(spec.submodule_search_locations[0]) / "assets"


def _load(path: Path) -> Image:
    from PIL import Image as Pictures

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about transparent palettes, which are not used
        return np.asarray(Pictures.open(path).convert("RGB").resize((SIDE, SIDE), Pictures.Resampling.BOX))


def _paint_wall(side: int, turn: int, rng: np.random.Generator) -> Image:
    """A wallpaper. Successive values of `turn` differ in hue and pattern."""
    hue = (turn * _GOLDEN + 0.03) % 1
    light, ink = _colour(hue, rng.uniform(0.5, 0.68), 0.65), _colour(hue, 0.25, 0.6)
    pattern = (_bricks, _tiles, _planks, _hexagons, _rings)[turn % 5]
    lines, shade = pattern(side, rng)
    picture = light * (1 - 0.28 * shade[..., None])
    picture = picture * (1 - lines[..., None]) + ink * lines[..., None]
    picture[-side // 16 :] *= 0.45  # a skirting board
    return _image(picture)


def _paint_floor(side: int, rng: np.random.Generator) -> Image:
    """Quiet tiles, so that the walls stand out."""
    lines, shade = _tiles(side, rng, number=4)
    picture = _colour(rng.uniform(), 0.55, 0.25) * (1 - 0.18 * shade[..., None])
    return _image(picture * (1 - 0.35 * lines[..., None]))


def _paint_sky(side: int, face: str, rng: np.random.Generator) -> Image:
    """A blue sky over a skyline; below the horizon it is dark."""
    high, low = np.array((0.25, 0.5, 0.9)), np.array((0.78, 0.9, 1.0))
    if face in ("up", "down"):
        return _image(np.broadcast_to(high if face == "up" else low * 0.3, (side, side, 3)))
    height = np.linspace(1, -1, side)[:, None, None]  # 0 at the horizon
    picture = low + (high - low) * np.clip(height, 0, 1) ** 0.7 + np.zeros((side, side, 1))
    for distance in (0.55, 0.3):  # far and pale, then near and dark
        roofs = np.repeat(rng.uniform(0.02, 0.42, size=16) * (1.1 - distance), side // 16)[None, :]
        built = (height[..., 0] > 0) & (height[..., 0] < roofs)
        picture[built] = low * distance
    picture[height[:, 0, 0] <= 0] = 0.24
    return _image(picture)


def _paint_poster(side: int, rng: np.random.Generator) -> Image:
    """A framed abstract picture in two strong colours."""
    hue = rng.uniform()
    ground, figure = _colour(hue, 0.5, 0.9), _colour(hue + rng.uniform(0.3, 0.7), 0.6, 0.95)
    picture = np.where(_figure(side, rng)[..., None], figure, ground)
    border = side // 12
    framed = np.full((side, side, 3), 0.95)
    framed[border:-border, border:-border] = picture[border:-border, border:-border]
    return _image(framed)


def _figure(side: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(side, side): one of several shapes, of one of several sizes."""
    y, x = np.meshgrid(*2 * [np.linspace(-1, 1, side)], indexing="ij")
    radius, angle, times = np.hypot(x, y), np.arctan2(y, x), int(rng.integers(2, 5))
    shapes = (
        np.sin(radius * times * np.pi * 1.5) > 0,  # rings
        np.sin((x + y) * times * np.pi) > 0,  # slanted stripes
        (np.sin(x * times * np.pi) > 0) ^ (np.sin(y * times * np.pi) > 0),  # a chessboard
        np.sin(angle * (times + 1)) > 0,  # rays
        radius < 0.35 + 0.25 * np.cos(angle * (times + 2)),  # a flower
        np.minimum(np.abs(x), np.abs(y)) < 0.1 * times,  # a cross
    )
    return shapes[rng.integers(len(shapes))]


def _bricks(side: int, rng: np.random.Generator) -> tuple[Plane, Plane]:
    y, x = np.mgrid[:side, :side] * 8 / side
    x = x / 2 + (y.astype(int) % 2) / 2
    return _grid_lines(x, y, 0.05), _blocks(x, y, rng)


def _tiles(side: int, rng: np.random.Generator, number: int = 8) -> tuple[Plane, Plane]:
    y, x = np.mgrid[:side, :side] * number / side
    return _grid_lines(x, y, 0.04), _blocks(x, y, rng)


def _planks(side: int, rng: np.random.Generator) -> tuple[Plane, Plane]:
    y, x = np.mgrid[:side, :side] * 5 / side
    grain = 0.5 + 0.5 * np.sin(y * 3 + np.sin(x * 40))
    return _grid_lines(x, np.full_like(y, 0.5), 0.06), 0.6 * _blocks(x, np.zeros_like(y), rng) + 0.4 * grain


def _hexagons(side: int, rng: np.random.Generator) -> tuple[Plane, Plane]:
    """Cells nearest to the points of two interleaved grids."""
    y, x = np.mgrid[:side, :side] * np.array([6, 4])[:, None, None] / side
    first = np.stack([y - np.round(y / 2) * 2, 1.5 * (x - np.round(x))])
    second = np.stack([y - 1 - np.round((y - 1) / 2) * 2, 1.5 * (x - 0.5 - np.round(x - 0.5))])
    near = np.stack([np.hypot(*first), np.hypot(*second)])
    lines = (np.abs(near[0] - near[1]) < 0.12).astype(float)
    return lines, _blocks(x + 0.5 * near.argmin(axis=0), y / 2, rng)


def _rings(side: int, rng: np.random.Generator) -> tuple[Plane, Plane]:
    y, x = np.mgrid[:side, :side] * 3 / side
    radius = np.hypot(x % 1 - 0.5, y % 1 - 0.5)
    lines = ((radius > 0.3) & (radius < 0.36)).astype(float)
    return np.maximum(lines, 0.6 * _grid_lines(x, y, 0.03)), (radius < 0.2) * 1.0


def _grid_lines(x: Plane, y: Plane, thick: float) -> Plane:
    """1 where a coordinate is close to an integer."""
    return ((x % 1 < thick) | (y % 1 < thick)).astype(float)


def _blocks(x: Plane, y: Plane, rng: np.random.Generator) -> Plane:
    """One random shade for each unit square."""
    shades = rng.uniform(size=(16, 16))
    return shades[y.astype(int) % 16, x.astype(int) % 16]


def _colour(hue: float, lightness: float, saturation: float) -> NDArray[np.float64]:
    return np.array(colorsys.hls_to_rgb(hue % 1, lightness, saturation))


def _image(picture: NDArray[np.float64]) -> Image:
    return np.round(np.clip(picture, 0, 1) * 255).astype(np.uint8)
