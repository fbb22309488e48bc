"""A computation for any sizes, with inputs for it and what is right: the library's, and those that people write.

    @kw.computation(scalars={"alpha": 1.5})
    def scale(c: kw.Computation, n: int = 65536) -> None:
        i = c.loop("n", n, tiles=(1024, 4))
        x, y = c.input("X", (n,)), c.output("Y", (n,))
        c.store("st", y[i], c.scalar("alpha") * c.load("x", x[i]))

What is right is what the oracle says, a function that NumPy computes with, or else the computation itself in double precision
(``interpretation.py``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Array
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.interpretation import interpreted

Arrays = Mapping[str, npt.NDArray[np.float64]]
Memory = Mapping[str, npt.NDArray[np.float32]]
SEED = 1
"""Of the inputs that kernels are tried on."""
TOLERANCE = 1e-4
"""The largest difference over the largest expected value: inputs are below 1, and sums of some thousand terms are rounded."""
Oracle = Callable[[Arrays, Mapping[str, float]], dict[str, npt.NDArray[Any]]]
"""(arrays, scalars) -> outputs, all by name: arrays of the declared shapes, in double precision."""


@dataclass(frozen=True)
class Family:
    """``declare`` takes the sizes by name. ``sizes``: their names, with those to use when none are given; None: one has to be."""

    name: str
    sizes: Mapping[str, int | None]
    declare: Callable[..., Computation]
    oracle: Oracle | None
    scalars: Mapping[str, float]
    file: str = ""
    """Where a person's is written; empty for those of the library."""

    def computation(self, **sizes: int) -> Computation:
        """Raises ``Misuse`` for a size that the computation does not have, or lacks."""
        unknown = sorted(set(sizes) - set(self.sizes))
        if unknown:
            raise Misuse(f"{self.name} has no size {unknown[0]}", hint=f"it has {', '.join(self.sizes)}")
        chosen = {**self.sizes, **sizes}
        missing = [name for name, size in chosen.items() if size is None]
        if missing:
            raise Misuse(f"{self.name} is given no {missing[0]}", hint=f"its sizes are {', '.join(self.sizes)}")
        found = self.declare(**chosen)
        unset = [name for name in found.scalars if name not in self.scalars]
        if unset:
            raise Misuse(
                f"scalar {unset[0]} of {self.name} has no value to try it with",
                hint=f'@kw.computation(scalars={{"{unset[0]}": 1.5}})',
            )
        return found

    def inputs(self, computation: Computation, seed: int) -> dict[str, npt.NDArray[np.float32]]:
        """Per array its memory, one-dimensional with gaps where strides leave some; outputs hold NaN."""
        generator = np.random.default_rng(seed)
        return {
            a.name: np.full(a.elements, np.nan, np.float32)
            if a.is_output
            else generator.uniform(-1, 1, a.elements).astype(np.float32)
            for a in computation.arrays.values()
        }

    def expected(self, computation: Computation, memory: Memory) -> dict[str, npt.NDArray[np.float64]]:
        """Per output its elements in the declared shape, computed in double precision. Raises ``Misuse`` for an oracle that fails, or
        whose outputs are not those of the computation."""
        if self.oracle is None:
            found = interpreted(computation, memory, self.scalars)
            outputs = {a.name: shaped_view(a, found[a.name]) for a in computation.arrays.values() if a.is_output}
        else:
            outputs = self._by_oracle(self.oracle, computation, memory)
        for name, values in outputs.items():
            if not np.isfinite(values).all():
                raise Misuse(
                    f"output {name} of {self.name} has elements that are no finite numbers, with inputs between -1 and 1",
                    hint="kernels are compared by numbers: keep quotients and exponentials finite",
                )
        return outputs

    def _by_oracle(
        self, oracle: Oracle, computation: Computation, memory: Memory
    ) -> dict[str, npt.NDArray[np.float64]]:
        shaped = {a.name: shaped_view(a, memory[a.name]).astype(np.float64) for a in computation.arrays.values()}
        try:
            found = oracle(shaped, self.scalars)
        except KernelwrightError:
            raise
        except Exception as error:
            raise Misuse(
                f"the oracle of {self.name} fails: {type(error).__name__}: {error}",
                hint="it is called with the arrays and the scalars, both by name",
            ) from error
        wanted = {a.name: a for a in computation.arrays.values() if a.is_output}
        if not isinstance(found, Mapping) or set(found) != set(wanted):
            said = ", ".join(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
            raise Misuse(
                f"the oracle of {self.name} returns {said or 'nothing'}, and its outputs are {', '.join(wanted)}",
                hint=f'return {{"{next(iter(wanted), "C")}": ...}}',
            )
        outputs = {}
        for name, array in wanted.items():
            outputs[name] = np.asarray(found[name], np.float64)
            if outputs[name].shape != array.shape:
                raise Misuse(
                    f"the oracle of {self.name} returns {name} of shape {outputs[name].shape}, and it is {array.shape}"
                )
        return outputs


def shaped_view(array: Array, memory: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements of an array in its declared shape."""
    strides = tuple(s * memory.itemsize for s in array.strides)
    return np.lib.stride_tricks.as_strided(memory, array.shape, strides)


@overload
def computation(function: Callable[..., object]) -> Family: ...
@overload
def computation(
    *, oracle: Oracle | None = None, scalars: Mapping[str, float] | None = None
) -> Callable[[Callable[..., object]], Family]: ...
def computation(
    function: Callable[..., object] | None = None,
    *,
    oracle: Oracle | None = None,
    scalars: Mapping[str, float] | None = None,
) -> Family | Callable[[Callable[..., object]], Family]:
    """Makes a computation of a function that declares it: ``function(c, n)`` with a ``Computation`` and its sizes, which may have
    defaults. It is called after the function. ``oracle``: what is right, when that is not what the computation says itself;
    ``scalars``: the values that kernels are tried with. Raises ``Misuse`` for a function without parameters."""

    if function is not None and not callable(function):
        raise Misuse(
            f"{function!r} declares no computation", hint="write @kw.computation above a function: def axpy(c, n)"
        )

    def made(function: Callable[..., object]) -> Family:
        name = getattr(function, "__name__", "")
        parameters = list(inspect.signature(function).parameters.values())
        if not parameters:
            raise Misuse(f"{name} takes no computation to declare itself in", hint=f"def {name}(c, n): ...")
        sizes = {p.name: None if p.default is p.empty else p.default for p in parameters[1:]}

        def declare(**sizes: int) -> Computation:
            begun = Computation(name)
            function(begun, **sizes)
            return begun

        code = getattr(function, "__code__", None)
        return Family(name, sizes, declare, oracle, dict(scalars or {}), code.co_filename if code else "")

    return made if function is None else made(function)
