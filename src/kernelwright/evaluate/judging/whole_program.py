"""The whole program with a variant's kernels in it: run as it is, its launches exchanged on their way, its outputs compared.

    whole = WholeProgram(Program(executable, arguments, folder), gpu_name, rules)
    whole.judge(variant.kernels, baseline.kernels)       # Ok or Rejected

Every run has a fresh copy of the folder (``program_folder.py``). Outputs are the standard output and all files that come or change; what
two runs of the original do not agree on (lines with times that it prints) is left out; the rest is compared. Where a variant's run differs
from that, the original is run again, as often as that may still clear the variant.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kernelwright.cuda.names import readable
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.judging.program_folder import contents, copied, is_too_large
from kernelwright.evaluate.judging.program_outputs import Outputs, StableOutputs
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.variant_launches import all_hold
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.workload.program_case import STDOUT
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.lazy_dataclasses import dataclass

AGAIN = 5
"""Further runs of the original when a variant's outputs differ: two may agree by chance on what differs from run to run, where random
numbers are drawn from the time in seconds, or times are printed to the hundredth."""
AGAIN_ALIKE = 2
"""The same where no two runs of the original ever differed."""


@dataclass(frozen=True)
class Program:
    """How a program is run. ``folder``: what it finds where it works."""

    executable: str
    arguments: tuple[str, ...]
    folder: str

    def below(self, folder: Path) -> Program:
        """The same, where its own folder is named from that one."""
        return replace(self, folder=str(folder.absolute() / self.folder))

    @property
    def trouble(self) -> str:
        """Why it cannot be run again; empty when it can."""
        if not os.access(self.executable, os.X_OK):
            return f"the program is not there any more ({self.executable})"
        if not Path(self.folder).is_dir():
            return f"its folder is not there any more ({self.folder})"
        if is_too_large(self.folder):
            return f"its folder is too large to be copied for every run ({self.folder})"
        return ""


class Exchange(Observer):
    """Runs other kernels than the program's own wherever their guards hold. A session is one program: not for two."""

    marks_new_memory = True

    def __init__(self, kernels: Mapping[str, Built]) -> None:
        self._kernels = kernels
        self._session: Observed | None = None
        self.exchanged = 0
        self.past_buffers: set[str] = set()
        """Where kernels read past a buffer: kernel and line."""

    def attach(self, session: Observed) -> None:
        self._session = session

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched | None:
        """Every launch is made here, also of kernels that stay, so that none has a time: events tell a program the times that the
        timing model gives its kernels, which are the same in every run of the original and others with a variant in it."""
        assert self._session is not None
        arena = self._session.arena
        built = self._kernels.get(execution.launch.kernel)
        if built is None:
            return gpu.run(execution, arena)
        exchanged = replace(execution, loaded=Loaded(built.module, execution.loaded.variables, key=built.key))
        if built.guards and not all_hold(built.guards, facts_of_execution(exchanged, arena)):
            return gpu.run(execution, arena)
        self.exchanged += 1
        return gpu.run(exchanged, arena)

    def after_launch(self, execution: Execution, launched: Launched, seconds: float) -> None:
        for one in launched.overreads:
            self.past_buffers.add(f"{readable(one.kernel)} at {one.where}")


@dataclass(frozen=True)
class _Whole:
    """One run of the program."""

    outputs: Outputs | Rejected
    exchanged: int = 0
    """Launches that were exchanged."""
    past_buffers: frozenset[str] = frozenset()


