"""The Ray cluster that tasks are given to, if there is one."""

from __future__ import annotations

import os
from typing import Any

from cogmap.errors import MissingExtra

RETRIES = 5  # of a task whose worker or machine died


def connected() -> Any:
    """Ray, with the cluster that RAY_ADDRESS names, or that runs here, or a new one on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
    except ImportError as missing:
        raise MissingExtra('`--engine ray` needs Ray: pip install "cogmap[ray]"') from missing
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    return ray
