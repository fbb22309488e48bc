"""The clock of a search that measures: candidates that were found right elsewhere, timed on a real GPU against the original.

    check     every case once more, on the GPU: a fault or a wrong output ends it here
    duel      each launch of a changed kernel: original and variant in turns, until they separate or the budget says tie
    add up    the original's time divided by each ratio, weighted as cases are; what did not change costs what it did

A kernel is measured once, under its PTX; what the journal holds of earlier sessions is not measured again. One thread does it
all, one candidate at a time, while the workers of the pool judge the next ones.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from kernelwright.cuda.names import readable
from kernelwright.device.execution import FORWARD
from kernelwright.device.real_gpu.worker import CudaWorker, Job, WorkerDied
from kernelwright.errors import DeviceError, Misuse, ToolError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Modules, Stopped
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.judge import Judge
from kernelwright.evaluate.judging.worker_process import Reference
from kernelwright.evaluate.outcome import Metrics, Ok, Rejected
from kernelwright.evaluate.timing.data_sets import as_figures
from kernelwright.evaluate.timing.duel import duel, fewest, median_interval
from kernelwright.evaluate.timing.gpu_launches import GpuExecutor, OnTheWay
from kernelwright.evaluate.timing.machine_code import Code
from kernelwright.evaluate.timing.measurement_record import Effort, Known, Measured, Timed, total
from kernelwright.evaluate.timing.remarks_on_time import remarks_on_time
from kernelwright.evaluate.workload.case import Output
from kernelwright.evaluate.workload.comparison import Change
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.evaluate.workload.workload import Workload

T = TypeVar("T")

ALIKE = 8
"""Launches of one shape in one case that are timed each for itself; further ones count as the mean of these."""
SAMPLES, WARMUP = 40, 3
"""Of the original alone: what all ratios are ratios to."""
LEAST_S, TIMES_LONGEST = 10.0, 200.0
"""What a candidate's launch may take before it counts as endless: so long, or so many times the original's longest."""
ROUNDING = Rules(default=Change(0.01))
"""How far the original's outputs may lie from a recording made elsewhere: functions like sine differ in their last digits."""
OTHERS = ("us ", "data set ", "with_launches_us", "shortest_us")
"""Times among the figures of the timing model, which a measured outcome has no use for."""


class Abandoned(BaseException):
    """Nothing waits for the measurement any more. (No ``Exception``: the user's host functions must not catch it.)"""


