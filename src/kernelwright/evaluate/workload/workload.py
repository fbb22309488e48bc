"""A workload: the kernels to judge, the cases they are judged on, and how far an output may lie from the expected one.

It comes from a Python file or function (``Workload``), from a recording (``Workload.from_capture``) or from a whole program
(``Workload.from_program``). A Python file that ends in ``workload = Workload(...)`` is a complete one: ``kw evolve
workload.py`` reads it.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernelwright.cache import content_key, file_digest
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.capture.capture import Capture, RecordedLaunch, is_capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.capture.replay import is_called
from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Arrays, Case
from kernelwright.evaluate.workload.comparison import Rule
from kernelwright.evaluate.workload.program_case import ProgramCase, Reader, program_case
from kernelwright.evaluate.workload.rule_text import Rules, rules_from
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass

InProcessCase = Case | RecordedCase
AnyCase = InProcessCase | ProgramCase
Oracle = Callable[[Any], Mapping[str, NDArray[Any]]]
"""(case) -> the expected outputs by name, as far as it knows them."""
RulesGiven = str | Rule | Rules | float | Mapping[str, str | Rule]


@dataclass(frozen=True, eq=False)
class Workload:
    """What a candidate is judged by. Outputs it has no other word for must equal the original's.

    Raises ``Misuse`` when it contradicts itself.
    """

    source: Path
    """Where the kernels come from: the CUDA file (or LLVM-IR, ``.ll``) that defines them, the recording, the program."""
    kernel: str
    """The kernel, by its name in the source; of a program of several, the one that cases without a name launch."""
    cases: tuple[AnyCase, ...]
    tolerance: RulesGiven = 0.0
    """How far an output may lie from the expected one. A number is a share of the change that the kernel makes, and 0 is
    exact; otherwise rules of comparison, as a text ("out: relative 1e-3; *: exact"), a mapping, or one rule for all."""
    oracle: Oracle | None = None
    """An independent word on what is right; without one the original kernel is."""
    generator: Callable[[int], AnyCase] | None = None
    """(seed) -> a further case: other sizes and shapes, extreme and degenerate values. See ``more``."""
    capture: Capture | None = None
    weights: tuple[float, ...] = ()
    """How much the time of each case counts; none given: all the same. A case may stand for many alike."""
    optimised: Mapping[str, str] = field(default_factory=dict)
    """By kernel, the text of its module as other compile flags make it: what is edited in the place of the given one."""

    def __post_init__(self) -> None:
        _ = self.rules
        object.__setattr__(self, "cases", tuple(self.cases))
        object.__setattr__(self, "source", Path(self.source))
        if not self.cases:
            raise Misuse("a workload without a case judges nothing", hint="give at least one Case")
        if any(isinstance(c, ProgramCase) != isinstance(self.cases[0], ProgramCase) for c in self.cases):
            raise Misuse("a workload mixes whole programs and launches", hint="make two workloads of it")
        if self.weights and len(self.weights) != len(self.cases):
            raise Misuse(
                f"{len(self.weights)} weights for {len(self.cases)} cases",
                hint="give one for each case, or none at all",
            )

    def __getstate__(self) -> dict[str, Any]:
        """What it was given; what it has made of that is made again where it arrives."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    # -- where workloads come from -------------------------------------------------------------------------------------

    @classmethod
    def from_capture(
        cls,
        capture: Capture | Path | str,
        kernel: str = "",
        *,
        tolerance: RulesGiven = 0.0,
        launches: Sequence[int] | None = None,
    ) -> Workload:
        """The recorded launches as cases: those of ``kernel``, or all; or those with the numbers ``launches``.

        A launch that equals an earlier one in everything is left out, as is one that failed when it was recorded.
        Raises ``Misuse`` when none is left.
        """
        found = capture if isinstance(capture, Capture) else Capture.read(capture)
        table = rules_from(tolerance)
        modules = {name: parse_module(found.ir(name)) for name in found.modules}
        chosen: dict[str, RecordedCase] = {}
        for launch in found.launches:
            if _is_wanted(launch, kernel, launches):
                case = RecordedCase(found, launch, modules[launch.module], table)
                chosen.setdefault(case.fingerprint(), case)
        if not chosen:
            raise Misuse(
                f"{found.path} holds no launch {f'of kernel {kernel!r} ' if kernel else ''}to judge by",
                hint=f"its kernels are {', '.join(found.kernels) or 'none'}",
            )
        return cls(found.path, kernel, tuple(chosen.values()), table, capture=found)

    @classmethod
    def from_program(
        cls,
        argv: Sequence[str],
        outputs: Mapping[str, Reader] | Sequence[str],
        folder: Path | str | None = None,
        *,
        tolerance: RulesGiven = 0.0,
        kernel: str = "",
        oracle: Oracle | None = None,
        generator: Callable[[int], ProgramCase] | None = None,
        **more: Any,
    ) -> Workload:
        """A whole program in a folder of inputs; ``more`` goes to ``ProgramCase`` (timeout_s, environment, ...)."""
        case = program_case(argv, outputs, folder, **more)
        return cls(Path(argv[0]), kernel, (case,), tolerance, oracle, generator)

    # -- what it offers ------------------------------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Rules:
        """``tolerance`` as rules of comparison by output."""
        return rules_from(self.tolerance)

    @property
    def in_process(self) -> tuple[InProcessCase, ...]:
        """The cases that an executor can run. Raises ``Misuse`` when they are whole programs."""
        found = tuple(case for case in self.cases if not isinstance(case, ProgramCase))
        if not found:
            raise Misuse("this workload is a whole program", hint="record it first: kw capture app.cu -o app.capture")
        return found

    @property
    def programs(self) -> tuple[ProgramCase, ...]:
        """The cases that are whole programs."""
        return tuple(case for case in self.cases if isinstance(case, ProgramCase))

    @property
    def data_sets(self) -> int:
        """How many independent sets of inputs there are: the launches of one recording are one."""
        return data_sets(self.cases)

    @cached_property
    def set_numbers(self) -> tuple[int, ...]:
        """By case, which of the data sets it belongs to, numbered from 0 in the order of the cases."""
        of = [id(case.capture) if isinstance(case, RecordedCase) else id(case) for case in self.cases]
        order = list(dict.fromkeys(of))
        return tuple(order.index(each) for each in of)

    @cached_property
    def repeated_sets(self) -> tuple[int, ...]:
        """The recorded data sets, numbered from 0, whose launches find what those of an earlier one find: they show nothing more."""
        made: dict[int, list[str]] = {}
        for number, case in zip(self.set_numbers, self.cases, strict=True):
            made.setdefault(number, []).append(
                case.fingerprint() if isinstance(case, RecordedCase) else f"case {number}"
            )
        first: dict[tuple[str, ...], int] = {}
        return tuple(number for number, parts in made.items() if first.setdefault(tuple(parts), number) != number)

    def modules(self) -> Modules:
        """The kernels that are edited: the given ones, or as the best compile flags make them (``optimised``). By mangled name,
        the module that holds each.

        Raises ``CompileError`` for a source that does not compile.
        """
        return self._modules

    def given_modules(self) -> Modules:
        """The original kernels: compiled from ``source``, or as recorded. Raises as ``modules``."""
        return self._given_modules

    @cached_property
    def _modules(self) -> dict[str, Module]:
        made = {text: parse_module(text) for text in set(self.optimised.values())}
        return self._given_modules | {kernel: made[text] for kernel, text in self.optimised.items()}

    @cached_property
    def _given_modules(self) -> dict[str, Module]:
        cases = self.in_process
        if self.capture is not None:
            found: dict[str, Module] = {}
            for case in cases:
                if isinstance(case, RecordedCase):
                    found.setdefault(case.launch.kernel, case.module)
            return found
        if self.source.suffix == ".ll":
            try:
                return by_kernel(parse_module(self.source.read_text()))
            except OSError as error:
                raise Misuse(f"{self.source} cannot be read: {error.strerror}", hint="name an .ll file") from error
        from kernelwright.pipeline import compile as compile_program  # clang and LLVM: only where they are needed

        units = compile_program(self.source).units
        return {kernel: module for unit in units for kernel, module in by_kernel(unit.module).items()}

    def told(self, case: AnyCase) -> dict[str, Any]:
        """What the oracle says of a case, by output; nothing without one. Raises ``Misuse`` for an oracle that fails."""
        if self.oracle is None:
            return {}
        try:
            return dict(self.oracle(case))
        except Exception as error:  # It is the user's function.
            name = f" of case '{case.name}'" if case.name else ""
            raise Misuse(
                f"the oracle{name} fails: {type(error).__name__}: {error}",
                hint="it takes a case and returns the expected outputs by name: {'out': array}",
            ) from error

    def more(self, seed: int) -> AnyCase:
        """A further case, the same for the same seed. Raises ``Misuse`` when the workload cannot make any."""
        if self.generator is None:
            raise Misuse("this workload makes no further cases", hint="give it one: Workload(..., generator=function)")
        return self.generator(seed)

    def with_cases(self, cases: Sequence[AnyCase]) -> Workload:
        """The same judge on other cases."""
        return replace(self, cases=tuple(cases), weights=())

    def fingerprint(self) -> str:
        """A hash of everything an outcome depends on but the candidate: sources, inputs, rules."""
        # The cases of a recording carry its kernels; where it lies does not matter.
        source = "" if self.capture is not None else file_digest(str(self.source)) or ""
        oracle = getattr(self.oracle, "__qualname__", "") if self.oracle else ""
        flags = [part for kernel in sorted(self.optimised) for part in (kernel, self.optimised[kernel])]
        cases = [case.fingerprint() for case in self.cases]
        return content_key([source, self.kernel, str(self.rules), oracle, *flags, *cases])


