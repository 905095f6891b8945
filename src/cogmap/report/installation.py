"""What is installed, what is missing, and the line that installs it."""

from __future__ import annotations

import platform
import re
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement

from cogmap.environments.egocentric.renderer import opens_gl
from cogmap.version import __version__

GL_BACKENDS = ("egl", "osmesa", "glfw")
FOR_DEVELOPERS = ("dev", "docs")  # extras that users of the package do not need


def examine() -> dict[str, Any]:
    """Versions of everything the package's own metadata names, by extra; `core` is what it always needs."""
    groups = {
        group: {name: _version(name) for name in names}
        for group, names in requirements(metadata.requires("cogmap") or []).items()
    }
    found: dict[str, Any] = {
        "cogmap": __version__,
        "python": platform.python_version(),
        "groups": groups,
        "missing": {
            group: install_line(group) for group, versions in groups.items() if None in versions.values()
        },
        "devices": _devices(),
    }
    if _version("mujoco"):
        found["mujoco_gl"] = {backend: opens_gl(backend) for backend in GL_BACKENDS}
    return found


def requirements(lines: list[str]) -> dict[str, list[str]]:
    """The packages that each extra asks for on this machine; an extra that another asks for is left to itself."""
    groups: dict[str, list[str]] = {"core": []}
    for line in lines:
        package = Requirement(line)
        named = re.search(r"extra == ['\"](\w+)", line)
        extra = named[1] if named else "core"
        fits = package.marker is None or package.marker.evaluate({"extra": extra})
        if fits and package.name != "cogmap" and extra not in FOR_DEVELOPERS:
            groups.setdefault(extra, []).append(package.name)
    return groups


def install_line(group: str) -> str:
    return "pip install cogmap" if group == "core" else f'pip install "cogmap[{group}]"'


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> list[str]:
    try:
        from cogmap.training.devices import device_names
    except ImportError:  # an installation without torch
        return []
    return device_names()
