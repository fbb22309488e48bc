"""Kernels from Python, on NumPy arrays.

    import kernelwright as kw

    program = kw.compile("saxpy.cu")
    device = kw.Device("h200")
    done = device.launch(program.kernel("saxpy"), 64, 256, (x, y, 2.0, n))
    done.fault, done.time_us                # None, and what an H200 would take

Arrays are copied to the device for each launch and back after it, into the arrays themselves, as CuPy's ``RawKernel``
changes its arguments in place. A kernel that faults is not an exception: ``done.fault`` says what it did wrong, and arrays
hold what it had written until then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from kernelwright.calibration import Calibration
from kernelwright.cuda.signatures import parameter_types
from kernelwright.device.arguments import pack
from kernelwright.device.checking import checked_launches
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.from_python.argument_checks import check_arguments, triple
from kernelwright.device.from_python.array_buffers import Argument, Span, spans_of, value_of
from kernelwright.device.from_python.backends import CudaLauncher, Launcher, VirtualLauncher
from kernelwright.device.real_gpu.gpu import CudaLaunched
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET, TIMEOUT_S, Settings, calibrated
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.device.versions.dispatch import Dispatch, Fittings
from kernelwright.device.virtual_gpu.gpu import Launched
from kernelwright.errors import Misuse, check_kind
from kernelwright.kernel_version import Version
from kernelwright.launch import Launch
from kernelwright.pipeline import Kernel, Unit

Extent = int | Sequence[int]
"""One to three numbers, as CUDA's ``dim3``."""


