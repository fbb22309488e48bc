"""Fitness: a candidate → what came of it, on the virtual GPU, the same every time.

    fitness = Fitness(workload, gpu("h200"), Demands("safe"), kind=kind)
    original = fitness.reference()
    evaluated = fitness.evaluate(candidate)

    build     by the kind of candidate; a program that was seen before has its outcome
    run       every case under the first schedule: a fault or a wrong output ends it here; of large launches a sample of their blocks
    time      what the timing model says of those very launches, kernel time alone, as a profiler shows it
    order     the other schedules, and new races, as far as is demanded; else they are evidence and no more

It runs candidates in this process: for code that may do anything, a worker process does (``in_worker``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Generic, cast

from kernelwright.cuda.names import readable
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import OVERREAD
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.errors import CompileError, DeviceError, KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.candidate import C, VariantKind
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import BUDGET, kernel_called
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fault_sites import Site
from kernelwright.evaluate.judging.judge import Judge
from kernelwright.evaluate.judging.launch_sites import farthest_past_buffers, undefined_in
from kernelwright.evaluate.judging.original_races import remarks
from kernelwright.evaluate.judging.past_buffers import OTHER_BYTES, PastBuffers
from kernelwright.evaluate.judging.sampled_cases import SampledCase, remark, replaceable, sampled_case, shape_of
from kernelwright.evaluate.judging.some_blocks import SomeBlocks, some_blocks
from kernelwright.evaluate.judging.variant import Variant, as_compiled
from kernelwright.evaluate.judging.variant_launches import KEPT as CODE_KEPT
from kernelwright.evaluate.judging.variant_launches import Done, VariantExecutor, one_form_pays
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.timing.data_sets import as_figures, mean_us, per_set, remarks_on_sets
from kernelwright.evaluate.timing.estimated_clock import Clock
from kernelwright.evaluate.timing.machine_code import Code
from kernelwright.evaluate.timing.remarks_on_time import remarks_on_time
from kernelwright.evaluate.workload.workload import InProcessCase, Workload
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache
from kernelwright.target import Gpu

KEPT = 4096
"""Outcomes of single cases, and of whole programs, that are kept."""
LITTLE_WORK = 50_000
"""Blocks of instructions that the warps of a case run: what runs no more is run whole under every schedule."""
SLACK = 2
"""How many times the original's loop iterations a candidate may make: one that needs more is not going to be faster."""
WATCHED_BESIDES = 20_000
"""Blocks of instructions that the warps of a case may run for every candidate to be watched on it, too: a fifth of a second."""
MOST_WATCHED = 300_000
"""Blocks of instructions that the warps of a case may run for it to be watched besides: some seconds."""


@dataclass(frozen=True)
class Evaluated:
    """What came of a candidate, and how."""

    outcome: Outcome
    key: str
    """What the outcome is a function of, besides the workload."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """JSON: ``trained`` (time and error of a candidate that is right on the training cases, also when it is then turned
    down), ``static`` (machine instructions), ``seen`` (it was evaluated before), and what its builder says of it."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by step: build, run, time, order; gpu."""
    code: Code = field(default_factory=dict)
    """Of an accepted one that is going to be measured: its kernels that differ from the original's."""


@dataclass(frozen=True)
class _Trial:
    """One case under one schedule."""

    error: float = 0.0
    rejected: Rejected | None = None
    sites: frozenset[Site] = frozenset()


@dataclass(frozen=True)
class _Timed:
    """The launches of one case."""

    time_us: float
    figures: Mapping[str, float]


FORWARD = Schedule.forward()


