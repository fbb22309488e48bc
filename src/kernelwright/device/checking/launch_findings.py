"""What a launch did wrong, as findings: faults, reads past a buffer, and what a watched launch noticed, with names and lines.

describe = LaunchFindings(execution, arena, definition, strict)
finding = describe.found(one)
"""

from __future__ import annotations

from dataclasses import replace

from kernelwright.codegen.memory_layout import parameter_layout, shared_layout
from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.cuda.names import base_name, readable
from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW, Arena
from kernelwright.device.checking.findings import SCOPES, CheckFinding, End, FindingKind, Hint
from kernelwright.device.checking.race_meaning import advice, cannot_matter, deciding_atomics, is_in_shared
from kernelwright.device.checking.source_lines import line_of
from kernelwright.device.describe_access import plural
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.overread import Overread
from kernelwright.device.virtual_gpu.gpu import position
from kernelwright.ir.types import PointerType

_FAULTS: dict[str, tuple[FindingKind, Hint]] = {
    "out-of-bounds": ("out-of-bounds", "out-of-bounds"),
    "misaligned": ("misaligned", "misaligned"),
    "use-after-free": ("use-after-free", "use-after-free"),
    "barrier": ("barrier", "barrier"),
    "endless": ("launch", "launch endless"),
    "assert": ("launch", "launch assert"),
    "trap": ("launch", "launch assert"),
    "stack": ("launch", "launch stack"),
}

_LANES: dict[str, tuple[str, Hint]] = {
    "passed": ("waits for a thread that has gone on without it", "barrier"),
    "ended": ("the mask names lanes that have ended; nothing waits for them", "barrier mask ended"),
    "masks": ("lanes that meet here name different lanes in their masks", "barrier warp"),
    "absent": (
        "takes the value of a lane that does not take part: it has ended, is not in the mask, or does not exist",
        "barrier shuffle absent",
    ),
}


def routine_finding(routine: str, kind: str, message: str) -> CheckFinding:
    """Of a library's routine, with the kind of its fault."""
    found, hint = _FAULTS[kind]
    return CheckFinding(found, f"{routine}: {message}", hint, routine)