class Device:
    """A GPU by name: ``h200``, ``a100``, ... are virtual ones, ``cuda:0`` is a real one, ``auto`` the best there is.

    ``budget`` bounds the loop iterations of a launch on a virtual GPU, ``timeout_s`` the seconds of a launch on any (0: no
    bound): a kernel that exceeds either ends with an ``endless`` fault. Ctrl-C ends a launch, too. A virtual GPU without
    ``timing`` is a millisecond or two quicker per launch, and ``time_us`` is 0. ``strict``: a read past a buffer that a GPU
    would let pass ends its launch; else it is among the result's ``overreads``. ``winners``: what
    ``kw.winners("smooth-1")`` gives; at each launch of a kernel that one was made from its checks are asked, and it runs or the
    original does: ``version`` of the result says which. ``calibration``: constants of the timing model, or a file of them that
    ``kw model fit`` wrote. A module's device variables keep their
    values from launch to launch. Not for several threads at once. Raises ``Misuse`` for an unknown name, ``ToolError``
    and ``DeviceError`` for a real GPU that this machine lacks.
    """

    def __init__(
        self,
        name: str = "auto",
        *,
        budget: int = BUDGET,
        timeout_s: float = TIMEOUT_S,
        timing: bool = True,
        strict: bool = False,
        winners: Sequence[Version] = (),
        calibration: str | Path | Calibration | None = None,
    ) -> None:
        check_kind(budget, int, "budget", "give a whole number: budget=100_000_000")
        check_kind(timeout_s, (int, float), "timeout_s", "give seconds: timeout_s=10")
        if not (isinstance(winners, Sequence) and all(isinstance(each, Version) for each in winners)):
            raise Misuse(
                f"winners is {str(winners)[:40]!r}, and not versions of kernels", hint="winners=kw.winners('smooth-1')"
            )
        settings = Settings.for_device(calibrated(name, calibration), budget=budget, timeout_s=timeout_s, strict=strict)
        self.name = settings.name
        """As it can be asked for again: ``h200``, ``cuda:0``."""
        self._on: Launcher
        if settings.real:
            from kernelwright.device.real_gpu.availability import require_gpu

            require_gpu(settings.ordinal)
            self._on = CudaLauncher(settings)
        else:
            self._on = VirtualLauncher(settings, timing)
        self._dispatch = Dispatch(winners, self._on.virtual, self._on.arena, followed=timing) if winners else None
        self._loaded: dict[Unit, Loaded] = {}
        self._signatures: dict[tuple[Unit, str], tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def launch(
        self,
        kernel: Kernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Argument] = (),
        *,
        shared_bytes: int = 0,
        schedule: Schedule | None = None,
        cooperative: bool = False,
    ) -> Launched | CudaLaunched:
        """Runs a kernel on ``args`` and waits for it.

        Arrays must be contiguous; those that share memory share it on the device. A read-only array is read-only there, and a
        kernel that writes it faults. ``shared_bytes``: dynamic shared memory. ``schedule``: another order of blocks, warps
        and lanes, which has no time, on a virtual GPU. ``cooperative``: blocks may wait for the whole grid; a virtual GPU does not ask here
        whether so many would fit on the one that it stands for.

        The result has ``fault`` (None when all went well), ``time_us`` and ``text`` (what the kernel printed); of a virtual
        GPU also ``estimate`` (the timing model's) and ``result`` (counters). Within ``kw.checked()`` the launch is checked, and has
        no time. Raises ``Misuse`` for arguments that do not
        fit, ``DeviceError`` for an impossible geometry or lack of memory, ``CompileError`` for code that the GPU does not
        run.
        """
        if schedule is not None and not hasattr(schedule, "kind"):
            check_kind(
                schedule, type(None), "the schedule", "give one of kernelwright.device.schedule, or leave it out"
            )
        with self._lock, self._placed(kernel, grid, block, args, shared_bytes, cooperative) as (loaded, launch, spans):
            checked = checked_launches.active()
            if checked is not None:
                kinds = [a.dtype if isinstance(a, np.ndarray) else None for a in args]
                done = self._on.run(loaded, launch, schedule, checked.run(kinds))
            else:
                found = self._dispatch.fitting(loaded, kernel.name, launch.block) if self._dispatch else None
                done = self._run(loaded, launch, schedule, found)
            for span in spans:
                span.fetch(self._on.arena)
        return done

    def estimate(
        self, kernel: Kernel, grid: Extent, block: Extent, args: Sequence[Argument] = (), *, shared_bytes: int = 0
    ) -> Estimate:
        """What the timing model says of a launch on a virtual GPU, soon also for a large grid; arrays and variables stay as they
        are.

        Of a grid whose blocks are alike some run, drawn from a seed: ``sources["blocks"]`` then says how many ("64 of 65,536
        blocks"). Else all do. Takes what ``launch`` takes, and raises what it raises; ``Misuse`` on a real GPU, and
        ``DeviceError`` for a launch that faults.
        """
        with self._lock, self._placed(kernel, grid, block, args, shared_bytes) as (loaded, launch, _):
            return self._on.estimate(loaded, launch)

    @contextmanager
    def _placed(
        self,
        kernel: Kernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Argument],
        shared_bytes: int,
        cooperative: bool = False,
    ) -> Iterator[tuple[Loaded, Launch, Sequence[Span]]]:
        """The launch, its arrays in the device's memory meanwhile."""
        loaded, arena = self._load(kernel), self._on.arena
        mark = arena.next_address
        function = loaded.module.function(kernel.name)
        check_arguments(function, self._types(kernel, len(function.arguments)), args)
        shape = triple("grid", grid), triple("block", block)
        check_kind(shared_bytes, int, "shared_bytes", "give a whole number of bytes: shared_bytes=4096")
        check_kind(cooperative, bool, "cooperative", "cooperative=True, or leave it out")
        names = {id(a): p.name for a, p in zip(args, function.arguments, strict=False) if isinstance(a, np.ndarray)}
        spans = spans_of([a for a in args if isinstance(a, np.ndarray)])
        try:
            for span in spans:
                span.place(arena, " and ".join(dict.fromkeys(names.get(id(a), "an array") for a in span.arrays)))
            parameters = pack(function, [value_of(argument, spans) for argument in args])
            yield loaded, Launch(kernel.name, *shape, parameters, shared_bytes, cooperative), spans
        finally:
            arena.rewind(mark)

    def _run(
        self, loaded: Loaded, launch: Launch, schedule: Schedule | None, found: Fittings | None
    ) -> Launched | CudaLaunched:
        if found is None or self._dispatch is None:
            return self._on.run(loaded, launch, schedule)
        chosen = self._dispatch.choose(found, Execution(loaded, launch))
        done = self._on.run(chosen.loaded if chosen is not None else loaded, launch, schedule)
        kernel_us = done.kernel_us if isinstance(done, Launched) else done.time_us
        self._dispatch.ran(found, chosen, launch, kernel_us, None, done.time_us - kernel_us)
        return replace(done, version=chosen.use.version.name) if chosen is not None else done

    @property
    def winners(self) -> list[dict[str, Any]]:
        """By kernel: which version ran how often, which checks failed, and why a version is not used, if it is not."""
        return self._dispatch.rows() if self._dispatch is not None else []

    def variable(self, kernel: Kernel, name: str, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """A ``__device__`` or ``__constant__`` variable of the kernel's file, as an array that reads and writes the device.

        The array is valid for as long as the device is open and referenced.
        Raises ``Misuse`` when the file has no such variable, or no kernel in it uses it.
        """
        buffers = self._load(kernel).variables.buffers
        if name not in buffers:
            raise Misuse(
                f"{kernel.unit.path} has no device variable {name!r}", hint=f"it has {', '.join(buffers) or 'none'}"
            )
        return self._on.arena.view(buffers[name], dtype)

    def close(self) -> None:
        """Releases the device's memory; views of variables must not be used afterwards."""
        self._on.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self, kernel: Kernel) -> Loaded:
        check_kind(kernel, Kernel, "what is to be launched", "give a kernel of a program: program.kernel('add')")
        loaded = self._loaded.get(kernel.unit)
        if loaded is None:
            loaded = self._loaded[kernel.unit] = self._on.load(kernel.unit)
        return loaded

    def _types(self, kernel: Kernel, count: int) -> tuple[str, ...]:
        """Of its parameters, as the source has them."""
        key = kernel.unit, kernel.name
        if key not in self._signatures:
            self._signatures[key] = parameter_types(kernel.name, count, _text_of(kernel.unit.path))
        return self._signatures[key]

    def __repr__(self) -> str:
        return f"kw.Device({self.name!r})"


def _text_of(path: Path) -> str:
    """Of a source; empty when it is gone."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
