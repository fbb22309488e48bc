"""What the workers of a cluster shall do, as it travels to their nodes; and what an actor there does with it."""

from __future__ import annotations

import pickle
import platform
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kernelwright import __version__
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.farm.lost_items import Lost, Raised, raised
from kernelwright.farm.machine import available_cores, total_memory
from kernelwright.farm.messages import pack
from kernelwright.farm.pool import MEMORY_SHARE, Pool
from kernelwright.farm.task import Work
from kernelwright.lazy_dataclasses import dataclass

CHUNK = 1 << 20


@dataclass(frozen=True)
class File:
    """A file that the arguments name. What it holds decides whether a node has it."""

    path: str
    size: int
    digest: bytes

    def here(self) -> bool:
        """Whether this node has it under its path."""
        path = Path(self.path)
        try:
            return path.is_file() and path.stat().st_size == self.size and _digest(path) == self.digest
        except OSError:
            return False


@dataclass(frozen=True)
class Spec:
    """``body``: a pickle of ``(setup, arguments)``, which only the worker processes open; the rest is a pool's options."""

    body: bytes
    timeout_s: float | None
    memory_bytes: int | None
    batch: tuple[int, int] | None
    shared: bool
    files: tuple[File, ...] = ()
    version: str = __version__
    python: str = ".".join(platform.python_version_tuple()[:2])

    @classmethod
    def of(
        cls,
        setup: Callable[..., Work],
        arguments: Sequence[Any],
        timeout_s: float | None,
        memory_bytes: int | None,
        batch: tuple[int, int] | None,
        shared: bool,
        files: Sequence[Path | str],
    ) -> Spec:
        """Raises ``Misuse`` for a file that is not there."""
        found = tuple(_file(Path(each)) for each in dict.fromkeys(map(str, files)))
        return cls(pack((setup, tuple(arguments))), timeout_s, memory_bytes, batch, shared, found)


class Actor:
    """What runs on a node, in a process of Ray's: a pool of one process, and the files that the node lacked."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._places: dict[str, str] = {}
        self._pool: Pool | None = None

    def missing(self) -> list[int] | Raised:
        """Which files this node needs, by their numbers. The first call; ``Raised`` for a node that cannot take part."""
        here = f"{__version__} with Python {'.'.join(platform.python_version_tuple()[:2])}"
        there = f"{self._spec.version} with Python {self._spec.python}"
        if here != there:
            error = ToolError(
                f"{platform.node()} has Kernelwright {here}, and this machine {there}",
                hint="install the same on every node of the cluster",
            )
            return raised(error)
        return [number for number, file in enumerate(self._spec.files) if not file.here()]

    def take(self, numbers: Sequence[int], *contents: bytes) -> None:
        """Files from elsewhere, for as long as this worker lives."""
        self._folder = tempfile.TemporaryDirectory(prefix="kernelwright-cluster-")
        for number, content in zip(numbers, contents, strict=True):
            path = Path(self._folder.name, str(number), Path(self._spec.files[number].path).name)
            path.parent.mkdir()
            path.write_bytes(content)
            self._places[self._spec.files[number].path] = str(path)

    def work(self, bodies: Sequence[bytes]) -> tuple[float, list[bytes | Lost | Raised]] | Raised:
        """Seconds, and the results, each a pickle, in order; ``Raised`` when set-up fails."""
        spec = self._spec
        if self._pool is None:
            share = int(total_memory() * MEMORY_SHARE / available_cores())
            self._pool = Pool(
                sealed,
                (spec.body, spec.batch is not None, self._places),
                workers=1,
                timeout_s=spec.timeout_s,
                memory_bytes=spec.memory_bytes or share,
                batch=spec.batch,
                shared=spec.shared,
            )
        begin = time.perf_counter()
        try:
            found = dict(self._pool.map(bodies))
        except KernelwrightError as error:
            return raised(error)
        return time.perf_counter() - begin, [found[index] for index in range(len(bodies))]


def sealed(body: bytes, batch: bool, places: Mapping[str, str]) -> Callable[[Any], Any]:
    """The set-up of a worker: its items and its results are pickles, which are not opened on the way."""
    setup, arguments = pickle.loads(body)
    work: Work = setup(*moved(arguments, places))
    if batch:
        return lambda bodies: [pack(each) for each in work([pickle.loads(body) for body in bodies])]
    return lambda body: pack(work(pickle.loads(body)))


def moved(value: Any, places: Mapping[str, str]) -> Any:
    """``value`` with other paths: in tuples and dataclasses, whatever equals a key of ``places``."""
    if isinstance(value, str):
        return places.get(value, value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(moved(each, places) for each in value)
    if places and is_dataclass(value) and not isinstance(value, type):
        now = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        changed = {name: new for name, old in now.items() if (new := moved(old, places)) != old}
        return replace(value, **changed) if changed else value
    return value


def _file(path: Path) -> File:
    try:
        return File(str(path), path.stat().st_size, _digest(path))
    except OSError as error:
        raise Misuse(
            f"{path}, which the workers need, cannot be read: {error.strerror}", hint="check the path"
        ) from None


def _digest(path: Path) -> bytes:
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.digest()
