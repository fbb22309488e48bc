"""protocol.h and protocol.py say the same: every number, size, offset, and which reply belongs to which request."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import fields
from enum import IntEnum
from pathlib import Path

import pytest

from kernelwright.cuda import blob
from kernelwright.cuda.clang import Clang
from kernelwright.cuda.runtime_library import SOURCES
from kernelwright.cuda.wire import protocol
from kernelwright.cuda.wire.protocol import MESSAGES, Body, Kind, Message, Nothing

HEADER = (SOURCES / "protocol.h").read_text()
BODIES = {
    b.c_name: b
    for b in vars(protocol).values()
    if isinstance(b, type) and issubclass(b, Body) and b not in (Body, Nothing)
}
ENUMS: dict[type[IntEnum], str] = {
    Message: "kw_message",
    protocol.WelcomeFlags: "kw_welcome_flags",  # type: ignore[dict-item]
    protocol.ModuleFormat: "kw_module_format",
    protocol.SymbolFlags: "kw_symbol_flags",  # type: ignore[dict-item]
    protocol.MemoryKind: "kw_memory_kind",
    protocol.ArgumentKind: "kw_argument_kind",
}
PREFIX = {
    "kw_message": "KW_",
    "kw_welcome_flags": "KW_",
    "kw_module_format": "KW_FORMAT_",
    "kw_symbol_flags": "KW_SYMBOL_",
    "kw_memory_kind": "KW_MEMORY_",
    "kw_argument_kind": "KW_ARGUMENT_",
}


def enum_in_header(name: str) -> dict[str, int]:
    body = re.search(rf"enum {name} \{{(.*?)\n\}};", HEADER, re.S)
    assert body, name
    return {k: int(v) for k, v in re.findall(r"^\s*(KW_\w+) = (\d+)", body[1], re.M)}


def compiles(clang: Clang, folder: Path, assertions: list[str], header: str) -> str:
    """clang's complaints about a C file of static assertions; empty when all hold."""
    source = folder / "check.c"
    source.write_text(f'#include <stddef.h>\n#include "{header}"\n' + "\n".join(assertions) + "\n")
    command = [*clang.command, *clang.header_flags, f"-I{SOURCES}", "-fsyntax-only", "-Wpadded", "-Werror", str(source)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def same(expression: str, value: int) -> str:
    return f'_Static_assert({expression} == {value}, "{expression} is not {value}");'


def layout_assertions() -> list[str]:
    found = []
    for name, body in BODIES.items():
        found.append(same(f"sizeof(struct {name})", body.sizeof()))
        at = 0
        for f in fields(body):
            width = struct.calcsize("<" + f.metadata["code"] * f.metadata["count"])
            member = f.name.rstrip("_")
            found.append(same(f"offsetof(struct {name}, {member})", at))
            found.append(same(f"sizeof(((struct {name} *)0)->{member})", width))
            at += width
    return found


def test_layouts(clang: Clang, tmp_path: Path) -> None:
    assertions = layout_assertions()
    assert len(assertions) > 300
    assert compiles(clang, tmp_path, assertions, "protocol.h") == ""


def test_a_wrong_layout_is_noticed(clang: Clang, tmp_path: Path) -> None:
    said = compiles(clang, tmp_path, [same("sizeof(struct kw_launch)", 52)], "protocol.h")
    assert "sizeof(struct kw_launch) is not 52" in said


def test_no_structure_is_missing() -> None:
    in_header = set(re.findall(r"^struct (kw_\w+) \{", HEADER, re.M))
    assert in_header == set(BODIES)


@pytest.mark.parametrize("kind", ENUMS, ids=lambda k: k.__name__)
def test_numbers(kind: type[IntEnum]) -> None:
    name = ENUMS[kind]
    assert {f"{PREFIX[name]}{m.name}": m.value for m in kind} == enum_in_header(name)


def test_constants() -> None:
    assert f"#define KW_PROTOCOL_VERSION {protocol.VERSION}u" in HEADER
    assert f"#define KW_REPLY 0x{protocol.REPLY:x}u" in HEADER
    assert f"#define KW_MESSAGE_LIMIT 0x{protocol.MESSAGE_LIMIT:x}u" in HEADER


def test_the_comments_tell_which_body_and_which_reply() -> None:
    told = {}
    table = HEADER[HEADER.index("enum kw_message {") : HEADER.index("struct kw_header {")]
    for line in re.findall(r"^    KW_(\w+ = \d+, +/\* .*?) +\*/$", table, re.M):
        match = re.match(r"(\w+) = \d+, +/\* (request|command|output) +(kw_\w+|-)(.*)", line)
        assert match, line
        name, how, body, rest = match.groups()
        answer = re.search(r"-> +(kw_\w+|-|result)", rest)
        told[Message[name]] = Kind(
            Nothing if body == "-" else BODIES[body],
            None if how != "request" else BODIES.get(answer[1] if answer else "", Nothing),
        )
        assert how != "request" or answer, line
    assert told == MESSAGES


def test_round_trip() -> None:
    launch = protocol.Launch(
        stream=2**63, kernel=7, grid=(1, 2, 3), block=(4, 5, 6), shared_bytes=2**32 - 1, arguments_size=12
    )
    assert protocol.Launch.unpack(launch.pack() + b"tail") == launch
    told = protocol.DeviceProperties(name=b"x", max_grid=(1, 2, 3), reserved=9)
    assert protocol.DeviceProperties.unpack(told.pack()).reserved == 9
    with pytest.raises(struct.error):
        protocol.Handle(handle=-1).pack()
    with pytest.raises(struct.error):
        protocol.Launch.unpack(b"short")


def test_blob_layout(clang: Clang, tmp_path: Path) -> None:
    sizes = {
        "kw_blob_header": blob._HEADER.size,
        "kw_blob_section": blob._SECTION.size,
        "kw_blob_kernel": blob._KERNEL.size,
        "kw_blob_parameter": blob._PARAMETER.size,
        "kw_blob_variable": blob._VARIABLE.size,
    }
    assertions = [same(f"sizeof(struct {name})", size) for name, size in sizes.items()]
    assertions += [
        same("offsetof(struct kw_blob_header, digest)", blob._DIGEST_AT),
        same("offsetof(struct kw_blob_header, module)", blob._DIGEST_END),
        same("offsetof(struct kw_blob_section, codec)", 32),
        same("offsetof(struct kw_blob_kernel, arguments_size)", 12),
        same("offsetof(struct kw_blob_variable, initial)", 20),
        same("KW_BLOB_VERSION", blob.VERSION),
        same("KW_BLOB_STRUCTURE", blob.ParameterKind.STRUCTURE),
        same("KW_BLOB_POINTER", blob.ParameterKind.POINTER),
    ]
    assert compiles(clang, tmp_path, assertions, "blob.h") == ""
