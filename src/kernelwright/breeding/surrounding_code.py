"""The code around programs, in each language that a back end takes, and programs translated into it.

Every kernel gets ``answers``, a row for each individual; then marks of individuals: CUDA C is told which to skip, and what we
have translated says which have done what they may not; then the inputs. A thread, or a round of the host's loop, is a case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import Misuse
from kernelwright.farm.backends.bundle import Frame
from kernelwright.grammar import Problem
from kernelwright.grammar.c import llvm
from kernelwright.grammar.c.live import effective, read_by
from kernelwright.grammar.c.llvm import FAULT, LLVM, Dialect, Writer
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.ptx import BITS, Place
from kernelwright.grammar.c.ptx import OPERATIONS as PTX_OPERATIONS
from kernelwright.grammar.c.ptx import Writer as PtxWriter
from kernelwright.grammar.c.ptx import function as ptx_function
from kernelwright.grammar.c.tree import MATH, PROTECTED, Scope, Statement, Type
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.llvm import TRIPLE
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import DEFAULT

PROTECTED_FUNCTIONS = """template <class T> struct kw_real { using type = double; };
template <> struct kw_real<float> { using type = float; };
template <class A, class B> using kw_common = typename kw_real<decltype(A() + B())>::type;
template <class T> __device__ inline T kw_divided(T a, T b) { return b == T(0) ? T(1) : a / b; }
template <class A, class B> __device__ inline kw_common<A, B> pdiv(A a, B b) { return kw_divided<kw_common<A, B>>(a, b); }
template <class A> __device__ inline kw_common<A, A> plog(A a) { return log(kw_common<A, A>(1) + fabs(kw_common<A, A>(a))); }
template <class A> __device__ inline kw_common<A, A> psqrt(A a) { return sqrt(fabs(kw_common<A, A>(a))); }
__device__ inline float pdivf(float a, float b) { return kw_divided<float>(a, b); }
__device__ inline float plogf(float a) { return logf(1.0f + fabsf(a)); }
__device__ inline float psqrtf(float a) { return sqrtf(fabsf(a)); }"""
"""``grammar.c.tree.PROTECTED`` in CUDA C, with the types that our part of C gives them."""

C_NAMES: dict[Type, str] = {"int": "int", "unsigned": "unsigned", "float": "float", "double": "double"}


_PROTECTED = re.compile(rf"\b({'|'.join(PROTECTED)})f?\s*\(")


@dataclass(frozen=True)
class Language:
    """How a problem's programs are written for a back end: the code around them, and a program itself; this raises
    ``CompileError`` for what cannot be translated."""

    frame: Callable[[Problem], Frame]
    translate: Callable[[Problem, str], str]


def inputs(problem: Problem) -> list[tuple[str, Type, int]]:
    """Name, type, and elements for each case (0: a number) of the inputs, in the order in which kernels get them."""
    scope = problem.scope
    numbers = [(name, kind, 0) for name, kind in scope.variables.items()]
    return numbers + [(name, array.type, array.width) for name, array in scope.arrays.items()]


# -- CUDA C --------------------------------------------------------------------------------------------------------


def cuda_frame(problem: Problem) -> Frame:
    """CUDA C as the problem gives it, the paper's way. Protected functions stand before it where it names some."""
    given = inputs(problem)
    parameters = [f"{problem.answer_type} *answers", "const unsigned char *skipped"]
    parameters += [f"const {C_NAMES[kind]} *in_{name}" for name, kind, _ in given]
    lines = [
        "unsigned case_ = blockIdx.x * blockDim.x + threadIdx.x;",
        f"if (case_ >= {problem.count} || skipped[blockIdx.y]) return;",
    ]
    for name, kind, width in given:
        c = C_NAMES[kind]
        lines.append(
            f"const {c} *{name} = in_{name} + case_ * {width};" if width else f"const {c} {name} = in_{name}[case_];"
        )
    lines += [f"{problem.answer} = 0;", problem.before]
    after = f"{problem.after}\nanswers[blockIdx.y * {problem.count} + case_] = {problem.answer_name};"
    whole = " ".join([str(problem.language), problem.functions, problem.before, problem.individual, problem.after])
    head = [PROTECTED_FUNCTIONS] if _PROTECTED.search(whole) else []
    head += [problem.functions] if problem.functions else []
    return Frame("cuda", ", ".join(parameters), head="\n".join(head), before="\n".join(lines), after=after)


