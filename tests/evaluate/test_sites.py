"""What makes two races one and the same."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.device.arena import SHARED_BASE
from kernelwright.evaluate.judging.fault_sites import Places, site_of
from kernelwright.ir import parse_module

TEXT = """
target triple = "nvptx64-nvidia-cuda"
@_ZZ1kPfE4tile = internal addrspace(3) global [32 x float] undef, align 4
define ptx_kernel void @k(ptr %p) !dbg !4 {
  %v = load float, ptr %p, align 4, !dbg !7
  store float %v, ptr %p, align 4, !dbg !8
  store float %v, ptr addrspace(3) @_ZZ1kPfE4tile, align 4
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.cu", directory: "/src")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 3, column: 5, scope: !4)
!8 = !DILocation(line: 3, column: 9, scope: !4)
"""


def test_ends_memory_and_distance_make_a_site() -> None:
    kernel = parse_module(TEXT).functions["k"]
    load, store, other, _ = kernel.blocks[0].instructions
    places = Places(kernel)
    race = Found("race", "warp", store, load, 0, 1, 0, 2, 4096, 4, ("read", "write"), False, 7)
    site = site_of(race, places, "buffer 1")
    assert str(site) == "a race in k (read at a.cu:3 and write at a.cu:3, by lanes of one warp)"
    # Who comes first is the schedule's choice, and so are threads and counts.
    turned = replace(race, origin=load, other=store, verbs=("write", "read"), thread=5, other_block=3, count=1)
    assert site_of(turned, places, "buffer 1") == site
    apart = [
        replace(race, other=store, verbs=("write", "write")),  # another column of the same line
        replace(race, verbs=("atomic", "write")),
        replace(race, scope="grid"),
        replace(race, origin=other),
        replace(race, benign=True),
    ]
    assert len({site, *(site_of(each, places, "buffer 1") for each in apart), site_of(race, places, "buffer 2")}) == 7


def test_memory_of_a_block_has_the_name_of_its_variable() -> None:
    places = Places(parse_module(TEXT).functions["k"])
    assert places.own_memory(SHARED_BASE + 8) == "shared memory 'tile'"
    assert places.own_memory(4096) == ""
