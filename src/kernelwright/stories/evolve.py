"""Evolution: faster kernels by search over edits of their LLVM-IR (paper 000), on one screen.

until the strategy has no question left:
    ask        a batch of candidates: genomes, tuples of genes
    evaluate   look each up in the journal, or build, run, compare and time it in the pool; record
    tell       in the order asked, so that neither workers nor crashes change what is found
measure again  where times are measured: whatever is on the front, until none is there by luck
minimise       the best, down to the genes that matter
prove          what the result depends on
held out       how fast the best is on data that nothing has seen
transfer       where there is a larger set of data, the whole program on it, with the best inside
finish         if asked for: explain it, export it, write the page (``stories/finish.py``)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.errors import check_callable, check_kind
from kernelwright.evaluate.run.run import given_folder
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evaluate.timing.measurement_record import Effort
from kernelwright.evaluate.workload.subject import Given, Subject
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.evolution.new_run import create, gone_if_refused, opened, stem
from kernelwright.evolution.proposals import Proposals
from kernelwright.search import Budget, Hooks, Minimise, Result, Strategy, is_gain
from kernelwright.search.strategies import PRESETS
from kernelwright.stories.finish import Finished, finish
from kernelwright.stories.variant_search.held_out import time_held_out
from kernelwright.stories.variant_search.measure_again import measure_again
from kernelwright.stories.variant_search.progress import shown
from kernelwright.stories.variant_search.prove_best import prove_best
from kernelwright.stories.variant_search.search import Search
from kernelwright.stories.variant_search.standing import Standing, Watch, ended
from kernelwright.stories.variant_search.transfer import transfer_best


def evolve(
    workload: Workload | Subject | Path | str,
    *,
    device: str = "auto",
    objectives: Sequence[str] = ("time",),
    folder: Path | str | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch | None = None,
    **settings: Any,
) -> EvolveRun:
    """Searches for faster kernels; returns the finished run, open for reading.

    ``workload``: a workload, its description, or the path of a Python file that defines one. ``device``: a virtual GPU, or
    ``cuda:0`` to take times on a real one. ``settings``: those of
    ``RunSettings`` (evaluations, seed, accept, ...). ``folder``: of the run; else a fresh one below ``kw-runs``. ``report``:
    also explain and export the best, and write the page, into that folder, as the command does. ``cluster``: the address of a
    Ray cluster that evaluates, as ``auto``. ``watch``: called as the search goes on; without one, progress is shown in a terminal
    and in a notebook. Raises ``Misuse`` for a workload that judges nothing, and whatever else the user can fix.
    """
    subject = opened(workload)
    check_kind(objectives, (str, Sequence), "what is given as objectives", "as objectives=('time', 'error')")
    named = (objectives,) if isinstance(objectives, str) else tuple(objectives)
    check_callable(watch, "watch")
    chosen = RunSettings.on(device, objectives=named, **settings)
    is_ours = folder is None or (isinstance(folder, str | Path) and not Path(folder).exists())
    made = given_folder(folder, stem(subject))
    with create(made, subject, chosen) as run, gone_if_refused(run, is_ours), shown(watch) as seen:
        proceed(run, jobs=jobs, cluster=cluster, report=report, watch=seen)
    return EvolveRun.open(made, GENOMES, given=subject)


def resume(
    path: Path | str,
    *,
    given: Workload | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch | None = None,
) -> EvolveRun:
    """Goes on with a run that was interrupted: it ends as if it had not been. ``given``: the workload, if it has no file."""
    subject = Given(given) if given is not None else None
    with EvolveRun.open(path, GENOMES, write=True, given=subject) as run, shown(watch) as seen:
        proceed(run, jobs=jobs, cluster=cluster, report=report, watch=seen)
    return EvolveRun.open(run.folder, GENOMES, given=subject)


def proceed(
    run: EvolveRun,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    report: bool = False,
    watch: Watch = lambda standing: None,
) -> Finished | None:
    """Searches from the beginning, in an open run; what its journal knows already is not evaluated again. In a run that has
    come to its end, nothing is searched.

    ``report``: also makes what a run leaves behind for people; what that is, is returned.
    """
    standing = ended(run) if run.ended is not None else _searched(run, jobs, cluster, watch)

    def say(phase: str) -> None:
        standing.phase = phase
        watch(standing)

    finished = finish(run, jobs=jobs, say=say) if report else None
    say("finished")
    return finished


def _searched(run: EvolveRun, jobs: int | None, cluster: str | None, watch: Watch) -> Standing:
    """The story itself."""
    with VariantAnswers(run, jobs, cluster, from_start=True) as answers:
        standing = Standing(run, jobs=answers.jobs)
        search = Search(run, answers, standing, watch)
        proposals = _begin(search)
        best = search.follow(_strategy(run.settings, proposals), Effort.SEARCH, proposals.learn)
        _minimise(search, measure_again(search, best))
        prove_best(search)
        time_held_out(search, run.best)
        transfer_best(search, run.best)
        _end(search)
    return standing


def _begin(search: Search[Genes]) -> Proposals:
    """The original first: what is wrong with the workload is said before anything is searched."""
    run, standing, reference = search.run, search.standing, search.answers.reference()
    if not search.answers.is_measured:  # What is, has figures besides.
        reference.original.objectives(run.settings.objectives)
    workload = run.workload()
    standing.began = standing.searched = time.monotonic()
    standing.original_us = reference.time_us
    proposals = Proposals(workload, GENOMES.of(run).originals, run.settings)
    search.note("own blocks", {"name": "own blocks", "kernels": list(proposals.own_blocks)})
    standing.notes = run.notes
    search.remark("notes", reference.notes)
    search.say(standing.phase)
    return proposals


def _strategy(settings: RunSettings, proposals: Proposals) -> Strategy[Genes]:
    hooks = Hooks(proposals.draw, proposals.scan, proposals.kind, proposals.groups, proposals.is_general)
    budget = Budget(settings.evaluations, settings.generations)
    size = {} if settings.population is None else {"population": settings.population}
    return PRESETS[settings.preset].make(hooks, seed=settings.seed, budget=budget, **size)


def _minimise(search: Search[Genes], best: Result[Genes] | None) -> None:
    """Down to the edits that matter, of a best that beats the original."""
    if best is None or best.objectives is None or not is_gain(best.objectives[0], search.standing.original_us):
        return
    strategy: Minimise[Any] = Minimise(best.candidate)
    search.follow(strategy)
    if strategy.result is not None and strategy.result.candidate:
        found = search.try_one(strategy.result.candidate)
        assert found is not None
        search.note("minimised", {"name": found.name, "variant": found.name, "of": len(best.candidate)})


def _end(search: Search[Genes]) -> None:
    run, standing, events = search.run, search.standing, search.run.journal.events
    best = None if events("fallen") and not events("salvaged") else run.best
    standing.best, standing.front = best, run.front
    search.note("end", {"name": "end", "best": best.name if best else None, "evaluations": standing.evaluations})