def cuda(problem: Problem, text: str) -> str:
    """The statements of a program in the problem's CUDA frame."""
    return problem.individual.replace("{}", text)


# -- LLVM-IR -------------------------------------------------------------------------------------------------------


def host_frame(problem: Problem) -> Frame:
    """A function that goes through all cases. ``%answers`` and ``%faults`` are the individual's own."""
    parameters = ", ".join(["ptr %answers", "ptr %faults", *(f"ptr %in_{name}" for name, _, _ in inputs(problem))])
    loop = ["  br label %loop", "loop:", "  %case = phi i32 [ 0, %entry ], [ %next, %finished ]"]
    kind = LLVM[problem.answer_type]
    after = f"""finished:
  %place = getelementptr {kind}, ptr %answers, i32 %case
  store {kind} %answer, ptr %place
  %mark = getelementptr i32, ptr %faults, i32 %case
  store i32 %fault, ptr %mark
  %next = add i32 %case, 1
  %more = icmp ult i32 %next, {problem.count}
  br i1 %more, label %loop, label %done
done:
  ret void"""
    before = "\n".join([*loop, *_loads(problem, "ptr"), *_before(problem, llvm.HOST, "ptr").lines])
    head = "\n".join([llvm.declarations(llvm.HOST, _called(problem)), *llvm.INTRINSICS])
    return Frame("host-ir", parameters, head=head, before=before, after=after)


def gpu_ir_frame(problem: Problem) -> Frame:
    """A thread for each case; a block's y index is the individual."""
    arrays = ", ".join(f"ptr addrspace(1) %in_{name}" for name, _, _ in inputs(problem))
    parameters = f"ptr addrspace(1) %answers, ptr addrspace(1) %faults, {arrays}"
    start = f"""  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %begin = mul i32 %block, %threads
  %case = add i32 %begin, %lane
  %slot = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %inside = icmp ult i32 %case, {problem.count}
  br i1 %inside, label %loop, label %done
loop:"""
    kind = LLVM[problem.answer_type]
    after = f"""finished:
  %row = mul i32 %slot, {problem.count}
  %at = add i32 %row, %case
  %far = zext i32 %at to i64
  %place = getelementptr {kind}, ptr addrspace(1) %answers, i64 %far
  store {kind} %answer, ptr addrspace(1) %place
  %mark = getelementptr i32, ptr addrspace(1) %faults, i64 %far
  store i32 %fault, ptr addrspace(1) %mark
  br label %done
done:
  ret void"""
    sregs = ("tid.x", "ctaid.x", "ntid.x", "ctaid.y")
    head = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{each}()" for each in sregs]
    head += [llvm.declarations(llvm.LIBDEVICE, _called(problem)), *llvm.INTRINSICS]
    space = "ptr addrspace(1)"
    before = "\n".join([start, *_loads(problem, space), *_before(problem, llvm.LIBDEVICE, space).lines])
    return Frame("gpu-ir", parameters, head="\n".join(head), before=before, after=after)


def _head(problem: Problem) -> tuple[tuple[Statement, ...], Scope]:
    if problem.head is None:
        raise Misuse(
            "the code before programs is more than can be translated", hint="--backend virtual takes all of CUDA C"
        )
    return problem.head


def host_ir(problem: Problem, text: str) -> str:
    """Raises ``CompileError`` for what is no program in our part of C."""
    return _ir(problem, text, _before(problem, llvm.HOST, "ptr"))