class GpuTimer:
    """Times candidates of one workload on one GPU. ``reference`` must be called first. Close it.

    ``gpu``: the name that the GPU must have. ``known``: what has been measured before.
    """

    def __init__(self, workload: Workload, device: str, gpu: str, known: Known, worker: CudaWorker) -> None:
        self.device = device
        self.as_compiled_us = 0.0
        self._workload = workload
        self._gpu = gpu
        self._known = known
        self._worker = worker
        self._judge = Judge(workload)
        self._code: Code = {}
        self._timeout_s: float | None = None
        """Of a launch, once the original's are known."""
        self._modules: Modules = {}
        self._cases = workload.in_process
        self._weights = workload.weights or (1.0,) * len(self._cases)
        self._original: list[Measured] = []
        self._expected: list[Output] = []
        self._abandoned = threading.Event()
        # The GPU's process dies with the thread that started it: one that lives as long as this.
        self._thread = ThreadPoolExecutor(1, "gpu")

    # -- the original --------------------------------------------------------------------------------------------------

    def reference(self, found: Reference) -> Reference:
        """What the original costs on the GPU, as it is and as it was compiled.

        Raises ``Misuse`` for another GPU than the run began on, and for an original that fails there or gives other outputs
        than it should; ``ToolError`` and ``DeviceError`` when there is no GPU to be had.
        """
        self._find_gpu()  # not in the thread: a person who waits for a GPU that others use may give up
        return self._wait(self._thread.submit(self._referred, found))

    def _find_gpu(self) -> None:
        try:
            info = self._worker.info()
        except ToolError as error:
            raise ToolError(
                f"times of this run are measured on {self._gpu}: {error.message}",
                hint="go on where that GPU is; kw show and kw report read the run anywhere",
            ) from error
        if info.name != self._gpu:
            raise Misuse(
                f"this run was measured on {self._gpu}; {self.device} is {info.name}",
                hint="go on where that GPU is, or start a new run",
            )

    def _referred(self, found: Reference) -> Reference:
        self._code = found.code
        self._modules = self._workload.modules()
        self._judge.expect(self._modules, GpuExecutor(self._worker, self._code, {}))
        notes: list[str] = []
        self._expected = [self._agreed(index, notes) for index in range(len(self._cases))]
        self._original = [self._alone(index) for index in range(len(self._cases))]
        longest = max((each.us for case in self._original for each in case.launches), default=0.0)
        self._timeout_s = max(LEAST_S, TIMES_LONGEST * longest / 1e6)
        original = self._ok(self._original, found.original)
        self.as_compiled_us = self._as_compiled(found, original.time_us)
        notes += remarks_on_time(original, self.as_compiled_us)
        return replace(found, original=original, as_compiled_us=self.as_compiled_us, notes=(*found.notes, *notes))

    def _agreed(self, index: int, notes: list[str]) -> Output:
        """What candidates should give: what is expected, or, where a GPU rounds differently, what the original gives there."""
        case, expected = self._cases[index], self._judge.expected(index)
        output = self._output(index)
        verdict = self._judge.compare(case, output.arrays, expected)
        if not isinstance(verdict, Rejected):
            return expected
        found = Output(output.arrays, expected.before, expected.inputs)
        again = self._judge.compare(case, self._output(index).arrays, found)
        if isinstance(again, Rejected):
            raise Misuse(
                f"on {self.device}, the original gives something else each time: {again.reason}",
                hint="allow for that with --tolerance",
            )
        if isinstance(self._judge.compare(case, output.arrays, expected, ROUNDING), Rejected):
            raise Misuse(
                f"on {self.device}, the original fails its own check: {verdict.reason}",
                hint=f"fix the program, allow for the difference with --tolerance, or record it there: "
                f"kw check --device {self.device} shows what it does",
            )
        if not notes:
            notes.append(
                f"on {self.device}, the original's outputs differ from what was recorded ({verdict.reason}): variants are "
                "compared with what it gives there"
            )
        return found

    def _output(self, index: int) -> Output:
        """Of the original. Raises ``DeviceError`` when it fails."""
        output = self._run(index, {})
        if isinstance(output, Rejected):
            raise self._lost(output)
        return output

    def _lost(self, rejected: Rejected) -> DeviceError:
        return DeviceError(
            f"{self.device} does not run the original any more: {rejected}",
            hint="nvidia-smi and dmesg say more; kw evolve --resume goes on where it was",
        )

    def _alone(self, index: int) -> Measured:
        """The times of the original's launches."""
        known = self._known.find(index, {}, Effort.FINAL)
        if known is None:
            try:
                known = Measured(index, {}, Effort.FINAL, self._timed_launches(index, {}, (), Effort.FINAL))
            except Stopped as stopped:
                raise self._lost(stopped.rejected) from None
            self._known.add(known)
        return known

    def _as_compiled(self, found: Reference, original_us: float) -> float:
        measured = [self._case(index, found.as_compiled, Effort.FINAL) for index in range(len(self._cases))]
        if any(each.rejected for each in measured):
            return original_us
        return total(measured, self._weights, self._workload.set_numbers).us

    def taken(self) -> list[dict[str, Any]]:
        """What was measured and is in no journal yet."""
        fresh, self._known.fresh = self._known.fresh, []
        return [each.as_json() for each in fresh]

    # -- candidates ----------------------------------------------------------------------------------------------------

    def through(self, results: Iterable[tuple[int, Evaluated]], effort: Effort) -> Iterator[tuple[int, Evaluated]]:
        """The same results, measured with ``effort`` if they are accepted, in the order in which they come out of that."""
        waiting: deque[tuple[int, Future[Evaluated]]] = deque()
        for number, evaluated in results:
            if isinstance(evaluated.outcome, Ok):
                waiting.append((number, self._thread.submit(self.timed, evaluated, effort)))
            else:
                yield number, _untimed(evaluated)
            while waiting and waiting[0][1].done():
                done, future = waiting.popleft()
                yield done, future.result()
        for done, future in waiting:
            yield done, self._wait(future)

    def timed(self, evaluated: Evaluated, effort: Effort) -> Evaluated:
        """An accepted candidate with its measured time, or rejected for what it did on the GPU."""
        begin = time.perf_counter()
        ok, code = evaluated.outcome, evaluated.code
        assert isinstance(ok, Ok)
        facts = {**evaluated.facts, "model_us": ok.time_us}
        if "as_compiled_us" in facts:
            facts["as_compiled_us"] = self.as_compiled_us
        measured: list[Measured] = []
        for index in range(len(self._cases)):
            measured.append(self._case(index, code, effort))
            if measured[-1].rejected is not None:
                break
        self._forget(code)
        if taken := self.taken():
            facts["measured"] = taken
        timings = {**evaluated.timings, "gpu": time.perf_counter() - begin}
        if (rejected := measured[-1].rejected) is not None:
            return replace(_untimed(evaluated, facts), outcome=rejected, timings=timings, code={})
        found = self._ok(measured, ok)
        facts["trained"] = {"time_us": found.time_us, "error": found.error}
        return replace(evaluated, outcome=found, facts=facts, timings=timings, code={})

    def _ok(self, measured: Sequence[Measured], model: Ok) -> Ok:
        """What was measured, with the figures that were counted elsewhere."""
        whole = total(measured, self._weights, self._workload.set_numbers)
        figures = {name: figure for name, figure in model.metrics.items() if not name.startswith(OTHERS)}
        figures |= {f"us {readable(kernel)}": us for kernel, us in whole.kernels.items()}
        figures |= as_figures(whole.sets)
        first = [m.launches for m, case in zip(measured, self._cases, strict=True) if self._is_of_first(case)]
        figures["shortest_us"] = min((each.us for launches in first for each in launches), default=0.0)
        figures |= {"low_us": whole.low, "high_us": whole.high, "model_us": model.time_us}
        error = max((model.error, *(each.error for each in measured)))
        return Ok(whole.us, error, Metrics(figures))

    def _is_of_first(self, case: object) -> bool:
        return not isinstance(case, RecordedCase) or case.capture is self._workload.capture

    def _forget(self, code: Code) -> None:
        try:
            self._worker.forget([each.image for each in code.values()])
        except DeviceError:
            pass  # the process is gone, and what it held with it

    # -- one case ------------------------------------------------------------------------------------------------------

    def _case(self, index: int, code: Code, effort: Effort) -> Measured:
        launched = {each.kernel for each in self._original[index].launches}
        changed = {name: each for name, each in code.items() if name in launched}
        if not changed:
            return self._original[index]
        keys = {name: each.key for name, each in changed.items()}
        known = self._known.find(index, keys, effort)
        if known is None:
            known = self._measured(index, changed, keys, effort)
            self._known.add(known)
        return known

    def _measured(self, index: int, code: Code, keys: Mapping[str, str], effort: Effort) -> Measured:
        for _ in range(2):
            try:
                error = self._checked(index, code)
                launches = self._timed_launches(index, code, self._original[index].launches, effort)
                return Measured(index, keys, effort, launches, error)
            except Stopped as stopped:
                rejected = stopped.rejected
            if rejected.stage == "compare":
                break
            self._output(index)  # if the original does not run either, it is not the candidate's fault
            if rejected.stage != "crash":
                break
        reason = f"on {self.device}, {rejected.reason}"
        return Measured(index, keys, effort, rejected=Rejected(rejected.stage, reason, rejected.where))

    def _checked(self, index: int, code: Code) -> float:
        """Runs a case; the error of its outputs. Raises ``Stopped`` for a fault or a wrong output."""
        output = self._run(index, code)
        verdict = (
            output
            if isinstance(output, Rejected)
            else self._judge.compare(self._cases[index], output.arrays, self._expected[index])
        )
        if isinstance(verdict, Rejected):
            raise Stopped(verdict)
        return verdict

    def _run(self, index: int, code: Code, on_the_way: OnTheWay | None = None) -> Output | Rejected:
        executor = GpuExecutor(self._worker, self._code, code, on_the_way, self._timeout_s)
        return self._judge.run(self._modules, self._cases[index], FORWARD, executor)[1]

    def _timed_launches(self, index: int, code: Code, reference: Sequence[Timed], effort: Effort) -> tuple[Timed, ...]:
        """Raises ``Stopped`` for what fails on the way."""
        watch = _Stopwatch(self._sampled, self._worker, reference, effort)
        output = self._run(index, code, watch)
        if isinstance(output, Rejected):
            raise Stopped(output)
        return tuple(watch.times)

    def _sampled(self, job: Job) -> float:
        if self._abandoned.is_set():
            raise Abandoned
        try:
            return self._worker.sample(job, timeout_s=self._timeout_s)
        except WorkerDied:
            raise
        except DeviceError as error:
            raise Stopped(Rejected("fault", f"while it was timed, {error.message}")) from None

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _wait(self, future: Future[T]) -> T:
        """Like ``result``, but Ctrl-C is heard."""
        while True:
            try:
                return future.result(timeout=0.5)
            except TimeoutError:
                if future.done():
                    return future.result()

    def close(self) -> None:
        """Gives the GPU back, in the middle of a measurement too."""
        self._abandoned.set()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._worker.close()


