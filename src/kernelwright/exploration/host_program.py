"""A generated kernel with a host program around it: what ``kw run``, ``kw evolve`` and nvcc take.

before    the text of a kernel, its launch, the arrays of its computation
after     a program that fills the inputs, launches the kernel and prints of each output its sum and its largest value
"""

from __future__ import annotations

from kernelwright.exploration.subject import Subject
from kernelwright.space.cuda_source import GeneratedKernel

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
    lines = host_lines(subject, kernel, [launch_line(subject, kernel)])
    body = "".join(f"    {line}\n" for line in ["unsigned state = 1;", *lines])
    return f"{head.rstrip()}\n{HELPERS}\nint main() {{\n{body}}}\n"


def launch_line(subject: Subject, kernel: GeneratedKernel) -> str:
    scalars = [f"{float(subject.family.scalars[name])!r}f" for name in kernel.scalars]
    arguments = ", ".join([*(f"device_{name}" for name in kernel.arrays), *scalars])
    grid, block = (", ".join(map(str, each)) for each in (kernel.grid, kernel.block))
    return f"{kernel.name}<<<dim3({grid}), dim3({block})>>>({arguments});"


def host_lines(subject: Subject, kernel: GeneratedKernel, launches: list[str]) -> list[str]:
    """The body of a function: inputs filled, ``launches``, what is printed of the outputs."""
    arrays = [subject.declared.arrays[name] for name in kernel.arrays]
    return [
        *(line for each in arrays for line in _array(each.name, each.elements, each.is_output)),
        *launches,
        "check(cudaGetLastError());",
        "check(cudaDeviceSynchronize());",
        *(line for each in arrays if each.is_output for line in _shown(each.name)),
        *(f"cudaFree(device_{each.name});" for each in arrays),
        "return 0;",
    ]


def _array(name: str, elements: int, is_output: bool) -> list[str]:
    lines = [f"std::vector<float> {name}({elements}{', 0.0f' if is_output else ''});"]
    if not is_output:
        lines.append(f"for (float &x : {name}) x = next(state);")
    return [
        *lines,
        f"float *device_{name};",
        f"check(cudaMalloc(&device_{name}, {name}.size() * sizeof(float)));",
        f"check(cudaMemcpy(device_{name}, {name}.data(), {name}.size() * sizeof(float), cudaMemcpyHostToDevice));",
    ]


def _shown(name: str) -> list[str]:
    return [
        f"check(cudaMemcpy({name}.data(), device_{name}, {name}.size() * sizeof(float), cudaMemcpyDeviceToHost));",
        f"double sum_{name} = 0, largest_{name} = 0;",
        f"for (float x : {name}) sum_{name} += x, largest_{name} = fmax(largest_{name}, fabs(x));",
        f'printf("{name}: sum %.4e, largest %.4e\\n", sum_{name}, largest_{name});',
    ]
