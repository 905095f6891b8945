"""A floor plan as a MuJoCo model: XML text and its textures as PNG bytes.

Each visible wall face is one quad, and all quads with the same wallpaper are one mesh: rendering time grows with the
number of objects, not with their size.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cogmap.environments.egocentric.floor_plan import PILLAR, FloorPlan
from cogmap.environments.egocentric.textures import SKY_SIDES, Image, Textures, TextureSource, draw_textures
from cogmap.environments.table import WALL
from cogmap.records import Booleans, Floats

WALL_HEIGHT = 1.5  # metres; a cell is 1 m wide
_POSTER_HALF, _POSTER_MIDDLE = 0.33, 0.68  # metres
SIDES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # row, column: north, east, south, west
_WHOLE_PICTURE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)  # (4, 2) across, up
_PAPERS, _POSTERS = 10, 12
_CELLS_A_PAPER = 3  # cells of the outer wall before the wallpaper changes
_BACKDROP = "0.93 0.95 0.97"  # behind portraits, where the sky texture would be upside down


@dataclass(frozen=True, eq=False)
class Scene:
    """What MuJoCo needs to draw a room."""

    xml: str
    assets: dict[str, bytes]


@dataclass(frozen=True)
class Finish:
    """How a picture is rendered: views are many and small, portraits are few and large."""

    width: int
    height: int
    field_of_view: float  # degrees, from top to bottom
    samples: int = 0  # per pixel
    shadows: int = 0  # size of the shadow map in pixels, 0 for none
    sky: bool = True


class Face(NamedTuple):
    """One side of a wall cell."""

    row: int
    column: int
    side: int  # index into SIDES: the direction it faces


class Quads(NamedTuple):
    """Rectangles in space, and the part of a texture that each shows."""

    corners: Floats  # (Q, 4, 3) lower left, lower right, upper right, upper left, seen from the front
    picture: Floats  # (Q, 4, 2) texture coordinates: across and up, from 0 to 1


def build_scene(plan: FloorPlan, source: TextureSource, seed: int, finish: Finish) -> Scene:
    """The scene of a floor plan. Wallpapers and posters depend on `seed` only, not on the finish."""
    rng = np.random.default_rng([seed, 7])  # another random stream than the floor plan's
    textures = draw_textures(source, _PAPERS, _POSTERS, rng)
    meshes = _meshes(plan, len(textures.walls), len(textures.posters), rng)
    sky = " ".join(f'file{side}="sky_{side}.png"' for side in SKY_SIDES)
    plain = f'builtin="flat" rgb1="{_BACKDROP}" rgb2="{_BACKDROP}" width="16" height="96"'
    middle = place(plan.height / 2 - 0.5, plan.width / 2 - 0.5)
    xml = _DOCUMENT.format(
        field=finish.field_of_view,
        width=finish.width,
        height=finish.height,
        samples=finish.samples,
        shadows=finish.shadows,
        casts="true" if finish.shadows else "false",
        extent=max(plan.height, plan.width) + 2 if finish.shadows else 1,
        sky=sky if finish.sky else plain,
        assets="\n".join(_asset(name, quads) for name, quads in meshes.items()),
        body="\n".join([*_ground(plan), *_pillars(plan, rng), *map(_geom, meshes)]),
        middle="{:g} {:g}".format(*middle),
        sun=f"{middle[0] - 5.5:g} {middle[1] + 7.5:g} 16",  # opposite to the direction of its light
    )
    pictures = _pictures(textures)
    return Scene(xml, {f"{name}.png": _png(picture) for name, picture in pictures.items()})


def _meshes(plan: FloorPlan, papers: int, posters: int, rng: np.random.Generator) -> dict[str, Quads]:
    """The quads of each texture, by its name."""
    faces = wall_faces(plan)
    paper = _papers(plan, faces, papers, rng)
    meshes = {
        f"wall{number}": wall_quads([face for face, its in zip(faces, paper, strict=True) if its == number])
        for number in sorted(set(paper))
    }
    inside = [face for face in faces if _faces_room(plan, face)]
    hung = [inside[index] for index in rng.permutation(len(inside))[:posters]]
    return meshes | {"posters": poster_quads(hung), "top": top_quads(plan)}


def _papers(plan: FloorPlan, faces: list[Face], papers: int, rng: np.random.Generator) -> list[int]:
    """The wallpaper of each face: it changes every few cells of the outer wall; each inner wall has one."""
    from scipy.ndimage import label

    ring = {cell: index // _CELLS_A_PAPER % papers for index, cell in enumerate(_ring(plan))}
    walls, number = label(plan.cells == WALL)
    inner = rng.integers(papers, size=number + 1)
    return [
        ring[face[:2]] if face[:2] in ring else int(inner[walls[face.row, face.column]]) for face in faces
    ]


def _ring(plan: FloorPlan) -> Iterator[tuple[int, int]]:
    """The cells of the outer wall, clockwise."""
    height, width = plan.height, plan.width
    yield from ((-1, column) for column in range(-1, width + 1))
    yield from ((row, width) for row in range(height))
    yield from ((height, column) for column in range(width, -2, -1))
    yield from ((row, -1) for row in range(height - 1, -1, -1))


def _faces_room(plan: FloorPlan, face: Face) -> bool:
    row, column = np.array(face[:2]) + SIDES[face.side]
    return bool(0 <= row < plan.height and 0 <= column < plan.width)


def is_wall(plan: FloorPlan) -> Booleans:
    """(H + 2, W + 2): the walls, including the outer wall. Cell (0, 0) of the plan is at [1, 1]."""
    return np.pad(plan.cells, 1, constant_values=WALL) == WALL


def wall_faces(plan: FloorPlan) -> list[Face]:
    """The sides of walls that no other wall hides, including those that face out of the room."""
    walls = np.pad(is_wall(plan), 1)
    return [
        Face(row - 2, column - 2, side)
        for row, column in np.argwhere(walls).tolist()
        for side, (down, right) in enumerate(SIDES.tolist())
        if not walls[row + down, column + right]
    ]


def wall_quads(faces: list[Face]) -> Quads:
    """Each face from the floor to the top of the wall, with the whole wallpaper on it."""
    ends = [_ends(face, 0.5, 0.5) for face in faces]
    corners = np.array([_upright(*end, 0.0, WALL_HEIGHT) for end in ends]).reshape(-1, 4, 3)
    return Quads(corners, np.broadcast_to(_WHOLE_PICTURE, (len(faces), 4, 2)))


def poster_quads(faces: list[Face]) -> Quads:
    """Poster i, 1 cm in front of face i. All posters are side by side in one texture."""
    ends = [_ends(face, 0.51, _POSTER_HALF) for face in faces]
    low, high = _POSTER_MIDDLE - _POSTER_HALF, _POSTER_MIDDLE + _POSTER_HALF
    corners = np.array([_upright(*end, low, high) for end in ends]).reshape(-1, 4, 3)
    picture = np.tile(_WHOLE_PICTURE, (len(faces), 1, 1))
    picture[..., 0] = (picture[..., 0] + np.arange(len(faces))[:, None]) / max(len(faces), 1)
    return Quads(corners, picture)


def top_quads(plan: FloorPlan) -> Quads:
    """The walls seen from above."""
    cells = np.argwhere(is_wall(plan)) - 1  # (walls, 2) row, column
    x, y = place(cells[:, 0], cells[:, 1])
    across = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    flat = np.stack([x, y], axis=1)[:, None] + across  # (walls, 4, 2)
    corners = np.concatenate([flat, np.full((len(cells), 4, 1), WALL_HEIGHT)], axis=2)
    return Quads(corners, np.broadcast_to(_WHOLE_PICTURE, (len(cells), 4, 2)))


def place(row: ArrayLike, column: ArrayLike) -> tuple[Floats, Floats]:
    """The centre of a cell: x to the east, y to the north."""
    return np.asarray(column) + 0.5, -np.asarray(row) - 0.5


def _ends(face: Face, before: float, half: float) -> tuple[Floats, Floats]:
    """x, y of the left and right end of a quad, seen from the front.

    before: distance from the cell's centre. half: half of the quad's width.
    """
    x, y = place(face.row, face.column)
    down, right = SIDES[face.side]
    out = np.array([right, -down], dtype=np.float64)  # x, y
    to_the_right = np.array([-out[1], out[0]])
    middle = np.array([x, y]) + before * out
    return middle - half * to_the_right, middle + half * to_the_right


def _upright(left: Floats, right: Floats, low: float, high: float) -> Floats:
    """(4, 3): the corners of a vertical rectangle."""
    return np.array([(*left, low), (*right, low), (*right, high), (*left, high)])


def _ground(plan: FloorPlan) -> Iterator[str]:
    """One plane. Its third size is the spacing of rendered quads; a small spacing makes rendering slow."""
    x, y = place(plan.height / 2 - 0.5, plan.width / 2 - 0.5)
    size = f"{plan.width / 2 + 0.5:g} {plan.height / 2 + 0.5:g} 1"
    yield f'<geom type="plane" pos="{x:g} {y:g} 0" size="{size}" material="floor"/>'


def _pillars(plan: FloorPlan, rng: np.random.Generator) -> Iterator[str]:
    for row, column in np.argwhere(plan.cells == PILLAR).tolist():
        x, y = place(row, column)
        colour = " ".join(f"{part:.3f}" for part in rng.permutation([1.0, rng.uniform(0.2, 0.9), 0.25]))
        size = f"0.3 {WALL_HEIGHT / 2:g}"
        spot = f"{x:g} {y:g} {WALL_HEIGHT / 2:g}"
        yield f'<geom type="cylinder" pos="{spot}" size="{size}" rgba="{colour} 1"/>'


def _geom(name: str) -> str:
    return f'<geom type="mesh" mesh="{name}" material="{name}" contype="0" conaffinity="0"/>'


def _asset(name: str, quads: Quads) -> str:
    """A textured mesh of quads, two triangles each. Corners are not shared, so edges stay sharp."""
    first = 4 * np.arange(len(quads.corners))[:, None]
    triangles = (first + np.array([0, 1, 2, 0, 2, 3])).reshape(-1, 3)
    picture = quads.picture * (1, -1) + (0, 1)  # MuJoCo counts the rows of a texture from the top
    mesh = (
        f'<mesh name="{name}" inertia="shell" vertex="{_row(quads.corners)}"'
        f' texcoord="{_row(picture)}" face="{_row(triangles)}"/>'
    )
    texture = f'<texture name="{name}" type="2d" file="{name}.png"/>'
    return f'{mesh}\n{texture}\n<material name="{name}" texture="{name}"/>'


def _row(numbers: np.ndarray) -> str:
    return " ".join(f"{number:g}" for number in numbers.ravel().tolist())


def _pictures(textures: Textures) -> dict[str, Image]:
    named = {f"wall{index}": picture for index, picture in enumerate(textures.walls)}
    named |= {f"sky_{side}": picture for side, picture in textures.sky.items()}
    top = np.full((8, 8, 3), 168, dtype=np.uint8)
    return named | {"floor": textures.floor, "posters": np.hstack(textures.posters), "top": top}


def _png(picture: Image) -> bytes:
    from PIL import Image as Pictures

    stream = io.BytesIO()
    Pictures.fromarray(picture).save(stream, format="png", compress_level=1)
    return stream.getvalue()


_DOCUMENT = """<mujoco>
<visual>
<global fovy="{field}" offwidth="{width}" offheight="{height}"/>
<quality shadowsize="{shadows}" offsamples="{samples}" numquads="1" numslices="24" numstacks="2"/>
<headlight ambient="0.42 0.42 0.42" diffuse="0.16 0.16 0.16" specular="0 0 0"/>
<map znear="0.01" zfar="120"/>
</visual>
<statistic center="{middle} 0" extent="{extent}"/>
<asset>
<texture type="skybox" {sky}/>
<texture name="floor" type="2d" file="floor.png"/>
<material name="floor" texture="floor" texuniform="true" texrepeat="0.5 0.5"/>
{assets}
</asset>
<worldbody>
<light directional="true" castshadow="{casts}" pos="{sun}" dir="0.55 -0.75 -1.6"
 diffuse="0.62 0.6 0.55" specular="0 0 0"/>
<light directional="true" castshadow="false" pos="{middle} 9" dir="-0.8 0.35 -0.6"
 diffuse="0.16 0.18 0.22" specular="0 0 0"/>
{body}
</worldbody>
</mujoco>
"""
