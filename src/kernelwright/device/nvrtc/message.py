"""The messages with which a program compiles and loads device code while it runs."""

from __future__ import annotations

from kernelwright.cuda.image import blob_in
from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import ModuleFormat
from kernelwright.device.serving.errors import CudaError, Refused
from kernelwright.device.serving.replies import Answer
from kernelwright.errors import ToolError


def read_image(message: Received, is_real: bool) -> Answer:
    """What is to be registered for a module image. Raises ``Refused`` for one that the device cannot run."""
    image = message.tail
    try:
        found = blob_in(image)
    except ToolError as error:
        raise Refused(CudaError.INVALID_KERNEL_IMAGE, _in_a_line(error)) from None
    if found is not None:
        return Answer(wire.Handle(handle=ModuleFormat.BLOB), found)
    if is_real:
        return Answer(wire.Handle(handle=ModuleFormat.NVIDIA), image)
    raise Refused(
        CudaError.NO_KERNEL_IMAGE_FOR_DEVICE,
        "the module is PTX or machine code of another compiler, which a real GPU runs (--device cuda:0) and a virtual one does not: "
        "make it from its source with kw compile -ptx, -cubin or -fatbin, or with NVRTC",
    )


def compile_request(message: Received) -> Answer:
    """Compiles a program of NVRTC's; what is wrong with that program is in the log. Raises ``Refused`` for a malformed message."""
    from kernelwright.cache import Cache
    from kernelwright.device.nvrtc.compile import Request, compile_program

    body = message.body
    assert isinstance(body, wire.Compile)
    texts = [part.decode("utf-8", "surrogateescape") for part in message.tail.split(b"\0")[:-1]]
    if len(texts) != 2 + 2 * body.headers + body.options + body.expressions:
        raise Refused(CudaError.INVALID_VALUE, "a program to compile came with fewer texts than it says")
    name, source, *rest = texts
    headers, rest = rest[: 2 * body.headers], rest[2 * body.headers :]
    request = Request(
        name=name,
        source=source,
        headers=dict(zip(headers[::2], headers[1::2], strict=True)),
        options=tuple(rest[: body.options]),
        expressions=tuple(rest[body.options :]),
    )
    made = compile_program(request, Cache())
    log, ptx = _text(made.log), _text(made.ptx)
    names = b"".join(_text(made.names.get(each, "")) for each in request.expressions)
    return Answer(
        wire.Compiled(
            result=made.result, log_size=len(log), ptx_size=len(ptx), names_size=len(names), image_size=len(made.image)
        ),
        log + ptx + names + made.image,
    )


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"") + b"\0"


def _in_a_line(error: ToolError) -> str:
    return f"{error.message}: {error.hint}" if error.hint else error.message
