"""Exploring: all implementations of a computation, and the best of them (paper 004), on one screen.

until the budget is spent, the gap is closed, the time is reached or the space is at its end:
    ask        leaves of the tree of decisions, where the best have been and no bound is above the best time
    judge      look each up in the journal, or build and run it in the pool; record
    tell       what each takes, in the order asked, so that workers change nothing about what is found
on a real GPU: the fastest by their estimates, measured there
the best, run as a whole: all its blocks, and under other schedules; if it is wrong, the next
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from kernelwright.errors import DeviceError, Misuse, ToolError, check_callable, check_names
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.answers import Answer, Answers
from kernelwright.evaluate.run.run import given_folder
from kernelwright.exploration.decisions import DECISIONS, Decisions
from kernelwright.exploration.expert import Expert
from kernelwright.exploration.files import record_best, write_kernel_files
from kernelwright.exploration.judge import KernelJudge
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.launches import other_launches
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.on_gpu.measure import measure
from kernelwright.exploration.on_gpu.which import ChosenGpu, chosen_gpu
from kernelwright.exploration.oracle import check_oracle
from kernelwright.exploration.run import NAIVE, ExploredKernel, ExploreRun, ExploreSettings, facts_of, noted_kernel
from kernelwright.exploration.standing import ExploreStanding
from kernelwright.exploration.subject import Subject
from kernelwright.search import Budget, Result
from kernelwright.search.strategies import TREE_SEARCHES
from kernelwright.search.tree.leaf_search import LeafSearch
from kernelwright.space.computation.family import Family
from kernelwright.stories.variant_search.progress import exploring_line, shown

Watch = Callable[[ExploreStanding], None]
CONFIRMED = 8
"""Of the fastest, how many are run as a whole at most until one is right."""


def explore(
    computation: str | Path | Family | Expert,
    sizes: Sequence[int] | Mapping[str, int] = (),
    *,
    device: str = "auto",
    dynamic: Sequence[str] = (),
    folder: Path | str | None = None,
    jobs: int | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> ExploreRun:
    """Explores a computation of the library or of one's own, or what an expert's plan leaves of it; returns the finished run, open for
    reading.

    ``sizes``: in the computation's order, or by name. ``dynamic``: names of those that the kernel is given at launch, ``n:4`` for
    multiples of 4; they are tuned at ``sizes``. ``settings``: those of ``ExploreSettings`` (strategy, evaluations, seconds, gap,
    until_us, seed, ...). ``folder``: of the run; else a fresh one below ``kw-runs``. ``watch``: called as the search goes on; without one,
    progress is shown in a terminal and in a notebook. Raises ``Misuse`` for what the user can fix.
    """
    if isinstance(computation, Expert):
        if sizes or dynamic or device != "auto":
            raise Misuse("a plan knows its sizes and its device", hint="kw.explore(plan, evaluations=200)")
        settings["decisions"] = (*computation.decisions, *settings.get("decisions", ()))
        subject = computation.subject
    else:
        gpu = chosen_gpu(device)
        subject = Subject.of(computation, sizes, gpu.modelled, dynamic)
        settings |= on(gpu)
    chosen = checked_settings(subject, **settings)
    check_callable(watch, "watch")
    made = given_folder(folder, subject.computation)
    with create(made, subject, chosen) as run, shown(watch, words=exploring_line) as seen:
        proceed(run, jobs=jobs, watch=seen)
    return ExploreRun.open(made, DECISIONS)


def on(gpu: ChosenGpu) -> dict[str, str]:
    """Settings of a run for it."""
    return {"measured": gpu.measured, "gpu": gpu.name, "arch": gpu.arch} if gpu.measured else {}


def checked_settings(subject: Subject, **settings: Any) -> ExploreSettings:
    """Raises ``Misuse`` for an oracle that is wrong, and for decisions that this subject does not have or that contradict one another,
    too."""
    check_names(settings, (f.name for f in fields(ExploreSettings)), "kw.explore")
    tuples = {"decisions": tuple(settings.get("decisions", ())), "at": tuple(map(tuple, settings.get("at", ())))}
    chosen = ExploreSettings(**{**settings, **tuples})
    check_oracle(subject)
    other_launches(subject, chosen.at)
    if chosen.decisions:
        KernelSpace(subject, given=chosen.decisions)
    return chosen


def create(folder: Path, subject: Subject, settings: ExploreSettings) -> ExploreRun:
    """A new run in ``folder``, which is there already. Raises ``Misuse`` when another one is in it."""
    kept = subject.kept_in(folder)
    return ExploreRun.create(folder, DECISIONS, facts_of(kept, settings), given=kept)


def proceed(run: ExploreRun, *, jobs: int | None = None, watch: Watch = lambda standing: None) -> ExploreStanding:
    """Explores from the beginning, in an open run; what its journal knows already is not judged again."""
    standing = ExploreStanding(run, phase="space")
    watch(standing)
    space = KernelSpace(run.subject, given=run.settings.decisions)
    answers, left = Answers(run, in_order=True), _time_left(run)
    with KernelJudge(space, jobs) as judge:
        standing.jobs = judge.jobs
        if run.naive is None:
            naive = naive_decisions(space)
            run.journal.note("naive", noted_kernel(_naive(judge, run.subject, naive)))
        search = _search(run, space)
        standing.naive_us, standing.root_us = run.naive.time_us if run.naive else 0.0, search.certificate
        mark = _Mark(run.settings.until_us, judge)
        while paths := search.ask():
            _follow(standing, search)
            watch(standing)
            found = answers.of([space.candidate(path) for path in paths], judge)
            search.tell([_result(path, answer) for path, answer in zip(paths, found, strict=True)])
            _count(standing, found, answers.evaluated)
            if (left is not None and standing.seconds > left) or mark.is_reached(standing.best):
                search.conclude()
        _follow(standing, search)
        _finish(run, space, judge, standing, watch)
    standing.phase = "finished"
    watch(standing)
    return standing


def _search(run: ExploreRun, space: KernelSpace) -> LeafSearch[Any]:
    """It begins with what is known: the naive kernel is a leaf, so that nothing slower is worth a look."""
    settings, named = run.settings, TREE_SEARCHES[run.settings.strategy]
    known = {"known": run.naive.time_us} if named.informed and run.naive else {}
    made = named.make(
        space,
        seed=settings.seed,
        budget=Budget(evaluations=settings.evaluations),
        batch=settings.batch,
        gap=settings.gap,
        **known,
    )
    return cast(LeafSearch[Any], made)


def _time_left(run: ExploreRun) -> float | None:
    """Seconds of the budget that earlier sessions have not spent."""
    seconds = run.settings.seconds
    return None if seconds is None else max(0.0, seconds - run.spent_seconds)


class _Mark:
    """The time at which a search ends. What stands behind it is a kernel run as a whole, as the winner is: the first blocks of a grid may
    find more in L2 than others do. Of batches that the journal knows already, too: an interrupted run ends where it would have ended."""

    def __init__(self, until_us: float | None, judge: KernelJudge) -> None:
        self._until_us = until_us
        self._judge = judge
        self._short_of_it = ""

    def is_reached(self, best: ExploredKernel | None) -> bool:
        """Asked after each batch; each kernel is run once for it."""
        if self._until_us is None or best is None or best.time_us > self._until_us or best.name == self._short_of_it:
            return False
        outcome = self._judge.whole(best.decisions)
        if isinstance(outcome, Ok) and outcome.time_us <= self._until_us:
            return True
        self._short_of_it = best.name
        return False


def _naive(judge: KernelJudge, subject: Subject, decisions: Decisions) -> ExploredKernel:
    """Tried as every candidate is."""
    ((_, found),) = list(judge([decisions]))
    if isinstance(found.outcome, Rejected):
        if found.outcome.stage == "compare" and subject.own is not None and subject.family.oracle is not None:
            raise Misuse(
                f"the naive kernel of {subject} is not what its oracle says: {found.outcome.reason}",
                hint="the oracle or the statements are wrong; at small sizes they are compared before there is a run",
            )
        raise ToolError(
            f"the naive kernel is not right: {found.outcome}", hint="the code generator has a defect: report the sizes"
        )
    return ExploredKernel(decisions, found.outcome.time_us, NAIVE)


def _result(path: Any, answer: Answer[Decisions]) -> Result[Any]:
    if isinstance(answer.outcome, Ok):
        return Result(path, (answer.outcome.time_us,))
    return Result(path, None, cause=answer.outcome.stage)


def _count(standing: ExploreStanding, found: Sequence[Answer[Decisions]], judged: int) -> None:
    standing.evaluations += len(found)
    standing.fresh = judged
    for answer in found:
        outcome = answer.outcome
        if isinstance(outcome, Rejected):
            standing.rejected[outcome.stage] += 1
            continue
        standing.above_bound += outcome.time_us < answer.facts.get("bound_us", 0.0) * (1 - 1e-6)
        if standing.best is None or outcome.time_us < standing.best.time_us:
            standing.best = ExploredKernel(answer.candidate, outcome.time_us, answer.name)


def _follow(standing: ExploreStanding, search: LeafSearch[Any]) -> None:
    standing.phase, standing.proven_us = search.phase, search.certificate
    standing.dead_ends, standing.descents = search.dead_ends, search.descents
    standing.nodes, standing.open_nodes = search.nodes, search.open_nodes


def _candidates(run: ExploreRun, space: KernelSpace, standing: ExploreStanding, watch: Watch) -> list[ExploredKernel]:
    """Those that may be the best, the fastest first: where the run is for a real GPU, as that has it."""
    naive = run.naive
    if not run.settings.measured:
        return [each for each in run.tried if naive is None or each.time_us < naive.time_us]
    if run.on_gpu is None:

        def say(line: str) -> None:
            standing.phase = line
            watch(standing)

        made = measure(run, space, say)
        if not made.order:
            first = next((each.outputs for each in made.kernels), "there was none to run")
            raise DeviceError(
                f"none of {len(made.kernels)} kernels is right on {made.gpu}: {first}",
                hint=f"--device {run.subject.device} takes times by its model; kw doctor looks at the GPU",
            )
        run.journal.note("measured", made.as_json())
    found = run.on_gpu
    assert found is not None
    by_name, naive_us = {each.name: each for each in run.tried}, found.of(NAIVE)
    return [
        by_name[each.name]
        for each in found.order
        if each.name != NAIVE and (naive_us is None or each.time_us < naive_us)
    ]


def _finish(run: ExploreRun, space: KernelSpace, judge: KernelJudge, standing: ExploreStanding, watch: Watch) -> None:
    """What the run ends with, in the journal, once; and its files."""
    if run.ended is not None:
        standing.best = run.best or standing.best  # as it ran as a whole
        return
    faster = _candidates(run, space, standing, watch)
    naive = best = run.naive
    for kernel in [*faster[:CONFIRMED], *([naive] if naive and run.subject.dynamic else [])]:
        standing.phase = f"{kernel.name} as a whole"
        watch(standing)
        outcome = judge.whole(kernel.decisions)
        wrong, right = _at_other_sizes(run, judge, kernel.decisions) if isinstance(outcome, Ok) else (outcome, [])
        if isinstance(outcome, Ok) and wrong is None:
            best = ExploredKernel(kernel.decisions, outcome.time_us, kernel.name)
            if run.subject.dynamic:
                run.journal.note("launches", {"right": right})
                _note_fixed(run, space, judge, kernel.decisions)
            break
        run.journal.note("rejected", {"name": kernel.name, "cause": (wrong or outcome).as_json()})
        if kernel is naive:
            raise ToolError(
                f"the naive kernel is not right: {wrong}", hint="the code generator has a defect: report the sizes"
            )
    standing.best = best
    if naive is not None and best is not None:
        standing.phase = "the naive kernel as a whole"
        watch(standing)
        _note_naive(run, judge, naive, standing)
    run.journal.note("proven", {"us": standing.proven_us, "root_us": standing.root_us})
    if standing.best is not None:
        run.journal.note("best", noted_kernel(standing.best))
        write_kernel_files(run, space)
        record_best(run, standing.best)
    facts = {"best": standing.best.name if standing.best else None, "evaluations": standing.evaluations}
    facts |= {"dead_ends": standing.dead_ends, "descents": standing.descents, "nodes": standing.nodes}
    facts |= {"above_bound": standing.above_bound}
    run.journal.note("end", facts)


def _note_naive(run: ExploreRun, judge: KernelJudge, naive: ExploredKernel, standing: ExploreStanding) -> None:
    """The naive kernel as a whole, too: gains are counted from it. It is the winner where it turns out to be the fastest."""
    outcome = judge.whole(naive.decisions)
    if not isinstance(outcome, Ok):
        return
    whole = ExploredKernel(naive.decisions, outcome.time_us, NAIVE)
    run.journal.note("naive", noted_kernel(whole))
    standing.naive_us = whole.time_us
    best = standing.best
    if best is naive or (best is not None and not run.settings.measured and whole.time_us < best.time_us):
        standing.best = whole


def _at_other_sizes(
    run: ExploreRun, judge: KernelJudge, decisions: Decisions
) -> tuple[Rejected | None, list[dict[str, Any]]]:
    """Where sizes are given at launch: what is wrong at one that was not tuned on, or the time at each."""
    right = list[dict[str, Any]]()
    for sizes in other_launches(run.subject, run.settings.at):
        outcome = judge.whole(decisions, sizes)
        if isinstance(outcome, Rejected):
            where = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            return Rejected(outcome.stage, f"at {where}, {outcome.reason}"), right
        right.append({"sizes": sizes, "time_us": outcome.time_us, "error": outcome.error})
    return None, right


def _note_fixed(run: ExploreRun, space: KernelSpace, judge: KernelJudge, decisions: Decisions) -> None:
    """What it costs that sizes are given at launch."""
    outcome = judge.of_kernel(space.fixed_kernel(decisions))
    if isinstance(outcome, Ok):
        run.journal.note("fixed", {"time_us": outcome.time_us})


__all__ = ["ExploreSettings", "ExploreStanding", "checked_settings", "create", "explore", "proceed"]