def data_sets(cases: Iterable[object]) -> int:
    """How many independent sets of inputs some cases are: the launches of one recording are one."""
    return len({id(case.capture) if isinstance(case, RecordedCase) else id(case) for case in cases})


def _is_wanted(launch: RecordedLaunch, kernel: str, numbers: Sequence[int] | None) -> bool:
    return is_called(launch, kernel) and not launch.fault and (numbers is None or launch.number in numbers)


def load_workload(path: Path) -> Workload:
    """The ``workload`` of a Python file, or a recording as one.

    Raises ``Misuse`` when the file is missing, is neither, fails, or defines none.
    """
    if not path.is_file():
        raise Misuse(f"{path} does not exist", hint="give the path of a Python file that defines `workload`")
    if is_capture(path):
        return Workload.from_capture(path)
    try:
        found = runpy.run_path(str(path)).get("workload")
    except KernelwrightError:
        raise
    except (Exception, SystemExit) as error:
        raise Misuse(f"{path} fails: {type(error).__name__}: {error}", hint=f"python {path} shows where") from error
    if not isinstance(found, Workload):
        raise Misuse(f"{path} defines no `workload`", hint="end it with: workload = Workload(source, kernel, cases)")
    return found


__all__ = ["AnyCase", "Arrays", "Case", "InProcessCase", "Oracle", "Workload", "load_workload"]
