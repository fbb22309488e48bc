"""Which version of a kernel a launch on a real GPU runs: as ``dispatch.py``, on code that the driver loads; one that is slower there than
the original is given up (``contest.py``).

Of a program that nvcc built there is no IR to compare a kernel with: its parameters are compared, and that no more was is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kernelwright.architectures import architecture
from kernelwright.cuda.names import readable
from kernelwright.device.guard_facts import facts_of
from kernelwright.device.real_gpu.cuda_executor import image_of
from kernelwright.device.real_gpu.driver import DriverError
from kernelwright.device.real_gpu.gpu import CudaGpu, CudaLoaded
from kernelwright.device.variables import variables_of
from kernelwright.device.versions.comparison import GpuKernel, difference
from kernelwright.device.versions.contest import Contest
from kernelwright.device.versions.version_use import KernelUse, VersionUse, shape_of
from kernelwright.errors import KernelwrightError
from kernelwright.ir import Function, Module, parse_module
from kernelwright.ir.kernel_digest import reached_variables
from kernelwright.kernel_version import Version
from kernelwright.launch import Launch
from kernelwright.launch_relations import variables_asked
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class _Fitting:
    use: VersionUse
    function: int
    kernel: Function
    contest: Contest


class GpuDispatch:
    """The versions of one program on one GPU. ``region``: the allocation that an address lies in."""

    def __init__(self, given: Sequence[Version], gpu: CudaGpu, region: Callable[[int], range | None]) -> None:
        self._given = tuple(given)
        self._gpu = gpu
        self._region = region
        self._uses: dict[str, KernelUse] = {}
        self._fitting: dict[int, tuple[GpuKernel, tuple[_Fitting, ...]]] = {}
        self._notes: dict[str, None] = {}

    def start_over(self, gpu: CudaGpu) -> None:
        """The context is a new one. What was counted stays."""
        self._gpu = gpu
        self._fitting.clear()

    def forget_kernels(self) -> None:
        """A module has gone, and its kernels' numbers may be others' now."""
        self._fitting.clear()

    def function(
        self, number: int, launch: Launch, kernel_of: Callable[[int], GpuKernel]
    ) -> tuple[int | None, Contest | None]:
        """What runs a launch of the kernel with this number, None: the original; and what times it, None: nothing. Counts it."""
        if number not in self._fitting:
            kernel = kernel_of(number)
            self._fitting[number] = kernel, tuple(self._usable(kernel))
        kernel, fitting = self._fitting[number]
        use = self._uses.get(launch.kernel)
        if use is None:
            return None, None
        for each in fitting:
            if each.contest.lost or not self._holds(each, kernel, launch):
                continue
            if each.contest.takes_next():
                each.use.ran(shape_of(launch), 0.0)
                return each.function, each.contest
            if each.contest.lost:
                each.use.refused = each.contest.sentence
                continue
            use.originals += 1
            return None, each.contest
        use.originals += 1
        return None, None

    def _holds(self, each: _Fitting, kernel: GpuKernel, launch: Launch) -> bool:
        version = each.use.version
        if not version.guards:
            return True
        facts = facts_of(launch, each.kernel, self._region, tuple(where for _, where in kernel.variables))
        broken = [n for n, guard in enumerate(version.guards) if not guard.holds(facts)]
        each.use.failed.update(version.words[n] for n in broken)
        return not broken

    # -- what can be used ----------------------------------------------------------------------------------------------

    def _usable(self, kernel: GpuKernel) -> Iterable[_Fitting]:
        versions = dict.fromkeys(v for v in (*self._given, *kernel.own) if v.kernel == kernel.name)
        if not versions:
            return
        use = self._uses.get(kernel.name)
        if use is None:
            use = self._uses[kernel.name] = KernelUse(kernel.name, [VersionUse(version) for version in versions])
        for each in use.versions:
            try:
                each.refused = self._refusal(each.version, kernel)
                if not each.refused:
                    module = parse_module(each.version.ir)
                    function = self._gpu.function(self._load(each.version), kernel.name)
                    yield _Fitting(each, function, module.functions[kernel.name], Contest(self._gpu.driver))
            except (KernelwrightError, DriverError) as error:
                each.refused = error.message

    def _refusal(self, version: Version, kernel: GpuKernel) -> str:
        why = difference(version, kernel.parameters, parse_module(kernel.ir) if kernel.ir else None)
        if why:
            return why
        shared = _names_of(parse_module(version.ir), version.kernel) & {name for name, _ in kernel.variables}
        if shared:
            return f"it uses device variable {readable(min(shared))}, which it would have a copy of its own of on a real GPU"
        asked = sorted(name for guard in version.guards for name in variables_asked(guard))
        if asked:
            return f"it is for launches that find certain values in device variable {readable(asked[0])}, which are not read on a real GPU"
        if not kernel.ir:
            self._notes[
                f"kernel {readable(kernel.name)} was compiled by nvcc: that it is the one {version.name} was made from is known of "
                "its name and parameters alone"
            ] = None
        return ""

    def _load(self, version: Version) -> CudaLoaded:
        """PTX that fits this GPU, or the IR compiled for it."""
        arch = self._gpu.arch
        fitting = [a for a in version.ptx if a[-1].isdigit() and architecture(a).number <= int(arch[3:])]
        if fitting:
            return self._gpu.load(version.ptx[max(fitting, key=lambda a: architecture(a).number)], version.name)
        return self._gpu.load(image_of(version.ir, arch, version.name).data, version.name)

    # -- the end -------------------------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, object]]:
        """A row for each launched kernel that has versions."""
        return [use.as_json() for use in self._uses.values()]

    def sentences(self) -> list[str]:
        """What should be known of how versions were used, and why some were not."""
        said = [
            f"{each.version.name} is not used for kernel {readable(use.kernel)}: {each.refused}; the original runs"
            for use in self._uses.values()
            for each in use.versions
            if each.refused
        ]
        return [*self._notes, *said]


def _names_of(module: Module, kernel: str) -> frozenset[str]:
    """Variables in global and constant memory that a kernel reaches."""
    known = {variable.name for variable in variables_of(module)}
    return frozenset(known & reached_variables(module, kernel))