class LaunchFindings:
    """Findings about one launch. ``definition``: where its kernel is; ``strict``: only what cannot matter is a note."""

    def __init__(self, execution: Execution, arena: Arena, definition: End, strict: bool) -> None:
        self._execution, self._arena, self._definition, self._strict = execution, arena, definition, strict
        self._launch = execution.launch
        self._kernel = execution.loaded.module.functions[execution.launch.kernel]
        self._name = readable(execution.launch.kernel)

    def fault(self, fault: Fault) -> CheckFinding:
        kind, hint = _FAULTS.get(fault.kind, ("launch", "launch"))
        other = fault.other
        if kind == "barrier" and fault.where and "barrier.cta" not in fault.where.instruction:
            hint = "barrier warp"
        place = fault.where if fault.where and fault.where.line else self._definition
        return CheckFinding(
            kind,
            fault.message,
            hint,
            kernel=self._name,
            file=place.file,
            line=place.line,
            also=End(other.file, other.line, fault.other_thread, fault.other_block) if other else None,
            thread=fault.thread,
            block=fault.block,
            address=fault.address,
            buffer=self.buffer_name(fault.address) or fault.buffer,
        )

    def overread(self, one: Overread) -> CheckFinding:
        """What a GPU lets pass is a defect all the same: the bytes are in no buffer."""
        place = one.where if one.where.line else self._definition
        return CheckFinding(
            "out-of-bounds",
            one.message(self._arena),
            "out-of-bounds",
            kernel=readable(one.kernel),
            file=place.file,
            line=place.line,
            thread=one.thread,
            block=one.block,
            address=one.address,
            buffer=self.buffer_name(one.address),
            count=one.count,
        )

    def found(self, found: Found) -> CheckFinding:
        """What the watched launch noticed, as a finding with place, thread and memory in the words of the source."""
        where = line_of(found.origin)
        one = CheckFinding(
            "uninitialised",
            f"reads {plural(found.size, 'byte')} that were never written",
            "uninitialised shared" if is_in_shared(found.address) else "uninitialised",
            kernel=self._name,
            file=where.file,
            line=where.line,
            thread=position(found.thread, self._launch.block),
            block=position(found.block, self._launch.grid),
            address=found.address,
            buffer=self.buffer_name(found.address) if found.address else "",
            benign=found.benign,
            count=found.count,
        )
        if found.kind == "race":
            return self._race(found, one)
        if found.kind == "askew":
            stated = getattr(found.origin, "align", 0)
            message = f"the address is no multiple of {stated}, as its type promises; a GPU may read or write all of the type at once"
            return replace(one, kind="misaligned", message=message, hint="misaligned")
        return self._lanes(found, one) if found.kind in _LANES else one

    def _other(self, found: Found) -> End | None:
        if found.other is None:
            return None
        other, launch = line_of(found.other), self._launch
        thread, block = position(found.other_thread, launch.block), position(found.other_block, launch.grid)
        return End(other.file, other.line, thread, block)

    def _race(self, found: Found, one: CheckFinding) -> CheckFinding:
        """Equal values may be chance: they excuse what happens in global memory, unless asked not to, and what is no chance."""
        also, launch = self._other(found), self._launch
        benign = found.benign
        if benign and (self._strict or is_in_shared(found.address)):
            benign = cannot_matter(found)
        hint: Hint = "benign"
        if not benign:
            assert one.thread is not None and also is not None and also.thread is not None
            hint = advice(found, self._kernel, launch.block, (one.thread, also.thread), launch.grid)
        message = (
            f"{found.verbs[0]} and {found.verbs[1]} of the same {plural(found.size, 'byte')} by {SCOPES[found.scope]}, "
            f"and nothing orders them"
        )
        if found.benign and not benign:
            message += "; the values were the same this time"
        return replace(one, kind="race", message=message, hint=hint, also=also, benign=benign, scope=found.scope)

    def _lanes(self, found: Found, one: CheckFinding) -> CheckFinding:
        message, hint = _LANES[found.kind]
        is_of_block = found.origin.opcode == "call" and "barrier.cta" in found.origin.callee.name
        if found.kind == "passed" and not is_of_block:
            message, hint = "the mask names a lane that has gone on without this one", "barrier warp"
        elif found.kind == "absent":
            message += f" (lane {found.other_thread % 32})"
        benign = found.benign and not (self._strict and found.kind == "ended")
        return replace(one, kind="barrier", message=message, hint=hint, also=self._other(found), benign=benign)

    def about_all(self, one: CheckFinding) -> CheckFinding:
        """A finding about the launch as a whole, with names and the kernel's own line; of an order that shows also the atomic by which."""
        name = self.buffer_name(one.address) if one.address else one.buffer
        decides = (
            deciding_atomics(self._kernel, self._argument_at(one.address)) if one.kind == "order-dependent" else []
        )
        message = one.message
        if decides:
            lines = " and ".join(str(end.line) for end in decides[:3])
            message += f"; decided by the atomic{'s' if len(decides) > 1 else ''} in line {lines}"
        place, also = self._definition, decides[0] if decides else one.also
        return replace(
            one, kernel=self._name, file=place.file, line=place.line, also=also, buffer=name, message=message
        )

    # -- names -----------------------------------------------------------------------------------------------------

    def buffer_name(self, address: int) -> str:
        """What lies at an address, as the kernel's author knows it: ``tile``, ``out (device allocation 3)``."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            offsets = shared_layout(self._kernel).offsets
            below = [(o, n) for n, o in offsets.items() if o <= address - SHARED_BASE]
            return f"{variable_name(max(below)[1])} (shared memory)" if below else "shared memory"
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            return "local memory"
        arena = self._arena
        buffer = arena.find(address) or arena.find_freed(address)
        if buffer is None and arena.contains(address):
            buffer = arena.nearest(address)
        if buffer is None:
            return ""
        arguments = self._arguments_in(buffer.address, buffer.end)
        name = variable_name(buffer.name)
        # Arrays from Python are named after the parameter already.
        return f"{', '.join(arguments)} ({name})" if arguments and arguments != [name] else name

    def _argument_at(self, address: int) -> tuple[str, ...]:
        buffer = self._arena.find(address)
        return tuple(self._arguments_in(buffer.address, buffer.end)) if buffer is not None else ()

    def _arguments_in(self, start: int, end: int) -> list[str]:
        """The kernel's arguments that point into memory from ``start`` to ``end``."""
        arguments = []
        for argument, parameter in zip(self._kernel.arguments, parameter_layout(self._kernel).parameters, strict=True):
            if isinstance(parameter.type, PointerType) and not parameter.byval:
                raw = self._launch.parameters[parameter.offset : parameter.offset + parameter.size]
                if start <= int.from_bytes(raw, "little") < max(end, start + 1):
                    arguments.append(argument.name)
        return arguments


def variable_name(mangled: str) -> str:
    """``_ZZ4scanPfE4tile`` is ``tile``."""
    if mangled.startswith("_ZZ"):
        _, _, local = mangled.partition("E")
        digits = len(local) - len(local.lstrip("0123456789"))
        return local[digits : digits + int(local[:digits])] if digits else mangled
    return base_name(mangled)