class Fitness(Generic[C]):
    """Judges candidates by a workload. ``reference`` must be called first. Not for several threads at once.

    Raises ``Misuse`` for a workload without a kernel that can be edited.
    """

    def __init__(
        self,
        workload: Workload,
        gpu: Gpu,
        demands: Demands | None = None,
        *,
        kind: VariantKind[C],
        alone: bool = False,
        is_clock: bool = True,
    ) -> None:
        """``alone``: this process does nothing else, so that memory may be kept from one launch to the next. ``is_clock``:
        the times are what candidates are chosen by, so that there is something to say about them."""
        self.workload = workload
        self.is_clock = is_clock
        self.demands = demands or Demands()
        self.kind = kind
        self.builder = kind.builder(workload.modules(), gpu.arch)
        self.as_compiled_us = 0.0
        """What the program takes as it was given, without post-passes; 0 before ``reference``."""
        self.notes: list[str] = []
        """What a person should know of the workload before trusting its verdicts."""
        self._gpu = VirtualGpu(kept=CODE_KEPT)
        self._judge = Judge(workload, keeps_memory=alone)
        self._clock = Clock(gpu)
        self._cases = workload.in_process
        self._weights = workload.weights or (1.0,) * len(self._cases)
        self._order: list[int] = list(range(len(self._cases)))
        self._budgets = [BUDGET] * len(self._cases)
        self._races: frozenset[Site] = frozenset()
        self._work = [0] * len(self._cases)
        """By case, how many blocks of instructions all warps of the original run."""
        self._watched: frozenset[int] = frozenset()
        """The cases that are watched for races and unwritten memory, which takes ten times as long: of each kernel the one that runs
        shortest, for a race is in the code and shows there too, and the one that does most, where that is little: tiles at the edge of
        the data are in no smaller one. All are watched when a variant is proven."""
        self._reordered: list[int] = []
        """The cases that are run under other schedules: of each kernel the shortest and the longest."""
        self._trials: LruCache[tuple[object, ...], _Trial] = LruCache(KEPT)
        self._times: LruCache[tuple[object, ...], _Timed] = LruCache(KEPT)
        self._outcomes: LruCache[str, Evaluated] = LruCache(KEPT)
        self._logged: dict[int, tuple[Done, ...]] = {}
        """By case, what the launches of the candidate at hand did, until they are timed: it is large."""
        self._used = [_kernels_of(case, workload) for case in self._cases]
        """By case, the kernels it launches; none where only its host function knows."""
        self._baseline = Variant({})
        self._one_form = False  # of a kernel's code, for all schedules
        self.samples: dict[int, SampledCase] = {}
        """By case, those that are sampled."""
        self._some: dict[int, SomeBlocks] = {}
        """By case, those of which some blocks alone run under other schedules."""
        self._past: PastBuffers | None = None
        """What the original reads past its buffers; None before that is known."""

    # -- the original --------------------------------------------------------------------------------------------------

    def reference(self) -> Ok:
        """Runs the original, post-passes and all, and keeps what it should give and what it costs.

        Raises ``Misuse`` when it fails its own check, or does what is demanded of candidates not to.
        """
        self._baseline = self.builder.build(self.kind.original)
        self._past, self.samples, self._some, self._one_form = None, {}, {}, False
        self._trials.clear()
        self._judge.expect(self._baseline.modules, self._executor(self._baseline, follow=True), OVERREAD)
        self.notes = list(self._judge.warnings)
        spent = [self._spent(index) for index in range(len(self._cases))]
        self._past = self._reads_past_buffers()
        shapes = [shape_of(self._logged[index]) if names else None for index, names in enumerate(self._used)]
        samples = ((index, self._sampled(index)) for index in (replaceable(shapes) if self.demands.sampled else ()))
        self.samples = {index: sampled for index, sampled in samples if sampled is not None}
        self._budgets = [SLACK * loops + 1000 for loops, _ in spent]
        self._trials.clear()
        self._order.sort(key=lambda index: spent[index][1])
        self._work = [work for _, work in spent]
        heaviest = self._first_of_each([index for index in self._order[::-1] if index not in self.samples])
        shortest = self._first_of_each(self._order)
        self._reordered = [index for index in self._order if index in shortest | heaviest]
        self._watched = shortest | {index for index in heaviest if self._work[index] <= WATCHED_BESIDES}
        self._one_form = one_form_pays(self._baseline.kernels, max(self._work))
        if self.demands.sampled:
            self._run_some_blocks()
        self._races = self._seen_of_original(self._watched) if self.demands.no_new_races else frozenset()
        evaluated = self.evaluate(self.kind.original)
        if isinstance(evaluated.outcome, Rejected):
            raise Misuse(f"the original is rejected: {evaluated.outcome}", hint=self._way_out(evaluated.outcome))
        self.as_compiled_us = self._time_as_compiled(evaluated.outcome)
        self._remark(evaluated.outcome)
        self._outcomes.clear()  # it was not asked for yet: the first who does has not seen it before
        return evaluated.outcome

    def _time_as_compiled(self, original: Ok) -> float:
        """What the program takes as its user has it. The post-passes improve most programs, but may also do harm; then gains
        are counted from what the user has."""
        given = as_compiled(self.workload.modules())
        self._logged.clear()
        if any(self._trial(index, given, FORWARD).rejected for index in self._order):
            return original.time_us
        time_us = self._timed(given, 0.0).time_us
        self._logged.clear()
        return time_us

    def _reads_past_buffers(self) -> PastBuffers:
        """Of the original, as it has just been run; and whether anything comes of what it finds there."""
        farthest = farthest_past_buffers(done for logged in self._logged.values() for done in logged)
        trials = (
            self._tried(index, self._baseline, FORWARD, watch=False, overread=byte)
            for byte in OTHER_BYTES
            for index in (range(len(self._cases)) if farthest else ())
        )
        return PastBuffers(farthest, any(trial.rejected is not None for trial in trials))

    def _sampled(self, index: int) -> SampledCase | None:
        """How a case is sampled, if its blocks are alike. The original has just been run on it."""
        case, overread = self._cases[index], self._past.overread if self._past else OVERREAD
        return sampled_case(
            self._executor(self._baseline, follow=True),
            lambda choosing: self._judge.run(self._baseline.modules, case, FORWARD, choosing, overread=overread)[1],
            self._logged[index][0],
            lambda done: self._clocked(index, [done]).time_us,
        )

    def _run_some_blocks(self) -> None:
        """Of the cases that are run under other schedules, those that do much, where the original is right so."""
        executor, overread = (
            self._executor(self._baseline, follow=False),
            self._past.overread if self._past else OVERREAD,
        )
        for index in (index for index in self._reordered if self._work[index] > LITTLE_WORK):
            asked = (self._baseline.modules, self._cases[index], FORWARD)
            run = partial(self._judge.run, *asked, budget=self._budgets[index], overread=overread)
            found = some_blocks(executor, lambda some: run(some)[1], self._logged.get(index, ()))  # noqa: B023
            if found is not None:
                self._some[index] = found
                tried = (
                    self._tried(index, self._baseline, schedule, watch=False) for schedule in self.demands.schedules
                )
                if any(trial.rejected for trial in tried):
                    del self._some[index]

    def _spent(self, index: int) -> tuple[int, int]:
        """The most loop iterations that any launch of a case makes, and how many blocks of the kernel all its warps run: what
        it costs, counted and not measured, so that every process puts the cases in the same order."""
        budget = self._budgets[index]
        trial = self._trial(index, self._baseline, FORWARD)
        if trial.rejected is not None:
            raise Misuse(
                f"the original fails its own check: {trial.rejected}",
                hint=self._baseline.way_out_of(trial.rejected),
            )
        results = [each.launched.result for each in self._logged.get(index, ())]
        loops = max((budget - each.budget_left for each in results), default=0)
        return loops, sum(int(each.executions.sum()) for each in results)

    def _remark(self, original: Ok) -> None:
        if self._past is not None:
            self.notes += self._past.remarks()
        self.notes += remark([self.samples[index] for index in sorted(self.samples)])
        if self.is_clock:
            self.notes += remarks_on_time(original, self.as_compiled_us)
        self.notes += remarks_on_sets(self.workload.data_sets, self.workload.repeated_sets)

    def _way_out(self, rejected: Rejected) -> str:
        if rejected.stage != "order":
            return "fix the program, or its oracle, or the rules of comparison"
        if "subwarp" in rejected.reason:
            return "it relies on warps that run in step: --accept lockstep takes that for granted"
        rules = self.workload.rules
        return (
            f"its output depends on the order of its threads (atomic sums of floats do); the rule is '{rules}': "
            "allow for that with --tolerance; --accept any searches all the same, but nothing it finds can be proven"
        )

    def estimates(self) -> list[tuple[Estimate, float]]:
        """Of each launch of the original, post-passes and all: what the timing model says, and how often it counts. Can be
        asked before ``reference``. Raises ``Misuse`` when the original fails."""
        self._baseline = self.builder.build(self.kind.original)
        executor = self._executor(self._baseline, follow=True)
        found = []
        for case, weight in zip(self._cases, self._weights, strict=True):
            runner, output = self._judge.run(self._baseline.modules, case, FORWARD, executor, overread=OVERREAD)
            if isinstance(output, Rejected):
                raise Misuse(f"the original fails: {output}", hint="fix the program or its workload first")
            done = cast(Sequence[Done], runner.results)
            found += [(estimate, weight) for _, _, estimate in self._estimated(case, done, by_line=True)]
        return found

    # -- candidates ----------------------------------------------------------------------------------------------------

    def __call__(self, candidate: C) -> Outcome:
        return self.evaluate(candidate).outcome

    def evaluate(self, candidate: C) -> Evaluated:
        """The outcome of a candidate, whatever it does. Raises for what the project itself got wrong."""
        begin = time.perf_counter()
        try:
            variant = self.builder.build(candidate)
        except Misuse:
            raise
        except KernelwrightError as error:
            stage = "compile" if isinstance(error, CompileError | ToolError) else "verify"
            return Evaluated(Rejected(stage, error.message), "", {}, {"build": time.perf_counter() - begin})
        build = time.perf_counter() - begin
        facts = dict(variant.facts)
        if candidate == self.kind.original and self.as_compiled_us:
            facts["as_compiled_us"] = self.as_compiled_us
        found = self._outcomes.get(variant.key)
        if found is not None:
            return replace(found, facts={**found.facts, **facts, "seen": True}, timings={"build": build})
        try:
            evaluated = self._evaluated(variant, build)
        except (CompileError, ToolError, DeviceError) as error:
            stage = "launch" if isinstance(error, DeviceError) else "compile"
            evaluated = Evaluated(Rejected(stage, error.message), variant.key, {}, {"build": build})
        self._outcomes.put(variant.key, evaluated)
        return replace(evaluated, facts={**evaluated.facts, **facts})

    def _evaluated(self, variant: Variant, build: float) -> Evaluated:
        timings = {"build": build}
        begin = time.perf_counter()
        self._logged.clear()
        error = 0.0
        for index in self._order:
            trial = self._trial(index, variant, FORWARD)
            if trial.rejected is not None:
                timings["run"] = time.perf_counter() - begin
                return Evaluated(trial.rejected, variant.key, {}, timings)
            error = max(error, trial.error)
        timings["run"] = time.perf_counter() - begin
        begin = time.perf_counter()
        ok = self._timed(variant, error)
        timings["time"] = time.perf_counter() - begin
        begin = time.perf_counter()
        self._logged.clear()
        rejected = self._under_other_schedules(variant)
        timings["order"] = time.perf_counter() - begin
        facts = {"trained": {"time_us": ok.time_us, "error": ok.error}}
        return Evaluated(rejected or ok, variant.key, facts, timings)

    def _under_other_schedules(self, variant: Variant) -> Rejected | None:
        for number, schedule in enumerate(self.demands.schedules):
            for index in self._reordered:
                # Races show whatever the order, so the first further schedule is watched.
                watch = self.demands.no_new_races and number == 0 and index in self._watched
                byte = self._past.byte_of(number) if self._past else None
                trial = self._trial(index, variant, schedule, watch=watch, overread=byte)
                if trial.rejected is not None:
                    past = ", and other bytes past its buffers" if byte else ""
                    reason = f"under schedule {schedule}{past}, {trial.rejected.reason}"
                    return Rejected("order", reason, trial.rejected.where)
                fresh = sorted(site for site in trial.sites - self._races if not site.silent) if watch else []
                if fresh:
                    return Rejected("fault", f"it has {fresh[0]}, which the original has not", str(fresh[0].ends[-1]))
        return None

    def _first_of_each(self, order: Sequence[int]) -> frozenset[int]:
        """Of each kernel with one block shape, the first case in ``order``."""
        found: dict[object, int] = {}
        for index in order:
            case = self._cases[index]
            kind = (case.launch.kernel, case.launch.block) if isinstance(case, RecordedCase) else index
            found.setdefault(kind, index)
        return frozenset(found.values())

    def remarks_on_original(self) -> list[str]:
        """What it does undefined itself, on every kernel that is launched: seen on the cases that candidates are watched on, and
        on the one of each kernel that does most, where that is not too much."""
        heaviest = {index for index in self._reordered if self._work[index] <= MOST_WATCHED}
        return remarks(self._seen_of_original(self._watched | heaviest), self.demands.accept)

    def _seen_of_original(self, cases: Collection[int]) -> frozenset[Site]:
        order, byte = Schedule.random(self.demands.seed + 1), self._past.byte_of(0) if self._past else None
        trials = [self._trial(index, self._baseline, order, watch=True, overread=byte) for index in sorted(cases)]
        return frozenset().union(*(trial.sites for trial in trials))

    # -- one case ------------------------------------------------------------------------------------------------------

    def _trial(
        self, index: int, variant: Variant, schedule: Schedule, *, watch: bool = False, overread: int | None = None
    ) -> _Trial:
        """A case under a schedule. Kept under the kernels that the case launches: others may change and it is the same.
        ``overread``: what reads past a buffer give, where that is not the usual."""
        asked = (index, str(schedule), watch, overread, *self._keys(index, variant))
        return self._trials.get_or_make(asked, lambda: self._tried(index, variant, schedule, watch, overread))

    def _tried(
        self, index: int, variant: Variant, schedule: Schedule, watch: bool, overread: int | None = None
    ) -> _Trial:
        case, past = self._cases[index], self._past
        usual = past.overread if past else OVERREAD
        executor = self._executor(variant, follow=schedule.kind == "forward", watch=watch)
        sampled = self.samples.get(index) if schedule == FORWARD else None
        some = self._some.get(index) if schedule != FORWARD and not watch else None
        if sampled is not None:
            executor = replace(executor, drawn=sampled.drawn)
        elif some is not None:
            executor = some.executor(executor, schedule)
        # Each group of lanes goes back in a loop by itself.
        budget = self._budgets[index] * schedule.groups
        byte = usual if overread is None else overread
        runner, output = self._judge.run(variant.modules, case, schedule, executor, budget, byte)
        done = cast(Sequence[Done], runner.results)
        forbidden = past.judge(done) if past and past.farthest and variant.changed else None
        if forbidden is not None or isinstance(output, Rejected):
            return _Trial(rejected=forbidden or cast(Rejected, output))
        part = sampled or some
        expected = part.expected if part is not None else self._judge.expected(index)
        verdict = self._judge.compare(case, output.arrays, expected)
        sites = frozenset(undefined_in(done)) if watch else frozenset()
        if isinstance(verdict, Rejected):
            return _Trial(rejected=verdict, sites=sites)
        if schedule == FORWARD and byte == usual:
            self._logged[index] = tuple(done)
        return _Trial(verdict, sites=sites)

    def _executor(self, variant: Variant, *, follow: bool, watch: bool = False) -> VariantExecutor:
        return VariantExecutor(self._gpu, variant.kernels, self._baseline.kernels, follow, watch, self._one_form)

    def _keys(self, index: int, variant: Variant) -> tuple[str, ...]:
        names = self._used[index] or tuple(variant.kernels)
        return tuple(variant.kernels[name].key for name in names)

    # -- time ----------------------------------------------------------------------------------------------------------

    def _timed(self, variant: Variant, error: float) -> Ok:
        times, figures = [], dict[str, float]()
        for index, weight in enumerate(self._weights):
            timed = self._time_of(index, variant)
            times.append(weight * timed.time_us)
            for name, figure in timed.figures.items():
                if name in _LARGEST:
                    figures[name] = max(figures.get(name, 0.0), figure)
                elif name in _LEAST:
                    figures[name] = min(figures.get(name, figure), figure)
                else:
                    figures[name] = figures.get(name, 0.0) + weight * figure
        sets = per_set(times, self.workload.set_numbers)
        return Ok(mean_us(sets), error, Metrics(figures | as_figures(sets)))

    def _time_of(self, index: int, variant: Variant) -> _Timed:
        def make() -> _Timed:
            if index not in self._logged:
                self._tried(index, variant, FORWARD, watch=False)
            return self._clocked(index, self._logged[index])

        return self._times.get_or_make((index, *self._keys(index, variant)), make)

    def _estimated(
        self, case: InProcessCase, done: Sequence[Done], *, by_line: bool = False
    ) -> Iterator[tuple[Done, Observed, Estimate]]:
        for number, each in enumerate(done):
            first = (case.recorded.number if isinstance(case, RecordedCase) else number) == 0
            yield each, *self._clock.time(each, is_first=first, by_line=by_line)

    def _clocked(self, index: int, done: Sequence[Done]) -> _Timed:
        case = self._cases[index]
        sampled = self.samples.get(index)
        scale = sampled.scale if sampled is not None else 1.0
        time_us, figures = 0.0, dict[str, float]()

        def add(name: str, figure: float) -> None:
            figures[name] = figures.get(name, 0.0) + figure

        for each, observed, estimate in self._estimated(case, done):
            kernel_us = scale * estimate.kernel_us
            time_us += kernel_us
            add(f"us {readable(each.built.kernel)}", kernel_us)
            add("with_launches_us", estimate.time_us + (scale - 1.0) * estimate.kernel_us)
            add("instructions", sum(estimate.instructions.values()))
            add("sectors", float(sum(a.sectors for a in observed.accesses)))
            add("dram_bytes", estimate.dram_bytes)
            add("barriers", estimate.barriers * observed.geometry.blocks)
            for term in estimate.terms:
                add(f"term {term.name}", term.share * kernel_us)
            figures["registers"] = max(figures.get("registers", 0.0), float(estimate.registers))
            if not isinstance(case, RecordedCase) or case.capture is self.workload.capture:
                figures["shortest_us"] = min(figures.get("shortest_us", math.inf), kernel_us)
        return _Timed(time_us, figures)


_LARGEST = ("registers",)
_LEAST = ("shortest_us",)


def _kernels_of(case: InProcessCase, workload: Workload) -> tuple[str, ...]:
    if isinstance(case, RecordedCase):
        return (case.launch.kernel,)
    if case.host is not None:
        return ()
    modules = workload.modules()
    return tuple(dict.fromkeys(kernel_called(modules, each.kernel or workload.kernel) for each in case.steps))
