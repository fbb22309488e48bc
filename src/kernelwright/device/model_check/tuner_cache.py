"""A tuner's cache file: times of many variants of one kernel on one GPU, as Kernel Tuner writes them, or in the T4 form.

    {"device_name": "...", "kernel_name": "...", "cache": {"16,4,...": {"block_size_x": 16, ..., "time": 3.87}, ...}}
    {"results": [{"configuration": {"block_size_x": 16, ...}, "invalidity": "correct", "measurements": [...]}, ...]}

Times in both are milliseconds. A variant that failed has words where others have a time.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Value = int | float | str


@dataclass(frozen=True)
class MeasuredVariant:
    """``name``: as the file has it, for messages."""

    name: str
    parameters: Mapping[str, Value]
    time_us: float


@dataclass(frozen=True)
class TunerCache:
    """``device`` and ``kernel`` are empty where the file does not say. ``failed`` variants have no time."""

    path: Path
    device: str
    kernel: str
    variants: tuple[MeasuredVariant, ...]
    failed: int

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the tuned parameters, as the first variant lists them."""
        return tuple(self.variants[0].parameters)

    def varied(self) -> tuple[str, ...]:
        """The parameters that have more than one value."""
        return tuple(p for p in self.parameters if len({v.parameters[p] for v in self.variants}) > 1)


def read_tuner_cache(path: Path) -> TunerCache:
    """Reads a cache file, gzipped or not. Raises ``Misuse`` for what is none, naming the entry."""
    found = _json(path)
    if not isinstance(found, dict):
        raise _no_cache(path)
    if isinstance(found.get("cache"), dict):
        names = [str(n) for n in found.get("tune_params_keys", [])]
        entries: Iterable[tuple[str, Any, Any]] = [
            (key, _without_results(entry, names), entry.get("time") if isinstance(entry, dict) else None)
            for key, entry in found["cache"].items()
        ]
        devices = {e["device_name"] for e in found["cache"].values() if isinstance(e, dict) and "device_name" in e}
    elif isinstance(found.get("results"), list):
        entries = [(f"results[{i}]", _configuration(e), _t4_time(e)) for i, e in enumerate(found["results"])]
        devices = set()
    else:
        raise _no_cache(path)
    devices |= {found["device_name"]} if isinstance(found.get("device_name"), str) else set()
    if len(devices) > 1:
        raise Misuse(
            f"{path} has times of several devices: {', '.join(sorted(map(str, devices)))}",
            hint="make a file of each device's entries",
        )
    variants = []
    for name, parameters, time in entries:
        if not isinstance(parameters, dict) or not parameters:
            raise Misuse(f"{path}: entry {name!r} has no parameters", hint="is it a tuner's cache file?")
        variants += [MeasuredVariant(name, parameters, 1000 * ms)] if (ms := _time(path, name, time)) else []
    failed = sum(1 for _ in entries) - len(variants)
    if not variants:
        raise Misuse(f"{path}: all {failed} variants failed, so there is no time to compare", hint="take another cache")
    names = list(variants[0].parameters)
    for each in variants:
        if list(each.parameters) != names:
            raise Misuse(
                f"{path}: entry {each.name!r} has other parameters than the first: {', '.join(each.parameters)}",
                hint=f"the first has {', '.join(names)}",
            )
    kernel = found.get("kernel_name")
    return TunerCache(
        path, str(next(iter(devices), "")), kernel if isinstance(kernel, str) else "", tuple(variants), failed
    )


def _json(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror or error}", hint="give a tuner's cache file") from None
    except (EOFError, zlib.error) as error:
        raise Misuse(f"{path} is truncated: {error}", hint="fetch it again") from None
    except json.JSONDecodeError as error:
        raise Misuse(
            f"{path}:{error.lineno}:{error.colno}: {error.msg}",
            hint="a tuner that was interrupted leaves its file open: end it with }}, or fetch it again",
        ) from None
    except UnicodeDecodeError:
        raise _no_cache(path) from None


def _no_cache(path: Path) -> Misuse:
    return Misuse(
        f"{path} is no tuner's cache file", hint="Kernel Tuner's have a 'cache', those in the T4 form 'results'"
    )


def _without_results(entry: Any, names: list[str]) -> Any:
    return {n: entry[n] for n in names if n in entry} if isinstance(entry, dict) else None


def _configuration(entry: Any) -> Any:
    return entry.get("configuration") if isinstance(entry, dict) else None


def _t4_time(entry: Any) -> Any:
    if not isinstance(entry, dict) or entry.get("invalidity") not in (None, "correct"):
        return "failed"
    for each in entry.get("measurements", []):
        if each.get("name") == "time":
            return each.get("value")
    return None


def _time(path: Path, name: str, time: Any) -> float:
    """Milliseconds; 0 for a variant that failed."""
    if isinstance(time, str) or time is None:
        return 0.0
    if isinstance(time, bool) or not isinstance(time, int | float) or not math.isfinite(time) or time <= 0:
        raise Misuse(f"{path}: entry {name!r} took {time!r} ms", hint="take such entries out: no kernel takes no time")
    return 0.0 if time >= FAILED_MS else float(time)


FAILED_MS = 1e20
"""What older versions of Kernel Tuner wrote for a variant that failed."""
