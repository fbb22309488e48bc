"""What runs a program's kernels: the virtual GPU behind its registered modules, under the watchdog's eye.

What runs kernels takes a third of a second to load. It is loaded beside the first messages of a program, so that one that
reads its inputs or allocates memory first does not wait for it.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.execution import LAUNCH_QUEUE, Execution
from kernelwright.device.serving.errors import CudaError, Failure, Refused, defect, error_of
from kernelwright.device.serving.observer import Observer, those_with
from kernelwright.device.serving.registry import Registered, Runnable
from kernelwright.device.serving.watchdog import UnderWay
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.errors import CompileError, DeviceError, KernelwrightError
from kernelwright.launch import STACK_BYTES

if TYPE_CHECKING:
    from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
    from kernelwright.device.execution import Loaded
    from kernelwright.device.fault import Fault
    from kernelwright.device.versions.dispatch import Dispatch, Fitting, Fittings
    from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
    from kernelwright.device.virtual_gpu.launch_estimates import Timing
    from kernelwright.kernel_version import Version
    from kernelwright.launch import Launch, Triple


def load() -> None:
    """Loads what runs kernels, which takes a third of a second; the second time it is there already."""
    import kernelwright.device.virtual_gpu.gpu
    import kernelwright.device.virtual_gpu.repeated_launches  # noqa: F401
    from kernelwright.codegen.simt.launching.runtime_library import runtime
    from kernelwright.passes.llvm import binding

    binding()
    runtime()


class Engine:
    """Kernels of one program on one virtual GPU. With ``timed``, launches carry estimates of their time."""

    def __init__(
        self,
        arena: Arena,
        settings: Settings,
        observers: Sequence[Observer],
        timed: bool,
        under_way: UnderWay,
        versions: Sequence[Version] | None = (),
        kept: KeptCode | None = None,
    ) -> None:
        """``versions``: given besides those in the program, and before them; None: the program's own kernels run. ``kept``: what
        earlier sessions have made."""
        self.settings = settings
        self._shared = kept
        self._kept = kept or KeptCode()
        self.registered = Registered(arena, self.gpu, self._kept, settings.gpu.arch)
        self._arena = arena
        self._observers = tuple(observers)
        self._before_launch, self._instead, self._after_launch = (
            those_with(method, observers) for method in ("before_launch", "launch", "after_launch")
        )
        self._timed = timed
        self._under_way = under_way
        self._versions = versions
        self.dispatch: Dispatch | None = None
        """Made when the first kernel with versions is launched."""
        self._device: VirtualGpu | None = None
        self._timing: Timing | None = None
        self._making = threading.Lock()
        self.stack_bytes = STACK_BYTES
        """Of each thread, where functions call themselves."""
        self._ready: dict[tuple[int, int, int, int], Runnable] = {}

    # -- the device ----------------------------------------------------------------------------------------------------

    def gpu(self) -> VirtualGpu:
        """What runs kernels, loaded when it is first needed.

        Whatever else wants the modules behind it asks here first: two threads that import the same circle of modules get
        in each other's way.
        """
        with self._making:
            if self._device is None:
                load()
                from kernelwright.device.virtual_gpu.gpu import VirtualGpu
                from kernelwright.device.virtual_gpu.repeated_launches import RepeatedLaunches

                if self._kept.gpu is None:
                    self._kept.gpu = VirtualGpu(cores=self.settings.cores, repeated=RepeatedLaunches())
                self._device = self._kept.gpu
            if self._timed and self._timing is None:
                from kernelwright.device.virtual_gpu.launch_estimates import Timing

                self._timing = Timing(self.settings.gpu, self._arena, kept=self._shared)
        return self._device

    @property
    def running(self) -> VirtualGpu | None:
        """The device if it is loaded, for the watchdog's thread."""
        return self._device

    def warm_up(self) -> None:
        """Loads the device in a thread of its own."""
        threading.Thread(target=self._load, name="warm-up", daemon=True).start()

    def _load(self) -> None:
        try:
            self.gpu()
        except Exception:
            pass  # the first launch meets the same, and says so

    def keep_time(self) -> None:
        """From now on launches carry estimates."""
        if not self._timed:
            self._timed = True
            self.forget_prepared()  # those were not made to be followed

    @property
    def untimed(self) -> dict[str, str]:
        """Kernels, by mangled name, that were launched and that the timing model could not take; and why."""
        return dict(self._timing.untimed) if self._timing is not None else {}

    def start_over(self) -> None:
        """Forgets the program's modules, and what launches left in caches."""
        self.registered = Registered(self._arena, self.gpu, self._kept, self.settings.gpu.arch)
        self.stack_bytes = STACK_BYTES
        self.forget_prepared()
        if self.dispatch is not None:
            self.dispatch.start_over()
        if self._timing is not None:
            self._timing.start_over()
        if self._device is not None and self._device.repeated is not None:
            self._device.repeated.clear()

    def forget_prepared(self) -> None:
        """A kernel may be another now."""
        self._ready.clear()

    # -- launches ------------------------------------------------------------------------------------------------------

    def launch(self, number: int, launch: Launch, stream: int) -> Launched:
        """Runs a kernel by its number, with its faults in the result. Raises ``Refused`` for one that cannot be launched."""
        block = launch.block

        def prepared() -> Runnable:
            ready = self._ready.get((number, *block))
            if ready is None:
                ready = self._prepared(number, block)
                self._ready[number, block[0], block[1], block[2]] = ready
            return ready

        return self._launch(prepared, launch, stream)

    def launched_by(self, number: int, stream: int) -> Iterator[tuple[Loaded, Launched]]:
        """What the last launch of a kernel has launched itself, each run and followed by what it launches. Raises ``Refused``."""
        return self._children(self.registered.loaded(number), stream, 1)

    def _children(self, loaded: Loaded, stream: int, depth: int) -> Iterator[tuple[Loaded, Launched]]:
        queue = loaded.variables.buffers.get(LAUNCH_QUEUE)
        if queue is None:
            return
        from kernelwright.device.virtual_gpu.device_launches import DEEPEST, take_launches

        try:
            launches = take_launches(loaded, queue, self._arena, self.stack_bytes)
        except DeviceError as error:
            raise Refused(CudaError.LAUNCH_FAILURE, error.message) from None
        if launches and depth > DEEPEST:
            raise Refused(CudaError.LAUNCH_FAILURE, f"kernels launch kernels more than {DEEPEST} levels deep")
        for launch in launches:
            launched = self._launch(functools.partial(self._prepared_child, loaded, launch), launch, stream)
            yield loaded, launched
            if launched.fault is None:
                yield from self._children(loaded, stream, depth + 1)

    def _prepared_child(self, loaded: Loaded, launch: Launch) -> Runnable:
        compiled = self.gpu().compile(loaded, launch.kernel, launch.block, followed=self._timed)
        return Runnable(launch.kernel, loaded, compiled)

    def _launch(self, prepared: Callable[[], Runnable], launch: Launch, stream: int) -> Launched:
        began = 0.0
        under_way = self._under_way
        try:
            ready = prepared()
            settings = self.settings
            compiled = ready.compiled
            if self.stack_bytes != launch.stack_bytes:
                launch = replace(launch, stack_bytes=self.stack_bytes)
            execution = Execution(
                ready.loaded, launch, budget=settings.budget, stream=stream, overread=settings.overread
            )
            chosen, original_us = None, None
            if ready.versions is not None:
                chosen, original_us = self._chosen(ready.versions, execution)
            if chosen is not None:
                execution = replace(execution, loaded=chosen.loaded)
                compiled = chosen.compiled or compiled
            for observer in self._before_launch:
                observer.before_launch(execution)
            under_way.timed_out = False
            began = under_way.began = time.monotonic()
            launched = self._run(execution, compiled)
        except CompileError as error:
            raise Refused(CudaError.INVALID_PTX, str(error)) from None
        except DeviceError as error:
            raise Refused(CudaError.INVALID_CONFIGURATION, error.message) from None
        except MemoryError:
            raise Refused(
                CudaError.MEMORY_ALLOCATION, f"there is no memory left to run kernel {readable(launch.kernel)}"
            ) from None
        except KernelwrightError as error:
            raise Refused(CudaError.UNKNOWN, str(error)) from None
        except Refused:
            raise
        except Exception as error:
            raise Refused(CudaError.UNKNOWN, defect(error)) from None
        finally:
            under_way.began = None
        seconds = time.monotonic() - began
        if ready.versions is not None:
            assert self.dispatch is not None
            launch_us = launched.time_us - launched.kernel_us
            self.dispatch.ran(ready.versions, chosen, launch, launched.kernel_us, original_us, launch_us)
        for observer in self._after_launch:
            observer.after_launch(execution, launched, seconds)
        return launched

    def _prepared(self, number: int, block: Triple) -> Runnable:
        ready = self.registered.prepare(number, block, followed=self._timed)
        if self._versions is None:
            return ready
        own = self.registered.versions(number)
        if not self._versions and not own:
            return ready
        if self.dispatch is None:
            from kernelwright.device.versions.dispatch import Dispatch

            self.dispatch = Dispatch(self._versions, self.gpu(), self._arena, followed=self._timed)
        return replace(ready, versions=self.dispatch.fitting(ready.loaded, ready.name, block, own))

    def _chosen(self, versions: Fittings, execution: Execution) -> tuple[Fitting | None, float | None]:
        """The version that runs, and what the original would take at this launch, as far as that was asked for."""
        assert self.dispatch is not None
        chosen = self.dispatch.choose(versions, execution)
        is_due = chosen is not None and self._timed and chosen.is_due(execution.launch)
        return chosen, self._aside(execution) if is_due else None

    def _aside(self, execution: Execution) -> float | None:
        """What a launch would take, made on a copy of the memory; None where it is unknown."""
        gpu = self.gpu()
        assert self._timing is not None
        self._under_way.began = time.monotonic()
        with self._arena.aside() as has_copy, self._timing.aside():
            launched = self._timing.launch(gpu, execution) if has_copy else None
        return launched.kernel_us if launched is not None and launched.fault is None else None

    def _run(self, execution: Execution, compiled: CompiledKernel) -> Launched:
        gpu = self._device
        assert gpu is not None
        for observer in self._instead:
            launched = observer.launch(execution, gpu)
            if launched is not None:
                return launched
        if not self._timed:
            return gpu.run(execution, self._arena, compiled=compiled)
        self.gpu()
        assert self._timing is not None
        return self._timing.launch(gpu, execution)

    def failure_of(self, fault: Fault, loaded: Loaded, launch: Launch) -> Failure | None:
        """A kernel's fault as its program learns of it; None for one that was stopped because its program has gone."""
        from kernelwright.codegen.simt.launching.runtime_structs import WAITS
        from kernelwright.device.serving.fault_sentence import sentence_of

        under_way = self._under_way
        if fault.kind == "endless":
            if under_way.gone:
                return None
            limit = (
                f"{self.settings.timeout_s:g} seconds (--timeout or KERNELWRIGHT_TIMEOUT sets this limit)"
                if under_way.timed_out
                else f"{self.settings.budget} loop iterations (--budget or KERNELWRIGHT_BUDGET sets this limit)"
            )
            if fault.message != WAITS:
                fault = replace(fault, message=f"it did not end, and was stopped after {limit}")
        sentence = sentence_of(fault, loaded.module, launch.parameters, self._arena)
        is_told = any(observer.tells for observer in self._observers)
        return Failure(error_of(fault), "" if is_told else sentence, is_sticky=True)
