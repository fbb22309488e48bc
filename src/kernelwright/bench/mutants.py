"""Mutated kernels of the suite on the virtual GPU and on the reference executor: they agree, and nothing crashes.

Each program's tiny run is recorded; a mutant is one recorded launch, cut to two thread blocks, of a kernel with one to four
random edits. Worker processes run it once on the reference, twice on the virtual GPU, and once with its other code, in which
accesses are written in line. An interrupted run goes on where it was.

Promises: no disagreement, no crash, no hang; counters of two runs are the same.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kernelwright.bench.mutant_runs import BAD, VERDICTS, Progress, Verdict, run_in_parts
from kernelwright.bench.result import Measured, Say
from kernelwright.codegen.simt.launching.watching import Watch as VirtualWatch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.reference import ReferenceResult, Watch, execute_reference
from kernelwright.device.reference.nans import negative_nans
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import OVERREAD
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.edits import Edit, Genome, Original, apply, draw, dumps
from kernelwright.errors import ToolError
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Executor, Runner, Stopped
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite import NAMES, load

MUTANTS = 10_000
BUDGET = 50_000
"""Loop iterations: a mutant that wants more is endless. The virtual GPU counts those of warps, the reference of threads."""
RELATIVE, ABSOLUTE = 1e-4, 1e-6
"""Functions like sine may differ in their last bits, and a mutant may subtract what is almost equal."""


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: 60 mutants of three programs."""
    result = Measured("mutants")
    names = ("hotspot", "nw", "pathfinder") if quick else NAMES
    count = 60 if quick else MUTANTS
    with tempfile.TemporaryDirectory() as folder:
        captures = []
        for name in names:
            say(f"recording {name}")
            captures.append(record(name, Path(folder)))
        with Progress(count, names, say) as progress:
            verdicts = [*progress.before]
            for verdict in run_in_parts(serve, captures, progress.left, len(os.sched_getaffinity(0))):
                verdicts.append(verdict)
                progress.note(verdict)
    for name in names:
        counts = Counter(v.verdict for v in verdicts if v.program == name)
        result.rows.append({"program": name, "run": counts.total(), **{v: counts[v] for v in VERDICTS}})
    total = Counter(v.verdict for v in verdicts)
    result.rows.append({"program": "all", "run": total.total(), **{v: total[v] for v in VERDICTS}})
    result.at_least("mutants: run", total.total(), count)
    for bad in BAD:
        result.at_most(f"mutants: {bad}", total[bad], 0)
        told = [f"seed {v.seed}, {v.program} {v.kernel}: {v.detail}" for v in verdicts if v.verdict == bad]
        result.notes += told[:10]
    return result


def record(name: str, folder: Path) -> Path:
    """The recording of a suite program's tiny run. Raises ``ToolError``."""
    program = load(name)
    work = folder / name
    work.mkdir(parents=True, exist_ok=True)
    arguments = program.generate(work, "tiny", 0)
    target = folder / f"{name}.capture"
    command = [sys.executable, "-m", "kernelwright", "capture", "-o", str(target), *program.flags]
    command += [*map(str, program.source_paths), "--", *arguments]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        raise ToolError(f"{name} could not be recorded: {done.stderr.strip() or done.stdout.strip()}")
    return target


# -- a worker


def serve(answers: Connection, captures: list[Path], seeds: list[int]) -> None:
    """Says when it is ready, then runs mutants and sends a verdict for each."""
    with ExitStack() as stack:
        subjects = [s for path in captures for s in subjects_of(stack.enter_context(Capture.read(path)))]
        answers.send(None)
        for seed in seeds:
            subject = random.Random(seed).choice(subjects)
            try:
                answers.send(judged(subject, seed))
            except Exception as error:  # a defect of ours: one row of the table, and the next mutant
                told = f"{type(error).__name__}: {error}"
                answers.send(Verdict(seed, subject.program, subject.original.kernel, "crash", told))


@dataclass(frozen=True)
class Subject:
    """A recorded launch, cut short, and its kernel."""

    program: str
    case: RecordedCase
    original: Original


