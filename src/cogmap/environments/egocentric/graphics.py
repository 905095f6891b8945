"""How MuJoCo can draw here without a display: EGL, else OSMesa, else a line that says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cogmap.errors import MissingExtra

HEADLESS = ("egl", "osmesa")  # in the order in which they are tried
INSTALL_LINE = "apt-get install -y libegl1 libgl1 libgl1-mesa-dri libosmesa6"


def opens_gl(backend: str) -> bool:
    """Whether MuJoCo can draw by this backend without a display; some crash, so in a process of its own."""
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
    """MuJoCo with a backend that draws here. It reads `MUJOCO_GL` when it is imported: a user's own choice stays."""
    if find_spec("mujoco") is None:
        raise MissingExtra('views of a 3D room need MuJoCo: pip install "cogmap[3d]"')
    if "mujoco" not in sys.modules and not os.environ.get("MUJOCO_GL"):
        os.environ["MUJOCO_GL"] = _first_that_opens()
    try:
        return import_module("mujoco")
    except Exception as problem:  # PyOpenGL fails in many ways where its library is not there
        rule = f"MuJoCo must be able to draw by MUJOCO_GL={os.environ['MUJOCO_GL']}, it is not ({problem})"
        raise MissingExtra(f"{rule}: leave MUJOCO_GL out, or {INSTALL_LINE}") from problem


def _first_that_opens() -> str:
    for backend in HEADLESS:
        if opens_gl(backend):
            return backend
    raise MissingExtra(f"MuJoCo must be able to draw by EGL or OSMesa, neither opens here: {INSTALL_LINE}")
