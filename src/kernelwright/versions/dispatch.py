"""One callable for several: each call takes the first version whose guard holds, the last one where none does.

    def sizes(a, b): return {"rows": a.shape[0], "columns": b.shape[1]}

    matmul = kw.versions("matmul", [outer, block, flat], by=[("rows", ">="), ("rows * columns", ">=")], sizes=sizes)
    matmul(a, b)

Thresholds come from the file that ``KW_THRESHOLDS`` names, else from ``FILE.tuning`` beside the Python file that defines the
versions, as ``kw tune FILE.py`` writes it; without one no guard holds. ``("rows", "<=")`` takes its version for small values:
it compares ``-(rows)``, and so does its threshold.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse, check_kind
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.forest import Forest
from kernelwright.versions.guard_expressions import GuardExpression, guard_expression
from kernelwright.versions.program import INFINITE, Compared, Thresholds
from kernelwright.versions.running.line_protocol import ENVIRONMENT, TELL
from kernelwright.versions.threshold_file import read_thresholds

Version = Callable[..., Any]
Sizes = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class VersionGuard:
    """``value(arguments) >= threshold`` takes the version it stands before."""

    name: str
    expression: GuardExpression


class Versions:
    """What ``kw.versions`` makes. Calling it calls the version for these arguments."""

    def __init__(
        self,
        name: str,
        versions: Sequence[Version],
        guards: Sequence[VersionGuard],
        sizes: Sizes | None,
        file: Path | None,
    ) -> None:
        self.name = name
        self.versions = tuple(versions)
        self.guards = tuple(guards)
        self.__name__ = name
        self._sizes = sizes
        self._file = file
        self._signature = inspect.signature(versions[0])
        self._parameters = tuple(self._signature.parameters)
        self._thresholds: dict[str, int] | None = None
        self.watch: Callable[[Compared], None] | None = None
        """Told of every comparison, when set."""

    @property
    def forest(self) -> Forest:
        """The guards as a chain: each is reached where the one before it was not taken."""
        return Forest.chain([guard.name for guard in self.guards])

    @property
    def thresholds(self) -> dict[str, int]:
        """Those it decides by, read when they are first needed. Raises ``Misuse`` for a file of other guards."""
        if self._thresholds is None:
            self._thresholds = self._read()
        return self._thresholds

    @thresholds.setter
    def thresholds(self, given: Thresholds) -> None:
        self._thresholds = self._own(given)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.select(*args, **options)(*args, **options)

    def select(self, *args: Any, **options: Any) -> Version:
        """The version that a call with these arguments takes."""
        thresholds = self.thresholds
        given = self._given(args, options)
        for guard, version in zip(self.guards, self.versions, strict=False):
            value = guard.expression.value(given)
            taken = value >= thresholds.get(guard.name, INFINITE)
            if self.watch is not None:
                self.watch(Compared(guard.name, value, taken))
            if taken:
                return version
        return self.versions[-1]

    def dispatch_us(self, *args: Any, **options: Any) -> float:
        """What deciding costs for these arguments, in microseconds per call: the best of five times many calls."""
        watch, self.watch = self.watch, None
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(200):
                self.select(*args, **options)
            best = min(best, (time.perf_counter() - begin) / 200 * 1e6)
        self.watch = watch
        return best

    def _given(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> Mapping[str, Any]:
        """What guards look at, by name."""
        if self._sizes is not None:
            return self._sizes(*args, **options)
        if not options and len(args) == len(self._parameters):
            return dict(zip(self._parameters, args, strict=True))
        bound = self._signature.bind(*args, **options)
        bound.apply_defaults()
        return bound.arguments

    def _read(self) -> dict[str, int]:
        given = os.environ.get(ENVIRONMENT)
        path = Path(given) if given else self._file
        if path is None or not (given or path.exists()):
            return {}
        held = read_thresholds(path)
        mine = self._own(held)
        missed = next((guard.name for guard in self.guards if guard.name not in mine), None)
        if held and missed is not None and not os.environ.get(TELL):
            has = ", ".join(held)
            # As kernelwright_threshold.h says it: it may be the file of another program, and a version is a matter of time alone.
            warnings.warn(
                f"{path} has no threshold for guard {missed}, whose version is not taken; it has {has}", stacklevel=5
            )
        return mine

    def _own(self, thresholds: Thresholds) -> dict[str, int]:
        """Those of this function's guards. A program may have other versions, which know theirs."""
        names = [guard.name for guard in self.guards]
        mine = {name: value for name, value in thresholds.items() if name.startswith(f"{self.name}.")}
        unknown = next((name for name in mine if name not in names), None)
        if unknown is not None:
            raise Misuse(
                f"{self.name} has no guard {unknown}: it has {', '.join(names) or 'none'}",
                hint="its guards have changed since it was tuned: tune it again",
            )
        return mine


