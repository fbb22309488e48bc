"""Everything one kernel needs, translated: the functions it calls, their frames, and who may wait for whom."""

from __future__ import annotations

from typing import Any

from kernelwright.codegen.call_graph import called_functions, recursive_groups
from kernelwright.codegen.memory_layout import (
    Parameter,
    ParameterLayout,
    SharedLayout,
    align_of,
    parameter_layout,
    reachable_functions,
    round_up,
    shared_layout,
)
from kernelwright.cuda.names import readable
from kernelwright.device.arena import GENERIC
from kernelwright.device.reference import body, calls
from kernelwright.device.reference.body import Body, Program
from kernelwright.device.reference.calls import CALLS, may_wait
from kernelwright.device.reference.instructions import INSTRUCTIONS
from kernelwright.device.reference.local_memory import ALIGN, Frame, frame_of
from kernelwright.device.value_layout import Constants, decoder
from kernelwright.device.variables import Variables
from kernelwright.errors import Misuse
from kernelwright.ir.module import Function, Module
from kernelwright.ir.types import Type
from kernelwright.ir.values import Value


class Translation:
    """A kernel ready to run. Its text, ``sources``, is Python and meant to be read when in doubt."""

    def __init__(self, module: Module, kernel_name: str, variables: Variables, watched: bool = False) -> None:
        self.kernel = kernel_of(module, kernel_name)
        self.layout: ParameterLayout = parameter_layout(self.kernel)
        self.shared: SharedLayout = shared_layout(self.kernel)
        addresses = {**variables.addresses, **self.shared.offsets}
        self.program = Program(Constants(addresses, GENERIC), watched=watched)
        self.program.namespace["RESERVED"] = self.shared.reserved
        functions = [f for f in reachable_functions(self.kernel) if f.blocks]
        self.calls = {f: called_functions(f) for f in functions}
        self._groups = recursive_groups(self.kernel)
        self._byval = {f: _byval_parameters(f, self.layout if f is self.kernel else None) for f in functions}
        least = {f: ALIGN if f in self._groups else 0 for f in functions}
        self.frames = {f: frame_of(f, self._byval[f], least[f]) for f in functions}
        self.has_stack = bool(self._groups)
        """Whether functions may be called while they run: threads then have a stack behind their ``local_bytes``."""
        self.local_bytes = self._local_bytes(self.kernel, 0, {})
        self._find_generators(functions)
        self.sources: dict[str, str] = {}
        for function in functions:
            self._translate(function)
        self.entry: Any = self.program.namespace[self.program.names[self.kernel]]

    def arguments(self, packed: bytes) -> tuple[Any, ...]:
        """The values of the kernel's parameters in a launch's buffer; structs passed by value stay bytes.

        Raises ``Misuse`` when the buffer is too short.
        """
        if len(packed) < self.layout.size:
            raise Misuse(
                f"Kernel '{readable(self.kernel.name)}' takes {self.layout.size} bytes of arguments, {len(packed)} were given.",
                hint="pass every parameter, each at its natural alignment",
            )
        return tuple(_argument(p, packed) for p in self.layout.parameters)

    def reset_counts(self) -> None:
        """Sets to 0 how often each run of blocks was entered."""
        for counts, _ in self.program.counters.values():
            counts[:] = [0] * len(counts)

    def block_counts(self) -> dict[str, list[int]]:
        """How many threads entered each block, by function, in the function's order of blocks."""
        found: dict[str, list[int]] = {}
        for function, (counts, runs) in self.program.counters.items():
            entered = {block: n for n, run in zip(counts, runs, strict=True) for block in run}
            found[function.name] = [entered.get(block, 0) for block in function.blocks]
        return found

    def executed(self) -> int:
        """Instructions executed by all threads together."""
        return sum(
            n * sum(len(block) for block in run)
            for counts, runs in self.program.counters.values()
            for n, run in zip(counts, runs, strict=True)
        )

    def _translate(self, function: Function) -> None:
        program = self.program
        byval = {value: type for value, (type, _) in self._byval[function].items()}
        is_recursive = function in self._groups
        translated = Body(program, function, self.frames[function], byval, {**INSTRUCTIONS, **CALLS}, is_recursive)
        name = program.names[function]
        text = self.sources[function.name] = translated.source(name)
        exec(compile(text, f"<reference translation of {function.name}>", "exec"), program.namespace)

    def _find_generators(self, functions: list[Function]) -> None:
        """The kernel, and every function that waits or calls one that does."""
        program = self.program
        program.namespace.update(body.HELPERS | calls.HELPERS)
        program.names = {f: f"f{n}" for n, f in enumerate(functions)}
        program.generators = {self.kernel, *(f for f in functions if may_wait(f))}
        while True:
            more = {f for f in functions if any(c in program.generators for c in self.calls[f])} - program.generators
            if not more:
                return
            program.generators |= more

    def _local_bytes(self, function: Function, start: int, known: dict[tuple[Function, int], int]) -> int:
        """The end of the highest frame when ``function`` is called with the stack at ``start``; 0 when there is none. Of functions that
        may be called while they run, frames and what they call are in the stack."""
        if self._groups:
            return sum(round_up(f.size, ALIGN) for f in self.frames.values())
        key = (function, start)
        if key not in known:
            frame: Frame = self.frames[function]
            end = round_up(start, frame.align) + frame.size if frame.size else 0
            above = round_up(end, 16) if frame.size else start
            known[key] = max([end, *(self._local_bytes(c, above, known) for c in self.calls[function])])
        return known[key]


def kernel_of(module: Module, name: str) -> Function:
    """The kernel of this name. Raises ``Misuse`` with the names there are."""
    function = module.functions.get(name)
    if function is None or not function.blocks:
        known = ", ".join(k.name for k in module.kernels) or "none"
        raise Misuse(f"The module defines no kernel '{name}'; it has: {known}.", hint="use one of these names")
    return function


def _argument(parameter: Parameter, packed: bytes) -> Any:
    raw = packed[parameter.offset : parameter.offset + parameter.size]
    return raw if parameter.byval else decoder(parameter.type)(raw)


def _byval_parameters(function: Function, layout: ParameterLayout | None) -> dict[Value, tuple[Type, int]]:
    """The parameters a function gets as a copy, with their type and alignment."""
    layout = layout or parameter_layout(function)
    pairs = zip(function.arguments, layout.parameters, strict=True)
    return {a: (p.type, max(p.align, align_of(p.type))) for a, p in pairs if p.byval}
