"""The files of a run folder by name, and the kinds of runs, maps and methods."""

from __future__ import annotations

from typing import Literal

FORMAT = 1
CONFIG_FILE, MODEL_FILE = "config.json", "model.safetensors"
QUANTIZER_FILE, VIEWS_FILE = "quantizer.npz", "views.npz"  # of a run that learned from views
TEXT_FILE, CONCEPTS_FILE = "text.json", "concepts.json"  # of a run that learned from a text
BASELINES_FILE = "baselines.json"  # what counting predicts of that text
ATLAS_FILE = "atlas.npz"  # of a run that learned a family of rooms
STATES_FILE = "states.npz"  # of a run by a method without a network, in place of the model
EARLY_MAP_FILE = "map.early.npz"  # of a training in progress
LOCK_FILE = ".lock"  # held by the process that is writing

TaskName = Literal["places", "family", "text"]
MapKind = Literal["minimal", "paper"]
Method = Literal["tdb", "cscg", "rpni", "edsm", "alergia"]
State = Literal["waiting", "training", "mapping", "finished", "stopped"]
MAP_FILES: dict[MapKind, str] = {"minimal": "map.npz", "paper": "map.paper.npz"}
SCORE_FILES: dict[MapKind, str] = {"minimal": "scores.json", "paper": "scores.paper.json"}
REMARKS: dict[MapKind, str] = {"minimal": "here", "paper": "here, the paper's map"}