def versions(
    name: str,
    versions: Sequence[Version],
    by: Sequence[tuple[str, str]],
    *,
    sizes: Sizes | None = None,
    thresholds: str | Path | None = None,
) -> Versions:
    """One callable for ``versions``, which take the same arguments and compute the same.

    ``by``: for each version but the last an expression and ``>=`` or ``<=``: the version is taken where it is at least
    (at most) a threshold. Names in it are arguments, or the keys of what ``sizes(*arguments)`` returns.
    ``thresholds``: the file to read them from. Raises ``Misuse`` for guards that are wrong, twice there, or too few.
    """
    how = 'kw.versions("matmul", [outer, flat], by=[("rows", ">=")])'
    check_kind(name, str, "the name of the versions", how)
    for what, given in (("versions", versions), ("by", by)):
        check_kind(given, (list, tuple), f"what is given as {what} of {name}", how)
    for version in versions:
        if not callable(version):
            raise Misuse(f"a version of {name} is {version!r}, which cannot be called", hint=how)
    for pair in by:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(each, str) for each in pair)):
            raise Misuse(f"a guard of {name} is {pair!r}, and not an expression with >= or <=", hint=how)
    if len(versions) < 1 or len(by) != len(versions) - 1:
        raise Misuse(
            f"{name} has {len(versions)} versions and {len(by)} guards",
            hint="every version but the last has one, in the same order",
        )
    if not name.isidentifier():
        raise Misuse(f"{name!r} names no function", hint="letters, digits and _: thresholds are called after it")
    guards = [_guard(name, expression, direction) for expression, direction in by]
    Forest.chain([guard.name for guard in guards])
    if sizes is None:
        for guard in guards:
            _refuse_unknown_names(guard, list(inspect.signature(versions[0]).parameters))
    return Versions(name, versions, guards, sizes, _file(thresholds))


def _guard(name: str, expression: str, direction: str) -> VersionGuard:
    if direction not in (">=", "<="):
        raise Misuse(f"guard {expression!r} of {name} compares by {direction!r}", hint="by >= or by <=")
    text = "".join(expression.split())
    compared = text if direction == ">=" else f"-({text})"
    return VersionGuard(f"{name}.{compared}", guard_expression(compared))


def _refuse_unknown_names(guard: VersionGuard, parameters: Sequence[str]) -> None:
    unknown = next((name for name in guard.expression.names if name not in parameters), None)
    if unknown is not None:
        raise Misuse(
            f"the guard {guard.expression.text!r} needs {unknown}, and the arguments are {', '.join(parameters) or 'none'}",
            hint="derive it from the arguments with sizes=",
        )


def _file(given: str | Path | None) -> Path | None:
    """The threshold file: as given, or beside the file that called ``kw.versions``."""
    if given is not None:
        return Path(given)
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("kernelwright.versions"):
        frame = frame.f_back
    source = frame.f_globals.get("__file__")
    return Path(source).with_suffix(".tuning") if source else None