def gpu_ir(problem: Problem, text: str) -> str:
    """The program as LLVM-IR for a GPU, with libdevice's functions."""
    return _ir(problem, text, _before(problem, llvm.LIBDEVICE, "ptr addrspace(1)"))


def _ir(problem: Problem, text: str, before: Writer) -> str:
    assert problem.head is not None
    statements, scope = parse(problem.code(text), problem.head[1])
    writer = before.follower(scope.variables, "v")
    writer.write(effective(statements, {problem.answer_name}, scope.arrays, problem.ranges))
    kind = LLVM[problem.answer_type]
    answer, fault = writer.values[problem.answer_name], writer.values[FAULT]
    end = [f"  %answer = bitcast {kind} {answer} to {kind}", f"  %fault = bitcast i32 {fault} to i32"]
    return "\n".join([*writer.lines, *end, "  br label %finished"])


def _called(problem: Problem) -> frozenset[str]:
    """Functions that programs may call: a grammar may put a name together of parts only at the price of not being found."""
    return llvm.named_functions(f"{problem.language} {problem.before} {problem.individual} {problem.after}")


def _loads(problem: Problem, space: str) -> list[str]:
    lines = []
    for name, kind, width in inputs(problem):
        lines.append(f"  %at_{name} = mul i32 %case, {width or 1}")
        target = f"a_{name}" if width else f"p_{name}"
        lines.append(f"  %{target} = getelementptr {LLVM[kind]}, {space} %in_{name}, i32 %at_{name}")
        if not width:
            lines.append(f"  %i_{name} = load {LLVM[kind]}, {space} %p_{name}")
    return lines


@lru_cache(maxsize=16)
def _before(problem: Problem, function: Callable[[str, Type], str], space: str) -> Writer:
    """What comes before every program, written."""
    statements, scope = _head(problem)
    pointers = {name: f"%a_{name}" for name in scope.arrays}
    dialect = Dialect(function, pointers, scope.arrays, problem.ranges, space)
    values = {name: f"%i_{name}" for name in problem.scope.variables}
    writer = Writer(dialect, values | {FAULT: "0"}, scope.variables, "h", "loop")
    writer.write(statements)
    return writer


# -- PTX -----------------------------------------------------------------------------------------------------------


def ptx_frame(problem: Problem) -> Frame:
    """The PTX around programs: a kernel that calls each on all cases, one thread a case."""
    given = inputs(problem)
    parameters = ", ".join(f".param .u64 {name}" for name in ("answers", "faults", *(f"in_{n}" for n, _, _ in given)))
    writer = _ptx_before(problem)
    lines = [
        ".reg .b32 %case, %fault, %lane, %block, %threads;",
        ".reg .b64 %place, %mark, %row;",
        ".reg .pred %outside;",
        "mov.u32 %lane, %tid.x;",
        "mov.u32 %block, %ctaid.x;",
        "mov.u32 %threads, %ntid.x;",
        "mad.lo.s32 %case, %block, %threads, %lane;",
        f"setp.ge.u32 %outside, %case, {problem.count};",
        "@%outside bra EXIT;",
        "mov.b32 %fault, 0;",
    ]
    for name, kind, width in given:
        size = 8 if kind == "double" else 4
        lines += [f".reg .b64 %a_{name};", f"ld.param.u64 %a_{name}, [in_{name}];"]
        lines += [f"cvta.to.global.u64 %a_{name}, %a_{name};"]
        lines.append(f"mad.wide.s32 %a_{name}, %case, {size * (width or 1)}, %a_{name};")
        if not width:
            lines += [f".reg .{BITS[kind]} %i_{name};", f"ld.global.{BITS[kind]} %i_{name}, [%a_{name}];"]
    lines += [*writer.declared, *writer.lines]
    kind = problem.answer_type
    size = 8 if kind == "double" else 4
    after = _ptx_after(problem)
    end = [
        *after.declared,
        *after.lines,
        f"mad.lo.s32 %case, %slot, {problem.count}, %case;",
        "ld.param.u64 %place, [answers];",
        "cvta.to.global.u64 %place, %place;",
        f"mad.wide.s32 %place, %case, {size}, %place;",
        f"st.global.{BITS[kind]} [%place], {after.registers[problem.answer_name]};",
        "ld.param.u64 %mark, [faults];",
        "cvta.to.global.u64 %mark, %mark;",
        "mad.wide.s32 %mark, %case, 4, %mark;",
        "st.global.b32 [%mark], %fault;",
    ]
    return Frame(
        "ptx", parameters, head=_ptx_functions(_called(problem)), before="\n".join(lines), after="\n".join(end)
    )


