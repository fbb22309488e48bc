"""Small kernels as LLVM-IR, so that these tests need neither clang nor LLVM to make them."""

from __future__ import annotations

from kernelwright.ir import Module, parse_module

_HEAD = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
"""

_INDEX = """
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %o = mul i32 %b, %d
  %i = add i32 %o, %t
  %w = sext i32 %i to i64
"""

# out[i] = in[i] * factor, for i < n
SCALE = f"""
define ptx_kernel void @_Z5scalePKfPffi(ptr %in, ptr %out, float %factor, i32 %n) {{
entry:{_INDEX}
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %body, label %done
body:
  %from = getelementptr float, ptr %in, i64 %w
  %v = load float, ptr %from
  %p = fmul float %v, %factor
  %to = getelementptr float, ptr %out, i64 %w
  store float %p, ptr %to
  br label %done
done:
  ret void
}}
"""

# values[i] += step
ADD = f"""
define ptx_kernel void @add(ptr %values, i32 %step) {{
entry:{_INDEX}
  %at = getelementptr i32, ptr %values, i64 %w
  %v = load i32, ptr %at
  %s = add i32 %v, %step
  store i32 %s, ptr %at
  ret void
}}
"""

# out[i] = *pointers[i]
FOLLOW = f"""
define ptx_kernel void @follow(ptr %pointers, ptr %out) {{
entry:{_INDEX}
  %at = getelementptr ptr, ptr %pointers, i64 %w
  %p = load ptr, ptr %at
  %v = load float, ptr %p
  %to = getelementptr float, ptr %out, i64 %w
  store float %v, ptr %to
  ret void
}}
"""

# out[i] = table[i % 4]; thread 0 counts the launch in a device variable
COUNT = f"""
@table = addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 4
@launches = addrspace(1) externally_initialized global i32 0, align 4
define ptx_kernel void @count(ptr %out) {{
entry:{_INDEX}
  %r = and i64 %w, 3
  %at = getelementptr [4 x float], ptr addrspace(4) @table, i64 0, i64 %r
  %v = load float, ptr addrspace(4) %at
  %n = load i32, ptr addrspace(1) @launches
  %f = uitofp i32 %n to float
  %s = fadd float %v, %f
  %to = getelementptr float, ptr %out, i64 %w
  store float %s, ptr %to
  %first = icmp eq i32 %i, 0
  br i1 %first, label %bump, label %done
bump:
  %m = add i32 %n, 1
  store i32 %m, ptr addrspace(1) @launches
  br label %done
done:
  ret void
}}
"""

# out[0] = the number of whoever comes last
LAST = f"""
define ptx_kernel void @last(ptr %out) {{
entry:{_INDEX}
  store i32 %i, ptr %out
  ret void
}}
"""

SPIN = """
define ptx_kernel void @spin(ptr %out) {
entry:
  br label %again
again:
  %v = load volatile i32, ptr %out
  %more = icmp sge i32 %v, 0
  br i1 %more, label %again, label %done
done:
  ret void
}
"""

KERNELS = {"scale": SCALE, "add": ADD, "follow": FOLLOW, "count": COUNT, "last": LAST, "spin": SPIN}


def text(*names: str) -> str:
    """The IR of these kernels; of all when none is named."""
    return _HEAD + "".join(KERNELS[name] for name in names or KERNELS)


def module(*names: str, replacing: tuple[str, str] = ("", "")) -> Module:
    """The kernels as a module, with one piece of their text exchanged for another."""
    old, new = replacing
    whole = text(*names)
    assert old in whole
    return parse_module(whole.replace(old, new) if old else whole)
