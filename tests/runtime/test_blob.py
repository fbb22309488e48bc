"""The embedded blob: what goes in comes out, damage is noticed, and the C reader never trusts a damaged table."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.cuda import blob
from kernelwright.cuda.blob import Blob, Kernel, Parameter, ParameterKind, Variable
from kernelwright.cuda.clang import Clang, ziglang_folder
from kernelwright.cuda.runtime_library import SOURCES
from kernelwright.errors import ToolError
from tests.examples import few

names = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=40)
u32 = st.integers(0, 2**32 - 1)
parameters = st.builds(
    Parameter,
    st.integers(0, 2**20),
    st.integers(0, 4096),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from(ParameterKind),
)
kernels = st.builds(Kernel, names, st.lists(parameters, max_size=5).map(tuple), u32, u32, u32)
plain_variables = st.builds(Variable, names, st.integers(0, 2**40), st.just(8), st.booleans(), st.booleans())
managed_variables = st.binary(min_size=1, max_size=40).flatmap(
    lambda data: st.builds(
        Variable, names, st.just(len(data)), st.just(4), is_managed=st.just(True), initial=st.just(data)
    )
)
blobs = st.builds(
    Blob,
    source=names,
    ir=st.text(max_size=500),
    kernels=st.lists(kernels, max_size=4).map(tuple),
    variables=st.lists(plain_variables | managed_variables, max_size=4).map(tuple),
    ptx=st.dictionaries(st.sampled_from(["sm_75", "sm_80", "sm_90a"]), st.text(max_size=200)),
    cubin=st.dictionaries(st.sampled_from(["sm_80"]), st.binary(max_size=200)),
)

SAMPLE = Blob(
    source="app.cu",
    ir="; an IR\n" * 100,
    kernels=(
        Kernel("_Z1kPi", (Parameter(0, 8, 8, ParameterKind.POINTER),), max_threads=256, min_blocks=2),
        Kernel("_Z1gv"),
        Kernel("_Z1hcd", (Parameter(0, 1, 1), Parameter(8, 8, 8)), static_shared_bytes=1024),
    ),
    variables=(Variable("counter", 4, 4), Variable("table", 64, 4, is_constant=True)),
    ptx={"sm_80": ".version 7.0\n"},
)


@given(blobs)
@settings(max_examples=few(60), deadline=None)
def test_round_trip(made: Blob) -> None:
    data = blob.write(made)
    assert blob.read(data) == made
    assert blob.read(data + b"what follows in the section") == made
    assert blob.write(made) == data


def test_module_id_is_by_content() -> None:
    assert SAMPLE.module_id == Blob(source="app.cu", ir=SAMPLE.ir).module_id
    assert SAMPLE.module_id != Blob(source="app.cu", ir=SAMPLE.ir + " ").module_id
    assert SAMPLE.module_id != Blob(source="other.cu", ir=SAMPLE.ir).module_id


def test_any_changed_byte_is_noticed() -> None:
    data = blob.write(SAMPLE)
    for at in range(len(data)):
        damaged = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
        with pytest.raises(ToolError) as told:
            blob.read(damaged, "app")
        assert told.value.hint and "compile" in told.value.hint


@pytest.mark.parametrize("length", [0, 8, 40, 71, 72, 200, -1])
def test_a_cut_blob_is_noticed(length: int) -> None:
    with pytest.raises(ToolError, match=r"app\.cu"):
        blob.read(blob.write(SAMPLE)[:length], "the device code of app.cu")


def test_what_the_messages_say() -> None:
    data = blob.write(SAMPLE)
    with pytest.raises(ToolError, match="app was not made by kernelwright"):
        blob.read(b"\x7fELF" + data, "app")
    with pytest.raises(ToolError, match="app is damaged"):
        blob.read(data[:-1] + b"\xff", "app")
    with pytest.raises(ToolError, match="app has version 2, and this kernelwright reads version 1"):
        blob.read(data[:8] + b"\2" + data[9:], "app")


@pytest.fixture(scope="module")
def reader(clang: Clang, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """blob.c as a library."""
    folder = tmp_path_factory.mktemp("blob")
    compiled, library = folder / "blob.o", folder / "blob.so"
    compiling = [
        *clang.command,
        *clang.header_flags,
        "-O1",
        "-fPIC",
        "-c",
        str(SOURCES / "blob.c"),
        "-o",
        str(compiled),
    ]
    subprocess.run(compiling, check=True)
    subprocess.run([str(ziglang_folder() / "zig"), "ld.lld", "-shared", str(compiled), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.kw_blob_check.restype = ctypes.c_size_t
    loaded.kw_blob_find_kernel.restype = ctypes.c_void_p
    loaded.kw_blob_initial_bytes.restype = ctypes.c_void_p
    return loaded


def in_memory(data: bytes) -> ctypes.Array[ctypes.c_char]:
    """The bytes at a multiple of 8, as they are in a program."""
    return ctypes.create_string_buffer(data, max(len(data), 128))


def test_c_reads_what_python_writes(reader: ctypes.CDLL) -> None:
    data = blob.write(SAMPLE)
    placed = in_memory(data)
    assert reader.kw_blob_check(placed) == len(data)
    first = ctypes.c_void_p()
    for kernel in SAMPLE.kernels:
        found = reader.kw_blob_find_kernel(placed, kernel.name.encode(), ctypes.byref(first))
        numbers = (ctypes.c_uint32 * 8).from_address(found)
        assert list(numbers[2:7]) == [
            len(kernel.parameters),
            kernel.arguments_size,
            kernel.max_threads,
            kernel.min_blocks,
            kernel.static_shared_bytes,
        ]
        for i, parameter in enumerate(kernel.parameters):
            fields = (ctypes.c_uint32 * 4).from_address((first.value or 0) + 16 * i)
            assert list(fields) == [parameter.offset, parameter.size, parameter.alignment, parameter.kind]
    assert reader.kw_blob_find_kernel(placed, b"_Z1", ctypes.byref(first)) is None


def test_c_finds_initial_bytes(reader: ctypes.CDLL) -> None:
    variables = (Variable("zero", 4, 4, is_managed=True), Variable("seven", 4, 4, is_managed=True, initial=b"\7\0\0\0"))
    placed = in_memory(blob.write(Blob("a.cu", "", variables=variables)))
    assert reader.kw_blob_initial_bytes(placed, b"zero") is None
    assert ctypes.string_at(reader.kw_blob_initial_bytes(placed, b"seven"), 4) == b"\7\0\0\0"


# Offsets of a number that, made huge, leads out of the blob: in the header, the section table, the kernel table.
def _huge_numbers() -> list[Callable[[bytearray], None]]:
    data = blob.write(SAMPLE)
    kernels = next(
        int.from_bytes(data[72 + 64 * i + 40 :][:8], "little")
        for i in range(10)
        if data[72 + 64 * i :].startswith(b"kernels\0")
    )
    places = [(12, 4), (16, 8), *((72 + 64 * i + 40, 8) for i in range(5)), *((72 + 64 * i + 48, 8) for i in range(5))]
    places += [(kernels, 4), (kernels + 4, 4), *((kernels + 8 + 4 * i, 4) for i in range(3))]

    def make(at: int, width: int) -> Callable[[bytearray], None]:
        def change(data: bytearray) -> None:
            data[at : at + width] = b"\xf0\xff\xff\x7f\0\0\0\0"[:width]

        return change

    return [make(*place) for place in places]


@pytest.mark.parametrize("number", range(17))
def test_c_refuses_numbers_that_lead_outside(reader: ctypes.CDLL, number: int) -> None:
    damaged = bytearray(blob.write(SAMPLE))
    _huge_numbers()[number](damaged)
    assert reader.kw_blob_check(in_memory(bytes(damaged))) == 0


def test_c_refuses_another_version(reader: ctypes.CDLL) -> None:
    data = blob.write(SAMPLE)
    assert reader.kw_blob_check(in_memory(data[:8] + b"\2" + data[9:])) == 0
    assert reader.kw_blob_check(in_memory(b"X" + data[1:])) == 0
