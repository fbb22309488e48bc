"""Objects whose device code is linked with that of others, as nvcc's ``-dc`` makes them, and what a link makes of them.

    a.cu ─ device pass ─► IR ─ pack ─┐                         read_relocatable(a.o) ─► IR ─ linked, optimised ─► blob ┐
    a.cu ─ host pass, -fgpu-rdc ─────┴─► a.o                   a.o ───────────────────────────────────── link ◄────────┘ linked_binary

clang leaves what it embeds in the section ``__nv_relfatbin``, and hands the object's registration to
``__cudaRegisterLinkedBinary`` with the name of its module behind it (CGCUDANV.cpp): the link defines that function, with the blob.
"""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelwright.cache import content_key
from kernelwright.cuda.objects.elf import Elf, archive_members
from kernelwright.errors import Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass

HOST_FLAGS = ("-fgpu-rdc", "--no-offload-new-driver")
"""Of clang, for the host side of such an object."""
SECTION = "__nv_relfatbin"
_MAGIC = b"\x89KWRDC1\n"
_REGISTRATION = re.compile(r"__cudaRegisterLinkedBinary(__nv_\w+)")


@dataclass(frozen=True)
class Relocatable:
    """Device code of an object: unoptimised IR of ``source``, for ``arch``. ``module``: what clang calls it in the host code."""

    source: str
    ir: str
    arch: str
    module: str = ""


def pack(code: Relocatable) -> bytes:
    """What is embedded in the object."""
    return _MAGIC + zlib.compress(json.dumps([code.source, code.arch, code.ir]).encode("utf-8", "surrogateescape"))


def with_own_name(made: bytes, code: Relocatable, folder: str) -> bytes:
    """The object ``made`` of ``code``, compiled in ``folder``, with a module's name that no other has: clang's depends on how the
    source is spelled."""
    named = re.search(_REGISTRATION.pattern.encode(), made)
    if named is None:
        return made
    digits = len(named[1]) - len("__nv_")
    own = "__nv_" + content_key([folder, code.source, code.arch, code.ir])[:digits]
    return made.replace(named[1], own.encode())


def relocatables(linked: Iterable[Path]) -> list[Relocatable]:
    """Those of objects, and of objects in static libraries, that ``pack`` was put into, in their order; a module once, and none that was
    linked already (``-dlink``), whose registration another object has.

    Raises ``ToolError`` for one that another version wrote, ``Misuse`` for a damaged file.
    """
    found: dict[str, Relocatable] = {}
    done: set[str] = set()
    for name, data in _objects(linked):
        # A foreign member of an archive is the linker's to judge.
        with contextlib.suppress(Misuse):
            elf = Elf(data, name)
            done.update(m[1] for s in elf.symbols() if s.is_defined and (m := _REGISTRATION.fullmatch(s.name)))
            content = elf.content(SECTION)
            if content is None:
                continue
            module = module_registered_by(elf)
            if module:
                found.setdefault(module, _unpacked(content, name, module))
    return [code for module, code in found.items() if module not in done]


def module_registered_by(elf: Elf) -> str:
    """What clang calls the module whose registration an object leaves to the link; empty for none."""
    modules = (_REGISTRATION.fullmatch(symbol.name) for symbol in elf.symbols() if not symbol.is_defined)
    return next((match[1] for match in modules if match), "")


def _objects(linked: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in linked:
        if not path.is_file() or ".so" in path.suffixes:
            continue
        data = path.read_bytes()
        if path.suffix == ".a":
            yield from ((f"{path}({member})", inside) for member, inside in archive_members(data, str(path)))
        else:
            yield str(path), data


def _unpacked(content: bytes, name: str, module: str) -> Relocatable:
    try:
        if not content.startswith(_MAGIC):
            raise ValueError
        source, arch, ir = json.loads(zlib.decompress(content[len(_MAGIC) :]).decode("utf-8", "surrogateescape"))
    except (ValueError, zlib.error):
        raise ToolError(
            f"the device code in {name} was written by another compiler, or by another version of ours",
            hint="compile it again with kw compile -dc",
        ) from None
    return Relocatable(source, ir, arch, module)
