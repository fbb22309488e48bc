"""A message that calls a library, as the virtual GPU obeys it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.device.arena import Arena
from kernelwright.device.serving.errors import CudaError, Failure, Refused
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.replies import Answer
from kernelwright.device.serving.timeline import Timeline
from kernelwright.target import Gpu


def routine_name(message: Received) -> str:
    """The public name of the routine that a message calls."""
    assert isinstance(message.body, wire.LibraryCall)
    return message.tail[: message.body.name_size - 1].decode("ascii", "replace")


def call_library(
    message: Received, arena: Arena, gpu: Gpu, timeline: Timeline, observers: Sequence[Observer]
) -> Answer | Failure:
    """Operands outside device memory are an error that takes the device away, as a kernel's fault is. Raises ``Refused``."""
    # NumPy's linear algebra is loaded by the programs that call it.
    from kernelwright.device.libraries.carry_out import NoRoutine, carry_out
    from kernelwright.device.libraries.routine_call import MemoryFault

    body, name = message.body, routine_name(message)
    assert isinstance(body, wire.LibraryCall)
    size = wire.Argument.sizeof()
    places = (body.name_size + i * size for i in range(body.count))
    arguments = [wire.Argument.unpack(message.tail[at : at + size]) for at in places]
    began = time.monotonic()
    try:
        call = carry_out(name, arguments, arena, body.stream, gpu)
    except NoRoutine as missing:
        raise Refused(CudaError.NOT_SUPPORTED, f"the virtual GPU has no routine {missing}") from None
    except MemoryFault as fault:
        error = CudaError.MISALIGNED_ADDRESS if fault.kind == "misaligned" else CudaError.ILLEGAL_ADDRESS
        for observer in observers:
            observer.library_fault(name.removesuffix("_v2"), fault.kind, fault.message)
        is_told = any(observer.tells for observer in observers)
        sentence = f"{name.removesuffix('_v2')}: {fault.message}"
        return Failure(error, "" if is_told else sentence, is_sticky=True)
    seconds = time.monotonic() - began
    timeline.run(body.stream, call.time_us + call.launch_us)
    for observer in observers:
        observer.after_library_call(call, seconds)
    if not call.answers:
        return Answer(wire.LibraryAnswer())
    timeline.synchronize(body.stream)
    return Answer(wire.LibraryAnswer(value=b"".join(call.answers)))
