"""What a program has registered, on a real GPU: modules loaded when something in them is first used, kernels, variables."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from kernelwright.architectures import number_of, runs_on
from kernelwright.cuda import blob
from kernelwright.cuda.names import readable
from kernelwright.cuda.wire.protocol import FunctionAttributes, ModuleFormat, Parameter
from kernelwright.device.execution import LAUNCH_QUEUE
from kernelwright.device.real_gpu.driver import NOT_FOUND, DriverError
from kernelwright.device.real_gpu.gpu import CudaGpu, CudaLoaded
from kernelwright.device.serving.errors import CudaError, Refused
from kernelwright.device.versions.comparison import GpuKernel
from kernelwright.errors import CompileError, KernelwrightError, ToolError
from kernelwright.lazy_dataclasses import dataclass


@dataclass
class _Module:
    format: int
    data: bytes
    arch: str
    """Of the GPU."""
    loaded: CudaLoaded | None = None

    @cached_property
    def content(self) -> blob.Blob:
        """Raises ``Refused`` for a blob that is damaged."""
        try:
            return blob.read(self.data).for_arch(self.arch)
        except ToolError as error:
            raise Refused(CudaError.INVALID_KERNEL_IMAGE, error.message) from None


@dataclass
class _Kernel:
    name: str
    module: _Module
    swapped: CudaLoaded | None = None


@dataclass
class _Variable:
    name: str
    module: _Module


@dataclass
class CudaModules:
    """The modules of one program on one GPU, by the client's numbers."""

    gpu: CudaGpu
    modules: dict[int, _Module] = field(default_factory=dict)
    kernels: dict[int, _Kernel] = field(default_factory=dict)
    variables: dict[int, _Variable] = field(default_factory=dict)

    def add_module(self, number: int, kind: int, data: bytes) -> None:
        """Registers a module, which is loaded when it is first used. ``kind``: a ``ModuleFormat``."""
        self.modules[number] = _Module(kind, data, self.gpu.arch)

    def add_kernel(self, number: int, module: int, name: str) -> None:
        """Registers a kernel by its mangled name. Raises ``Refused`` for a module that is not registered."""
        self.kernels[number] = _Kernel(name, self._module(module))

    def add_variable(self, number: int, module: int, name: str) -> None:
        """Registers a device variable by its mangled name. Raises ``Refused`` for a module that is not registered."""
        self.variables[number] = _Variable(name, self._module(module))

    def remove_module(self, number: int) -> None:
        """Forgets a module with its kernels and variables, and takes it off the GPU; an unknown number is ignored."""
        gone = self.modules.pop(number, None)
        if gone is None:
            return
        self.kernels = {n: k for n, k in self.kernels.items() if k.module is not gone}
        self.variables = {n: v for n, v in self.variables.items() if v.module is not gone}
        if gone.loaded is not None:
            self.gpu.unload(gone.loaded)

    def _module(self, number: int) -> _Module:
        if number not in self.modules:
            raise Refused(CudaError.INVALID_KERNEL_IMAGE, f"the program speaks of module {number}, which it never sent")
        return self.modules[number]

    def kernel(self, number: int) -> _Kernel:
        """The kernel with this number. Raises ``Refused`` for one that there is not."""
        if number not in self.kernels:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION)
        return self.kernels[number]

    def function(self, number: int) -> int:
        """A kernel as the driver launches it. Raises ``Refused``."""
        kernel = self.kernel(number)
        loaded = kernel.swapped or self._load(kernel.module)
        try:
            return self.gpu.function(loaded, kernel.name)
        except KernelwrightError as error:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION, error.message) from None

    def layout(self, number: int) -> tuple[list[Parameter], int]:
        """The kernel's parameters and the bytes of all. Of nvcc's code, which has no table of ours, the driver tells.
        Raises ``Refused`` for one that there is not."""
        kernel = self.kernel(number)
        if kernel.module.format == ModuleFormat.BLOB:
            entry = next((k for k in kernel.module.content.kernels if k.name == kernel.name), None)
            if entry is None:
                raise Refused(CudaError.INVALID_DEVICE_FUNCTION)
            return [Parameter(p.offset, p.size) for p in entry.parameters], entry.arguments_size
        found = [Parameter(*p) for p in self.gpu.driver.parameters(self.function(number))]
        return found, max((p.offset + p.size for p in found), default=0)

    def variable(self, number: int) -> tuple[int, int]:
        """Address and size of a variable. Raises ``Refused``."""
        found = self.variables.get(number)
        if found is None:
            raise Refused(CudaError.INVALID_SYMBOL)
        try:
            return self.gpu.variable(self._load(found.module), found.name)
        except DriverError as error:
            if error.code != NOT_FOUND:
                raise
            raise Refused(
                CudaError.INVALID_SYMBOL, f"variable {readable(found.name)} is in no kernel's code, so the GPU has none"
            ) from None

    def described(self, number: int) -> GpuKernel:
        """What versions of a kernel are compared with. Raises ``Refused``."""
        kernel = self.kernel(number)
        module = kernel.module
        parameters, _ = self.layout(number)
        content = module.content if module.format == ModuleFormat.BLOB else None
        return GpuKernel(
            kernel.name,
            content.ir if content is not None else "",
            tuple((p.offset, p.size) for p in parameters),
            tuple((v.name, self._place(v)) for v in self.variables.values() if v.module is module),
            content.versions if content is not None else (),
        )

    def _place(self, variable: _Variable) -> range:
        """Its addresses; none for one that no kernel uses."""
        try:
            address, size = self.gpu.variable(self._load(variable.module), variable.name)
        except DriverError as error:
            if error.code != NOT_FOUND:
                raise
            return range(0)
        return range(address, address + size)

    def has_versions(self, number: int) -> bool:
        """Whether the program carries versions of the kernels in a kernel's module."""
        module = self.kernel(number).module
        return module.format == ModuleFormat.BLOB and bool(module.content.versions_text)

    def attributes(self, number: int) -> FunctionAttributes:
        """``cudaFuncGetAttributes``, as the driver has them."""
        function, ask = self.function(number), self.gpu.driver.function_attribute
        order = {
            "max_threads": 0, "static_shared_bytes": 1, "constant_bytes": 2, "local_bytes": 3, "registers": 4,
            "ptx_version": 5, "binary_version": 6, "max_dynamic_shared_bytes": 8, "preferred_carveout": 9,
        }  # fmt: skip
        return FunctionAttributes(**{name: ask(function, n) for name, n in order.items()})

    def swap(self, name: str, data: bytes) -> None:
        """From now on the kernel called ``name`` is the one in the blob; without data, its own again. Raises ``Refused``."""
        found = [k for k in self.kernels.values() if k.name == name]
        if not found:
            raise Refused(CudaError.INVALID_DEVICE_FUNCTION, f"the program has no kernel {readable(name)}")
        new = None
        if data:
            module = _Module(ModuleFormat.BLOB, data, self.gpu.arch)
            if module.content.variables:
                raise Refused(
                    CudaError.NOT_SUPPORTED,
                    "a kernel whose module has device variables cannot be swapped on a real GPU: it would see its own",
                )
            new = self._load(module)
            self.gpu.function(new, name)
        for kernel in found:
            kernel.swapped = new

    def _load(self, module: _Module) -> CudaLoaded:
        if module.loaded is None:
            try:
                module.loaded = self.gpu.load(self._image(module))
            except CompileError as error:
                raise Refused(CudaError.INVALID_PTX, error.message) from None
            except DriverError as error:
                raise Refused(error_of_driver(error), error.message) from None
        return module.loaded

    def _image(self, module: _Module) -> bytes:
        """What the driver loads: nvcc's own bytes; of ours a cubin or PTX that fits this GPU, or the IR compiled for it."""
        if module.format != ModuleFormat.BLOB:
            return module.data
        content, arch = module.content, self.gpu.arch
        if any(v.is_managed or v.is_external for v in content.variables):
            raise Refused(
                CudaError.NOT_SUPPORTED,
                "__managed__ variables, and variables that several files share, are not built for real GPUs yet: "
                "use the virtual GPU (--device auto)",
            )
        if any(v.name == LAUNCH_QUEUE for v in content.variables):
            raise Refused(
                CudaError.NOT_SUPPORTED,
                "kernels that launch kernels run on the virtual GPU alone: --device h200",
            )
        if arch in content.cubin:
            return content.cubin[arch]
        fitting = [a for a in content.ptx if runs_on(a, arch)]
        if fitting:
            return content.ptx[max(fitting, key=number_of)].encode()
        from kernelwright.device.real_gpu.cuda_executor import image_of

        return image_of(content.ir, arch, content.source).data


def error_of_driver(error: DriverError) -> CudaError:
    """A driver's error as the program gets it: the numbers are the same from 100 on, but for a few."""
    if error.code == NOT_FOUND:
        return CudaError.INVALID_SYMBOL
    try:
        return CudaError(error.code)
    except ValueError:
        return CudaError.UNKNOWN