def subjects_of(capture: Capture) -> list[Subject]:
    """Each kernel's first launch. The grid is cut to two blocks, so that the reference takes milliseconds."""
    found: dict[str, Subject] = {}
    modules: dict[str, Module] = {}
    for launch in capture.launches:
        if launch.kernel in found:
            continue
        module = modules.setdefault(launch.module, parse_module(capture.ir(launch.module)))
        short = replace(launch, launch=replace(launch.launch, grid=(min(launch.launch.grid[0], 2), 1, 1)))
        original = Original(module, launch.kernel)
        found[launch.kernel] = Subject(capture.path.stem, RecordedCase(capture, short, module), original)
    return list(found.values())


def genome_of(original: Original, seed: int) -> Genome:
    """One to four edits."""
    rng = random.Random(seed)
    edits: list[Edit] = []
    for _ in range(rng.randint(1, 4)):
        edit = draw(apply(original, edits).draft, rng)
        if edit is not None:
            edits.append(edit)
    return tuple(edits)


@dataclass(frozen=True)
class Done:
    """What a launch left behind."""

    fault: Fault | None
    arrays: Arrays
    text: str
    result: Any
    overreads: frozenset[tuple[object, ...]] = frozenset()
    """Reads past a buffer, which are let pass: place, buffer, side, how many, how far."""


def judged(subject: Subject, seed: int) -> Verdict:
    """Runs one mutant on both executors and compares."""
    genome = genome_of(subject.original, seed)
    module = apply(subject.original, genome).module
    verdict, detail = verdict_on(subject.case, module)
    kernel = subject.original.kernel
    return Verdict(seed, subject.program, kernel, verdict, detail, dumps(genome) if verdict in BAD else "")


def verdict_on(case: RecordedCase, module: Module) -> tuple[str, str]:
    """One of ``VERDICTS``, and why."""
    fast = VirtualGpu().run
    want, got = launched(case, module, execute_reference), launched(case, module, fast)
    if isinstance(want, str) or isinstance(got, str):
        alike = isinstance(want, str) and isinstance(got, str)
        return "refused" if alike else "disagree", f"reference: {_said(want)}; virtual GPU: {_said(got)}"
    verdict, detail = _compared(case, module, want, got)
    if verdict == "disagree":
        return verdict, detail
    again, in_line = launched(case, module, fast), launched(case, module, Virtual(SimtOptions(inline=True)))
    assert isinstance(again, Done) and isinstance(in_line, Done)
    difference = _counters_differ(got, again)
    if difference:
        return "counters differ", difference
    difference = _counters_differ(got, in_line)
    if difference and nans_excuse(want, in_line, with_other_nans(case, module)):
        return "excluded", NANS
    return ("counters differ", f"accesses in line: {difference}") if difference else (verdict, detail)


def _compared(case: RecordedCase, module: Module, want: Done, got: Done) -> tuple[str, str]:
    difference = differs(want, got)
    if not difference:
        return ("faulted alike", "") if want.fault else ("agree", "")
    if _is_endless(want) or _is_endless(got):
        return "undecided", difference
    if nans_excuse(want, got, with_other_nans(case, module)):
        return "excluded", NANS
    verdict, left = _one_lane_after_another(case, module)
    if verdict == "agree":
        reason = order_matters(case, module, want)
        return ("excluded", reason) if reason else ("disagree", difference)
    return verdict, f"{difference}; and one lane after another, {left}"


def _said(done: Done | str) -> str:
    return done if isinstance(done, str) else "runs it"


def launched(case: RecordedCase, module: Module, executor: Executor, schedule: Schedule | None = None) -> Done | str:
    """A launch from the recorded memory; a sentence when the executor refuses the code."""
    with case.arena() as arena:
        kernel = case.launch.kernel
        order = schedule or Schedule.forward()
        runner = Runner({kernel: module}, executor, arena, schedule=order, budget=BUDGET, overread=OVERREAD)
        try:
            output = case.run(runner, kernel)
        except Stopped as stopped:
            if not runner.results:
                return stopped.rejected.reason
            return Done(runner.results[-1].fault, {}, "", runner.results[-1])
        result = cast(Any, runner.results[-1])
        past = frozenset((str(o.where), o.buffer, o.before, o.count, o.farthest) for o in result.overreads)
        return Done(None, {n: a.copy() for n, a in output.arrays.items()}, result.text, result, past)


