"""A floor plan as a MuJoCo model: XML text and the pictures it names, as bytes.

Every wall face that can be seen is one quad, and all quads of one paper are one mesh: a renderer's time goes by the
number of things it draws, not by their size.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cogmap.environments.egocentric.floor_plan import PILLAR, WALL, FloorPlan
from cogmap.environments.egocentric.textures import SKY_SIDES, Image, Textures, TextureSource, draw_textures
from cogmap.records import Booleans, Floats

WALL_HEIGHT = 1.5  # metres; a cell is 1 m wide
_POSTER_HALF, _POSTER_MIDDLE = 0.33, 0.68  # metres
SIDES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # row, column: north, east, south, west
_WHOLE_PICTURE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)  # (4, 2) across, up


class Face(NamedTuple):
    """One side of a wall's cell."""

    row: int
    column: int
    side: int  # index into SIDES: where it looks


class Quads(NamedTuple):
    """Rectangles in space and the part of a picture that each shows."""

    corners: Floats  # (Q, 4, 3) lower left, lower right, upper right, upper left, seen from the front
    picture: Floats  # (Q, 4, 2) across and up, from 0 to 1


def is_wall(plan: FloorPlan) -> Booleans:
    """(H + 2, W + 2): the walls, the outer one included; cell (0, 0) of the plan is at [1, 1]."""
    return np.pad(plan.cells, 1, constant_values=WALL) == WALL


def wall_faces(plan: FloorPlan) -> list[Face]:
    """The sides of walls that no other wall hides, those that look out of the room included."""
    walls = np.pad(is_wall(plan), 1)
    return [
        Face(row - 2, column - 2, side)
        for row, column in np.argwhere(walls).tolist()
        for side, (down, right) in enumerate(SIDES.tolist())
        if not walls[row + down, column + right]
    ]


def wall_quads(faces: list[Face]) -> Quads:
    """Each face from the floor to the top of the wall, with the whole paper on it."""
    ends = [_ends(face, 0.5, 0.5) for face in faces]
    corners = np.array([_upright(*end, 0.0, WALL_HEIGHT) for end in ends]).reshape(-1, 4, 3)
    return Quads(corners, np.broadcast_to(_WHOLE_PICTURE, (len(faces), 4, 2)))


def poster_quads(faces: list[Face]) -> Quads:
    """Poster number i a finger's breadth before face i; all posters are side by side in one picture."""
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
    """x to the east and y to the north of the middle of a cell."""
    return np.asarray(column) + 0.5, -np.asarray(row) - 0.5


def _ends(face: Face, before: float, half: float) -> tuple[Floats, Floats]:
    """x, y of the left and right end of a face, for who looks at it; `before` its cell's middle, `half` its width."""
    x, y = place(face.row, face.column)
    down, right = SIDES[face.side]
    out = np.array([right, -down], dtype=np.float64)  # x, y
    to_the_right = np.array([-out[1], out[0]])
    middle = np.array([x, y]) + before * out
    return middle - half * to_the_right, middle + half * to_the_right


def _upright(left: Floats, right: Floats, low: float, high: float) -> Floats:
    """(4, 3) the corners of a rectangle that stands on its lower edge."""
    return np.array([(*left, low), (*right, low), (*right, high), (*left, high)])


_PAPERS, _POSTERS = 10, 12
_CELLS_A_PAPER = 3  # of the outer wall before the paper changes
_BACKDROP = "0.93 0.95 0.97"  # behind portraits, where a sky would stand on its head


@dataclass(frozen=True, eq=False)
class Scene:
    """What MuJoCo needs to draw a room."""

    xml: str
    assets: dict[str, bytes]


@dataclass(frozen=True)
class Finish:
    """How a picture is taken: views are many and small, portraits few, large and with care."""

    width: int
    height: int
    field_of_view: float  # degrees, from top to bottom
    samples: int = 0  # of each pixel
    shadows: int = 0  # pixels of the shadow map, 0 for none
    sky: bool = True


def build_scene(plan: FloorPlan, source: TextureSource, seed: int, finish: Finish) -> Scene:
    """The room of a floor plan; papers and posters are drawn from `seed`, whatever the finish."""
    rng = np.random.default_rng([seed, 7])  # not the stream of the floor plan
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
        sun=f"{middle[0] - 5.5:g} {middle[1] + 7.5:g} 16",  # against the direction of its light
    )
    pictures = _pictures(textures)
    return Scene(xml, {f"{name}.png": _png(picture) for name, picture in pictures.items()})


def _meshes(plan: FloorPlan, papers: int, posters: int, rng: np.random.Generator) -> dict[str, Quads]:
    """The quads of each picture, by its name."""
    faces = wall_faces(plan)
    paper = _papers(plan, faces, papers, rng)
    meshes = {
        f"wall{number}": wall_quads([face for face, its in zip(faces, paper, strict=True) if its == number])
        for number in sorted(set(paper))
    }
    inside = [face for face in faces if _looks_in(plan, face)]
    hung = [inside[index] for index in rng.permutation(len(inside))[:posters]]
    return meshes | {"posters": poster_quads(hung), "top": top_quads(plan)}


def _papers(plan: FloorPlan, faces: list[Face], papers: int, rng: np.random.Generator) -> list[int]:
    """The paper of each face: a new one every few cells of the outer wall, one for each inner wall."""
    from scipy.ndimage import label

    ring = {cell: index // _CELLS_A_PAPER % papers for index, cell in enumerate(_ring(plan))}
    walls, number = label(plan.cells == WALL)
    inner = rng.integers(papers, size=number + 1)
    return [
        ring[face[:2]] if face[:2] in ring else int(inner[walls[face.row, face.column]]) for face in faces
    ]


def _ring(plan: FloorPlan) -> Iterator[tuple[int, int]]:
    """The cells of the outer wall, one round clockwise."""
    height, width = plan.height, plan.width
    yield from ((-1, column) for column in range(-1, width + 1))
    yield from ((row, width) for row in range(height))
    yield from ((height, column) for column in range(width, -2, -1))
    yield from ((row, -1) for row in range(height - 1, -1, -1))


def _looks_in(plan: FloorPlan, face: Face) -> bool:
    row, column = np.array(face[:2]) + SIDES[face.side]
    return bool(0 <= row < plan.height and 0 <= column < plan.width)


def _ground(plan: FloorPlan) -> Iterator[str]:
    """One plane; its third size is the spacing of a grid of rendered quads, and small ones cost all the speed."""
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
    """A mesh of quads, two triangles each, that shows its picture. Corners are not shared: edges stay sharp."""
    first = 4 * np.arange(len(quads.corners))[:, None]
    triangles = (first + np.array([0, 1, 2, 0, 2, 3])).reshape(-1, 3)
    picture = quads.picture * (1, -1) + (0, 1)  # MuJoCo counts rows of a picture from the top
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
