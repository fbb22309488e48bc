"""A version as text, and what makes two kernels the same one."""

from __future__ import annotations

import json
from typing import Any, cast, get_args

import pytest

from kernelwright import guards
from kernelwright.cuda.blob import Blob, read, write
from kernelwright.device.real_gpu.gpu import CudaGpu
from kernelwright.device.versions.comparison import GpuKernel
from kernelwright.device.versions.on_real_gpu import GpuDispatch
from kernelwright.errors import ToolError
from kernelwright.guards import Apart, ArgumentIs, AtStart, BlockIs, BlockIsWarp, GridIs
from kernelwright.ir import parse_module
from kernelwright.ir.kernel_digest import kernel_digest
from kernelwright.kernel_version import Version, version_from_json
from kernelwright.launch import Launch
from kernelwright.launch_relations import Divisible, LaunchRelation, Relation, quantity
from kernelwright.stories.export import own_variable

GUARDS = (
    ArgumentIs(3, "i32 5", b"\5\0\0\0"),
    BlockIs((64, 1, 1)),
    GridIs((4, 2, 1)),
    BlockIsWarp(),
    Apart(1),
    AtStart(2),
    Relation((quantity("bytes", 0),), ">=", (quantity("grid", 0, 64),)),
    Divisible((quantity("argument", 2, offset=4, size=8, signed=False),), 4),
    Relation((quantity("variable", 0, name="table"),), "==", (quantity("argument", 1),)),
)
VERSION = Version(
    "_Z1fi", "f-1:v2", "clean", "0" * 64, ((0, 4),), "; ir", GUARDS, tuple(map(str, GUARDS)), {"sm_90": "//"}
)


def test_every_kind_of_check_can_be_stored() -> None:
    kinds = {each for each in vars(guards).values() if isinstance(each, type) and hasattr(each, "as_python")}
    assert {type(each) for each in GUARDS} == (kinds - {guards.Guard}) | set(get_args(LaunchRelation))
    assert version_from_json(json.loads(json.dumps(VERSION.as_json()))) == VERSION


@pytest.mark.parametrize(
    "change",
    [{"guards": [{"relation": {"left": 3}}]}, {"guards": [{"moon": "full"}]}, {"parameters": [[1]]}, {"ptx": "text"}],
)
def test_a_check_that_cannot_be_read_is_not_left_out(change: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="cannot be read"):
        version_from_json(VERSION.as_json() | change)


def test_a_blob_carries_versions() -> None:
    plain = Blob("a.cu", "; ir")
    assert read(write(plain)).versions == () and b"versions" not in write(plain)
    carried = Blob("a.cu", "; ir", versions_text=json.dumps([VERSION.as_json()]))
    assert read(write(carried)).versions == (VERSION,)


KERNEL = """
@table = internal constant [2 x i32] [i32 1, i32 2]
@other = global i32 0

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define internal i32 @twice(i32 %x) {
  %y = mul i32 %x, 2
  ret i32 %y
}

define ptx_kernel void @k(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = getelementptr [2 x i32], ptr @table, i32 0, i32 %t
  %v = load i32, ptr %a, align 4
  %r = call i32 @twice(i32 %v)
  store i32 %r, ptr %out, align 4
  ret void
}
"""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("%v", "%value", True),
        ("@other = global i32 0", "@other = global i64 7", True),
        ("define internal i32", "define internal noundef i32", False),
        ("mul i32 %x, 2", "mul i32 %x, 3", False),
        ("[i32 1, i32 2]", "[i32 1, i32 3]", False),
        ("store i32 %r", "store volatile i32 %r", False),
        ("i32 0, i32 %t", "i32 %t, i32 0", False),
    ],
)
def test_a_kernel_is_known_by_what_it_reaches(before: str, after: str, same: bool) -> None:
    first, second = (parse_module(text) for text in (KERNEL, KERNEL.replace(before, after)))
    assert (kernel_digest(first, "k") == kernel_digest(second, "k")) is same


def test_a_check_of_a_device_variable_is_not_made_on_a_real_gpu() -> None:
    asks = Relation((quantity("variable", 0, name="_ZN3net5scaleE"),), ">=", (quantity("argument", 0),))
    plain = "define ptx_kernel void @k(i32 %n) {\n  ret void\n}\n"
    version = Version("k", "r:v1", "proven", "", ((0, 4),), plain, (asks,), ("scale >= n",))
    dispatch = GpuDispatch([version], cast(CudaGpu, None), lambda address: None)
    launch = Launch("k", (1, 1, 1), (32, 1, 1))
    assert dispatch.function(0, launch, lambda number: GpuKernel("k", "", ((0, 4),), ())) == (None, None)
    (said,) = dispatch.sentences()
    assert (
        "for launches that find certain values in device variable net::scale, which are not read on a real GPU" in said
    )


def test_a_kernel_whose_original_uses_a_variable_of_the_host_cannot_be_loaded_again() -> None:
    text = KERNEL.replace("@table = internal constant", "@table = externally_initialized global")
    original = parse_module(text)
    variant = parse_module(
        text.replace("%v = load i32, ptr %a, align 4", "%v = add i32 %t, 1").replace("  %a =", "  ;")
    )
    assert own_variable("k", variant, variant) == ""
    assert own_variable("k", variant, original) == own_variable("k", original, original) == "table"
