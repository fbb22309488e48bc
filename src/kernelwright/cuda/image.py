"""Our device code inside PTX and cubins, so that a program can load the files that it would load with nvcc, on any device.

    app.ptx     PTX, then comments: a line with the hash of the PTX above, and the blob in base64
    app.cubin   an ELF file with one section more, ``.kernelwright``, which is the blob
    app.fatbin  the blob

The virtual GPU runs LLVM-IR, which PTX cannot be turned back into; the blob (``cuda/blob.py``) has it. PTX that was changed
after it was made does not match its hash any more: its IR would be another program.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import textwrap

from kernelwright import elf
from kernelwright.cuda import blob
from kernelwright.errors import ToolError

SECTION = ".kernelwright"
_HEAD = b"// kernelwright: this module as LLVM-IR, for the virtual GPU; sha256 of all above: "
_LINE = b"//kw "
_WIDTH = 120
_ELF_HEADER_BYTES = 64
_ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_PROGBITS = 1
_AGAIN = "make it again with kw compile -ptx, -cubin or -fatbin, or compile the source with NVRTC"


def ptx_with(ptx: str, embedded: bytes) -> str:
    """PTX that carries a blob."""
    text = ptx if ptx.endswith("\n") else ptx + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    lines = textwrap.wrap(base64.b64encode(embedded).decode(), _WIDTH)
    return "\n".join([f"{text}{_HEAD.decode()}{digest}", *(f"{_LINE.decode()}{line}" for line in lines), ""])


def cubin_with(cubin: bytes, embedded: bytes) -> bytes:
    """A cubin that carries a blob. Raises ``ToolError`` for bytes that are no ELF file."""
    try:
        (table,) = struct.unpack_from("<Q", cubin, 0x28)
        count, names = struct.unpack_from("<HH", cubin, 0x3C)
        raw = [list(_ELF_SECTION.unpack_from(cubin, table + i * _ELF_SECTION.size)) for i in range(count)]
        strings = cubin[raw[names][4] : raw[names][4] + raw[names][5]]
    except elf.DAMAGE:
        raise ToolError("the assembler's cubin is no ELF file", hint="kw doctor") from None
    # The table of sections and their names are written anew behind everything that is there.
    data = bytearray(cubin)
    at = _append(data, embedded)
    raw.append([len(strings), _PROGBITS, 0, 0, at, len(embedded), 0, 0, 8, 0])
    strings += SECTION.encode() + b"\0"
    raw[names][4:6] = _append(data, strings), len(strings)
    table = _append(data, b"".join(_ELF_SECTION.pack(*each) for each in raw))
    struct.pack_into("<Q", data, 0x28, table)
    struct.pack_into("<H", data, 0x3C, len(raw))
    return bytes(data)


def _append(data: bytearray, piece: bytes) -> int:
    """Puts ``piece`` at the end, at a multiple of 8; where it begins."""
    data += b"\0" * (-len(data) % 8)
    at = len(data)
    data += piece
    return at


def blob_in(image: bytes) -> bytes | None:
    """The blob that an image carries; None for an image that carries none. Raises ``ToolError`` for a damaged or changed one."""
    found = _unchecked(image)
    if found is not None:
        blob.read(found, "the module's device code")
    return found


def _unchecked(image: bytes) -> bytes | None:
    if image.startswith(blob.MAGIC):
        return image
    if image.startswith(elf.MAGIC):
        return _section(image)
    return _comment(image)


def _section(image: bytes) -> bytes | None:
    try:
        sections = elf.headers(image)
        return next((elf.content(image, each) for each in sections if each.name == SECTION), None)
    except elf.DAMAGE:
        raise ToolError("the module is a damaged ELF file", hint=_AGAIN) from None


def _comment(image: bytes) -> bytes | None:
    ptx, head, rest = image.rstrip(b"\0").partition(_HEAD)
    if not head:
        return None
    digest, *lines = rest.splitlines()
    if hashlib.sha256(ptx.replace(b"\r\n", b"\n")).hexdigest().encode() != digest.strip():
        raise ToolError(
            "the module's PTX was changed after it was made, and the virtual GPU runs LLVM-IR, which was not",
            hint=_AGAIN,
        )
    try:
        return base64.b64decode(
            b"".join(line.removeprefix(_LINE).strip() for line in lines if line.startswith(_LINE)), validate=True
        )
    except ValueError:
        raise ToolError("the module's PTX is damaged: its last comment is not as it was made", hint=_AGAIN) from None
