"""A floor plan as a MuJoCo model: XML text and the pictures it names, as bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cogmap.environments.egocentric.floor_plan import PILLAR, WALL, FloorPlan
from cogmap.environments.egocentric.quads import (
    SIDES,
    WALL_HEIGHT,
    Face,
    Quads,
    place,
    poster_quads,
    top_quads,
    wall_faces,
    wall_quads,
)
from cogmap.environments.egocentric.textures import SKY_SIDES, Image, Textures, TextureSource, draw_textures

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
