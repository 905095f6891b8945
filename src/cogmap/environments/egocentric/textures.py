"""What a 3D room is papered with: DeepMind Lab's own textures where `labmaze` is installed, painted ones otherwise."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.egocentric import paint
from cogmap.errors import BadConfig, MissingExtra

TextureSource = Literal["auto", "lab", "painted"]
Image = NDArray[np.uint8]  # (side, side, 3)
SIDE = 256  # pixels of a texture; a view has 64
SKY_SIDES = ("right", "left", "up", "down", "front", "back")
_SKY_FILES = dict(zip(SKY_SIDES, ("rt", "lf", "up", "dn", "ft", "bk"), strict=True))


@dataclass(frozen=True, eq=False)
class Textures:
    """All pictures that a room needs."""

    walls: tuple[Image, ...]
    floor: Image
    sky: dict[str, Image]  # by SKY_SIDES
    posters: tuple[Image, ...]


def choose_source(source: TextureSource) -> TextureSource:
    """The source that `auto` stands for here."""
    if source not in ("auto", "lab", "painted"):
        raise BadConfig(f'`textures` must be "auto", "lab" or "painted", got {source!r}')
    if source == "auto":
        return "painted" if find_spec("labmaze") is None else "lab"
    return source


def draw_textures(source: TextureSource, walls: int, posters: int, rng: np.random.Generator) -> Textures:
    """Different walls and posters, as many as asked for or as there are, a floor and a sky."""
    pictures = tuple(paint.poster(SIDE // 2, rng) for _ in range(posters))
    if choose_source(source) == "painted":
        return Textures(
            walls=tuple(paint.wall(SIDE, turn, rng) for turn in range(walls)),
            floor=paint.floor(SIDE, rng),
            sky={side: paint.sky(SIDE, side, rng) for side in SKY_SIDES},
            posters=pictures,
        )
    assets = _lab_assets()
    papers = sorted(assets.glob("style_*/wall_*_d.png"))
    floors = sorted(assets.glob("style_*/floor_*_d.png"))
    sky = assets / f"sky_0{rng.integers(2, 4)}"  # the first one shows a night without windows
    return Textures(
        walls=tuple(_load(papers[index]) for index in rng.permutation(len(papers))[:walls]),
        floor=_load(floors[rng.integers(len(floors))]),
        sky={side: _load(sky / f"{name}.png") for side, name in _SKY_FILES.items()},
        posters=pictures,
    )


def _lab_assets() -> Path:
    """The folder of pictures in labmaze, found without importing its compiled parts."""
    spec = find_spec("labmaze")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra('textures="lab" needs labmaze: pip install "cogmap[3d]" on Python below 3.13')
    return Path(spec.submodule_search_locations[0]) / "assets"


def _load(path: Path) -> Image:
    from PIL import Image as Pictures

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about palettes with transparency, which is not used
        return np.asarray(Pictures.open(path).convert("RGB").resize((SIDE, SIDE), Pictures.Resampling.BOX))
