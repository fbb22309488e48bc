"""A fault as one sentence for the person whose program it was, with the source line below it where the file is at hand."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.fault import Fault, Location
from kernelwright.device.locations import location_of
from kernelwright.ir.module import Function, Module
from kernelwright.ir.types import PointerType


def sentence_of(fault: Fault, module: Module | None = None, parameters: bytes = b"", arena: Arena | None = None) -> str:
    """Where, which kernel, block and thread, and what. With the launch's parameters, also which of them the buffer is."""
    who = f"kernel {readable(fault.kernel)}" if fault.kernel else "a kernel"
    if fault.block is not None and fault.thread is not None:
        who += f", block {fault.block}, thread {fault.thread}"
    where = fault.where or _start(fault, module)
    place = f"{where.file}:{where.line}: " if where and where.line else ""
    told = f"{place}{who}: {fault.message}"
    if fault.buffer and module is not None and arena is not None:
        told += _argument(fault, module, parameters, arena)
    line = _source_line(where)
    return f"{told}\n    {line}" if line else told


def _argument(fault: Fault, module: Module, parameters: bytes, arena: Arena) -> str:
    """`` (argument 'c')`` when the buffer is one that the kernel was given."""

    def is_the_one(address: int) -> bool:
        buffer = arena.find(address) or arena.find_freed(address)
        return buffer is not None and buffer.name == fault.buffer

    named = [f"'{name}'" for name in arguments_that(is_the_one, module.functions[fault.kernel], parameters)]
    return f"; it is the kernel's argument {' and '.join(named)}" if named else ""


def arguments_that(fit: Callable[[int], bool], kernel: Function, parameters: bytes) -> list[str]:
    """The names of a kernel's pointers whose values in a launch's parameters fit."""
    return [
        argument.name
        for argument, parameter in zip(kernel.arguments, parameter_layout(kernel).parameters, strict=True)
        if isinstance(parameter.type, PointerType)
        and not parameter.byval
        and fit(int.from_bytes(parameters[parameter.offset : parameter.offset + parameter.size], "little"))
    ]


def _start(fault: Fault, module: Module | None) -> Location | None:
    """The first line of the kernel, for what happened nowhere in particular."""
    kernel = module.functions.get(fault.kernel) if module is not None else None
    places = (location_of(i) for i in kernel.instructions()) if kernel is not None else iter(())
    return next((place for place in places if place.line), None)


def _source_line(where: Location | None) -> str:
    if where is None or not where.line:
        return ""
    try:
        with open(where.file, encoding="utf-8", errors="replace") as file:
            return next((text.strip() for number, text in enumerate(file, 1) if number == where.line), "")
    except OSError:
        return ""
