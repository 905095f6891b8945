"""The paper's tables as data, and one runner for all of them: `cogmap reproduce` in Python.

from cogmap.experiments import Options, reproduce
rows = reproduce("table-1", Options(only=("TDB(S=3, M=1)",), encoder="gru"))
"""

from cogmap.experiments.runner import reproduce, run_trial, state_of, trials_of
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, Kind, Options, Trial

__all__ = ["METHODS", "TABLES", "Kind", "Options", "Trial", "reproduce", "run_trial", "state_of", "trials_of"]
