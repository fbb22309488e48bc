"""A workload in ten lines: CUDA as a text or a file, the arguments of a few launches, and above it what is right.

    x, y = np.ones(4096, np.float32), np.zeros(4096, np.float32)

    @kw.workload("scale.cu", ((16,), (256,), (x, y, np.int32(4096))))
    def scale(x, y, n):
        return {"y": 2 * x}

    run = kw.evolve(scale, evaluations=100)

The function is called like the kernel, takes its arguments by their names, and returns what arrays hold afterwards. It is asked
once for each launch given, here and now, so that it may be defined anywhere, also in a notebook.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import cache_folder, content_key, write_atomically
from kernelwright.errors import Misuse, ToolError, check_kind
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import RulesGiven, Workload

HOW = "@kw.workload('app.cu', (grid, block, arguments)) above a function that is called like the kernel"
Launched = tuple[Any, Any, Sequence[Any]]
"""Grid, block and arguments."""


class Expected:
    """What is right on the cases given; of others the original kernel says it. A workload's oracle, which any process can be sent."""

    def __init__(self, outputs: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
        """``outputs``: arrays by name, by a case's fingerprint."""
        self.outputs = outputs
        arrays = (
            part for found in outputs.values() for name, a in sorted(found.items()) for part in (name, a.tobytes())
        )
        self.__qualname__ = content_key(arrays)  # what a workload knows its oracle by

    def __call__(self, case: Any) -> Mapping[str, NDArray[Any]]:
        return self.outputs.get(case.fingerprint(), {})


def workload(
    source: str | Path, *launches: Launched, kernel: str = "", tolerance: RulesGiven = 0.0
) -> Callable[[Callable[..., Mapping[str, Any]]], Workload]:
    """Makes a workload of a function that says what is right; see the module.

    ``source``: CUDA C++ as a text, or the path of its file; a text is kept in the cache. ``launches``: grid, block and arguments
    each, in the kernel's order; several of different sizes show a search what is a rule. ``kernel``: its name, where the
    function's is another. ``tolerance``: as ``Workload`` has it; 0 is exact. Raises ``Misuse`` for launches that are none, for a
    function that takes other arguments, fails, or returns an array that it was not given.
    """
    check_kind(source, (str, Path), "the source", HOW)
    for each in launches:
        if not (isinstance(each, tuple | list) and len(each) == 3 and isinstance(each[2], tuple | list)):
            raise Misuse(f"{str(each)[:60]} is no launch: grid, block and arguments", hint=HOW)

    def made(oracle: Callable[..., Mapping[str, Any]]) -> Workload:
        if not callable(oracle):
            raise Misuse(f"{oracle!r} says nothing of what is right", hint=HOW)
        called = kernel or oracle.__name__
        names = list(inspect.signature(oracle).parameters)
        cases, outputs = [], {}
        for number, (grid, block, arguments) in enumerate(launches, 1):
            if len(arguments) != len(names):
                raise Misuse(
                    f"launch {number} of {called} has {len(arguments)} arguments, and the function takes {len(names)}",
                    hint=f"give one for each of {', '.join(names) or 'none'}",
                )
            given = dict(zip(names, arguments, strict=True))
            case = Case(_extent(grid), _extent(block), given, name=f"launch {number}")
            outputs[case.fingerprint()] = _asked(oracle, called, given)
            cases.append(case)
        return Workload(_file(source, called), called, tuple(cases), tolerance, Expected(outputs))

    return made


def _extent(given: Any) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, tuple | list) else (given,)


def _asked(oracle: Callable[..., Mapping[str, Any]], name: str, given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    copies = {each: value.copy() if isinstance(value, np.ndarray) else value for each, value in given.items()}
    try:
        found = oracle(**copies)
    except Exception as error:  # It is the user's function.
        raise Misuse(
            f"{name} fails: {type(error).__name__}: {error}", hint="it says what the kernel should leave"
        ) from error
    check_kind(found, Mapping, f"what {name} returns", "return arrays by name: {'y': array}")
    unknown = [each for each in found if not isinstance(given.get(each), np.ndarray)]
    if unknown:
        raise Misuse(
            f"{name} returns {unknown[0]}, which is no array that it is given",
            hint=f"its arguments are {', '.join(given)}",
        )
    return {each: np.asarray(value, dtype=given[each].dtype) for each, value in found.items()}


def _file(source: str | Path, name: str) -> Path:
    """The source's file; of a text, one in the cache. Raises ``ToolError`` when it cannot be written."""
    if isinstance(source, Path) or "__global__" not in source:
        return Path(source)
    path = cache_folder() / "workload" / content_key([source]) / f"{name}.cu"
    if not path.is_file():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, source.encode())
        except OSError as error:
            raise ToolError(f"{path} cannot be written: {error.strerror}", hint="give the source as a file") from error
    return path
