"""A generated kernel with a host program around it: what ``kw run``, ``kw evolve`` and nvcc take.

Where sizes are given at launch they are the arguments of the program, those that were tuned on when there are none.

before    the text of a kernel, its launch, the arrays of its computation
after     a program that fills the inputs, launches the kernel and prints of each output its sum and its largest value
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.exploration.subject import Subject
from kernelwright.space.computation.sizes import formula_of, is_dynamic
from kernelwright.space.cuda_source import GeneratedKernel
from kernelwright.space.cuda_source.generated import GRID_LIMIT

MOST_SIZE = 1 << 30
"""Of a size that is given at launch: rounded up to tiles it stays an ``int``."""
MOST_ELEMENTS = 2**31 - 1
HELPERS = """
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        printf("%s\\n", cudaGetErrorString(error));
        exit(1);
    }
}

// Between -1 and 1; the same on every machine.
static float next(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (1 << 23) - 1;
}
"""


def host_program(subject: Subject, head: str, kernel: GeneratedKernel) -> str:
    """``head``: the kernel's text with what is said above it. Sizes and scalars are those of the subject."""
    lines = host_lines(subject, [kernel], [launch_line(subject, kernel)])
    if not kernel.sizes:
        return f"{head.rstrip()}\n{HELPERS}\nint main() {{\n{_body(lines)}}}\n"
    tuned = dict(subject.sizes)
    given = [f"count > {n} ? atoi(given[{n}]) : {tuned[size.name]}" for n, size in enumerate(kernel.sizes, 1)]
    return (
        f"{head.rstrip()}\n{HELPERS}\n{run_function('run_with', subject, kernel, lines)}\n"
        f"int main(int count, char **given) {{\n    return run_with({', '.join(given)});\n}}\n"
    )


def run_function(name: str, subject: Subject, kernel: GeneratedKernel, lines: list[str]) -> str:
    """A function of the sizes that are given at launch, with guards for those that the kernel is not made for."""
    parameters = ", ".join(f"int {size.name}" for size in kernel.sizes)
    return f"static int {name}({parameters}) {{\n{_body([*_guards(subject, kernel), *lines])}}}\n"


def _body(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for line in ["unsigned state = 1;", *lines])


def _guards(subject: Subject, kernel: GeneratedKernel) -> list[str]:
    """Sizes are multiples of what the kernel was made for, and what it counts in an ``int`` fits one."""
    found = []
    for size in kernel.sizes:
        wrong = f"{size.name} < 1 || {size.name} > {MOST_SIZE}"
        said = f"{size.name} is %d: from {size.multiple} to {MOST_SIZE}"
        if size.multiple > 1:
            wrong += f" || {size.name} % {size.multiple}"
            said += f", a multiple of {size.multiple}"
        found.append((wrong, f'"{said}\\n", {size.name}'))
    longest = [f"{_elements(each.elements)} > {MOST_ELEMENTS}LL" for each in subject.declared.arrays.values()]
    longest += [f"1LL * {each.text} > {MOST_ELEMENTS}LL" for each in kernel.scratch]
    longest.append(f"{_blocks(kernel)} > {GRID_LIMIT}LL")
    found.append(
        (
            " || ".join(longest),
            '"these sizes are too large for the kernel, which counts elements and blocks in 31 bits\\n"',
        )
    )
    return [
        line
        for wrong, said in found
        for line in (f"if ({wrong}) {{", f"    fprintf(stderr, {said});", "    return 2;", "}")
    ]


def _blocks(kernel: GeneratedKernel) -> str:
    """Their number in C, of ``long long``."""
    return f"1LL * {kernel.grid_text}"


def _elements(number: int) -> str:
    """In C, counted in ``long long``."""
    return formula_of(number).text(first="1LL") if is_dynamic(number) else str(number)


def launch_line(subject: Subject, kernel: GeneratedKernel) -> str:
    """The line of CUDA C++ that launches a kernel, its grid, block and arguments written out."""
    scalars = [f"{float(subject.family.scalars[name])!r}f" for name in kernel.scalars]
    sizes = [size.name for size in kernel.sizes]
    memory = [f"device_{name}" for name in (*kernel.arrays, *_scratch(kernel))]
    arguments = ", ".join([*memory, *scalars, *sizes])
    return f"{kernel.name}<<<{geometry(kernel)}>>>({arguments});"


def geometry(kernel: GeneratedKernel) -> str:
    """Grid and block in C, of sizes by their names."""
    x, y, z = kernel.grid
    grid = f"{kernel.grid_text if kernel.sizes else x}, {y}, {z}"
    return f"dim3({grid}), dim3({', '.join(map(str, kernel.block))})"


def host_lines(subject: Subject, kernels: Sequence[GeneratedKernel], launches: list[str]) -> list[str]:
    """The body of a function: inputs filled, ``launches`` of these kernels, what is printed of the outputs."""
    arrays = [subject.declared.arrays[name] for name in kernels[0].arrays]
    scratch = {name: text for kernel in kernels for name, text in _scratch(kernel).items()}
    return [
        *(line for each in arrays for line in _array(each.name, each.elements, each.is_output)),
        *(line for name, text in scratch.items() for line in _allocated(name, f"{text} * sizeof(float)")),
        *launches,
        "check(cudaGetLastError());",
        "check(cudaDeviceSynchronize());",
        *(line for each in arrays if each.is_output for line in _shown(each.name)),
        *(f"cudaFree(device_{name});" for name in (*(each.name for each in arrays), *scratch)),
        "return 0;",
    ]


def _array(name: str, elements: int, is_output: bool) -> list[str]:
    lines = [f"std::vector<float> {name}({_elements(elements)}{', 0.0f' if is_output else ''});"]
    if not is_output:
        lines.append(f"for (float &x : {name}) x = next(state);")
    return [
        *lines,
        *_allocated(name, f"{name}.size() * sizeof(float)"),
        f"check(cudaMemcpy(device_{name}, {name}.data(), {name}.size() * sizeof(float), cudaMemcpyHostToDevice));",
    ]


def _allocated(name: str, size: str) -> list[str]:
    return [f"float *device_{name};", f"check(cudaMalloc(&device_{name}, {size}));"]


def _scratch(kernel: GeneratedKernel) -> dict[str, str]:
    """Temporaries in global memory, by a name that no other kernel of the program has: their elements in C, of ``long long``."""
    return {f"{kernel.name}_{each.name}": f"{_blocks(kernel)} * {each.text}" for each in kernel.scratch}


def _shown(name: str) -> list[str]:
    return [
        f"check(cudaMemcpy({name}.data(), device_{name}, {name}.size() * sizeof(float), cudaMemcpyDeviceToHost));",
        f"double sum_{name} = 0, largest_{name} = 0;",
        f"for (float x : {name}) sum_{name} += x, largest_{name} = fmax(largest_{name}, fabs(x));",
        f'printf("{name}: sum %.4e, largest %.4e\\n", sum_{name}, largest_{name});',
    ]
