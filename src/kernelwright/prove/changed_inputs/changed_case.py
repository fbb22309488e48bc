"""A case with a change made to it, and one that is only looked at. What is changed is changed when a launch first meets it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Execution
from kernelwright.device.geometry import MAX_THREADS
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Executor, Ran, Runner
from kernelwright.evaluate.workload.case import Arrays, Output
from kernelwright.evaluate.workload.element_types import parameter_types, variable_type
from kernelwright.ir import Argument, Function, GlobalVariable, Instruction, Module, PointerType, Value
from kernelwright.ir.constants import ConstantExpr
from kernelwright.launch import Launch
from kernelwright.prove.changed_inputs.buffer_values import POINTER_WAYS, WORD, type_by_content
from kernelwright.prove.changed_inputs.case_survey import (
    BufferSeen,
    Change,
    Geometry,
    NumberSeen,
    PointerSeen,
    Survey,
    has_booleans,
    numbers_in,
    numbers_of,
    stands_alone,
    structures_of,
)
from kernelwright.prove.changed_inputs.comparison_constants import compared_in, instructions_of
from kernelwright.prove.checked_run import Runnable

_BOUND = re.compile(r'"nvvm\.(?:maxntid|reqntid)"="([\d,]+)"')
POINTER: np.dtype[Any] = np.dtype("<u8")


class _Surveying:
    """An executor that looks at each launch before another one runs it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.survey = Survey()
        self._seen: set[int] = set()

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        loaded, launch, survey = execution.loaded, execution.launch, self.survey
        kernel = loaded.module.functions[launch.kernel]
        types = _types_of(kernel, launch.parameters, arena)
        used = _variables_of(kernel)
        for buffer, variable in _new_memory(execution, arena, self._seen):
            if variable is not None and variable.name not in used:
                # Another kernel may use it later.
                self._seen.discard(buffer.address)
                continue
            self._look_at(buffer, arena, types.get(buffer.address), variable, has_booleans(kernel))
        survey.pointed.update(_pointed_to(kernel, launch.parameters, arena))
        for pointer in _pointers_of(kernel, launch.parameters, arena):
            survey.pointers.setdefault((pointer.kernel, pointer.index), pointer)
        for number in numbers_of(kernel, launch.parameters, arena):
            survey.numbers.setdefault(number.place, number)
        for key, fields in structures_of(kernel, launch.parameters, arena).items():
            survey.structures.setdefault(key, fields)
        survey.geometries.setdefault((launch.kernel, Geometry.of(launch)))
        if launch.kernel not in survey.compared:
            survey.compared[launch.kernel] = compared_in(kernel)
            survey.threads[launch.kernel] = _most_threads(loaded.module, kernel)
        return self._executor(execution, arena)

    def _look_at(
        self, buffer: Buffer, arena: Arena, dtype: np.dtype[Any] | None, variable: GlobalVariable | None, booleans: bool
    ) -> None:
        memory, survey = arena.view(buffer), self.survey
        places = _pointers(memory, arena)
        points = places is not None
        if places is not None and 8 * places.size == memory.size > 8:
            survey.tables.setdefault(buffer.name, BufferSeen(buffer.name, buffer.size, None))
        if variable is not None and stands_alone(variable.value_type):
            # A texture reference is a variable that holds the address of its descriptor.
            numbers = () if points else numbers_in(buffer.name, variable.value_type, memory.tobytes())
            survey.numbers.update((number.place, number) for number in numbers)
            return
        dtype = dtype or (variable_type(variable) if variable is not None else None)
        if dtype is None and not points:
            dtype = type_by_content(memory)
        if dtype is not None and dtype.itemsize == buffer.size:
            kind = "f" if dtype.kind == "f" else "i"
            number = NumberSeen("", -1, buffer.name, kind, memory.tobytes(), 0, buffer.name)
            survey.numbers.setdefault(number.place, number)
        else:
            boolean = booleans and dtype is not None and dtype.itemsize == 1 and bool(memory.max(initial=0) <= 1)
            survey.buffers.setdefault(buffer.name, BufferSeen(buffer.name, buffer.size, dtype, boolean=boolean))


