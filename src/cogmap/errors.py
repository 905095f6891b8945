"""The few errors with meaning. Each message gives the rule first, then the value that broke it."""


class CogmapError(Exception):
    """Anything a user can mend. The command line prints it as one line and exits with 2."""


class BadWalks(CogmapError):
    """A walks file, or arrays given as walks, that do not hold what the contract says."""


class BadWorld(CogmapError):
    """A world that cannot be built, or whose tables contradict each other."""


class BadConfig(CogmapError):
    """An impossible choice of model, training or map options."""


class BadRun(CogmapError):
    """A run folder that is missing, half, damaged or of another version."""


class BadOutput(CogmapError):
    """A place that cannot be written to, or that would overwrite something."""


class MissingExtra(CogmapError):
    """An optional dependency that is not installed; the message holds the line that installs it."""


class NoPath(CogmapError):
    """The goal cannot be reached on the map. An outcome that is counted, not a crash."""


class NotOnMap(CogmapError):
    """A history, place or label that the map does not know."""
