"""The text of a whole program: CUDA C that any compiler takes."""

from __future__ import annotations

import textwrap
from pathlib import Path

from kernelwright.suite.multiversion.flattening import Flattened
from kernelwright.suite.multiversion.nests import Array, NestedProgram

PRELUDE = Path(__file__).parent / "prelude.cuh"


def source_of(program: NestedProgram) -> str:
    """``program`` with its versions behind guards."""
    flattened = Flattened(program)
    body = flattened.host(program.body)
    heading = f"/* {program.name} {' '.join(p.upper() for p in program.parameters)}: {program.line}. */"
    parts = [heading, PRELUDE.read_text().strip(), textwrap.dedent(program.functions).strip(), *flattened.kernels]
    names = ", ".join(f"{name} = atoi(argv[{n}])" for n, name in enumerate(program.parameters, 1))
    main = [
        f"if (argc != {len(program.parameters) + 1}) {{",
        f'    fprintf(stderr, "usage: %s {" ".join(p.upper() for p in program.parameters)}\\n", argv[0]);',
        "    return 2;",
        "}",
        f"int {names};",
        *(line for array in program.arrays for line in _made(array)),
        *flattened.scratch(),
        "TIMED {",
        *(f"    COPY_IN({array.name}, host_{array.name}, {_bytes(array)});" for array in program.arrays),
        *(f"    {line}" for line in body),
        *(f"    COPY_OUT({array.name}, {_bytes(array)});" for array in program.arrays if array.name in program.outputs),
        "}",
        *(
            f'show("{array.name}", {array.name}, {array.length});'
            for array in program.arrays
            if array.name in program.outputs
        ),
        "return 0;",
    ]
    parts.append("\n".join(["int main(int argc, char **argv)", "{", *(f"    {line}" for line in main), "}"]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _bytes(array: Array) -> str:
    return f"({array.length}) * sizeof({array.type})"


def _made(array: Array) -> list[str]:
    bytes_ = _bytes(array)
    return [
        f"{array.type} *{array.name}, *host_{array.name} = ({array.type} *)malloc({bytes_});",
        f"for (int i = 0; i < {array.length}; i++)",
        f"    host_{array.name}[i] = {array.initial};",
        f"if (cudaMalloc(&{array.name}, {bytes_}) != cudaSuccess)",
        "    return 1;",
        f"cudaMemcpy({array.name}, host_{array.name}, {bytes_}, cudaMemcpyHostToDevice);",
    ]
