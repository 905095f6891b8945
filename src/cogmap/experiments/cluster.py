"""Trials as tasks of a Ray cluster. Runs and records lie in a folder that all machines share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cogmap.experiments.runner import Job, Outcome, attempt
from cogmap.tasks.cluster import RETRIES, connected

LOOK_EVERY = 1.0  # seconds


def run_on_ray(jobs: Sequence[Job], gpus: float = 0.0) -> Iterator[Outcome | None]:
    """The outcomes as they come, and None now and then in between, so that progress can be shown.

    A trial whose worker or machine died is started again, and resumes from its checkpoint.
    """
    ray = connected()
    task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)(attempt)
    waiting = {task.remote(job): job for job in map(_anywhere, jobs)}
    try:
        while waiting:
            done, _ = ray.wait(list(waiting), timeout=LOOK_EVERY)
            yield from (_outcome(ray, each, waiting.pop(each)) for each in done)
            yield None
    finally:
        for task_id in waiting:
            ray.cancel(task_id, force=True)


def _anywhere(job: Job) -> Job:
    """The job with paths that mean the same in every process."""
    trial = job.trial
    options = replace(
        trial.options, out=trial.options.out.absolute(), results=trial.options.results.absolute()
    )
    return replace(job, trial=replace(trial, options=options, folder=trial.folder.absolute()))


def _outcome(ray: Any, task_id: Any, job: Job) -> Outcome:
    try:
        found: Outcome = ray.get(task_id)
        return found
    except ray.exceptions.RayError as problem:
        return Outcome(job.trial, failed=f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}")


def cluster_cores() -> int:
    """Trials that the cluster runs at once."""
    return max(1, int(connected().cluster_resources().get("CPU", 1)))