def ptx(problem: Problem, text: str) -> str:
    """Raises ``CompileError`` for what is no program in our part of C."""
    assert problem.head is not None
    statements, scope = parse(cuda(problem, text), problem.head[1])
    writer = _ptx_before(problem).follower(scope.variables, "v")
    writer.write(effective(statements, _read_after(problem), scope.arrays, problem.ranges))
    return "\n".join([*writer.declared, *writer.lines])


@lru_cache(maxsize=16)
def _ptx_functions(names: frozenset[str], arch: str = DEFAULT_ARCHITECTURE) -> str:
    """Math functions as PTX, by the names that programs call them by: libdevice's, compiled once for all."""
    calls = []
    for name in sorted(names - PTX_OPERATIONS):
        kinds: tuple[Type, ...] = ("float", "double")
        for kind in kinds:
            values = [f"{kind} %a{n}" for n in range(MATH[name])]
            calls.append(f"declare {kind} @{llvm.LIBDEVICE(name, kind)}({', '.join([kind] * len(values))})")
            calls.append(f"define {kind} @{ptx_function(name, kind)}({', '.join(values)}) {{")
            calls.append(f"  %r = call {kind} @{llvm.LIBDEVICE(name, kind)}({', '.join(values)})\n  ret {kind} %r\n}}")
    if not calls:
        return ""
    text = emit_ptx(optimise("\n".join([f'target triple = "{TRIPLE}"', *calls]), DEFAULT, arch=arch), arch)
    # The back end puts its own first lines before this.
    body = re.sub(r"^\s*(//.*|\.version.*|\.target.*|\.address_size.*)$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n", body).strip()


@lru_cache(maxsize=16)
def _ptx_before(problem: Problem) -> PtxWriter:
    statements, scope = _head(problem)
    place = Place({name: f"%a_{name}" for name in scope.arrays}, scope.arrays, problem.ranges)
    writer = PtxWriter(place, {name: f"%i_{name}" for name in problem.scope.variables}, scope.variables, "h")
    writer.write(statements)
    return writer


@lru_cache(maxsize=16)
def _read_after(problem: Problem) -> frozenset[str]:
    """The variables of programs that the code behind them reads."""
    assert problem.head is not None
    statements, _ = parse(problem.after, problem.head[1])
    return read_by(statements, {problem.answer_name}, problem.scope.arrays)


@lru_cache(maxsize=16)
def _ptx_after(problem: Problem) -> PtxWriter:
    """The same for all: programs leave their variables in registers that are declared before them."""
    assert problem.head is not None
    statements, scope = parse(problem.after, problem.head[1])
    writer = _ptx_before(problem).follower(scope.variables, "e")
    writer.write(statements)
    return writer


# -- the languages -------------------------------------------------------------------------------------------------

C = Language(lambda _: Frame("tree"), lambda _, text: text)
"""For the interpreter, which knows the problem."""
CUDA = Language(cuda_frame, cuda)
HOST_IR = Language(host_frame, host_ir)
GPU_IR = Language(gpu_ir_frame, gpu_ir)
PTX = Language(ptx_frame, ptx)
