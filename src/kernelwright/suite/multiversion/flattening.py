"""Incremental flattening: a map with parallelism inside becomes versions that use more and more of it (paper 003, section 2.2).

    outer    a thread per iteration, everything inside in sequence          where iterations >= NAME_outer
    block    a block per iteration, what is inside on its threads,          where iterations * width >= NAME_block,
             its own arrays in shared memory                                 and it fits
    flat     the map is distributed over the statements inside (fission), a kernel each, over all elements. What has parallelism
             inside again, as a map does over a reduction, is flattened in turn, with guards of its own; reductions and prefixes
             that stand alone take logarithmically many steps

The same text stands in all versions: what it names is bound to registers, shared or global memory around it.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import field

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.multiversion.nests import (
    Code,
    Fold,
    Loop,
    Map,
    NestedProgram,
    Scan,
    Statement,
    has_parallelism,
    widths,
)

Lines = list[str]
BLOCK = 128
"""Threads of a block, where it is not the block that counts."""


@dataclass
class Flattened:
    """Kernels as text, and the host statements that launch them."""

    program: NestedProgram
    kernels: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    _types: dict[str, str] = field(default_factory=dict)
    """Type of everything a kernel may take as a parameter: pointers and whole numbers."""
    _scratch: list[str] = field(default_factory=list)
    _named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._types |= dict.fromkeys(self.program.parameters, "int ")
        self._types |= {array.name: f"{array.type} *" for array in self.program.arrays}

    # -- host

    def host(self, body: Sequence[Statement]) -> Lines:
        """The host statements of a whole program."""
        lines: Lines = []
        for each in body:
            if isinstance(each, Loop):
                lines += self._host_loop(each, self.host(self._declared(each)))
            elif isinstance(each, Map):
                lines += self._map(each, ())
            else:
                raise TypeError("only loops and maps stand outside of a map")
        return lines

    def _declared(self, loop: Loop) -> tuple[Statement, ...]:
        self._types[loop.index] = "int "
        return loop.body

    def _host_loop(self, loop: Loop, lines: Lines) -> Lines:
        return [f"for (int {loop.index} = 0; {loop.index} < {loop.count}; {loop.index}++) {{", *_indented(lines), "}"]

    def _map(self, here: Map, outer: tuple[Map, ...]) -> Lines:
        levels = (*outer, here)
        if not has_parallelism(here.body):
            return self._single(here, outer)
        count = _count(levels)
        wide = widths(here.body)
        bytes_each = [f"rounded(({length}) * sizeof({kind}))" for kind, _, length in here.arrays]
        self.guards += [f"{here.name}_block"] if count == "1" else [f"{here.name}_outer", f"{here.name}_block"]
        inner = [
            f"int width = {_largest(wide)}, bytes = {' + '.join(bytes_each) or '0'};",
            f'if (KW_THRESHOLD_IF("{here.name}_block", {_factor(count)} * width, fits(width, bytes))) {{',
            *_indented(self._block(here, outer)),
            "} else {",
            *_indented(self._flat(here, levels)),
            "}",
        ]
        if count == "1":  # one thread is no way to use a GPU
            return ["{", *_indented(inner), "}"]
        outermost = self._outer(here, outer)
        return [
            f'if (KW_THRESHOLD("{here.name}_outer", {count})) {{',
            *_indented(outermost),
            "} else {",
            *_indented(inner),
            "}",
        ]

    def _single(self, here: Map, outer: tuple[Map, ...]) -> Lines:
        """A map with nothing parallel inside: a thread each."""
        levels = (*outer, here)
        body = [*self._bound(outer), *_scalars(here), *_sequence(here.body)]
        name = here.name or f"{_named(outer)}_{here.index}"
        return self._launch(self._free_name(name), levels, body)

    def _free_name(self, stem: str) -> str:
        number = next(n for n in itertools.count(1) if (stem if n == 1 else f"{stem}_{n}") not in self._named)
        return stem if number == 1 else f"{stem}_{number}"

    def _launch(self, name: str, levels: tuple[Map, ...], body: Lines) -> Lines:
        """A kernel with a thread per element of ``levels``, and its launch."""
        count = _count(levels)
        head = ["int element = blockIdx.x * blockDim.x + threadIdx.x;", f"if (element >= {count})", "    return;"]
        arguments = self._kernel(name, [*head, *_decoded(levels, "element"), *body])
        return [*self._allocated(arguments, levels), f"{name}<<<blocks({count}), {BLOCK}>>>({', '.join(arguments)});"]

    # -- versions

    def _outer(self, here: Map, outer: tuple[Map, ...]) -> Lines:
        levels = (*outer, here)
        arrays = []
        for kind, name, _ in here.arrays:
            self._types[f"all_{name}"] = f"{kind} *"
            arrays.append(f"Strided<{kind}> {name} = {{all_{name} + element, {_count(levels)}}};")
        body = [*self._bound(outer), *arrays, *_scalars(here), *_sequence(here.body)]
        return self._launch(f"{here.name}_outer", levels, body)

    def _block(self, here: Map, outer: tuple[Map, ...]) -> Lines:
        levels = (*outer, here)
        name = f"{here.name}_block"
        body = ["int element = blockIdx.x;", *_decoded(levels, "element"), *self._bound(outer)]
        if here.arrays:
            body += ["extern __shared__ double shared_memory[];", "char *unused = (char *)shared_memory;"]
        body += [f"{kind} *{n} = take<{kind}>(unused, {length});" for kind, n, length in here.arrays]
        body += [f"__shared__ {kind} {n};" for kind, n in here.scalars]
        body += _in_block(here.body)
        arguments = self._kernel(name, body)
        launch = f"{name}<<<{_count(levels)}, whole_warps(width), bytes>>>({', '.join(arguments)});"
        return [*self._allocated(arguments, levels), launch]

    def _flat(self, here: Map, levels: tuple[Map, ...]) -> Lines:
        for kind, name, _ in here.arrays:
            self._types[f"all_{name}"] = f"{kind} *"
        for kind, name in here.scalars:
            self._types[f"all_{name}"] = f"{kind} *"
        return self._distributed(here.body, levels, several=_are_several(here.body))

    def _distributed(self, body: Sequence[Statement], levels: tuple[Map, ...], several: bool) -> Lines:
        """The map over each statement by itself. With ``several``, reductions and prefixes get versions of their own."""
        lines: Lines = []
        for each in body:
            if isinstance(each, Code):
                lines += self._launch(self._piece(levels, "once"), levels, [*self._bound(levels), *_code(each)])
            elif isinstance(each, Map):
                lines += self._map(each, levels)
            elif isinstance(each, Loop):
                lines += self._host_loop(each, self._distributed(self._declared(each), levels, several))
            elif several:
                name = self._guard_name(f"{_named(levels)}_{each.target if isinstance(each, Fold) else each.index}")
                lines += self._map(Map("", "1", (each,), name=name), levels)
            elif isinstance(each, Fold):
                lines += self._flat_fold(each, levels)
            else:
                lines += self._flat_scan(each, levels)
        return lines

    def _guard_name(self, stem: str) -> str:
        taken = {guard.removesuffix("_outer") for guard in self.guards}
        return next(name for n in itertools.count(1) if (name := stem if n == 1 else f"{stem}_{n}") not in taken)

    def _piece(self, levels: tuple[Map, ...], what: str) -> str:
        return self._free_name(f"{_named(levels)}_{what}")

    def _flat_fold(self, fold: Fold, levels: tuple[Map, ...]) -> Lines:
        """The terms by a kernel over all elements, then a tree over each segment."""
        inner = (*levels, Map(fold.index, fold.size, ()))
        terms = f"terms_{_letters(fold.type)}"
        self._types[terms] = f"{fold.type} *"
        lines = self._launch(
            self._piece(levels, "terms"), inner, [*self._bound(levels), f"{terms}[element] = {fold.term};"]
        )
        target = f"all_{fold.target}"
        self._types.setdefault(target, f"{fold.type} *")
        call = f"fold_segments<{fold.type}, {fold.operator}>({terms}, {target}, {_count(levels)}, {fold.size});"
        return [*self._allocated([target], levels), *lines, call]

    def _flat_scan(self, scan: Scan, levels: tuple[Map, ...]) -> Lines:
        inner = (*levels, Map(scan.index, scan.size, ()))
        terms = f"terms_{_letters(scan.type)}"
        self._types[terms] = f"{scan.type} *"
        bound = self._bound(levels)
        load = self._launch(self._piece(levels, "gather"), inner, [*bound, f"{terms}[element] = {scan.element};"])
        call = f"scan_segments<{scan.type}, {scan.operator}>({terms}, {_count(levels)}, {scan.size});"
        store = self._launch(self._piece(levels, "scatter"), inner, [*bound, f"{scan.element} = {terms}[element];"])
        return [*load, call, *store]

    # -- what a text names

    def _bound(self, levels: tuple[Map, ...]) -> Lines:
        """What distributed maps have for each iteration, in global memory."""
        lines: Lines = []
        for depth, level in enumerate(levels):
            row = _row(levels[: depth + 1])
            for kind, name, length in level.arrays:
                self._types[f"all_{name}"] = f"{kind} *"
                lines.append(f"{kind} *{name} = all_{name} + ({row}) * ({length});")
            for kind, name in level.scalars:
                self._types[f"all_{name}"] = f"{kind} *"
                lines.append(f"{kind} &{name} = all_{name}[{row}];")
        return lines

    def _kernel(self, name: str, body: Lines) -> list[str]:
        """Adds a kernel; returns the names of its parameters. What is bound and not used is left out."""
        body = _without_unused(body)
        words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(body)))
        inside = set(re.findall(r"\bint (\w+) =", "\n".join(body)))
        used = [name for name in self._types if name in words and name not in inside]
        parameters = ", ".join(f"{self._types[name]}{name}" for name in used)
        self._named.add(name)
        self.kernels.append("\n".join([f"__global__ void {name}({parameters})", "{", *_indented(body), "}"]))
        return used

    def _allocated(self, names: Sequence[str], levels: tuple[Map, ...]) -> Lines:
        """Buffers for what these kernels take and the program does not hold, as long as they are needed."""
        lines = []
        for name in names:
            length = self._length(name, levels)
            if length:
                if name not in self._scratch:
                    self._scratch.append(name)
                kind = self._types[name].removesuffix(" *")
                lines.append(f"{name} = buffer<{kind}>({self._scratch.index(name)}, {length});")
        return lines

    def _length(self, name: str, levels: tuple[Map, ...]) -> str:
        if name.startswith("terms_"):
            return _count(levels)
        for depth, level in enumerate(levels):
            whole = _count(levels[: depth + 1])
            for _, own, length in level.arrays:
                if name == f"all_{own}":
                    return f"({whole}) * ({length})"
            if name in {f"all_{own}" for _, own in level.scalars}:
                return whole
        return ""

    def scratch(self) -> Lines:
        """Declarations of the buffers."""
        return [f"{self._types[name]}{name} = 0;" for name in self._scratch]


def _are_several(body: Sequence[Statement]) -> bool:
    """Whether distributing a map over ``body`` gives more than what its other versions have by themselves."""
    parallel = [each for each in body if not isinstance(each, Code)]
    return len(parallel) > 1 or any(isinstance(each, Loop) for each in parallel)


def _count(levels: Sequence[Map]) -> str:
    levels = _real(levels)
    return levels[0].size if len(levels) == 1 else " * ".join(_factor(level.size) for level in levels)


def _named(levels: Sequence[Map]) -> str:
    """The name of the nearest map that has one."""
    return next((level.name for level in reversed(levels) if level.name), "element")


def _real(levels: Sequence[Map]) -> Sequence[Map]:
    """Without the maps of one iteration that stand around a single statement."""
    return [level for level in levels if level.index]


def _row(levels: Sequence[Map]) -> str:
    """The number of an iteration among all of its level."""
    levels = _real(levels)
    row = levels[0].index
    for level in levels[1:]:
        row = f"{_factor(row)} * {_factor(level.size)} + {level.index}"
    return row


def _decoded(levels: Sequence[Map], element: str) -> Lines:
    """The index of each level, from the number of an element."""
    levels = _real(levels)
    if len(levels) == 1:
        return [f"int {levels[0].index} = {element};"]
    lines = []
    for depth, level in enumerate(levels):
        inner = levels[depth + 1 :]
        value = f"{element} / {_factor(_count(inner))}" if inner else element
        lines.append(f"int {level.index} = {value if depth == 0 else f'{value} % {_factor(level.size)}'};")
    return lines


def _scalars(level: Map) -> Lines:
    return [f"{kind} {name};" for kind, name in level.scalars]


def _sequence(body: Sequence[Statement]) -> Lines:
    """Everything by one thread."""
    lines: Lines = []
    for each in body:
        if isinstance(each, Code):
            lines += _code(each)
        elif isinstance(each, Fold):
            lines.append(f"{each.target} = {each.zero};")
            lines.append(f"for (int {each.index} = 0; {each.index} < {each.size}; {each.index}++)")
            lines.append(f"    {each.target} = {each.operator}({each.target}, {each.term});")
        elif isinstance(each, Scan):
            before = re.sub(rf"\b{each.index}\b", f"({each.index} - 1)", each.element)
            lines.append(f"for (int {each.index} = 1; {each.index} < {each.size}; {each.index}++)")
            lines.append(f"    {each.element} = {each.operator}({before}, {each.element});")
        else:
            count = each.size if isinstance(each, Map) else each.count
            own = _scalars(each) if isinstance(each, Map) else []
            lines.append(f"for (int {each.index} = 0; {each.index} < {count}; {each.index}++) {{")
            lines += [*_indented([*own, *_sequence(each.body)]), "}"]
    return lines


def _in_block(body: Sequence[Statement]) -> Lines:
    """A block's threads side by side; single statements by the first of them."""
    lines: Lines = []
    for each in body:
        if isinstance(each, Loop):
            lines.append(f"for (int {each.index} = 0; {each.index} < {each.count}; {each.index}++) {{")
            lines += [*_indented(_in_block(each.body)), "}"]
            continue
        if isinstance(each, Code):
            lines += ["if (threadIdx.x == 0) {", *_indented(_code(each)), "}"]
        elif isinstance(each, Map):
            lines.append(f"if (int {each.index} = threadIdx.x; {each.index} < {each.size}) {{")
            lines += [*_indented([*_scalars(each), *_sequence(each.body)]), "}"]
        else:
            lines += ["{", *_indented(_block_wide(each)), "}"]
        lines.append("__syncthreads();")
    return lines


