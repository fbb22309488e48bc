"""What Kernel Tuner is given, as files that our commands take: its kernel, parameters, arguments and cache.

    taken = kw.from_kernel_tuner("vector_add", source, size, [c, a, b, n], tune_params, cache="vector_add.json")
    taken.workload          for kw.evolve, at the parameters that the cache says are fastest

    FOLDER/vector_add.cu, vector_add.toml, arguments.npz  kw model check vector_add.json --kernel FOLDER/vector_add.toml
    FOLDER/evolve.cu, workload.py, arguments.npz          kw evolve FOLDER/workload.py

The grid follows Kernel Tuner's rules: the problem size over the divisors of its dimension, rounded up; where none are given, the block
size of that dimension divides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.device.model_check.kernel_description import KernelDescription, as_tuned, read_description
from kernelwright.device.model_check.tuner_cache import read_tuner_cache
from kernelwright.errors import Misuse, ToolError, check_kind
from kernelwright.evaluate.workload.workload import Workload, load_workload
from kernelwright.lazy_dataclasses import dataclass

BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
DEFAULT_BLOCK = (256, 1, 1)
"""Kernel Tuner's, of a dimension whose size is no parameter."""
DEFINED = {"kernel_tuner": "1"}
"""What it defines besides the parameters."""
ARGUMENTS = "arguments.npz"

WORKLOAD = '''"""Kernel Tuner's {kernel} with {shown}."""

from pathlib import Path

import numpy as np

from kernelwright.evaluate import Case, Workload

HERE = Path(__file__).resolve().parent
given = np.load(HERE / "arguments.npz")
arguments = tuple(given[name] if given[name].ndim else given[name][()] for name in given.files)
workload = Workload(HERE / "evolve.cu", {kernel!r}, cases=(Case(grid={grid}, block={block}, arguments=arguments),))
'''


@dataclass(frozen=True)
class KernelTunerKernel:
    """``description``: for ``kw model check --kernel``; ``cache``: the file that was given, or None. ``parameters``: those that
    ``workload`` is compiled with."""

    folder: Path
    description: Path
    cache: Path | None
    parameters: Mapping[str, Any]

    @property
    def workload(self) -> Workload:
        """For ``kw.evolve``. Raises ``Misuse`` when its file was changed and makes no sense."""
        return load_workload(self.folder / "workload.py")


def from_kernel_tuner(
    kernel_name: str,
    kernel_source: str | Path,
    problem_size: int | str | Sequence[int | str],
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    *,
    cache: Path | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    folder: Path | str | None = None,
    grid_div_x: Sequence[int | str] | None = None,
    grid_div_y: Sequence[int | str] | None = None,
    grid_div_z: Sequence[int | str] | None = None,
    block_size_names: Sequence[str] = BLOCK_NAMES,
) -> KernelTunerKernel:
    """Writes the files for ``kw model check`` and ``kw evolve``; the names are those of Kernel Tuner's ``tune_kernel``.

    ``kernel_source``: CUDA C, or the path of its file. ``parameters``: what to evolve at; else the fastest of ``cache`` (its
    cache file), else the first value of each. ``folder``: for the files; else one called as the kernel. Raises ``Misuse`` for what
    cannot be taken over: other languages, functions in the place of sizes, arguments that are no arrays or 32-bit numbers; ``ToolError``.
    """
    source = _source(kernel_source)
    check_kind(kernel_name, str, "the kernel's name", "give it as Kernel Tuner takes it")
    check_kind(tune_params, Mapping, "tune_params", "give a dictionary: {'block_size_x': [32, 64]}")
    check_kind(arguments, (list, tuple), "the arguments", "give a list, as Kernel Tuner takes it")
    if empty := [name for name, values in tune_params.items() if not len(values)]:
        raise Misuse(
            f"the parameter {empty[0]} has no values", hint="give those that it may have: {'block_size_x': [32, 64]}"
        )
    grid = _grid(problem_size, (grid_div_x, grid_div_y, grid_div_z), tune_params, block_size_names)
    block = [name if name in tune_params else n for name, n in zip(block_size_names, DEFAULT_BLOCK, strict=False)]
    described = [_argument(number, each) for number, each in enumerate(arguments)]
    measured = read_tuner_cache(Path(cache)) if cache is not None else None
    if parameters is not None:
        chosen = dict(parameters)
    elif measured is not None:
        chosen = dict(min(measured.variants, key=lambda each: each.time_us).parameters)
    else:
        chosen = {name: next(iter(values)) for name, values in tune_params.items()}
    if set(chosen) != set(tune_params):
        whose = f"{cache} has" if measured is not None and parameters is None else "`parameters` has"
        raise Misuse(
            f"{whose} {', '.join(chosen) or 'none'}, and tune_params {', '.join(tune_params) or 'none'}",
            hint="give the parameters that the kernel was tuned with",
        )
    made = Path(folder) if folder is not None else Path(kernel_name.split("<")[0].rsplit("::")[-1])
    try:
        made.mkdir(parents=True, exist_ok=True)
        (made / f"{made.name}.cu").write_text(source)
        numbers = {_named(n): np.int32(a) if isinstance(a, int) else a for n, a in enumerate(arguments)}
        with (made / ARGUMENTS).open("wb") as file:
            np.savez(file, allow_pickle=False, **numbers)
        described_at = made / f"{made.name}.toml"
        described_at.write_text(_toml(f"{made.name}.cu", kernel_name, grid, block, described))
        _write_workload(made, read_description(described_at), source, chosen)
    except OSError as error:
        raise ToolError(f"{made} cannot be written: {error.strerror}", hint="name another with folder=") from error
    return KernelTunerKernel(made, described_at, Path(cache) if cache is not None else None, chosen)


