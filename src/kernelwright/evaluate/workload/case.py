"""A case: one set of inputs and the launches made on it, in Python.

Three forms, from short to free:

    Case(grid, block, arguments)                     one launch of the workload's kernel
    Case(launches=(Step(...), Step(...)))            several, in order; the same array is the same buffer
    Case(host=function)                              a host program: function(launch) -> outputs

Arrays are pointers. What the launches leave in them is the output; the arrays of a case itself are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import content_key
from kernelwright.device.arena import Buffer
from kernelwright.device.arguments import pack
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.case_runner import Argument, Runner, Stopped, kernel_called, triple
from kernelwright.evaluate.outcome import Rejected
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass

Arrays = dict[str, NDArray[Any]]
Arguments = tuple[Argument, ...] | Mapping[str, Argument]


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel launch as people write it: ``arguments`` in the kernel's order, as a tuple or, with names for the outputs, as a mapping."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Arguments
    shared_bytes: int = 0
    """Dynamic shared memory."""
    kernel: str = ""
    """The name in the source or the mangled one; empty: the workload's kernel."""


@dataclass(frozen=True)
class Output:
    """What a run of a case left behind, by name."""

    arrays: Arrays
    before: Arrays
    """What the same memory held when the device first saw it, as far as it was an input."""
    inputs: Arrays
    """Everything that was put into the device's memory."""


