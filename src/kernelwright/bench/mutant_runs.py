"""Mutants in processes of their own: who runs which seed, what a worker's end is worth, and what is done already.

    with Progress(10_000) as progress:                                # goes on where an earlier run was interrupted
        for verdict in run_in_parts(serve, captures, progress.left, 2):
            progress.note(verdict)

The main process runs no mutant. It is also the one that says something whatever happens: an end that was asked for from
outside (a closed terminal, ``kill``) is told with what is done, and the same command goes on from there.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path

from kernelwright.bench.result import Say
from kernelwright.cache import cache_folder, content_key
from kernelwright.errors import ToolError
from kernelwright.evaluate.run.machine_facts import tool_versions
from kernelwright.lazy_dataclasses import dataclass

PATIENCE_S = 120.0
"""A worker that says nothing about a mutant for so long hangs."""
START_S = 120.0
"""What a worker gets to start."""
VERDICTS = (
    "agree",
    "faulted alike",
    "excluded",
    "undecided",
    "refused",
    "disagree",
    "crash",
    "hang",
    "counters differ",
)
"""``faulted alike``: both stop with a fault of the same kind. ``excluded``: the result depends on lanes of a warp running in
step, which the reference does not do, or on the bits of a NaN. ``undecided``: one of the two used up its budget of loop
iterations. ``refused``: code that both refuse."""
BAD = VERDICTS[5:]


@dataclass(frozen=True)
class Verdict:
    """What came of one mutant."""

    seed: int
    program: str
    kernel: str
    verdict: str
    detail: str = ""
    genome: str = ""


Serve = Callable[[Connection, list[Path], list[int]], None]
"""Runs in a worker: sends None when it is ready, then a ``Verdict`` for each seed, in order."""


def run_in_parts(
    serve: Serve, captures: Sequence[Path], seeds: Sequence[int], parts: int, patience_s: float = PATIENCE_S
) -> Generator[Verdict, None, None]:
    """A verdict for each seed, as they come, several workers at a time. A worker that ends or hangs costs its mutant a
    verdict and is replaced. Raises ``ToolError`` when a worker cannot be started."""
    workers = [_Worker(serve, list(captures), list(seeds[n::parts]), patience_s) for n in range(parts)]
    try:
        while at_work := [w for w in workers if w.left]:
            nearest = min(w.deadline for w in at_work) - time.monotonic()
            speaking = wait([w.heard_at for w in at_work], max(nearest, 0.0))
            for each in at_work:
                if each.heard_at in speaking or time.monotonic() > each.deadline:
                    yield from each.hear(each.heard_at in speaking)
    finally:
        for each in workers:
            each.end()


class _Worker:
    """A process with seeds to run, and the one that takes its place when it ends too early."""

    def __init__(self, serve: Serve, captures: list[Path], seeds: list[int], patience_s: float) -> None:
        self.left = seeds
        self._serve, self._captures, self._patience_s = serve, captures, patience_s
        if seeds:
            self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("forkserver")
        self.heard_at, there = context.Pipe()
        self._process = context.Process(target=self._serve, args=(there, self._captures, self.left), daemon=True)
        try:
            self._process.start()
        except OSError as error:  # a broken pipe could not be told from output that nothing reads
            raise ToolError(f"a worker process could not be started: {error}", hint="run it again") from error
        there.close()
        self._ready = False
        self.deadline = time.monotonic() + START_S

    def hear(self, speaks: bool) -> Iterator[Verdict]:
        """What it says; a verdict of ours when it is late, or has ended."""
        if not speaks:
            if not self._ready:
                raise ToolError(
                    f"a worker did not start within {START_S:.0f} s", hint="try again when the machine is less busy"
                )
            yield from self._lose("hang", f"no answer within {self._patience_s:.0f} s")
            return
        try:
            said = self.heard_at.recv()
        except (EOFError, ConnectionError):
            if not self._ready:
                self._process.join(1)
                code = self._process.exitcode
                raise ToolError(f"a worker ended with {code} before it was ready", hint="see what it printed") from None
            yield from self._lose("crash", "the worker has ended")
            return
        self.deadline = time.monotonic() + self._patience_s
        if self._ready:
            self.left = self.left[1:]
            yield said
        self._ready = True

    def _lose(self, verdict: str, why: str) -> Iterator[Verdict]:
        seed, self.left = self.left[0], self.left[1:]
        self.end()
        yield Verdict(seed, "", "", verdict, why)
        if self.left:
            self._start()

    def end(self) -> None:
        if hasattr(self, "_process"):
            if self._process.pid is not None:
                self._process.kill()
                self._process.join()
            self.heard_at.close()


_VERDICTS_COME_FROM = (
    "bench/mutants.py", "codegen/simt/**/*.*", "codegen/inline_asm/*.py", "codegen/bulk_copies.py",
    "codegen/fused_products.py", "codegen/memory_layout.py", "cuda/include/**/*.*", "device/*.py",
    "device/reference/*.py", "device/virtual_gpu/*.py", "edits/**/*.py", "evaluate/capture/recorded_case.py",
    "evaluate/judging/case_runner.py", "ir/**/*.py", "launch.py", "passes/*.py", "suite/**/*.*",
)  # fmt: skip
"""Our files that a verdict depends on."""


class Progress:
    """The verdicts there are, in a file, as long as the benchmark has not come to its end. Other sources, or other versions
    of what we stand on, start anew."""

    def __init__(self, count: int, names: Sequence[str] = (), say: Say = lambda line: None) -> None:
        package = Path(__file__).parents[1]
        sources = sorted(
            p for pattern in _VERDICTS_COME_FROM for p in package.glob(pattern) if p.is_file() and p.suffix != ".pyc"
        )
        key = content_key([str(count), *names, str(tool_versions()), *(p.read_bytes() for p in sources)])
        self.path = cache_folder() / "bench" / f"mutants-{key[:16]}.jsonl"
        self.before: list[Verdict] = []
        self.left = list(range(count))
        self._count, self._say = count, say

    def __enter__(self) -> Progress:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        found: dict[int, Verdict] = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                verdict = Verdict(**json.loads(line))
            except (ValueError, TypeError):
                continue  # the line that was being written
            found[verdict.seed] = verdict
        self.before = list(found.values())
        self.left = [seed for seed in self.left if seed not in found]
        self._begin, self._done = time.monotonic(), 0
        if found:
            self._say(f"{len(found)} of {self._count} mutants were done before")
        self._file = self.path.open("a")
        return self

    def note(self, verdict: Verdict) -> None:
        """Writes it down, and says how far the run is, and at once what went wrong."""
        self._file.write("\n" + json.dumps(asdict(verdict)))
        self._file.flush()
        self._done += 1
        if verdict.verdict in BAD:
            self._say(f"seed {verdict.seed}, {verdict.program} {verdict.kernel}: {verdict.verdict}: {verdict.detail}")
        if self._done % 100 == 0:
            rate = self._done / (time.monotonic() - self._begin)
            left = (len(self.left) - self._done) / rate
            self._say(f"{self._there} of {self._count} mutants, {rate:.1f} per second, {_minutes(left)} left")

    @property
    def _there(self) -> int:
        return len(self.before) + self._done

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self.path.unlink()
        else:
            self._say(
                f"ended ({kind.__name__}) with {self._there} of {self._count} mutants done; run it again to go on"
            )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
