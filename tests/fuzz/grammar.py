"""Random CUDA kernels whose meaning on the host is the same: no undefined operation, no race, and every loop ends."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fuzz.ptx_table import HELPERS, ROWS, TYPES, can_be_predicated, function

INTEGERS = ("char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "long long",
            "unsigned long long", "size_t", "ptrdiff_t", "bool")  # fmt: skip
COUNTERS = ("int", "unsigned", "short", "unsigned short", "long long", "size_t", "unsigned char", "ptrdiff_t")
VECTORS = {"int2": "int", "int4": "int", "short2": "short", "uchar4": "unsigned char", "longlong2": "long long",
           "ushort4": "unsigned short", "uint2": "unsigned"}  # fmt: skip
PARAMETERS = "const int *{r}p, long long *{r}q, {vector} *{r}w, int *sums, int n, {wide} m"
SLOT = "blockIdx.x * blockDim.x + threadIdx.x"


@dataclass(frozen=True)
class Kernel:
    """``vector`` is the type of the elements of ``w``."""

    name: str
    text: str
    vector: str


@dataclass
class Scope:
    """What a statement may mention."""

    values: list[str]
    """Expressions of integer type."""
    variables: list[str]
    """Those among them that may be assigned."""
    arrays: list[str]
    """Local arrays of eight; those of ``int`` end with ``i``."""
    records: list[str] = field(default_factory=list)
    """Local structs, arrays of them included, each as an expression."""
    depth: int = 0
    trips: int = 1
    """How often, at most, the loops around it run it."""
    in_loop: bool = False
    in_function: bool = False
    """Whether it is outside of kernels: there are no parameters of theirs."""
    uniform: bool = True
    """Whether all threads of the block come here together."""

    def inner(self, **changes: Any) -> Scope:
        lists = {name: [*getattr(self, name)] for name in ("values", "variables", "arrays", "records")}
        return replace(self, **{**lists, "depth": self.depth + 1, **changes})


class Writer:
    """Writes one kernel; all choices come from ``random``."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.names = 0
        self.functions: dict[str, str] = {}
        """Inline PTX in use, by the head of its function."""
        self.shared: list[tuple[str, str]] = []
        self.called: list[str] = []
        """Functions that are not inlined, by name."""
        self.may_return = False

    def kernel(self, name: str) -> Kernel:
        pick = self.random.choice
        vector = pick([*VECTORS])
        shared = [
            (self.name("s"), pick(["int", "unsigned char", "long long", "short"])) for _ in range(pick([0, 0, 1, 2]))
        ]
        scope = Scope(["n", "m", "p[threadIdx.x]"], [], [])
        body = [f"    __shared__ {type} {n}[64];" for n, type in shared]
        body.append(f"    const unsigned slot = {SLOT};")
        self.shared, self.may_return = shared, self.random.random() < 0.3
        body += self.block(scope, 1, least=3)
        restrict = pick(["", "__restrict__ "])
        head = PARAMETERS.format(r=restrict, vector=vector, wide=pick(["int", "size_t", "long long", "unsigned"]))
        text = "\n".join([f"KERNEL {name}({head}) {{", *body, "    q[slot] += n;", "}"])
        return Kernel(name, text.replace("VECTOR", vector).replace("ELEMENT", VECTORS[vector]), vector)

    def device_function(self) -> None:
        """A function that kernels call, with an array of the caller's."""
        name = self.name("f")
        scope = Scope(["a", "b", "p[(unsigned)a & 63]"], ["a"], ["gi"], uniform=False, in_function=True)
        self.shared, self.may_return = [], False
        body = self.block(scope, 1)
        head = f"CALLED long long {name}(const int *p, long long a, int *gi, unsigned b)"
        fixed = "    const int n = 9; const long long m = 21;"
        self.functions[name] = "\n".join([f"{head} {{", fixed, *body, f"    return {self.expression(scope)};", "}"])
        self.called.append(name)

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # -- expressions

    def expression(self, scope: Scope, depth: int = 0) -> str:
        chance, pick = self.random.random(), self.random.choice
        if depth > 2 or chance < 0.3:
            return pick(scope.values) if self.random.random() < 0.75 else self.literal()
        a, b = (lambda: self.expression(scope, depth + 1)), (lambda: self.expression(scope, depth + 1))
        if chance < 0.55:
            return f"{pick(['ADD', 'SUB', 'MUL', 'ADD'])}({a()}, {b()})"
        if chance < 0.63:
            return f"({a()} {pick('&|^')} {b()})"
        if chance < 0.69:
            return f"{pick(['SHL', 'SHR', 'DIV', 'MOD'])}({a()}, {b()})"
        if chance < 0.75:
            return f"({self.condition(scope, depth + 1)} ? {a()} : {b()})"
        if chance < 0.81:
            return f"(({pick(INTEGERS)}){a()})"
        if chance < 0.82:
            return pick([f"min((long long){a()}, (long long){b()})", f"max((unsigned){a()}, (unsigned){b()})", f"~(int){a()}",
                         f"__popc((unsigned){a()})", f"__clz((int){a()})", f"__brev((unsigned){a()})",
                         f"INT_OF((double)(short){a()} * 0.5)", f"(int)((float)(short){a()} - (float)(char){b()})"])  # fmt: skip
        if chance < 0.83 and scope.records:
            return f"{pick(scope.records)}.{pick('csilbe')}"
        if (
            chance < 0.86
            and self.called
            and not scope.in_function
            and (own := [x for x in scope.arrays if x.endswith("i")])
        ):
            return f"{pick(self.called)}(p, {a()}, {pick(own)}, (unsigned){b()})"
        if chance < 0.88 and scope.arrays:
            return f"{pick(scope.arrays)}[(unsigned){a()} & 7]"
        if chance < 0.91:
            return f"p[(unsigned){a()} & 63]"
        if chance < 0.97:
            return self.inline_ptx(scope, depth)
        given = ["(int)threadIdx.x", "blockIdx.x", "blockDim.x", "(size_t)gridDim.x"]
        return pick(given if scope.in_function else [*given, "w[slot].x", "w[slot].y"])

    def literal(self) -> str:
        return self.random.choice(["0", "1", "2", "3", "7", "31", "255", "-1", "65535", "1000000007", "0x80000000u", "-5ll", "'a'",
                                   "0x123456789abcdefull", "true"])  # fmt: skip

    def condition(self, scope: Scope, depth: int = 1) -> str:
        test = f"{self.expression(scope, depth)} {self.random.choice(['<', '>', '==', '!=', '<=', '>='])} {self.expression(scope, depth)}"
        if self.random.random() < 0.2:
            test = f"{test} {self.random.choice(['&&', '||'])} {self.expression(scope, depth + 1)}"
        return f"({test})"

    def inline_ptx(self, scope: Scope, depth: int, number: int | None = None) -> str:
        """A call of one of the table's rows on integers; floating-point operands are small whole numbers and a half."""
        number = self.random.randrange(len(ROWS)) if number is None else number
        row = ROWS[number]
        predicated = can_be_predicated(row) and self.random.random() < 0.4
        volatile = self.random.random() < 0.3
        suffix = f"{number}{'p' * predicated}{'v' * volatile}"
        self.functions[suffix] = function(row, number, predicated, volatile).replace(f"asm{number}(", f"asm{suffix}(")
        operands = []
        for letter in row.letters[1:]:
            value = self.expression(scope, depth + 1)
            operands.append(
                f"({TYPES[letter]})(short){value} * 0.75f" if letter in "fd" else f"({TYPES[letter]}){value}"
            )
        if predicated:
            kept = "1.5f" if row.letters[0] in "fd" else f"({TYPES[row.letters[0]]}){self.expression(scope, depth + 1)}"
            operands = [f"(int){self.condition(scope, depth + 1)}", kept, *operands]
        call = f"asm{suffix}({', '.join(operands)})"
        return f"INT_OF({call} * 4)" if row.letters[0] in "fd" else call

    # -- statements

    def block(self, scope: Scope, indent: int, least: int = 1) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(least, least + 3)):
            lines += self.statement(scope, "    " * indent, indent)
        return lines

    def statement(self, scope: Scope, pad: str, indent: int) -> list[str]:
        chance, pick = self.random.random(), self.random.choice
        if chance < 0.22:
            name, type = self.name("v"), pick(INTEGERS)
            value = self.expression(scope)
            scope.values.append(name)
            scope.variables.append(name)
            return [f"{pad}{type} {name} = ({type}){value};"]
        if chance < 0.36 and scope.variables:
            name = pick(scope.variables)
            combine = pick(["{e}", "ADD({n}, {e})", "SUB({n}, {e})", "MUL({n}, {e})", "({n} ^ {e})"])
            return [f"{pad}{name} = {combine.format(n=name, e=self.expression(scope))};"]
        if chance < 0.46 and scope.depth < 3:
            return self.branch(scope, pad, indent)
        if chance < 0.66 and scope.depth < 3 and scope.trips < 200:
            return self.loop(scope, pad, indent)
        if chance < 0.71 and scope.depth < 3:
            return self.switch(scope, pad, indent)
        if chance < 0.76:
            if self.random.random() < 0.3:
                return self.record(scope, pad)
            type = pick(["int", "int", "unsigned char", "long long", "short", "unsigned"])
            name = self.name("a") + "i" * (type == "int")
            scope.arrays.append(name)
            first = ", ".join(f"({type}){self.expression(scope.inner(arrays=scope.arrays[:-1]), 2)}" for _ in range(3))
            return [f"{pad}{type} {name}[8] = {{{first}}};"]
        if chance < 0.78 and scope.records:
            if self.random.random() < 0.3:
                return [f"{pad}if {self.condition(scope)} {pick(scope.records)} = {pick(scope.records)};"]
            return [f"{pad}{pick(scope.records)}.{pick('csilbe')} = {self.expression(scope)};"]
        if chance < 0.80 and scope.arrays:
            value = self.expression(scope)
            return [f"{pad}{pick(scope.arrays)}[(unsigned){self.expression(scope, 2)} & 7] = {value};"]
        if scope.in_function:
            return [f"{pad};"]
        if chance < 0.88:
            return [f"{pad}q[slot] = ADD(q[slot], {self.expression(scope)});"]
        if chance < 0.91:
            x, y = (f"(ELEMENT){self.expression(scope)}" for _ in range(2))
            return [f"{pad}{{ VECTOR t = w[slot]; t.x = {x}; t.y = t.x ^ {y}; w[slot] = t; }}"]
        if chance < 0.94:
            place = f"sums[(unsigned){self.expression(scope, 2)} & 7]"
            return [f"{pad}atomicAdd(&{place}, (int){self.expression(scope)});"]
        if scope.uniform and not scope.in_loop:
            return self.together(scope, pad)
        if scope.in_loop:
            leave = ["break", "continue"] + ["return"] * self.may_return
            return [f"{pad}if {self.condition(scope)} {pick(leave)};"]
        if self.may_return and scope.depth and self.random.random() < 0.3:
            return [f"{pad}if {self.condition(scope)} return;"]
        return [f"{pad};"]

    def record(self, scope: Scope, pad: str) -> list[str]:
        """A struct, or four of them."""
        name, whole = self.name("r"), self.random.random() < 0.5
        fields = ", ".join(
            f"({type}){self.expression(scope, 2)}" for type in ("signed char", "unsigned short", "int", "long long")
        )
        if whole:
            scope.records.append(name)
            return [f"{pad}Mixed {name} = {{{fields}, 3, -4}};"]
        scope.records.append(f"{name}[(unsigned){self.expression(scope, 2)} & 3]")
        return [f"{pad}Mixed {name}[4] = {{{{1, 2, 3, 4, 5, 6}}, {{{fields}, 1, 2}}}};"]

    def branch(self, scope: Scope, pad: str, indent: int) -> list[str]:
        lines = [f"{pad}if {self.condition(scope)} {{", *self.block(scope.inner(uniform=False), indent + 1)]
        if self.random.random() < 0.5:
            lines += [f"{pad}}} else {{", *self.block(scope.inner(uniform=False), indent + 1)]
        return [*lines, f"{pad}}}"]

    def switch(self, scope: Scope, pad: str, indent: int) -> list[str]:
        kind = self.random.choice(["int", "unsigned char", "long long", "unsigned"])
        lines = [f"{pad}switch (({kind})({self.expression(scope)}) & {self.random.choice([3, 7, 0x101])}) {{"]
        for case in self.random.sample([0, 1, 2, 3, 5, 256, 257], self.random.randint(1, 5)):
            if kind == "unsigned char" and case > 255:
                continue
            inner = scope.inner(uniform=False, in_loop=False)
            lines += [f"{pad}case {case}: {{", *self.block(inner, indent + 1), f"{pad}}}"]
            if self.random.random() < 0.7:
                lines.append(f"{pad}    break;")
        if self.random.random() < 0.5:
            lines += [
                f"{pad}default: {{",
                *self.block(scope.inner(uniform=False, in_loop=False), indent + 1),
                f"{pad}}}",
            ]
        return [*lines, f"{pad}}}"]

    def loop(self, scope: Scope, pad: str, indent: int) -> list[str]:
        """Counters stay below 127, so that no type of theirs wraps round."""
        pick, type, i = self.random.choice, self.random.choice(COUNTERS), self.name("i")
        limit, most = pick(
            [("(n & 7)", 7), ("4", 4), ("(p[threadIdx.x] & 15)", 15), ("threadIdx.x % 5", 4), ("m", 37), ("13", 13)]
        )
        shape = self.random.randint(0, 8)
        after = ""
        if shape == 0:
            head = f"for ({type} {i} = 0; {i} < ({type})({limit}); {pick([f'{i}++', f'++{i}', f'{i} += 1'])})"
        elif shape == 1:
            head, most = (
                f"for ({type} {i} = ({type})({SLOT}); {i} < ({type})(m + 64); {i} += ({type})(gridDim.x * blockDim.x))",
                8,
            )
            type = "size_t" if "char" in type or "short" in type else type
            head = (
                f"for ({type} {i} = ({type})({SLOT}); {i} < ({type})(m + 64); {i} += ({type})(gridDim.x * blockDim.x))"
            )
        elif shape == 2:
            head, most = f"for ({type} {i} = ({type})({limit}); {i} > 0; {i} >>= 1)", 6
        elif shape == 3:
            head, most = f"for ({type} {i} = ({type})threadIdx.x; {i} < ({type})m; {i} += 8)", 5
        elif shape == 4:
            head = f"for ({type} {i} = ({type})({limit}); {i}-- > 0;)"
        elif shape == 5:
            head, most = f"for ({type} {i} = 1; {i} < ({type})40; {i} = {i} * 2 + 1)", 5
        elif shape == 6:
            head, most = f"for ({type} {i} = 0, j{i} = 9; {i} < j{i}; {i}++, j{i}--)", 5
        elif shape == 7:
            head = f"{type} {i} = 0;\n{pad}while ({i}++ < ({type})({limit}))"
        else:
            # `continue` goes to the test, which counts.
            head, after = f"{type} {i} = 0;\n{pad}do", f" while (++{i} < ({type})({limit}));"
            most += 1
        unroll = (
            f"{pad}#pragma unroll {pick(['', '1', '2', '3', '4'])}\n"
            if shape < 7 and self.random.random() < 0.25
            else ""
        )
        inner = scope.inner(in_loop=True, uniform=False, trips=scope.trips * most)
        inner.values.append(i)
        body = self.block(inner, indent + 1)
        return [f"{unroll}{pad}{head} {{", *body, f"{pad}}}{after}"]

    def together(self, scope: Scope, pad: str) -> list[str]:
        """What all threads of the block do at the same place."""
        value, name = self.expression(scope), self.name("v")
        # Threads that have ended take part in barriers only.
        kind = 3 if self.may_return else self.random.randint(0, 3)
        if kind == 0 and self.shared:
            array, type = self.random.choice(self.shared)
            step = self.random.choice([1, 3, 8])
            scope.values.append(name)
            return [
                f"{pad}{array}[threadIdx.x] = ({type}){value};",
                f"{pad}__syncthreads();",
                f"{pad}{type} {name} = {array}[(threadIdx.x + {step}) % blockDim.x];",
                f"{pad}__syncthreads();",
            ]
        scope.values.append(name)
        if kind == 1:
            type = self.random.choice(["int", "unsigned", "long long"])
            return [f"{pad}{type} {name} = __shfl_xor_sync(~0u, ({type}){value}, {self.random.choice([1, 2])});"]
        if kind == 2:
            return [
                f"{pad}unsigned {name} = __ballot_sync(~0u, {self.condition(scope.inner(values=scope.values[:-1]))});"
            ]
        return [f"{pad}__syncthreads();", f"{pad}int {name} = 1;"]