class Launcher:
    """What a host function is given: ``launch(kernel, grid, block, *arguments, shared_bytes=0)`` changes arrays in place."""

    def __init__(self, runner: Runner, kernel: str, *, host_looks_on: bool = True) -> None:
        self.runner = runner
        self.kernel = kernel
        self.names: dict[str, NDArray[Any]] = {}
        self.first: dict[int, NDArray[Any]] = {}
        self._buffers: dict[int, tuple[NDArray[Any], Buffer]] = {}
        self._host_looks_on = host_looks_on

    def __call__(
        self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Argument,
        shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        sizes = [(n,) if isinstance(n, int) else n for n in (grid, block)]
        self.run(Step(sizes[0], sizes[1], arguments, shared_bytes, kernel))

    def run(self, step: Step) -> None:
        """Makes one launch. Raises ``Stopped`` when the kernel fails, ``Misuse`` for arguments that do not fit it."""
        kernel = kernel_called(self.runner.modules, step.kernel or self.kernel)
        if self._host_looks_on:
            self._upload()
        parameters = pack(self.runner.function(kernel), self._values(kernel, step))
        self.runner.launch(Launch(kernel, triple(step.grid), triple(step.block), parameters, step.shared_bytes))
        if self._host_looks_on:
            self.download()

    def download(self) -> None:
        """Copies every buffer back into its array."""
        for array, buffer in self._buffers.values():
            array.reshape(-1).view(np.uint8)[:] = self.runner.arena.view(buffer)

    def name_of(self, array: NDArray[Any]) -> str | None:
        """What an array is called by the argument that it was first given as; None for one that no launch was given."""
        return next((name for name, known in self.names.items() if known is array), None)

    def _upload(self) -> None:
        for array, buffer in self._buffers.values():
            self.runner.arena.view(buffer)[:] = array.reshape(-1).view(np.uint8)

    def _values(self, kernel: str, step: Step) -> list[int | float | np.generic | bytes]:
        given = step.arguments
        named = given.items() if isinstance(given, Mapping) else ((f"argument {i}", a) for i, a in enumerate(given))
        return [
            self._address(kernel, name, a) if isinstance(a, np.ndarray) else 0 if a is None else a for name, a in named
        ]

    def _address(self, kernel: str, name: str, array: NDArray[Any]) -> int:
        known = self._buffers.get(id(array))
        if known is None:
            if not (array.flags.c_contiguous and array.flags.writeable):
                raise Misuse(
                    f"{name} of kernel '{kernel}' is an array that is not contiguous or cannot be written",
                    hint="give numpy.ascontiguousarray(array), or a copy",
                )
            name = name if name not in self.names else f"{kernel} {name}"
            while name in self.names:
                name += "'"
            self.names[name] = array
            self.first[id(array)] = array.copy()
            buffer = self.runner.arena.allocate(array.nbytes, name)
            self.runner.arena.view(buffer)[:] = array.reshape(-1).view(np.uint8)
            known = self._buffers[id(array)] = (array, buffer)
        return known[1].address


Host = Callable[[Launcher], Mapping[str, NDArray[Any]]]
"""A host program: makes its own arrays (the same in every call), launches, and returns its outputs by name."""


@dataclass(frozen=True, eq=False)
class Case:
    """One set of inputs and what is launched on it. See the module's own text for the three forms."""

    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    arguments: Arguments = ()
    shared_bytes: int = 0
    launches: tuple[Step, ...] = ()
    host: Host | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if sum((bool(self.grid or self.block), bool(self.launches), self.host is not None)) != 1:
            raise Misuse(
                "a case states how it is run once",
                hint="give grid and block with arguments, or launches=(...), or host=function",
            )

    @property
    def steps(self) -> tuple[Step, ...]:
        """The launches of a case that is not a host function."""
        if self.host is not None or self.launches:
            return self.launches
        return (Step(self.grid, self.block, self.arguments, self.shared_bytes),)

    def run(self, runner: Runner, kernel: str) -> Output:
        """Runs every launch; ``kernel`` is the workload's own. Raises ``Stopped`` when a kernel or the host program fails."""
        launcher = Launcher(runner, kernel, host_looks_on=self.host is not None)
        arrays = self._call_host(launcher) if self.host is not None else self._run_steps(launcher)
        first = {name: launcher.first[id(array)] for name, array in launcher.names.items()}
        before = {name: launcher.first[id(a)] for name, a in arrays.items() if id(a) in launcher.first}
        return Output(arrays, before, first)

    def _run_steps(self, launcher: Launcher) -> Arrays:
        copies: dict[int, NDArray[Any]] = {}
        for step in self.steps:
            launcher.run(_on_copies(step, copies))
        launcher.download()
        return dict(launcher.names)

    def _call_host(self, launcher: Launcher) -> Arrays:
        assert self.host is not None
        try:
            return {name: np.asarray(values) for name, values in self.host(launcher).items()}
        except (Stopped, Misuse):
            raise
        except Exception as error:  # What a candidate computed may lead its host program anywhere.
            raise Stopped(Rejected("program", f"its host program fails: {type(error).__name__}: {error}")) from error

    def fingerprint(self) -> str:
        """A hash of the inputs and launches; of a host function, only of its name."""
        parts: list[str | bytes] = [self.name]
        if self.host is not None:
            parts += [getattr(self.host, "__module__", ""), getattr(self.host, "__qualname__", "")]
        order: dict[int, int] = {}
        for step in self.steps:
            parts += [step.kernel, repr((tuple(step.grid), tuple(step.block), step.shared_bytes))]
            given = step.arguments
            for name, argument in given.items() if isinstance(given, Mapping) else enumerate(given):
                parts += [str(name), *_bytes_of(argument, order)]
        return content_key(parts)


def _on_copies(step: Step, copies: dict[int, NDArray[Any]]) -> Step:
    """The same launch on copies of its arrays; an array that comes again is the same copy."""

    def own(argument: Argument) -> Argument:
        if not isinstance(argument, np.ndarray):
            return argument
        if id(argument) not in copies:
            copies[id(argument)] = np.array(argument, order="C")
        return copies[id(argument)]

    given = step.arguments
    arguments: Arguments = (
        {name: own(a) for name, a in given.items()} if isinstance(given, Mapping) else tuple(own(a) for a in given)
    )
    return Step(step.grid, step.block, arguments, step.shared_bytes, step.kernel)


def _bytes_of(argument: Argument, order: dict[int, int]) -> list[str | bytes]:
    if isinstance(argument, np.ndarray):
        if id(argument) in order:
            return [f"array {order[id(argument)]}"]
        order[id(argument)] = len(order)
        return [str(argument.dtype), repr(argument.shape), np.ascontiguousarray(argument).tobytes()]
    if isinstance(argument, np.generic):
        return [str(argument.dtype), argument.tobytes()]
    return [type(argument).__name__, argument if isinstance(argument, bytes) else repr(argument)]
