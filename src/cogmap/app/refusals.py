"""Why a request is refused, as a status code and one line: the command line's own errors where there is one."""

from __future__ import annotations

from cogmap.errors import BadConfig, BadRun, BadWalks, BadWorld, CogmapError, NoPath, NotOnMap

# The first kind that fits. A run that is half, damaged or without a map is in conflict with the question.
_STATUS: tuple[tuple[type[CogmapError], int], ...] = (
    (NoPath, 404),
    (NotOnMap, 404),
    (BadRun, 409),
    (BadWalks, 422),
    (BadWorld, 422),
    (BadConfig, 422),
)


class Refusal(CogmapError):
    """A request that is not served, with the status that says why."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


def status_of(error: CogmapError) -> int:
    """The status code of an error that a user can mend."""
    if isinstance(error, Refusal):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
