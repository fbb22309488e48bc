"""Runs a Python file of several versions once, for ``kw tune FILE.py``: ``python -m kernelwright.versions.running.python_runner``.

With the file alone, it prints the names of the file's guards, one a line, and runs none of its versions.

    inputs(dataset)         of the file: the arguments for a dataset, which the user calls as they like
    program(*arguments)     of the file: what is timed; without it, the file's one ``kw.versions``

It runs in a process of its own, so that a version may crash. It warms up, prints what was compared, restores the arguments
that were written in place, and takes times until a tenth of a second is spent, with all arguments restored before each.
"""

from __future__ import annotations

import runpy
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.versions.dispatch import Versions
from kernelwright.versions.program import Compared

SPEND_S = 0.1
MOST_REPEATS = 10


def run(path: Path, dataset: str, outputs: Path) -> Mapping[str, Any]:
    """Runs ``path`` on ``dataset`` and prints the line protocol on standard error; arrays go into ``outputs``.

    Returns what the file defines. Raises ``Misuse`` when it does not say what to run, or on what.
    """
    defined, every = _loaded(path)
    program = program_of(defined, every, path)
    if "inputs" not in defined:
        raise Misuse(
            f"{path} does not say what a dataset is", hint="define inputs(dataset), which returns the arguments"
        )
    arguments = tuple(defined["inputs"](dataset))
    saved = [(array, _copy(array)) for array in _arrays(arguments) if _is_writable(array)]
    compared: list[Compared] = []
    for each in every:
        each.watch = compared.append
    result = program(*arguments)
    for each in every:
        each.watch = None
    for one in compared:
        print(f"Compared {one.name} <= {one.value}: {str(one.taken).lower()}.", file=sys.stderr)
    computed = [*_computed(result), *_arrays(arguments)]
    np.savez(outputs, *[_on_host(array) for array in computed])
    synchronize = defined.get("synchronize", lambda: None)
    times = list(_times(lambda: program(*arguments), saved, synchronize))
    print(f"Took {statistics.median(times) * 1e6:.6f} us.", file=sys.stderr)
    for each in every:
        if program is each:
            print(f"Dispatch {each.dispatch_us(*arguments):.3f} us.", file=sys.stderr)
    return defined


def _loaded(path: Path) -> tuple[Mapping[str, Any], list[Versions]]:
    """What a file defines, and its ``kw.versions`` among that."""
    sys.path.insert(0, str(path.parent.absolute()))
    defined = runpy.run_path(str(path), run_name="kernelwright_tune")
    return defined, list({id(value): value for value in defined.values() if isinstance(value, Versions)}.values())


def program_of(defined: Mapping[str, Any], every: Sequence[Versions], path: Path) -> Callable[..., Any]:
    """What is timed. Raises ``Misuse`` when the file does not say."""
    if not every:
        raise Misuse(
            f"{path} defines no kw.versions", hint="name = kw.versions('name', [one, other], by=[('rows', '>=')])"
        )
    names = [each.name for each in every]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Misuse(
            f"{path} defines two kw.versions called {twice!r}, so that their guards have the same names",
            hint="a threshold belongs to one guard: rename one of the two",
        )
    if "program" in defined:
        return defined["program"]  # type: ignore[no-any-return]
    if len(every) > 1:
        raise Misuse(
            f"{path} defines several kw.versions: {', '.join(names)}", hint="define program(*inputs), which calls them"
        )
    return every[0]


def _times(
    call: Callable[[], object], saved: Sequence[tuple[Any, Any]], synchronize: Callable[[], object]
) -> Iterator[float]:
    """Seconds of calls, each on arguments as they were."""
    spent = 0.0
    for _ in range(MOST_REPEATS):
        for array, content in saved:
            array[...] = content
        synchronize()
        begin = time.perf_counter()
        call()
        synchronize()
        taken = time.perf_counter() - begin
        yield taken
        spent += taken
        if spent > SPEND_S:
            return


def _arrays(values: object) -> Iterator[Any]:
    """The arrays in arguments or results, numbers of results among them."""
    if isinstance(values, Mapping):
        values = tuple(values.values())
    if isinstance(values, tuple | list):
        for value in values:
            yield from _arrays(value)
    elif hasattr(values, "shape") and hasattr(values, "dtype"):
        yield values


def _computed(result: object) -> Iterator[Any]:
    """The arrays, numbers and texts that a version returns, however deep in tuples, lists and mappings.

    Raises ``Misuse`` for what cannot be compared: it would pass for equal.
    """
    if isinstance(result, Mapping):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        for part in result:
            yield from _computed(part)
    elif hasattr(result, "shape") and hasattr(result, "dtype"):
        yield result
    elif isinstance(result, int | float | complex):
        yield np.asarray(result)
    elif isinstance(result, str | bytes):
        yield np.frombuffer(result.encode() if isinstance(result, str) else result, dtype=np.uint8)
    elif result is not None:
        raise Misuse(
            f"a version returns a {type(result).__name__}, which cannot be compared",
            hint="return arrays or numbers; or define program(*arguments), which does",
        )


def _is_writable(array: Any) -> bool:
    return hasattr(array, "__setitem__") and bool(getattr(getattr(array, "flags", None), "writeable", True))


def _copy(array: Any) -> Any:
    """The content of an array of NumPy, CuPy or PyTorch."""
    if hasattr(array, "clone"):
        return array.clone()
    return array.copy()


def _on_host(array: Any) -> Any:
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy()
    return array.get() if hasattr(array, "get") else np.asarray(array)


def main() -> int:
    """The process: a file, and where a dataset is run its name and where outputs go. Returns the exit code."""
    path, *rest = sys.argv[1:]
    try:
        if rest:
            dataset, outputs = rest
            run(Path(path), dataset, Path(outputs))
        else:
            print("\n".join(guard.name for each in _loaded(Path(path))[1] for guard in each.guards))
    except KernelwrightError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
