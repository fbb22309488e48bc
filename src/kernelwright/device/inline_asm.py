"""Inline PTX that we know: each form is an instruction we have another name for.

CUDA headers reach some instructions through ``asm``. A form is recognised by its text with blanks squeezed and operands
numbered; ``order`` says which operands of the ``asm`` become the arguments of the intrinsic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class AsmForm:
    """What an ``asm`` means: an intrinsic, empty for no effect, and its arguments."""

    intrinsic: str
    order: tuple[int, ...] = ()


def _unary(ptx: str, intrinsic: str) -> dict[str, AsmForm]:
    return {f"{ptx} $0, $1;": AsmForm(intrinsic, (0,))}


def _register(name: str, intrinsic: str = "") -> dict[str, AsmForm]:
    kind = "u64" if name.endswith("64") or name == "globaltimer" else "u32"
    form = AsmForm(f"llvm.nvvm.read.ptx.sreg.{intrinsic or name}")
    return {f"mov.{kind} $0, %{name};": form, f"mov.{kind} $0, %%{name};": form}


FORMS: dict[str, AsmForm] = {
    "": AsmForm(""),
    "trap;": AsmForm("llvm.trap"),
    "exit;": AsmForm("llvm.nvvm.exit"),
    "membar.cta;": AsmForm("llvm.nvvm.membar.cta"),
    "membar.gl;": AsmForm("llvm.nvvm.membar.gl"),
    "membar.sys;": AsmForm("llvm.nvvm.membar.sys"),
    "fence.acq_rel.gpu;": AsmForm("llvm.nvvm.membar.gl"),
    "activemask.b32 $0;": AsmForm("llvm.nvvm.activemask"),
    **_register("laneid"),
    **_register("warpid"),
    **_register("smid"),
    **_register("nsmid"),
    **_register("clock"),
    **_register("clock64"),
    **_register("globaltimer"),
    **_register("dynamic_smem_size"),
    **_register("total_smem_size"),
    **{k: v for side in ("eq", "lt", "le", "gt", "ge") for k, v in _register(f"lanemask_{side}", f"lanemask.{side}").items()},
    **_unary("tanh.approx.f32", "llvm.nvvm.tanh.approx.f"),
    **_unary("ex2.approx.f32", "llvm.nvvm.ex2.approx.f"),
    **_unary("ex2.approx.ftz.f32", "llvm.nvvm.ex2.approx.ftz.f"),
    **_unary("lg2.approx.f32", "llvm.nvvm.lg2.approx.f"),
    **_unary("lg2.approx.ftz.f32", "llvm.nvvm.lg2.approx.ftz.f"),
    **_unary("rcp.approx.f32", "llvm.nvvm.rcp.approx.f"),
    **_unary("rcp.approx.ftz.f32", "llvm.nvvm.rcp.approx.ftz.f"),
    **_unary("rsqrt.approx.f32", "llvm.nvvm.rsqrt.approx.f"),
    **_unary("rsqrt.approx.ftz.f32", "llvm.nvvm.rsqrt.approx.ftz.f"),
    **_unary("sqrt.approx.f32", "llvm.nvvm.sqrt.approx.f"),
    **_unary("brev.b32", "llvm.bitreverse.i32"),
    **_unary("popc.b32", "llvm.ctpop.i32"),
    "prmt.b32 $0, $1, $2, $3;": AsmForm("llvm.nvvm.prmt", (0, 1, 2)),
    "cp.async.commit_group;": AsmForm(""),
    "cp.async.wait_all;": AsmForm(""),
}  # fmt: skip
"""By text. The operands of an ``asm`` with one output are numbered from $1 in the text, from 0 in ``order``."""


def normalised(text: str) -> str:
    """Blanks squeezed, escapes and comments gone, operands as ``$0``."""
    text = re.sub(r"\\0[9AaDd]", " ", text)
    text = re.sub(r"//.*|/\*.*?\*/", " ", text)
    text = re.sub(r"\$\{(\d+)(?::\w)?\}", r"$\1", text).replace("$$", "$")
    text = re.sub(r"\s+", " ", text).strip().strip("{} ")
    return text if not text or text.endswith(";") else text + ";"


def find_form(text: str, constraints: str) -> AsmForm | None:
    """The meaning of an ``asm``, None for one we do not know."""
    del constraints  # none of the known forms differ by them
    return FORMS.get(normalised(text))
