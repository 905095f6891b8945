"""The few errors with meaning. Each message states the rule first, then the value that broke it."""


class CogmapError(Exception):
    """An error that the user can fix. The command line prints it as one line and exits with status 2."""


class BadWalks(CogmapError):
    """A walks file, or arrays given as walks, in the wrong format."""


class BadWorld(CogmapError):
    """A world that cannot be built, or whose tables contradict each other."""


class BadConfig(CogmapError):
    """An impossible choice of model, training or map options."""


class BadRun(CogmapError):
    """A run folder that is missing, incomplete, damaged or of another version."""


class Diverged(CogmapError):
    """A training whose losses are no longer finite. Its last checkpoint is from before."""


class Stopped(CogmapError):
    """A training that SIGTERM ended. Its checkpoint is of its last step and its map is built; it can be resumed."""


class BadOutput(CogmapError):
    """An output path that cannot be written, or that would overwrite something."""


class MissingExtra(CogmapError):
    """An optional dependency that is not installed. The message contains the line that installs it."""


class NoPath(CogmapError):
    """The goal cannot be reached on the map. Evaluation counts this outcome; it is not a crash."""


class NotOnMap(CogmapError):
    """A history, place or label that the map does not know."""
