"""The paper's tables as data, and one engine for all of them: `cogmap reproduce` in Python.

from cogmap.experiments import Options, reproduce
rows = reproduce("table-1", Options(only=("TDB(S=3, M=1)",), encoder="gru"))
"""

from cogmap.experiments.engine import Running, reproduce, survey, trials_of
from cogmap.experiments.ledger import state_of, training_state
from cogmap.experiments.runner import run_trial
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, Kind, Options, Trial

__all__ = [
    "METHODS",
    "TABLES",
    "Kind",
    "Options",
    "Running",
    "Trial",
    "reproduce",
    "run_trial",
    "state_of",
    "survey",
    "training_state",
    "trials_of",
]
