"""The version at the top of PTX with inline assembly: as high as the assembler wants it, and no higher."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.codegen.machine import nvjitlink
from kernelwright.codegen.machine.assemble import find_assemblers, run_ptxas
from kernelwright.codegen.ptx_versions import with_version
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program

LOWER = {"8.4": "8.3", "8.3": "8.2", "8.1": "8.0", "8.0": "7.8"}
INLINE = {
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;": "8.0",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;": "8.0",
    "fence.proxy.async;": "8.0",
    "fence.mbarrier_init.release.cluster;": "8.0",
    "cp.async.bulk.commit_group;": "8.0",
    "{ .reg .pred p; elect.sync _|p, 0xffffffff; }": "8.0",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], 1, [%0];": "8.1",
    "{ .reg .b128 r; ld.shared.b128 r, [%0]; }": "8.3",
    "mbarrier.init.shared.b64 [%0], 1;": "",
    "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; }": "",
    "griddepcontrol.wait;": "",
    "cp.async.commit_group;": "",
    "// cp.async.bulk is not here": "",
}


def assemble(ptx: str) -> tuple[int, str]:
    found = next(iter(find_assemblers()), None)
    if found is None:
        pytest.skip("no assembler for PTX is installed")
    if found.kind == "nvJitLink":
        status, _, log = nvjitlink.assemble(found.path, ptx.encode(), ["-arch=sm_90"])
    else:
        status, _, log = run_ptxas(found.path, ptx, ["-arch=sm_90"])
    return status, log


@pytest.mark.parametrize("assembly", INLINE)
def test_the_assembler_wants_it_and_no_higher(assembly: str, tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    place = "__cvta_generic_to_shared(room)"
    source.write_text(
        f'__global__ void k() {{ extern __shared__ int4 room[]; asm volatile("{assembly}\\n" :: "r"((unsigned){place}) : "memory"); }}\n'
    )
    ptx = compile_program(source, options=CompileOptions(source=SourceOptions(arch="sm_90"))).ptx()
    version = re.findall(r"^\.version (\S+)$", ptx, re.M)
    assert version == [INLINE[assembly] or "7.8"]
    status, log = assemble(ptx)
    assert status == 0, log
    if INLINE[assembly]:
        status, log = assemble(ptx.replace(f".version {version[0]}", f".version {LOWER[version[0]]}"))
        assert status != 0 and "requires" in log, log


def test_only_inline_assembly_is_looked_at() -> None:
    ptx = ".version 7.8\n.target sm_90\n\t// wgmma.fence;\n\twgmma_count: mov.u32 %r1, 0;\n"
    assert with_version(ptx) == ptx
    inline = ptx + "\t// begin inline asm\n\twgmma.fence.sync.aligned;\n\t// end inline asm\n"
    assert with_version(inline) == inline.replace("7.8", "8.0")
    assert with_version(inline.replace("7.8", "8.6")) == inline.replace("7.8", "8.6")