def _source(given: str | Path) -> str:
    if callable(given) or not isinstance(given, str | Path):
        raise Misuse(f"the source is a {type(given).__name__}", hint="give CUDA C as a text, or the path of its file")
    text = str(given)
    if isinstance(given, Path) or ("\n" not in text and "{" not in text):
        try:
            text = Path(given).read_text()
        except OSError as error:
            raise Misuse(
                f"{given} cannot be read: {error.strerror}", hint="give CUDA C, or the path of its file"
            ) from None
    if "__global__" not in text:
        what = "OpenCL" if "__kernel" in text else "no CUDA C: it has no __global__ function"
        raise Misuse(f"the source is {what}", hint="kernels in CUDA C can be taken over")
    return text


def _grid(
    size: Any, divisors: Sequence[Any], tune_params: Mapping[str, Any], block_names: Sequence[str]
) -> list[str | int]:
    sizes = [size] if isinstance(size, int | np.integer | str) else size
    if callable(size) or not 1 <= len(sizes) <= 3:
        raise Misuse(
            f"the problem size {size!r} is not one to three sizes",
            hint="numbers, or expressions of parameters as texts",
        )
    found: list[str | int] = []
    for each, given, block in zip(sizes, divisors, block_names, strict=False):
        names = given if given is not None else [block] if block in tune_params else []
        if callable(names) or isinstance(names, str) or any(callable(name) for name in names):
            raise Misuse(
                f"the grid divisor {names!r} is no list of names and numbers", hint="as grid_div_x=['block_size_x', 4]"
            )
        whole = int(each) if isinstance(each, int | np.integer) else str(each)
        found.append(f"ceil({whole}, {' * '.join(f'({name})' for name in names)})" if names else whole)
    return found


def _argument(number: int, given: Any) -> str:
    """As the description has it: arrays by their size and what they hold, numbers by their values."""
    if isinstance(given, np.ndarray):
        fill = f', fill = "{ARGUMENTS}:{_named(number)}"' if given.any() else ""
        return f'{{ bytes = "{max(given.nbytes, 1)}"{fill} }}'
    if isinstance(given, np.int32 | np.uint32) or (isinstance(given, int) and not isinstance(given, bool)):
        return f'{{ int = "{int(given)}" }}'
    if isinstance(given, np.float32):
        return f'{{ float = "{float(given)!r}" }}'
    raise Misuse(
        f"argument {number} is {given!r:.40} ({type(given).__name__})",
        hint="arrays, numpy.int32 and numpy.float32 can be taken over, as Kernel Tuner takes them",
    )


def _named(number: int) -> str:
    return f"argument_{number:02}"


def _toml(
    file: str, kernel: str, grid: Sequence[str | int], block: Sequence[str | int], arguments: Sequence[str]
) -> str:
    defined = ", ".join(f"{name} = {json.dumps(value)}" for name, value in DEFINED.items())
    return (
        f"source = {json.dumps(file)}\nkernel = {json.dumps(kernel)}\n"
        f"grid = {json.dumps(list(grid))}\nblock = {json.dumps(list(block))}\n"
        f"arguments = [{', '.join(arguments)}]\ndefine = {{ {defined} }}\n"
    )


def _write_workload(folder: Path, found: KernelDescription, source: str, parameters: Mapping[str, Any]) -> None:
    grid, block = found.extent(found.grid, parameters), found.extent(found.block, parameters)
    lines = [f"#define {name} {_defined(value)}\n" for name, value in {**DEFINED, **parameters}.items()]
    (folder / "evolve.cu").write_text("".join(lines) + "#line 1\n" + as_tuned(source, parameters))
    shown = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    text = WORKLOAD.format(kernel=found.kernel, shown=shown or "no parameters", grid=grid, block=block)
    (folder / "workload.py").write_text(text)


def _defined(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool | np.bool_) else str(value)