@dataclass(frozen=True)
class Source:
    """Kernels of one file."""

    kernels: tuple[Kernel, ...]
    text: str


def random_source(seed: int, count: int) -> Source:
    """The same kernels for the same seed."""
    writer = Writer(random.Random(seed))
    for _ in range(2):
        writer.device_function()
    return _source(writer, [writer.kernel(f"k{n}") for n in range(count)])


def ptx_source(seed: int) -> Source:
    """One kernel that has each row of the table, on its own slot of ``q``."""
    writer = Writer(random.Random(seed))
    scope = Scope(["n", "m", "p[threadIdx.x]", "p[slot & 63]", "(int)threadIdx.x"], [], [])
    lines = [
        f"    q[slot + {n} * gridDim.x * blockDim.x] = {writer.inline_ptx(scope, 2, n)};" for n in range(len(ROWS))
    ]
    head = PARAMETERS.format(r="", vector="int2", wide="int")
    text = "\n".join([f"KERNEL k0({head}) {{", f"    const unsigned slot = {SLOT};", *lines, "}"])
    return _source(writer, [Kernel("k0", text, "int2")])


def _source(writer: Writer, kernels: list[Kernel]) -> Source:
    text = "\n".join(['#include "prelude.h"', HELPERS, *writer.functions.values(), *(k.text for k in kernels)])
    return Source(tuple(kernels), text + "\n")
