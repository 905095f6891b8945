"""Say what is installed, what is missing, and the line that installs it."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from cogmap.commands.output import print_json
from cogmap.environments.egocentric.renderer import INSTALL_LINE, opens_gl
from cogmap.version import __version__

GL_BACKENDS = ("egl", "osmesa", "glfw")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[^]]*\])?[^;]*(?:;.*extra == ['\"](?P<extra>\w+)['\"])?")


@dataclass(frozen=True)
class Args:
    """Say what is installed, what is missing, and the line that installs it."""

    json: bool = False
    """print as JSON"""


def run(args: Args) -> None:
    found = examine()
    if args.json:
        print_json(found)
    else:
        _tell(found)


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
        "devices": torch_devices(),
    }
    if _version("mujoco"):
        found["mujoco_gl"] = {backend: opens_gl(backend) for backend in GL_BACKENDS}
    return found


def requirements(lines: list[str]) -> dict[str, list[str]]:
    """The packages that each extra asks for; the extras that an extra asks for are left to themselves."""
    groups: dict[str, list[str]] = {"core": []}
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match and match["name"] != "cogmap" and not _is_for_older_python(line):
            groups.setdefault(match["extra"] or "core", []).append(match["name"])
    return groups


def _is_for_older_python(line: str) -> bool:
    below = re.search(r"python_version < ['\"](\d+)\.(\d+)", line)
    return below is not None and sys.version_info >= (int(below[1]), int(below[2]))


def install_line(group: str) -> str:
    return "pip install cogmap" if group == "core" else f'pip install "cogmap[{group}]"'


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def torch_devices() -> list[str]:
    """What networks can be trained on here."""
    try:
        import torch
    except ImportError:
        return []
    devices = [f"cpu ({torch.get_num_threads()} threads)"]
    devices += [
        f"cuda:{index} ({torch.cuda.get_device_name(index)})" for index in range(torch.cuda.device_count())
    ]
    return devices + (["mps"] if torch.backends.mps.is_available() else [])


def _tell(found: dict[str, Any]) -> None:
    print(f"cogmap {found['cogmap']}, Python {found['python']}")
    for group, versions in found["groups"].items():
        state = ", ".join(f"{name} {version or 'MISSING'}" for name, version in versions.items())
        print(f"{group}: {state}")
    print(f"devices: {', '.join(found['devices']) or 'none, torch is missing'}")
    if "mujoco_gl" in found:
        usable = [f"MUJOCO_GL={backend}" for backend, opens in found["mujoco_gl"].items() if opens]
        hint = f"nothing that opens here; on Debian: {INSTALL_LINE}"
        print(f"MuJoCo draws with: {', '.join(usable) or hint}")
    for group, line in found["missing"].items():
        print(f"to install what {group} misses: {line}")
    if not found["missing"]:
        print("nothing is missing")
