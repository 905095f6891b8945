"""From walks to a run: train, encode, build the maps. The Python twin of `cogmap learn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cogmap.early_maps import EarlyMaps, forget_early_map
from cogmap.errors import BadConfig, BadOutput
from cogmap.maps.build import build_map
from cogmap.maps.latent import is_text, latent_graph
from cogmap.maps.store import load_map, save_map
from cogmap.models.config import EncoderKind, ModelConfig
from cogmap.models.inference import encode
from cogmap.models.tdb import TDB
from cogmap.records import Integers, Walks
from cogmap.run import (
    MAP_FILE,
    PAPER_MAP_FILE,
    QUANTIZER_FILE,
    VIEWS_FILE,
    Run,
    load_run,
    save_config,
    save_model,
)
from cogmap.training.config import Preset, TrainingConfig, changed, preset_configs
from cogmap.training.devices import choose_device, joined_processes
from cogmap.training.loop import Trainer, split_walks, train
from cogmap.training.progress import Progress, Silent, default_progress
from cogmap.walks.quantize import save_node_views, without_views


def learn(
    walks: Walks,
    out: str | Path,
    *,
    encoder: EncoderKind = "transformer",
    prediction_steps: int = 3,
    bottlenecks: int = 1,
    next_encoding: bool = False,
    clone_structured: bool = False,
    vanilla: bool = False,
    preset: Preset = "fast",
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    change: Mapping[str, Any] | None = None,
    targets: Integers | None = None,
    num_targets: int | None = None,
    rooms: Integers | None = None,
    map_walks: Walks | None = None,
    clusters: int | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: Progress | None = None,
    quiet: bool = False,
    early_maps: bool = False,
) -> Run:
    """Learn a map of the place that `walks` were taken in, into the run folder `out`.

    prediction_steps, bottlenecks, next_encoding: the S, M and `enc` of TDB(S, enc, M).
    clone_structured: each observation owns its share of the codes. vanilla: the rival without bottleneck or map.
    minutes, steps: limits; the fast preset stops by itself when there is nothing more to learn.
    change: any other field of ModelConfig or TrainingConfig, as in {"width": 64, "num_codes": 300}.
    targets: (B, N) what to predict instead of the observations themselves, below `num_targets`.
    rooms: (B,) the room of each walk, where there are many: whole rooms are then held back. `family_learning` sets it.
    map_walks: what to build the map from, if not from `walks`.
    clusters: k of the k-means that turns views into observations, where the walks are of views; 128 by default, or as
        many as there are different views.
    resume: go on with the training that `out` holds, with the choices made then; `minutes` are then minutes more,
        `steps` are steps in all, and a training that had come to its end goes on at its full learning rate.
    early_maps: write a map now and then while the training goes on, to be watched by `cogmap serve`.
    Ctrl-C ends the training early and goes on to the map; a second one ends it all.
    """
    out = Path(out)
    if resume:
        walks, quantizer = load_run(out).categorical(walks), None
        model_config, training = _resumed(out, walks)
    else:
        _refuse_existing(out)
        walks, quantizer = without_views(walks, clusters, seed)
        base = ModelConfig(
            num_observations=walks.num_observations,
            num_actions=walks.num_actions,
            num_targets=walks.num_observations if targets is None else _num_targets(targets, num_targets),
            encoder=encoder,
            prediction_steps=1 if vanilla else prediction_steps,
            bottlenecks=bottlenecks,
            next_encoding=next_encoding,
            clone_structured=clone_structured,
            vanilla=vanilla,
        )
        model_config, training = preset_configs(preset, base, int(walks.lengths.sum()))
        training = replace(training, seed=seed, minutes=minutes, steps=steps or training.steps)
        model_config, training = changed(model_config, training, change or {})
    target = choose_device(device)
    with joined_processes(target) as processes:
        task = split_walks(walks, walks.observations if targets is None else targets, training.seed, rooms)
        trainer = Trainer(model_config, training, task, target, processes)
        if resume:
            trainer.restore(out)
            trainer.extend(minutes, steps)
        elif processes.leads:
            save_config(out, model_config, training, walks)
            if quantizer is not None:
                quantizer.save(out / QUANTIZER_FILE)
        shown = Silent() if quiet else progress or default_progress()
        train(trainer, out, EarlyMaps(shown, trainer, walks, out) if early_maps else shown)
        if processes.leads:
            save_model(out, trainer.model)
            write_maps(load_run(out, device=device), walks if map_walks is None else map_walks)
            forget_early_map(out)
    return load_run(out, device=device)


def write_maps(run: Run, walks: Walks) -> None:
    """Encode the walks and build both maps of a run: the minimal one and the paper's; of a text, its latent graph.

    A training that was stopped before its bottleneck began to close has no codes, and so no map yet. A family of rooms
    has no map at all, its rooms have.
    """
    if not isinstance(run.model, TDB) or not run.model.bottlenecks.ready or run.config.in_base:
        return
    walks = run.categorical(walks)
    codes, _ = encode(run.model, walks)
    if is_text(walks):
        save_map(run.folder / MAP_FILE, latent_graph(codes, walks))
        return
    for kind, name in (("minimal", MAP_FILE), ("paper", PAPER_MAP_FILE)):
        save_map(run.folder / name, build_map(codes, walks, kind=kind))
    if run.quantizer is not None:
        save_node_views(run.folder / VIEWS_FILE, run.quantizer, load_map(run.folder / MAP_FILE))


def _resumed(out: Path, walks: Walks) -> tuple[ModelConfig, TrainingConfig]:
    run = load_run(out)
    run.check_walks(walks)
    return run.config, run.training


def _refuse_existing(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadOutput(f"the run folder must be new or empty, {out} is not: give another --out, or --resume")


def _num_targets(targets: Integers, num_targets: int | None) -> int:
    if num_targets is None or int(targets.max()) >= num_targets:
        raise BadConfig(
            f"`num_targets` must be above the largest target (={int(targets.max())}), got {num_targets}"
        )
    return num_targets
