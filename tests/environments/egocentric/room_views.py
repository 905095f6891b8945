"""Whether views can be rendered here; tests that need them are skipped with this line where they cannot."""

from __future__ import annotations

import pytest

from cogmap.environments.egocentric.renderer import load_mujoco
from cogmap.errors import MissingExtra


def _what_is_missing() -> str | None:
    try:
        load_mujoco()
    except MissingExtra as error:
        return str(error)
    return None


_MISSING = _what_is_missing()
needs_graphics = pytest.mark.skipif(_MISSING is not None, reason=_MISSING or "")
