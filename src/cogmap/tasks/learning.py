"""From walks to a run: train, encode, build the maps. One function for every kind of run."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from cogmap.errors import BadConfig, BadOutput, BadRun, Stopped
from cogmap.files import write_json
from cogmap.models.config import ModelConfig
from cogmap.records import Integers, Walks
from cogmap.runs.folder import RunFolder
from cogmap.runs.names import (
    CONFIG_FILE,
    EARLY_MAP_FILE,
    LOCK_FILE,
    MAP_FILES,
    MODEL_FILE,
    QUANTIZER_FILE,
    STATES_FILE,
    TEXT_FILE,
    Method,
)
from cogmap.runs.run import Run, load_run
from cogmap.runs.stored import save_config
from cogmap.runs.writing import writing
from cogmap.tasks import Choices, TrainingData, task_of
from cogmap.tasks.compiling import compile_map_building
from cogmap.tasks.early_maps import EarlyMaps
from cogmap.tasks.family import FamilySource, Names
from cogmap.tasks.places import PlacesSource
from cogmap.tasks.states import learn_states
from cogmap.tasks.text import TextSource, read_text
from cogmap.training.checkpoint import save_tensors
from cogmap.training.config import (
    SMALL_LOG,
    Preset,
    TrainingConfig,
    changed,
    chosen_encoder,
    fitting_codes,
    preset_configs,
)
from cogmap.training.devices import choose_device, joined_processes
from cogmap.training.judgement import known_start
from cogmap.training.loop import Trainer, checkpoint_path, train
from cogmap.training.progress import METRICS_FILE, Progress, Silent, default_progress
from cogmap.training.split import split_walks
from cogmap.training.threads import own_threads
from cogmap.walks.log import sampled, total_steps
from cogmap.walks.store import load_walks
from cogmap.walks.summary import min_places
from cogmap.walks.tables import as_walks

NOTABLE_SECONDS = 10.0
SOME_STEPS = 1 << 20  # of a log, to count places on
LARGE_VOCABULARY = 20_000  # observations; a step of more takes a second and longer on one core

# All that a training writes before its first checkpoint, in this order.
_FIRST_FILES = (QUANTIZER_FILE, TEXT_FILE, CONFIG_FILE, METRICS_FILE)
# All that another method writes before config.json, which makes a run of it.
_STATES_FILES = (QUANTIZER_FILE, STATES_FILE, MAP_FILES["minimal"])

# What can be learned from; `Any` is a data frame, or lists of (observation, action).
Source = Walks | TextSource | TrainingData | str | Path | Any


def learn(
    source: Source,
    out: str | Path | None = None,
    *,
    method: Method = "tdb",
    rooms: Integers | None = None,
    preset: Preset = "fast",
    model: ModelConfig | None = None,
    training: TrainingConfig | None = None,
    clusters: int | None = None,
    names: Names = "auto",
    resume: bool = False,
    device: str = "auto",
    progress: Progress | None = None,
    quiet: bool = False,
    early_maps: bool = False,
    spent: float = 0.0,
    map_seconds: float | None = None,
    **choices: Any,
) -> Run:
    """Learn a map of the place that walks were taken in.

    source: walks, the path of a walks file or of a text (.txt, read by words), a data frame with the columns of a
        CSV file, lists of (observation, action), or a text from `read_text`.
    out: the run folder. None keeps the run in a temporary folder that is deleted with the returned run; `run.save`
        keeps it.
    method: "cscg", "rpni", "edsm" or "alergia" learn a map without a network (`tasks/states.py`). Their choices are
        `minutes` and `seed`, of cscg also `clones`, `restarts` and `rounds`.
    rooms: (B,) the room of each walk, where they are of many rooms alike but for their observations. The run then
        maps rooms that it never saw, with `new_room_map`.
    choices: any field of `ModelConfig` and `TrainingConfig`, such as encoder="lstm", prediction_steps=3, bottlenecks=4,
        minutes=5, steps=3000, seed=1, num_codes=300. All others follow from the preset.
    model, training: whole records in place of the preset's; the vocabulary in `model` must be that of the walks.
    clusters: k of the k-means that turns views into observations; by default the number that fits them best.
    names: of a family, what the encoder is given of an observation, see `tasks.family.NAMES`.
    resume: resume the training that `out` holds, with its options. `minutes` are then additional minutes, `steps` the
        total, and a finished training starts again at its full learning rate.
    early_maps: write a map now and then during training, for `cogmap serve` to show.
    spent: seconds of the `minutes` that are used already, for instance to read the walks.
    map_seconds: at most, for the search of the map, where there are no `minutes`; by default ten minutes.
    Ctrl-C and SIGTERM end the training early, save a checkpoint and build the map; a second one ends it all. After
    SIGTERM, which asks the program to end and not only the training, `Stopped` is raised when the map is written.
    Ctrl-C while the map is searched for takes the shortest one so far.
    A process that is killed leaves a folder that can be resumed.
    """
    if method != "tdb":
        _refuse(rooms, "rooms", "TDB, not for other methods")
        _refuse(resume or None, "resume", "TDB, other methods start from the beginning")
        return _learn_states(source, out, method, clusters, choices, quiet)
    began = time.perf_counter() - spent
    with _run_folder(out) as folder:
        resumed = _resumed(folder) if resume else None
        if resumed is None:
            _clear(folder)
        data = _prepared(source, rooms, clusters, names, _asked_for(preset, choices, resumed))
        data = replace(data, map_seconds=map_seconds)
        configs = (
            _configs(data, preset, model, training, choices, device)
            if resumed is None
            else (resumed.config, resumed.training)
        )
        shown = Silent() if quiet else progress or default_progress()
        lines = chosen_lines(data, *configs)
        if not quiet and progress is None and not resume:
            print("\n".join(lines), flush=True)
        limits = {name: choices.get(name) for name in ("minutes", "steps")}
        if data.task == "places" and configs[1].minutes is not None and not configs[0].vanilla:
            compiled = compile_map_building()
            if compiled > NOTABLE_SECONDS and not quiet:
                print(
                    f"compiled what builds maps, once on this machine: {compiled:.0f} s of the minutes",
                    flush=True,
                )
        limits["spent"] = time.perf_counter() - began
        _train(data, folder, *configs, resume, limits, device, shown, early_maps, "\n".join(lines))
        run = load_run(folder, device=device)
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def _learn_states(
    source: Source,
    out: str | Path | None,
    method: Method,
    clusters: int | None,
    choices: Mapping[str, Any],
    quiet: bool,
) -> Run:
    """A run by a method without a network."""
    if method not in get_args(Method):
        raise BadConfig(f"`method` must be one of {', '.join(get_args(Method))}, got {method!r:.60}")
    with _run_folder(out) as folder:
        _clear(folder)
        data = _prepared(source, None, clusters, "auto", Choices("fast", "auto", choices.get("seed", 0)))
        if data.task != "places":
            raise BadConfig(f"`method` (={method}) is for walks in one place, not for a {data.task}")
        if data.quantizer is not None:
            data.quantizer.save(folder / QUANTIZER_FILE)
        learn_states(data.walks, folder, method, choices, (lambda line: None) if quiet else print)
        run = load_run(folder)
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


@contextmanager
def _run_folder(out: str | Path | None) -> Iterator[Path]:
    """The folder asked for, held for this process, or a temporary one that is gone if the training fails."""
    if out is not None:
        # Of the processes of one training only the first writes.
        with writing(out, patience=0) if os.environ.get("RANK", "0") == "0" else nullcontext():
            yield Path(out)
        return
    folder = Path(tempfile.mkdtemp(prefix="cogmap-run-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _asked_for(preset: str, choices: Mapping[str, Any], resumed: RunFolder | None) -> Choices:
    seed = choices.get("seed", 0)
    return Choices(preset, choices.get("encoder") or "auto", seed, resumed)


def _prepared(
    source: Source, rooms: Integers | None, clusters: int | None, names: Names, choices: Choices
) -> TrainingData:
    """The data of whichever task the source is for."""
    if isinstance(source, TrainingData):
        return source
    if isinstance(source, str | Path):
        source = read_text(source) if Path(source).suffix == ".txt" else load_walks(source)
    if not isinstance(source, TextSource):
        source = as_walks(source)
    if isinstance(source, TextSource):
        _refuse(clusters, "clusters", "walks of views, not for a text")
        _refuse(None if names == "auto" else names, "names", "a family of rooms, not for a text")
        return task_of("text").prepare(source, choices)
    if rooms is not None:
        _refuse(clusters, "clusters", "walks of views in one place, not for a family of rooms")
        return task_of("family").prepare(FamilySource(source, rooms, names), choices)
    _refuse(None if names == "auto" else names, "names", "a family of rooms, these walks are of one place")
    return task_of("places").prepare(PlacesSource(source, clusters), choices)


def _refuse(value: Any, name: str, why: str) -> None:
    if value is not None:
        raise BadConfig(f"`{name}` (={value}) is for {why}")


def _configs(
    data: TrainingData,
    preset: Preset,
    model: ModelConfig | None,
    training: TrainingConfig | None,
    choices: Mapping[str, Any],
    device: str = "auto",
) -> tuple[ModelConfig, TrainingConfig]:
    """Both records: the preset's for this log, the task's defaults, then what the user chose."""
    given = {name: value for name, value in choices.items() if value not in (None, "auto")}
    steps_seen = total_steps(data.walks)
    automatic: dict[str, Any] = {"encoder": chosen_encoder(preset, choose_device(device).type, steps_seen)}
    if model is None and preset == "fast" and data.task == "places" and not given.get("clone_structured"):
        sizes = data.walks.num_actions, data.walks.num_observations
        places = int(min_places(sampled(data.walks, SOME_STEPS)).sum())
        automatic["num_codes"] = fitting_codes(steps_seen, *sizes, places)
    chosen = {**automatic, **data.defaults, **given}
    first = {name: chosen.pop(name) for name in ("encoder", "vanilla", "clone_structured") if name in chosen}
    base = ModelConfig(
        num_observations=data.walks.num_observations,
        num_actions=data.walks.num_actions,
        num_targets=_num_targets(data),
        prediction_steps=1 if first.get("vanilla") else 3,
        **first,
    )
    if base.vanilla:
        chosen.pop("prediction_steps", None)  # a vanilla model predicts one step
    starts_alike = data.task == "places" and known_start(data.walks)
    usual = preset_configs(preset, base, steps_seen, starts_alike)
    if model is not None:
        _check_sizes(model, base)
    return changed(model or usual[0], training or usual[1], chosen)


def chosen_lines(data: TrainingData, model: ModelConfig, training: TrainingConfig) -> tuple[str, ...]:
    """What the log is, and what was chosen for it, with the reason; a line more where steps will be slow."""
    walks, steps = data.walks, int(data.walks.lengths.sum())
    start = ", which start in one known state" if training.start_share else ""
    count = f"{walks.num_walks:,} walks of {walks.lengths.min()} to {walks.lengths.max()} steps{start}: "
    log = (
        f"log: {count if walks.num_walks > 1 else 'one walk of '}{steps:,} steps, "
        f"{walks.num_observations:,} observations, {walks.num_actions:,} actions"
    )
    size = f"a {model.encoder} of width {model.width}, for a {'small' if steps < SMALL_LOG else 'large'} log"
    if not model.vanilla:
        size += f"; {model.num_codes} codes for its places, with {steps / model.num_codes:.0f} steps each"
    until = "it stops by itself" if training.minutes is None else f"at most {training.minutes:g} minutes"
    chosen = (
        f"chosen: {model.name}, which predicts {model.prediction_steps} steps ahead; {size}"
        f"; windows of {training.window} steps, {training.batch_size} at a time; {until}"
    )
    if model.num_targets <= LARGE_VOCABULARY:
        return log, chosen
    fewer = "--least-count" if data.task == "text" else "fewer different observations"
    slow = f"slow: each step scores {model.num_targets:,} observations, and takes seconds; {fewer} makes it faster"
    return log, chosen, slow


def _check_sizes(model: ModelConfig, fitting: ModelConfig) -> None:
    for name in ("num_observations", "num_actions", "num_targets"):
        given, needed = getattr(model, name), getattr(fitting, name)
        if given != needed:
            raise BadConfig(f"`{name}` of `model` must be that of the walks (={needed}), got {given}")


def _train(
    data: TrainingData,
    folder: Path,
    model: ModelConfig,
    training: TrainingConfig,
    resume: bool,
    limits: Mapping[str, Any],
    device: str,
    progress: Progress,
    early_maps: bool,
    chosen: str,
) -> None:
    target = choose_device(device)
    with own_threads(), joined_processes(target) as processes:
        split = split_walks(data.walks, data.targets, training.seed, data.rooms, training.hold_out)
        trainer = Trainer(model, training, split, target, processes)
        trainer.spent_before = limits["spent"]
        if resume:
            if not _is_untrained(folder):
                trainer.restore(folder)
            trainer.extend(limits["minutes"], limits["steps"])
        elif processes.is_main:
            _begin(folder, data, model, training, chosen)
        shown = EarlyMaps(progress, trainer, data, folder) if early_maps else progress
        end = train(trainer, folder, shown)
        if processes.is_main:
            _finish(folder, trainer, replace(data, progress=progress), device)
        if end == "terminated":
            raise Stopped(f"stopped by SIGTERM after {trainer.done_steps} steps: resume with --resume")


def _begin(
    folder: Path, data: TrainingData, model: ModelConfig, training: TrainingConfig, chosen: str
) -> None:
    """Write all that a training is resumed with. config.json comes last: with it, the folder is a run."""
    if data.quantizer is not None:
        data.quantizer.save(folder / QUANTIZER_FILE)
    if data.reading is not None:
        write_json(folder / TEXT_FILE, asdict(data.reading))
    save_config(folder, data.task, model, training, data.walks, chosen)


def _finish(folder: Path, trainer: Trainer, data: TrainingData, device: str) -> None:
    """Write the model and its maps. A training stopped before its bottleneck was annealed has no map yet."""
    save_tensors(folder / MODEL_FILE, trainer.model.state_dict())
    run = load_run(folder, device=device)
    if trainer.has_codes:
        left = data.map_seconds if trainer.seconds_left is None else trainer.seconds_left
        task_of(data.task).build_maps(run, replace(data, map_seconds=left, learned=trainer.left_to_learn))
    (folder / EARLY_MAP_FILE).unlink(missing_ok=True)


def _clear(out: Path) -> None:
    """Refuse a folder in which anything was learned; what a training left that got no further counts as nothing."""
    if not out.exists():
        return
    if not out.is_dir() or not _is_untrained(out):
        raise BadOutput(f"the run folder must be new or empty, {out} is not: give another --out, or --resume")
    for name in (*_FIRST_FILES, *_STATES_FILES):
        (out / name).unlink(missing_ok=True)


def _is_untrained(folder: Path) -> bool:
    """Whether a folder holds nothing but what a method writes before there is something to resume or to open."""
    held = {path.name for path in folder.iterdir()}
    if STATES_FILE in held and held <= {*_STATES_FILES, LOCK_FILE}:
        return True
    if not held <= {*_FIRST_FILES, LOCK_FILE, checkpoint_path(folder).parent.name}:
        return False
    metrics = folder / METRICS_FILE
    return not checkpoint_path(folder).exists() and not (metrics.exists() and metrics.stat().st_size)


def _resumed(folder: Path) -> Run:
    if folder.is_dir() and not (folder / CONFIG_FILE).exists() and _is_untrained(folder):
        raise BadRun(f"there must be a training to resume, {folder} holds none yet: leave out --resume")
    return load_run(folder)


def _num_targets(data: TrainingData) -> int:
    if data.targets is None:
        return data.walks.num_observations
    if data.num_targets is None or int(data.targets.max()) >= data.num_targets:
        raise BadConfig(
            f"`num_targets` must be above the largest target (={int(data.targets.max())}), got {data.num_targets}"
        )
    return data.num_targets