def differs(want: Done, got: Done) -> str:
    """How two executors disagree; empty when they do not. Of launches that fault, only the kind is compared: which thread is
    the first to do so depends on the order of threads, and memory on who came before."""
    kinds = [d.fault.kind if d.fault else "" for d in (want, got)]
    if kinds[0] != kinds[1]:
        return f"reference: {want.fault or 'no fault'}; virtual GPU: {got.fault or 'no fault'}"
    if want.fault is not None:
        return ""
    for name, expected in want.arrays.items():
        wrong = _wrong(expected, got.arrays[name])
        if wrong:
            return f"{name}: {wrong}"
    if want.overreads != got.overreads:
        return f"reads past buffers: {sorted(map(str, want.overreads ^ got.overreads))[:4]}"
    return "" if want.text == got.text else f"printed {got.text[:80]!r} instead of {want.text[:80]!r}"


def _wrong(expected: NDArray[Any], found: NDArray[Any]) -> str:
    """Where they differ, in words. Numbers of a known floating type may do so in their last bits; of an unknown type,
    all must be equal to the byte, or all be numbers of one floating type that differ in their last bits."""
    far = _far(expected, found) if expected.dtype.kind == "f" else np.asarray(found != expected)
    places = np.flatnonzero(far)
    if not places.size:
        return ""
    if expected.dtype == np.uint8:
        for kind in (np.float32, np.float64):
            whole = expected.size % np.dtype(kind).itemsize == 0
            if whole and not _far(expected.view(kind), found.view(kind), guessed=True).any():
                return ""
    at = places[0]
    return f"{places.size} elements, the first [{at}] is {found.flat[at]!r} instead of {expected.flat[at]!r}"