class _Stopwatch:
    """Times launches on their way to the GPU: each against the original's, or by itself where it is the original's."""

    def __init__(
        self, sample: Callable[[Job], float], worker: CudaWorker, reference: Sequence[Timed], effort: Effort
    ) -> None:
        self.times: list[Timed] = []
        self._sample = sample
        self._worker = worker
        self._reference = reference
        self._effort = effort
        self._alike: dict[object, list[Timed]] = {}

    def __call__(self, job: Job, original: Job, memory: Sequence[tuple[int, bytes]]) -> None:
        alike = self._alike.setdefault((job.launch.kernel, job.launch.grid, job.launch.block, job.image.key), [])
        number = len(self.times)
        usual = self._reference[number] if number < len(self._reference) else None
        if usual is not None and usual.kernel != job.launch.kernel:
            usual = None
        if job.image.key == original.image.key and usual is not None:
            found = usual
        elif len(alike) >= ALIKE:
            found = _mean(alike)
        else:
            self._worker.stage(memory)
            found = self._alone(job) if job.image.key == original.image.key else self._fought(job, original, usual)
        alike.append(found)
        self.times.append(found)

    def _alone(self, job: Job) -> Timed:
        samples = [self._sample(job) for _ in range(WARMUP + SAMPLES)][WARMUP:]
        found = median_interval(samples)
        if found.median <= 0:
            raise DeviceError(
                f"{job.launch.kernel} takes no time that the GPU's clock can see", hint="give it larger inputs"
            )
        return Timed(job.launch.kernel, found.median, found.low, found.high, found.samples)

    def _fought(self, job: Job, original: Job, usual: Timed | None) -> Timed:
        effort = self._effort
        result = duel(
            lambda: self._sample(original), lambda: self._sample(job),
            least=max(effort.least, fewest()), pairs=effort.pairs, seconds=effort.seconds, warmup=WARMUP,
        )  # fmt: skip
        base, ratio = usual.us if usual is not None else result.original.median, result.speedup
        # A tie is no gain and no loss, however its median lies; the interval says how sure that is.
        us = base if result.verdict == "tie" else base / ratio.median
        return Timed(job.launch.kernel, us, min(us, base / ratio.high), max(us, base / ratio.low), ratio.samples)


def _mean(times: Sequence[Timed]) -> Timed:
    us, low, high = (statistics.fmean(getattr(each, name) for each in times[:ALIKE]) for name in ("us", "low", "high"))
    return Timed(times[0].kernel, us, low, high, 0)


def _untimed(evaluated: Evaluated, facts: Mapping[str, Any] | None = None) -> Evaluated:
    """Without the time that the model gave it: it cannot be compared with measured ones."""
    kept = {name: fact for name, fact in (facts or evaluated.facts).items() if name != "trained"}
    return replace(evaluated, facts=kept)
