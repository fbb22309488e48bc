"""What a program has registered on its device: modules, and the kernels and variables in them, by the client's numbers.

A module is read when something in it is first used: a program of many files launches kernels of few. What reads modules is
imported then, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from kernelwright.cuda import blob
from kernelwright.cuda.names import readable
from kernelwright.cuda.wire.protocol import FunctionAttributes, ModuleFormat, SymbolFlags
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.serving.errors import CudaError, Refused
from kernelwright.device.serving.properties import SHARED_PER_BLOCK
from kernelwright.device.timing_model.resident_blocks import largest_block, resident_blocks
from kernelwright.device.virtual_gpu.kept_code import KeptCode
from kernelwright.errors import CompileError, DeviceError, KernelwrightError, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

if TYPE_CHECKING:
    from kernelwright.codegen.machine.resources import Resources
    from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
    from kernelwright.device.execution import Loaded
    from kernelwright.device.versions.dispatch import Fittings
    from kernelwright.device.virtual_gpu.gpu import VirtualGpu
    from kernelwright.ir.module import Module
    from kernelwright.kernel_version import Version
    from kernelwright.launch import Triple

PREFERRED_CARVEOUT = 9
MAX_DYNAMIC_SHARED = 8
"""Numbers of enum cudaFuncAttribute."""


@dataclass
class RegisteredModule:
    """One translation unit of the program."""

    number: int
    format: int
    data: bytes
    arch: str
    """Of the GPU that is simulated."""
    loaded: Loaded | None = None
    managed: dict[str, Buffer] = field(default_factory=dict)
    """Variables that the host has placed, by mangled name."""

    @cached_property
    def content(self) -> blob.Blob:
        """Its device code. Raises ``Refused`` when it is not ours, or damaged."""
        if self.format != ModuleFormat.BLOB:
            raise Refused(
                CudaError.NO_KERNEL_IMAGE_FOR_DEVICE,
                "the program's device code is nvcc's, PTX and machine code, which a real GPU runs (--device cuda:0) and a "
                "virtual one does not: give kw run its source, or build it with kw compile",
            )
        try:
            return blob.read(self.data).for_arch(self.arch)
        except ToolError as error:
            raise Refused(CudaError.INVALID_KERNEL_IMAGE, error.message) from None

    @cached_property
    def resources(self) -> dict[str, Resources]:
        """Registers and memory of its kernels by name; empty where no assembler can tell."""
        from kernelwright.codegen.machine.assemble import assemble
        from kernelwright.codegen.machine.resources import resources

        for arch, ptx in self.content.ptx.items():
            try:
                return resources(assemble(ptx, arch))
            except (ToolError, CompileError):
                continue
        return {}


@dataclass
class RegisteredKernel:
    """A kernel by its number."""

    name: str
    module: RegisteredModule
    max_dynamic_shared_bytes: int = 0
    preferred_carveout: int = -1


@dataclass(frozen=True)
class RegisteredVariable:
    """A variable by its number; ``size`` in bytes as the host sees it."""

    name: str
    module: RegisteredModule
    size: int
    address: int
    """Of a managed variable; 0 otherwise."""


@dataclass(frozen=True)
class Runnable:
    """A kernel that a launch needs nothing more of."""

    name: str
    loaded: Loaded
    compiled: CompiledKernel
    versions: Fittings | None = None
    """What may run in its place."""


class Registered:
    """The modules of one program, and their variables in ``arena``. ``gpu`` gives the device when it is first needed; ``arch`` is its
    architecture."""

    def __init__(self, arena: Arena, gpu: Callable[[], VirtualGpu], kept: KeptCode, arch: str) -> None:
        self._arena = arena
        self._arch = arch
        self._kept = kept
        self._gpu = gpu
        self._modules: dict[int, RegisteredModule] = {}
        self._kernels: dict[int, RegisteredKernel] = {}
        self._variables: dict[int, RegisteredVariable] = {}
        self._swapped: dict[str, Loaded] = {}

    # -- what the client says ----------------------------------------------------------------------------------------

    def add_module(self, number: int, kind: int, data: bytes) -> None:
        """``number`` is what the program calls it by; ``data`` are the bytes of its image, not read before a kernel needs them."""
        self._modules[number] = RegisteredModule(number, kind, data, self._arch)

    def add_kernel(self, number: int, module: int, name: str) -> None:
        """``name`` is the mangled one, ``module`` the number of a module that was added."""
        self._kernels[number] = RegisteredKernel(name, self._module(module))

    def add_variable(self, number: int, module: int, name: str, size: int, flags: int, address: int) -> None:
        """``size`` in bytes; a managed variable lies at ``address``, of others it is ignored."""
        owner = self._module(module)
        is_managed = bool(flags & SymbolFlags.MANAGED)
        self._variables[number] = RegisteredVariable(name, owner, size, address if is_managed else 0)
        if is_managed:
            self._arena.host_writes = True
            owner.managed[name] = Buffer(address, size, name)

    def has_module(self, number: int) -> bool:
        """Whether a module of this number was added and not removed."""
        return number in self._modules

    def has_kernel(self, number: int) -> bool:
        """Whether a kernel of this number was added, and its module not removed."""
        return number in self._kernels

    def has_variable(self, number: int) -> bool:
        """Whether a variable of this number was added, and its module not removed."""
        return number in self._variables

    def managed_addresses(self) -> list[int]:
        """Where the host has placed managed variables."""
        return [buffer.address for module in self._modules.values() for buffer in module.managed.values()]

    def remove_module(self, number: int) -> None:
        """Forgets a module; its variables' memory is given back."""
        gone = self._modules.pop(number, None)
        if gone is None:
            return
        if gone.loaded is not None:
            from kernelwright.device.load_module import unload

            unload(gone.loaded, self._arena)
        self._kernels = {n: k for n, k in self._kernels.items() if k.module is not gone}
        self._variables = {n: v for n, v in self._variables.items() if v.module is not gone}

    def _module(self, number: int) -> RegisteredModule:
        found = self._modules.get(number)
        if found is None:
            raise Refused(CudaError.INVALID_KERNEL_IMAGE, f"the program speaks of module {number}, which it never sent")
        return found

    def _kernel(self, number: int) -> RegisteredKernel:
        found = self._kernels.get(number)
        if found is None:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION)
        return found

    def name_of(self, number: int) -> str:
        """The mangled name of a kernel. Raises ``Refused``."""
        return self._kernel(number).name

    # -- launching ---------------------------------------------------------------------------------------------------

    def prepare(self, number: int, block: Triple, *, followed: bool = False) -> Runnable:
        """A kernel by its number, ready for one block shape, and for the timing model if it is to be ``followed``.

        Raises ``Refused`` for a kernel that is not there, ``CompileError`` for code the virtual GPU does not run,
        ``DeviceError`` for an impossible block.
        """
        kernel = self._kernel(number)
        loaded = self.loaded(number)
        if kernel.name not in loaded.module.functions:
            raise Refused(
                CudaError.INVALID_DEVICE_FUNCTION,
                f"{loaded.source} was compiled without kernel {readable(kernel.name)}",
            )
        compiled = self._gpu().compile(loaded, kernel.name, block, followed=followed)
        return Runnable(kernel.name, loaded, compiled)

    def loaded(self, number: int) -> Loaded:
        """The module that a kernel runs from: its own, or what it was swapped for. Raises ``Refused``."""
        kernel = self._kernel(number)
        return self._swapped.get(kernel.name) or self.load(kernel.module)

    def loaded_of(self, name: str) -> Loaded | None:
        """The module that holds the kernel called ``name``; None when nothing registered it. Raises ``Refused``."""
        owner = next((k.module for k in self._kernels.values() if k.name == name), None)
        return self.load(owner) if owner is not None else None

    def versions(self, number: int) -> tuple[Version, ...]:
        """Those that the program carries for a kernel's module. Raises ``Refused``."""
        return self._kernel(number).module.content.versions

    def swap(self, name: str, data: bytes) -> None:
        """From now on the kernel called ``name`` is the one in the blob ``data``; without data, its own again.

        The new code sees the old one's device variables. Raises ``Refused`` for a blob that is damaged or has no such
        kernel, and for a kernel that nothing registered.
        """
        owner = next((k.module for k in self._kernels.values() if k.name == name), None)
        if owner is None:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION, f"the program has no kernel {readable(name)}")
        self._swapped.pop(name, None)
        if not data:
            return
        content = RegisteredModule(-1, ModuleFormat.BLOB, data, self._arch).content
        buffers = self.load(owner).variables.buffers
        with _reading():
            loaded = self._put(content, buffers)
        if name not in loaded.module.functions:
            raise Refused(CudaError.INVALID_KERNEL_IMAGE, f"the new code has no kernel {readable(name)}")
        self._swapped[name] = loaded

    # -- what is known about a kernel ----------------------------------------------------------------------------------

    def entry(self, number: int) -> blob.Kernel:
        """The kernel's row in the table of its blob. Raises ``Refused``."""
        kernel = self._kernel(number)
        found = next((k for k in kernel.module.content.kernels if k.name == kernel.name), None)
        if found is None:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION)
        return found

    def set_attribute(self, number: int, attribute: int, value: int) -> None:
        """Sets an attribute of a kernel. Raises ``Refused`` for a value that it cannot have."""
        kernel = self._kernel(number)
        if attribute == MAX_DYNAMIC_SHARED:
            kernel.max_dynamic_shared_bytes = value
        elif attribute == PREFERRED_CARVEOUT:
            kernel.preferred_carveout = value
        else:
            raise Refused(CudaError.INVALID_VALUE)

    def attributes(self, number: int, gpu: Gpu) -> FunctionAttributes:
        """``cudaFuncGetAttributes``. Registers are the assembler's for the architecture the program was compiled for."""
        kernel, entry = self._kernel(number), self.entry(number)
        used = self._resources(kernel)
        arch = next(iter(kernel.module.content.ptx), gpu.arch)
        version = int("".join(c for c in arch if c.isdigit()))
        default = max(SHARED_PER_BLOCK - entry.static_shared_bytes, 0)
        return FunctionAttributes(
            static_shared_bytes=entry.static_shared_bytes,
            constant_bytes=sum(v.size for v in kernel.module.content.variables if v.is_constant),
            local_bytes=used.stack_bytes if used else 0,
            max_threads=largest_block(gpu, used.registers if used else 0, entry.max_threads),
            registers=used.registers if used else 0,
            ptx_version=version,
            binary_version=version,
            max_dynamic_shared_bytes=kernel.max_dynamic_shared_bytes or default,
            preferred_carveout=kernel.preferred_carveout,
        )

    def resident_blocks(self, number: int, gpu: Gpu, threads: int, dynamic_shared_bytes: int) -> int:
        """How many blocks one multiprocessor holds at a time."""
        kernel, entry = self._kernel(number), self.entry(number)
        used = self._resources(kernel)
        return resident_blocks(
            gpu, threads, used.registers if used else 0, entry.static_shared_bytes + dynamic_shared_bytes
        )

    def _resources(self, kernel: RegisteredKernel) -> Resources | None:
        self._gpu()  # what reads machine code shares modules with it
        return kernel.module.resources.get(kernel.name)

    # -- modules and variables in memory -------------------------------------------------------------------------------

    def load(self, module: RegisteredModule) -> Loaded:
        """The module on the device, put there at first use. Raises ``Refused``."""
        if module.loaded is None:
            with _reading():
                self._load(module)
        assert module.loaded is not None
        return module.loaded

    def variable(self, number: int) -> tuple[int, int]:
        """Address and size of a variable. Raises ``Refused``."""
        found = self._variables.get(number)
        if found is None:
            raise Refused(CudaError.INVALID_SYMBOL)
        if found.address:
            return found.address, found.size
        buffers = self.load(found.module).variables.buffers
        if found.name not in buffers:
            # No kernel mentions it, so the optimiser has dropped it; the host may still write and read it.
            buffers[found.name] = self._arena.allocate(found.size, found.name, fill=0)
        return buffers[found.name].address, found.size

    def _put(self, content: blob.Blob, placed: Mapping[str, Buffer]) -> Loaded:
        self._gpu()
        from kernelwright.device.load_module import load

        return load(self._kept.module(content.ir), self._arena, content.source, placed, ptx=content.ptx)

    def _load(self, module: RegisteredModule) -> None:
        self._gpu()
        from kernelwright.device.load_module import load

        parsed = self._kept.module(module.content.ir)
        external = {v.name for v in module.content.variables if v.is_external}
        if external & set(parsed.globals):
            self._load_together({module.number: parsed})
        else:
            content = module.content
            module.loaded = load(parsed, self._arena, content.source, module.managed, ptx=content.ptx)

    def _load_together(self, parsed: dict[int, Module]) -> None:
        """Loads every module that is not loaded yet, so that what one declares is what another defines."""
        from kernelwright.device.load_module import load
        from kernelwright.device.variables import place_variable, variables_of

        defined: dict[str, Buffer] = {}
        for other in self._modules.values():
            defined |= other.managed
            if other.loaded is not None:
                defined |= other.loaded.variables.buffers
            elif other.format == ModuleFormat.BLOB and other.number not in parsed:
                parsed[other.number] = self._kept.module(other.content.ir)
        placed: dict[int, dict[str, Buffer]] = {}
        for number, module in parsed.items():
            placed[number] = {}
            for variable in variables_of(module):
                if variable.initializer is None or variable.name in self._modules[number].managed:
                    continue
                buffer = place_variable(variable, self._arena)
                assert buffer is not None
                placed[number][variable.name] = buffer
                if variable.linkage not in ("internal", "private"):
                    defined[variable.name] = buffer
        for number, module in parsed.items():
            owner = self._modules[number]
            declared = {v.name for v in variables_of(module) if v.initializer is None and v.name in defined}
            shared = owner.managed | {name: defined[name] for name in declared}
            content = owner.content
            owner.loaded = load(module, self._arena, content.source, shared, fresh=placed[number], ptx=content.ptx)


@contextmanager
def _reading() -> Iterator[None]:
    """Turns what can be wrong with a module into what the program learns of it."""
    try:
        yield
    except DeviceError as error:
        raise Refused(CudaError.MEMORY_ALLOCATION, error.message) from None
    except KernelwrightError as error:
        raise Refused(CudaError.INVALID_KERNEL_IMAGE, error.message) from None