def _far(expected: NDArray[Any], found: NDArray[Any], guessed: bool = False) -> NDArray[np.bool_]:
    """``guessed``: they may be integers. Those up to 8 million, and their negatives, would be tiny numbers and NaNs that
    arithmetic does not make: such must be equal to the bit."""
    # A figure that a mutant made of poison is near the largest number: its square is not representable.
    with np.errstate(all="ignore"):
        far = ~np.isclose(found, expected, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        if guessed:
            bits = {4: np.uint32, 8: np.uint64}[expected.dtype.itemsize]
            payload = np.array((1 << np.finfo(expected.dtype).nmant - 1) - 1, bits)
            for numbers in (expected, found):
                tiny = (np.abs(numbers) < np.finfo(expected.dtype).tiny) & (numbers != 0)
                odd = np.isnan(numbers) & (numbers.view(bits) & payload != 0)
                far |= (tiny | odd) & (expected.view(bits) != found.view(bits))
    return np.asarray(far)


def _counters_differ(one: Done, other: Done) -> str:
    """Two runs count the same, and come to the same but for the bits of NaNs: they may have run different code."""
    a, b = (cast(Launched, d.result).result for d in (one, other))
    for name in ("executions", "lanes", "sectors", "wavefronts", "serial", "blocks_done", "budget_left", "printed"):
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            return f"{name} differ between two runs"
    if one.fault != other.fault:
        return f"{one.fault} in one run, {other.fault} in another"
    return differs(one, other)


# -- excuses: what executors may choose for themselves


NANS = "the bits of a NaN matter"
APART = Schedule.subwarp(32, 1)
"""One lane after another between two synchronisations of the warp, in the same order on both executors."""
GRANULE = 8
"""Bytes around one that depends on the bits of a NaN that may depend on them, too: the largest number in memory."""


def _one_lane_after_another(case: RecordedCase, module: Module) -> tuple[str, str]:
    """Whether the executors agree when neither runs lanes in step: then the lowering of the code is right, and only the
    order of lanes can have made the difference. Where they do not agree, no race is an excuse."""
    want = launched(case, module, execute_reference, APART)
    got = launched(case, module, VirtualGpu().run, APART)
    if isinstance(want, str) or isinstance(got, str):
        return "disagree", f"reference: {_said(want)}; virtual GPU: {_said(got)}"
    difference = differs(want, got)
    if not difference or nans_excuse(want, got, with_other_nans(case, module, APART)):
        return "agree", ""
    return "undecided" if _is_endless(want) or _is_endless(got) else "disagree", difference


def order_matters(case: RecordedCase, module: Module, want: Done) -> str:
    """Why the result depends on the order of a warp's lanes; empty when it does not.

    Found in a race between two lanes, or in that the reference comes to another result with its lanes in another order.
    Where the reference stops at a fault before the second lane comes, the virtual GPU looks for the race.
    """
    watched = launched(case, module, _run_watched)
    if isinstance(watched, Done):
        for finding in watched.result.findings:
            if finding.kind == "race" and not finding.benign and _same_warp(finding, case.launch.block):
                return f"lanes of a warp race: {finding}"
    for schedule in (Schedule.reverse(), APART, Schedule.subwarp(4, 2)):
        other = launched(case, module, execute_reference, schedule)
        if isinstance(other, Done) and differs(want, other):
            return f"the order matters: {schedule} gives another result"
    seen = launched(case, module, Virtual(watch=VirtualWatch(races=True))) if want.fault else ""
    if isinstance(seen, Done):
        for race in seen.result.result.found:
            if race.kind == "race" and race.scope == "warp" and not race.benign:
                return f"lanes of a warp race: {race.origin} and {race.other}"
    return ""


def with_other_nans(case: RecordedCase, module: Module, schedule: Schedule | None = None) -> Done | str:
    """What the reference comes to when the NaNs that arithmetic makes have other bits."""
    with negative_nans():
        return launched(case, module, execute_reference, schedule)


def nans_excuse(want: Done, got: Done, other: Done | str) -> bool:
    """Whether ``got`` is as good as ``want``: it differs only where ``other``, the reference with other bits in NaNs, does so,
    too, or stops as that does."""
    if isinstance(other, str) or not differs(want, other):
        return False
    if want.fault or other.fault or got.fault:
        return (got.fault and got.fault.kind) in [d.fault and d.fault.kind for d in (want, other)]
    if want.text != got.text and want.text == other.text:
        return False
    found = {name: _known_of(want.arrays[name], other.arrays[name], a) for name, a in got.arrays.items()}
    return not differs(replace(want, text=""), Done(None, found, "", None))


def _known_of(want: NDArray[Any], other: NDArray[Any], got: NDArray[Any]) -> NDArray[Any]:
    """``got``, and ``want`` where it depends on the bits of NaNs."""
    loose = np.frombuffer(want.tobytes(), np.uint8) != np.frombuffer(other.tobytes(), np.uint8)
    starts = np.arange(0, loose.size, GRANULE)
    if loose.size:
        loose = np.repeat(np.logical_or.reduceat(loose, starts), GRANULE)[: loose.size]
    mixed = np.where(loose, np.frombuffer(want.tobytes(), np.uint8), np.frombuffer(got.tobytes(), np.uint8))
    return mixed.astype(np.uint8).view(want.dtype).reshape(want.shape)


def _is_endless(done: Done) -> bool:
    return done.fault is not None and done.fault.kind == "endless"


def _run_watched(execution: Execution, arena: Arena) -> ReferenceResult:
    return execute_reference(execution, arena, watch=Watch())


@dataclass(frozen=True)
class Virtual:
    """The virtual GPU with code or watches of one's choice, made anew for every launch."""

    options: SimtOptions | None = None
    watch: VirtualWatch | None = None

    def __call__(self, execution: Execution, arena: Arena) -> Launched:
        gpu, launch = VirtualGpu(), execution.launch
        compiled = gpu.compile(execution.loaded, launch.kernel, launch.block, self.options)
        return gpu.run(execution, arena, compiled=compiled, watch=self.watch)


def _same_warp(finding: Fault, block: Triple) -> bool:
    if finding.thread is None or finding.other_thread is None or finding.block != finding.other_block:
        return False
    return (
        len({(t[0] + block[0] * (t[1] + block[1] * t[2])) // 32 for t in (finding.thread, finding.other_thread)}) == 1
    )


__all__ = [
    "Subject",
    "genome_of",
    "judged",
    "measure",
    "record",
    "serve",
    "subjects_of",
    "verdict_on",
]
