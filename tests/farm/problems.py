"""One small problem in every language: f(x) = x squared plus an individual's number, for cases x = 0, 1, 2, ..."""

from __future__ import annotations

from kernelwright.farm.backends.bundle import Frame

CASES = 32

CUDA = Frame(
    "cuda",
    "int *out, int first",
    before="int x = threadIdx.x; int r;",
    after=f"out[(first + blockIdx.y) * {CASES} + x] = r;",
)
PTX = Frame(
    "ptx",
    ".param .u64 out, .param .u32 first",
    before=".reg .b32 %x, %r, %f;\n.reg .b64 %o;\nmov.u32 %x, %tid.x;",
    after=f"ld.param.u64 %o, [out];\nld.param.u32 %f, [first];\nadd.s32 %f, %f, %slot;\nmad.lo.s32 %f, %f, {CASES}, %x;\n"
    "mad.wide.s32 %o, %f, 4, %o;\nst.global.b32 [%o], %r;",
)
GPU_IR = Frame(
    "gpu-ir",
    "ptr %out, i32 %first",
    head="declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\ndeclare float @__nv_sinf(float)",
    before="  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %slot = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()",
    after=f"""  %n = add i32 %first, %slot
  %row = mul i32 %n, {CASES}
  %at = add i32 %row, %x
  %far = sext i32 %at to i64
  %p = getelementptr i32, ptr %out, i64 %far
  store i32 %r, ptr %p
  ret void""",
)
HOST_IR = Frame(
    "host-ir",
    "ptr %out",
    before="  br label %loop\nloop:\n  %x = phi i32 [ 0, %entry ], [ %next, %loop ]",
    after=f"""  %far = sext i32 %x to i64
  %p = getelementptr i32, ptr %out, i64 %far
  store i32 %r, ptr %p
  %next = add i32 %x, 1
  %more = icmp slt i32 %next, {CASES}
  br i1 %more, label %loop, label %done
done:
  ret void""",
)


def cuda(n: int) -> str:
    return f"r = x * x + {n};"


def ptx(n: int) -> str:
    return f".reg .b32 %q;\nmul.lo.s32 %q, %x, %x;\nadd.s32 %r, %q, {n};"


def ir(n: int) -> str:
    return f"  %q = mul i32 %x, %x\n  %r = add i32 %q, {n}"


def expected(n: int) -> list[int]:
    return [x * x + n for x in range(CASES)]
