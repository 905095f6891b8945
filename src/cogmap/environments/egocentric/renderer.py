"""Pictures of a 3D room rendered by MuJoCo: from the agent's position, from above, and at an angle.

MuJoCo renders without a display through EGL or OSMesa. If neither works, the error says what to install.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.egocentric.scene import Finish, build_scene, place
from cogmap.errors import MissingExtra

if TYPE_CHECKING:
    from cogmap.environments.egocentric.room import EgocentricRoom

Images = NDArray[np.uint8]  # (..., H, W, 3)
EYE_HEIGHT = 0.6  # metres
# Antialiasing and shadows would make rendering far slower.
VIEW = Finish(width=64, height=64, field_of_view=75)
PORTRAIT = Finish(width=1100, height=1000, field_of_view=18, samples=8, shadows=4096, sky=False)
HEADLESS = ("egl", "osmesa")  # in the order of trial
INSTALL_LINE = "apt-get install -y libegl1 libgl1 libgl1-mesa-dri libosmesa6"


class RoomRenderer:
    """Renders one room with one graphics context. `open_renderer` makes and closes it."""

    def __init__(self, room: EgocentricRoom, finish: Finish) -> None:
        mujoco = load_mujoco()
        scene = build_scene(room.plan, room.textures, room.seed, finish)
        self._plan, self._finish = room.plan, finish
        self._model = mujoco.MjModel.from_xml_string(scene.xml, scene.assets)
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._renderer = _make_renderer(mujoco, self._model, finish)
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FREE

    def view(self, row: float, column: float, heading: float) -> Images:
        """(H, W, 3): the agent's view from the centre of a cell; heading 0 is north, 1 is east."""
        x, y = place(row, column)
        angle = np.pi / 2 * (1 - heading)
        lookat = (float(x + 0.01 * np.cos(angle)), float(y + 0.01 * np.sin(angle)), EYE_HEIGHT)
        return self._draw(lookat, 0.01, 90 - 90 * heading, 0.0)

    def isometric(self) -> Images:
        """(H, W, 3): the whole room at an angle, from the south-west."""
        return self._draw(self._middle(), 1.27 * self._distance(), 62.0, -48.0)

    def from_above(self) -> Images:
        """(H, W, 3): the whole room from straight above, north up, `metres_high` from top to bottom."""
        return self._draw(self._middle(), self._distance(), 90.0, -90.0)

    def metres_high(self) -> float:
        """Metres of floor between the upper and lower edge of `from_above`."""
        return max(self._plan.height, self._plan.width) + 2.6

    def close(self) -> None:
        self._renderer.close()

    def _distance(self) -> float:
        """The camera distance at which the picture's height spans the room."""
        return self.metres_high() / (2 * float(np.tan(np.radians(self._finish.field_of_view / 2))))

    def _middle(self) -> tuple[float, float, float]:
        x, y = place(self._plan.height / 2 - 0.5, self._plan.width / 2 - 0.5)
        return float(x), float(y), 0.0

    def _draw(
        self, lookat: tuple[float, float, float], distance: float, azimuth: float, elevation: float
    ) -> Images:
        self._camera.lookat[:] = lookat
        self._camera.distance = distance
        self._camera.azimuth, self._camera.elevation = azimuth, elevation
        self._renderer.update_scene(self._data, self._camera)
        return np.array(self._renderer.render())


@contextmanager
def open_renderer(room: EgocentricRoom, finish: Finish = VIEW) -> Iterator[RoomRenderer]:
    renderer = RoomRenderer(room, finish)
    try:
        yield renderer
    finally:
        renderer.close()


def render_views(room: EgocentricRoom) -> Images:
    """(P, 64, 64, 3): the view at each position."""
    with open_renderer(room) as renderer:
        return np.stack([renderer.view(*at) for at in room.places().tolist()])


def _make_renderer(mujoco: Any, model: Any, finish: Finish) -> Any:
    try:
        return mujoco.Renderer(model, finish.height, finish.width)
    except Exception as problem:  # PyOpenGL and its drivers raise many kinds of errors
        raise MissingExtra(f"MuJoCo cannot render here ({problem}): {INSTALL_LINE}") from problem


def opens_gl(backend: str) -> bool:
    """Whether MuJoCo can render with this backend. Some backends crash, so the test runs in its own process."""
    script = "import mujoco; mujoco.GLContext(64, 64).make_current()"
    environment = os.environ | {"MUJOCO_GL": backend}
    try:
        ended = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


@lru_cache(maxsize=1)
def load_mujoco() -> Any:
    """MuJoCo with a backend that works here. It reads `MUJOCO_GL` on import; the user's own choice is kept."""
    if find_spec("mujoco") is None:
        raise MissingExtra('views of a 3D room need MuJoCo: pip install "cogmap[3d]"')
    if "mujoco" not in sys.modules and not os.environ.get("MUJOCO_GL"):
        os.environ["MUJOCO_GL"] = _first_working_backend()
    try:
        return import_module("mujoco")
    except Exception as problem:  # PyOpenGL raises many kinds of errors if its library is missing
        rule = f"MuJoCo must be able to render with MUJOCO_GL={os.environ['MUJOCO_GL']}, got {problem!r}"
        raise MissingExtra(f"{rule}: unset MUJOCO_GL, or {INSTALL_LINE}") from problem


def _first_working_backend() -> str:
    for backend in HEADLESS:
        if opens_gl(backend):
            return backend
    raise MissingExtra(
        f"MuJoCo must be able to render with EGL or OSMesa, neither works here: {INSTALL_LINE}"
    )
