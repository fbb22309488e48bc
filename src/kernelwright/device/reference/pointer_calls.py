"""Calls through pointers on the reference executor."""

from __future__ import annotations

from kernelwright.codegen.indirect_calls import meant_functions
from kernelwright.device.reference.body import Body
from kernelwright.device.reference.thread_state import Stop, Thread
from kernelwright.ir.module import Instruction


def call_through(body: Body, i: Instruction) -> None:
    """A call through a pointer: whichever function has that address."""
    pointer, result = body.fresh(), body.fresh()
    arguments = "".join(f", {body.ref(a)}" for a in i.arguments)
    body.emit(f"{pointer} = {body.ref(i.callee)}", f"{result} = None")
    for function in meant_functions(i):
        call = f"{body.program.names[function]}(T{arguments})"
        if function in body.program.generators:
            call = f"yield from {call}"
        body.emit(f"if {pointer} == {body.ref(function)}: {result} = (({call}),)")
    body.emit(f"if {result} is None: bad_call(T, {body.site(i)})")
    if i.has_result:
        body.define(i, f"{result}[0]")


def bad_call(t: Thread, site: int) -> None:
    """Ends the thread: what it calls is no device function of this type."""
    raise Stop("trap", "a call through a pointer that is the address of no device function of this type", t, site)
