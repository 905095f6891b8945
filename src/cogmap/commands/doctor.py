"""List what is installed, what is missing, and how to install it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cogmap.commands.output import print_json
from cogmap.environments.egocentric.renderer import INSTALL_LINE
from cogmap.report.installation import examine


@dataclass(frozen=True)
class Args:
    """List what is installed, what is missing, and how to install it."""

    json: bool = False
    """print as JSON"""


def run(args: Args) -> None:
    found = examine()
    print_json(found) if args.json else _tell(found)


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
