"""How much one server does at once, so that no request can take it down."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Beyond any of these a request is refused, not served slowly."""

    body_bytes: int = 1 << 20
    problems: int = 1000  # in one call
    history: int = 10_000  # observations of one history, actions of one walk that is taken up again
    sessions: int = 256  # the least recently used makes room
    session_seconds: float = 1800.0  # without being asked for
    kept_steps: int = 1000  # of a session's history
    waiting_jobs: int = 64  # long answers under way or waiting, before 429
    workers: int = 2  # threads for long answers
    refresh_seconds: float = 1.0  # between two looks at the run folder