class _Changing:
    """An executor that changes memory and launches before another one runs them."""

    def __init__(self, executor: Executor, change: Change) -> None:
        self._executor = executor
        self._change = change
        self._buffers = {known.name: (known, way) for known, way in change.buffers}
        self._touched = self._buffers.keys() | {number.buffer for number, _ in change.numbers}
        self.contents: dict[int, bytes] = {}
        """Of the buffers that were changed: what they hold now, by address."""
        self.changed = False
        """Whether anything is other than it was."""
        self._seen: set[int] = set()
        self._copies: dict[PointerSeen, Buffer] = {}

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        for buffer, _ in _new_memory(execution, arena, self._seen):
            if buffer.name in self._touched:
                memory = arena.view(buffer)
                before = memory.tobytes()
                self._change_buffer(buffer, memory, arena)
                self._set_numbers(buffer, memory)
                after = memory.tobytes()
                if after != before:
                    self.changed = True
                    self.contents[buffer.address] = after
        if self._change.moves_launches:
            other = self._moved(self._change.launch(execution.launch), arena)
            self.changed |= other != execution.launch
            execution = replace(execution, launch=other)
        return self._executor(execution, arena)

    def _moved(self, launch: Launch, arena: Arena) -> Launch:
        """With the pointers that are to be moved pointing into copies, made anew for each launch: the host may have written since."""
        parameters = bytearray(launch.parameters)
        for pointer in self._change.moved:
            place = slice(pointer.offset, pointer.offset + 8)
            address = int.from_bytes(launch.parameters[place], "little")
            source = arena.find(address) if pointer.kernel == launch.kernel else None
            if source is None:
                continue
            behind = source.end - address
            copy = self._copies.get(pointer)
            if copy is None or copy.size != behind + pointer.element:
                copy = self._copies[pointer] = arena.allocate(
                    behind + pointer.element, f"{pointer.name}, moved", 256, fill=0
                )
                self._seen.add(copy.address)
            arena.bytes(copy.address + pointer.element, behind)[:] = bytes(arena.bytes(address, behind))
            parameters[place] = (copy.address + pointer.element).to_bytes(8, "little")
        return replace(launch, parameters=bytes(parameters)) if self._change.moved else launch

    def _change_buffer(self, buffer: Buffer, memory: NDArray[np.uint8], arena: Arena) -> None:
        if buffer.name not in self._buffers:
            return
        as_planned, way = self._buffers[buffer.name]
        dtype = as_planned.dtype or WORD
        whole = buffer.size // dtype.itemsize * dtype.itemsize
        if not whole:
            return
        random = np.random.default_rng([self._change.seed, *way.encode(), *buffer.name.encode()])
        values = memory[:whole].view(dtype)
        if way in POINTER_WAYS:
            places = _pointers(memory, arena)
            if places is not None:
                words = memory[: buffer.size // 8 * 8].view(POINTER)
                words[places] = POINTER_WAYS[way](words[places], random)
            return
        kept = _pointers(memory, arena) if dtype.itemsize in (4, 8) and dtype.kind != "f" else None
        pointers = memory[: buffer.size // 8 * 8].view(POINTER)
        before = pointers[kept] if kept is not None else None
        with np.errstate(all="ignore"):
            values[:] = as_planned.way(way)(values.copy(), random)
        if before is not None:
            pointers[kept] = before

    def _set_numbers(self, buffer: Buffer, memory: NDArray[np.uint8]) -> None:
        for number, raw in self._change.numbers:
            end = number.offset + len(raw)
            if number.buffer == buffer.name and end <= buffer.size:
                memory[number.offset : end] = np.frombuffer(raw, np.uint8)


def _variables_of(kernel: Function) -> set[str]:
    """The device variables that a kernel and the functions it calls refer to."""
    found: set[str] = set()
    for instruction in instructions_of(kernel):
        waiting = list(instruction.operands)
        while waiting:
            value = waiting.pop()
            if isinstance(value, GlobalVariable):
                found.add(value.name)
            elif isinstance(value, ConstantExpr):
                waiting += value.operands
    return found


def _new_memory(execution: Execution, arena: Arena, seen: set[int]) -> Iterator[tuple[Buffer, GlobalVariable | None]]:
    """The buffers that were not there at an earlier launch, and of device variables what they are; without those that the
    host cannot set."""
    loaded = execution.loaded
    variables = {address: name for name, address in loaded.variables.addresses.items()}
    for buffer in arena.buffers:
        if buffer.address in seen or not buffer.size:
            continue
        seen.add(buffer.address)
        name = variables.get(buffer.address)
        variable = loaded.module.globals.get(name) if name is not None else None
        if name is None or (variable is not None and _host_can_set(variable)):
            yield buffer, variable


def _host_can_set(variable: GlobalVariable) -> bool:
    return variable.prefix.endswith("externally_initialized")


def _pointers(memory: NDArray[np.uint8], arena: Arena) -> NDArray[np.int64] | None:
    """The words of eight bytes that are addresses of buffers; None where there are none."""
    words = memory[: memory.size // 8 * 8].view(POINTER)
    near = np.flatnonzero((words >= arena.base) & (words < arena.base + arena.reserve))
    found = [int(at) for at in near.tolist() if arena.find(int(words[at])) is not None]
    return np.array(found, np.int64) if found else None


def _most_threads(module: Module, kernel: Function) -> int:
    """The most threads a block may have: what ``__launch_bounds__`` says, or all."""
    groups = module.attribute_groups
    text = " ".join(groups.get(word, word) for word in kernel.attributes.split())
    bound = _BOUND.search(text)
    return math.prod(int(n) for n in bound[1].split(",")) if bound else MAX_THREADS


def _types_of(kernel: Function, parameters: bytes, arena: Arena) -> dict[int, np.dtype[Any]]:
    """Element types of the buffers that the parameters point to, by address, where the kernel tells."""
    found: dict[int, np.dtype[Any]] = {}
    disputed: set[int] = set()
    for kind, parameter in zip(parameter_types(kernel), parameter_layout(kernel).parameters, strict=True):
        if isinstance(parameter.type, PointerType) and not parameter.byval:
            raw = parameters[parameter.offset : parameter.offset + parameter.size]
            buffer = arena.find(int.from_bytes(raw, "little"))
            if buffer is not None and kind is not None and found.setdefault(buffer.address, kind) != kind:
                disputed.add(buffer.address)
    return {address: kind for address, kind in found.items() if address not in disputed}


def _pointed_to(kernel: Function, parameters: bytes, arena: Arena) -> dict[tuple[str, int], str]:
    """By kernel and argument: the name of the buffer that a pointer points to."""
    found = {}
    for index, p in enumerate(parameter_layout(kernel).parameters):
        if isinstance(p.type, PointerType) and not p.byval:
            buffer = arena.find(int.from_bytes(parameters[p.offset : p.offset + p.size], "little"))
            if buffer is not None:
                found[kernel.name, index] = buffer.name
    return found


def _pointers_of(kernel: Function, parameters: bytes, arena: Arena) -> Iterator[PointerSeen]:
    kinds = parameter_types(kernel)
    for index, (argument, p) in enumerate(zip(kernel.arguments, parameter_layout(kernel).parameters, strict=True)):
        if isinstance(p.type, PointerType) and not p.byval and argument.users:
            address = int.from_bytes(parameters[p.offset : p.offset + p.size], "little")
            buffer = arena.find(address)
            if buffer is not None:
                promised, kind = set(argument.attributes.split()), kinds[index]
                yield PointerSeen(
                    kernel.name, index, argument.name or f"argument {index}", p.offset, buffer.end - address,
                    writes="readonly" not in promised and _may_write(argument), restricted="noalias" in promised,
                    element=kind.itemsize if kind is not None else WORD.itemsize,
                )  # fmt: skip


def _may_write(pointer: Argument) -> bool:
    """Whether something may be written through a pointer: LLVM promises nothing of one whose address is looked at."""
    waiting: list[Value] = [pointer]
    seen = set(waiting)
    while waiting:
        at = waiting.pop()
        for user in getattr(at, "users", ()):
            if not isinstance(user, Instruction) or user.opcode in _ONLY_READ:
                continue
            if user.opcode not in _PASS_ON:
                return True
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return False


_ONLY_READ = frozenset({"load", "icmp"})
_PASS_ON = frozenset({"getelementptr", "phi", "select", "addrspacecast", "freeze", "ptrtoint", "and", "trunc", "zext"})
"""What hands an address on. Of the bits of one nothing is made that could be written to: that takes an ``inttoptr``."""


class ChangedCase:
    """A case with a change made to it."""

    def __init__(self, case: Runnable, change: Change) -> None:
        self.case = case
        self.change = change
        self.name = f"{case.name or 'case'}, {change.words}"
        self.changed = False
        """Whether the last run met anything that the change makes other than it was."""
        if (arena := getattr(case, "arena", None)) is not None:
            self.arena = arena

    @property
    def recorded(self) -> RecordedCase | None:
        """The recording that was changed, also where that was done before."""
        return recorded_of(self.case)

    def run(self, runner: Runner, kernel: str) -> Output:
        """Runs the case, changed. Raises ``Stopped`` when a kernel or its host program fails."""
        between = _Changing(runner.executor, self.change)
        try:
            output = self.case.run(runner.through(between), kernel)
        finally:
            self.changed = between.changed
        recorded = self.recorded
        known = recorded.names if recorded is not None else {b.name: b for b in runner.arena.buffers}
        contents = {name: between.contents[b.address] for name, b in known.items() if b.address in between.contents}
        return Output(output.arrays, _replaced(output.before, contents), _replaced(output.inputs, contents))


def recorded_of(case: Runnable) -> RecordedCase | None:
    """The recording behind a case, changed or not; None where there is none."""
    while isinstance(case, ChangedCase):
        case = case.case
    return case if isinstance(case, RecordedCase) else None


class SurveyedCase:
    """A case that is looked at while it runs; ``survey`` says what it has."""

    def __init__(self, case: Runnable) -> None:
        self.case = case
        self.name = case.name
        self.survey = Survey()
        if (arena := getattr(case, "arena", None)) is not None:
            self.arena = arena

    def run(self, runner: Runner, kernel: str) -> Output:
        between = _Surveying(runner.executor)
        self.survey = between.survey
        return self.case.run(runner.through(between), kernel)


def _replaced(arrays: Arrays, contents: Mapping[str, bytes]) -> Arrays:
    """What was there before, with the changed contents."""
    return {
        name: np.frombuffer(contents[name], values.dtype).reshape(values.shape)
        if name in contents and len(contents[name]) == values.nbytes
        else values
        for name, values in arrays.items()
    }
