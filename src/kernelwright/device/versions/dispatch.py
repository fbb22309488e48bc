"""Which version of a kernel a launch on the virtual GPU runs: the first whose checks hold, else the original.

    dispatch = Dispatch(versions, gpu, arena)
    found = dispatch.fitting(loaded, kernel, block)          # once for each kernel and block: those that can be used
    chosen = dispatch.choose(found, execution)               # at each launch

A version is used only in place of the very kernel that it was made from, by the digest of that kernel's IR. What keeps one from being
used is a sentence, and the original runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.load_module import load
from kernelwright.device.versions.comparison import difference, extents_of
from kernelwright.device.versions.version_use import KernelUse, VersionUse, shape_of
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.errors import KernelwrightError
from kernelwright.ir import parse_module
from kernelwright.kernel_version import Version
from kernelwright.launch import Launch, Triple
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Fitting:
    """A version that can take a kernel's place, with its variables in the program's memory."""

    use: VersionUse
    loaded: Loaded
    compiled: CompiledKernel | None
    """None where another GPU than the virtual one runs it."""

    def is_due(self, launch: Launch) -> bool:
        """Whether the original is to run beside this launch, for its time."""
        return self.use.is_due(shape_of(launch))


@dataclass(frozen=True, eq=False)
class Fittings:
    """The versions of a kernel that can be used, and what is counted of it."""

    kernel: KernelUse
    each: tuple[Fitting, ...] = ()


class Dispatch:
    """The versions of one program and what came of them."""

    def __init__(
        self, given: Iterable[Version], gpu: VirtualGpu | None, arena: Arena, *, followed: bool = False
    ) -> None:
        """``given``: what comes with no module of the program. ``gpu``: the virtual GPU, where it is that. ``followed``: launches
        are for the timing model."""
        self._given = tuple(given)
        self._gpu = gpu
        self._arena = arena
        self._followed = followed
        self._uses: dict[str, KernelUse] = {}
        self._fitting: dict[tuple[int, str], tuple[Loaded, tuple[tuple[VersionUse, Loaded], ...]]] = {}

    def start_over(self) -> None:
        """The program's modules are gone. What was counted stays."""
        self._fitting.clear()

    # -- what can be used ----------------------------------------------------------------------------------------------

    def fitting(self, loaded: Loaded, kernel: str, block: Triple, own: Iterable[Version] = ()) -> Fittings | None:
        """The versions for a kernel of ``loaded`` that run with this block; None when it was not given. ``own``: those in the
        program, which are tried after the ones given."""
        versions = [version for version in (*self._given, *own) if version.kernel == kernel]
        if not versions:
            return None
        use = self._uses.get(kernel)
        if use is None:
            use = self._uses[kernel] = KernelUse(kernel, [VersionUse(version) for version in dict.fromkeys(versions)])
        key = (id(loaded.module), kernel)
        if key not in self._fitting:
            # The module is kept, so that no other gets its number.
            self._fitting[key] = (loaded, tuple(self._checked(use, loaded)))
        compiled = (self._compiled(each, placed, kernel, block) for each, placed in self._fitting[key][1])
        return Fittings(use, tuple(each for each in compiled if each is not None))

    def _compiled(self, use: VersionUse, placed: Loaded, kernel: str, block: Triple) -> Fitting | None:
        if self._gpu is None:
            return Fitting(use, placed, None)
        try:
            return Fitting(use, placed, self._gpu.compile(placed, kernel, block, followed=self._followed))
        except KernelwrightError as error:
            use.refused = error.message
            return None

    def _checked(self, use: KernelUse, loaded: Loaded) -> Iterator[tuple[VersionUse, Loaded]]:
        parameters = extents_of(loaded.module.functions[use.kernel])
        for each in use.versions:
            version = each.version
            each.refused = difference(version, parameters, loaded.module)
            if each.refused:
                continue
            try:
                made = load(parse_module(version.ir), self._arena, loaded.source, loaded.variables.buffers)
            except KernelwrightError as error:
                each.refused = error.message
                continue
            yield each, replace(made, key=f"{version.name} {version.kernel}")

    # -- launches ------------------------------------------------------------------------------------------------------

    def choose(self, found: Fittings, execution: Execution) -> Fitting | None:
        """What runs in the original's place; None: the original does."""
        for each in found.each:
            version = each.use.version
            if not version.guards:
                return each
            facts = facts_of_execution(execution, self._arena)
            broken = [n for n, guard in enumerate(version.guards) if not guard.holds(facts)]
            if not broken:
                return each
            each.use.failed.update(version.words[n] for n in broken)
        return None

    def ran(
        self,
        found: Fittings,
        chosen: Fitting | None,
        launch: Launch,
        time_us: float,
        original_us: float | None,
        launch_us: float = 0.0,
    ) -> None:
        """Counts a launch. ``chosen``: the version that ran. ``original_us``: what the original takes there, where it is known.
        ``launch_us``: what launching costs, where the other times are without it."""
        found.kernel.launch_us += launch_us
        if chosen is not None:
            chosen.use.ran(shape_of(launch), time_us)
            if original_us:
                chosen.use.sampled(shape_of(launch), time_us, original_us)
        else:
            found.kernel.originals += 1
            found.kernel.original_us += time_us

    # -- the end -------------------------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, object]]:
        """A row for each launched kernel that has versions."""
        return [use.as_json() for use in self._uses.values()]

    def sentences(self) -> list[str]:
        """Why versions of launched kernels were not used at all."""
        return [
            f"{each.version.name} is not used for kernel {readable(use.kernel)}: {each.refused}; the original runs"
            for use in self._uses.values()
            for each in use.versions
            if each.refused
        ]