def _block_wide(each: Fold | Scan) -> Lines:
    index = each.index
    own = [f"int {index} = threadIdx.x;"]
    if isinstance(each, Fold):
        own.append(f"{each.type} own = {index} < {each.size} ? {each.term} : {each.zero};")
        own.append(f"own = block_fold<{each.type}, {each.operator}>(own, {each.size});")
        return [*own, f"if ({index} == 0)", f"    {each.target} = own;"]
    own += [f"{each.type} own;", f"if ({index} < {each.size})", f"    own = {each.element};"]
    own.append(f"own = block_scan<{each.type}, {each.operator}>(own, {each.size});")
    return [*own, f"if ({index} < {each.size})", f"    {each.element} = own;"]


def _without_unused(body: Lines) -> Lines:
    """Declarations at the top level whose name is not used later are left out."""
    kept: Lines = []
    for line in reversed(body):
        declared = re.match(r"(?:int (\w+) = |(?:\w+) [*&](\w+) = |Strided<\w+> (\w+) = |(?:\w+) (\w+);$)", line)
        name = next((group for group in declared.groups() if group), "") if declared else ""
        text = "\n".join(kept)
        if name and name != "element" and not re.search(rf"\b{name}\b", text):
            continue
        kept.insert(0, line)
    return kept


def _largest(sizes: Sequence[str]) -> str:
    largest = sizes[0]
    for size in sizes[1:]:
        largest = f"larger({largest}, {size})"
    return largest


def _code(code: Code) -> Lines:
    return textwrap.dedent(code.text).strip("\n").splitlines()


def _factor(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _letters(kind: str) -> str:
    return re.sub(r"\W", "", kind).lower()


def _indented(lines: Sequence[str]) -> Lines:
    return [f"    {line}" if line else line for line in lines]