class WholeProgram:
    """Judges variants by runs of a whole program. Standard streams are redirected meanwhile, so: one per process.

    Raises ``Misuse`` when the original does not run. A folder that cannot be copied is told when a variant is judged.
    """

    def __init__(self, program: Program, gpu: str, rules: Rules) -> None:
        self.program = program
        self._settings = Settings.for_device(gpu)
        self._rules = rules
        self._uncopied: ToolError | None = None
        self._expected = StableOutputs({}, 0)
        self._past_buffers: frozenset[str] = frozenset()
        try:
            self._expected = self._stable()
        except ToolError as error:
            self._uncopied = error

    def _stable(self) -> StableOutputs:
        """What two runs of the original agree on."""
        runs = [self._run({}) for _ in range(2)]
        found = []
        for run in runs:
            if isinstance(run.outputs, Rejected):
                raise Misuse(
                    f"the whole program does not run again: {run.outputs}", hint="record it again: start a new run"
                )
            self._past_buffers |= run.past_buffers
            found.append(run.outputs)
        first, second = found
        return StableOutputs.of(first, second)

    def judge(self, kernels: Mapping[str, Built]) -> Outcome:
        """What comes of the program with these kernels in place of its own. Time is not taken.

        Raises ``ToolError`` when its folder cannot be copied, ``Misuse`` when none of the kernels took part: nothing is
        known of them then.
        """
        if self._uncopied is not None:
            raise self._uncopied
        run = self._run(kernels)
        outcome = run.outputs if isinstance(run.outputs, Rejected) else self._compared(run.outputs)
        new = sorted(run.past_buffers - self._past_buffers)
        if new and isinstance(outcome, Ok):
            return Rejected("fault", f"it reads past a buffer in {new[0]}, where the original does not")
        if kernels and not run.exchanged and isinstance(outcome, Ok):
            guarded = any(built.guards for built in kernels.values())
            why = "none of its launches meets the guards" if guarded else "it launches none of the changed kernels"
            raise Misuse(why, hint="the program may read its standard input, which is empty here")
        return outcome

    def _compared(self, outputs: Outputs) -> Outcome:
        """With what the original leaves each time."""
        outcome = self._expected.judge(outputs, self._rules)
        for turn in range(AGAIN):
            if isinstance(outcome, Ok) or (turn == AGAIN_ALIKE and self._expected.is_whole):
                break
            original = self._run({})
            if isinstance(original.outputs, Rejected):
                break  # it ran before
            self._past_buffers |= original.past_buffers
            self._expected = self._expected.narrowed(original.outputs)
            outcome = self._expected.judge(outputs, self._rules)
        return outcome

    def _run(self, kernels: Mapping[str, Built]) -> _Whole:
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as temporary:
            place, said = Path(temporary) / "place", Path(temporary) / STDOUT
            folder = copied(self.program.folder, self.program.arguments, place)
            before = contents(place, folder)

            def serve_connection(connection: socket.socket) -> bytes:
                exchange = Exchange(kernels)
                serve(connection, lambda: self._settings, [exchange])
                return json.dumps([exchange.exchanged, sorted(exchange.past_buffers)]).encode()

            executable = str(Path(self.program.executable).absolute())
            try:
                with streams_in(said, folder):
                    ran = run_program([executable, *self.program.arguments], self._settings, serve_connection)
            except KernelwrightError as error:
                return _Whole(Rejected("program", error.message))
            # A worker that was killed says nothing.
            told = [json.loads(said_by) for said_by in ran.results if said_by]
            exchanged = sum(count for count, _ in told)
            past_buffers = frozenset(place for _, places in told for place in places)
            if ran.exit_code:
                lines = said.read_bytes()[-2000:].decode(errors="replace").strip().splitlines()
                why = f"it ended with exit code {ran.exit_code}: {lines[-1] if lines else ''}"
                return _Whole(Rejected("program", why), exchanged, past_buffers)
            changed = {name: data for name, data in contents(place, folder).items() if before.get(name) != data}
            return _Whole({**changed, STDOUT: said.read_bytes()}, exchanged, past_buffers)


@contextmanager
def streams_in(said: Path, folder: Path) -> Iterator[None]:
    """Within, this process works in ``folder``, and what it and its children print goes to a file."""
    here, kept = os.getcwd(), [os.dup(1), os.dup(2)]
    target = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    errors = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(target, 1)
        os.dup2(errors, 2)
        os.chdir(folder)
        yield
    finally:
        os.chdir(here)
        for number, descriptor in enumerate(kept, start=1):
            os.dup2(descriptor, number)
        for descriptor in (*kept, target, errors):
            os.close(descriptor)
