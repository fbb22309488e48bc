"""NVIDIA's driver as the forty calls we make of it, through ``cuda-bindings``: numbers in, numbers out, errors raised.

    driver = Driver()
    driver.begin(0)                                 # the primary context of GPU 0
    module = driver.load(cubin_or_ptx)
    driver.launch(driver.function(module, "saxpy"), launch)
    driver.synchronize()

Handles and addresses are plain integers, so that they can cross a pipe. Nothing else in the package speaks to the driver.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from kernelwright.errors import DeviceError, ToolError
from kernelwright.launch import Launch

INSTALL = "pip install 'cuda-bindings==12.9.*', or pip install 'kernelwright[gpu]'"
LOG_BYTES = 1 << 14


STICKY = frozenset({214, 700, 702, 708, 709, 710, 714, 715, 716, 717, 718, 719, 720})
"""CUresult values after which a context does nothing any more (cudaDeviceReset, or a new process, is needed)."""

NOT_FOUND = 500
"""CUresult for a name that a module does not have."""

# CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE and CU_LAUNCH_PARAM_END of cuda.h.
_BUFFER, _SIZE, _END = 1, 2, 0
_NON_BLOCKING_STREAM = 1
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6
_INVALID_VALUE = 1


class DriverError(DeviceError):
    """The driver refused a call. ``code`` is its CUresult; of 100 and more the same number as the runtime's cudaError_t."""

    def __init__(self, code: int, name: str, text: str, call: str, detail: str = "") -> None:
        words = f"the CUDA driver answers {call} with {name} ({code}): {text}"
        super().__init__(f"{words}: {detail}" if detail else words, hint=_HINTS.get(code))
        self.code = code
        self.name = name
        self.text = text
        self.call = call
        self.detail = detail

    def __reduce__(self) -> tuple[type[DriverError], tuple[int, str, str, str, str]]:
        return DriverError, (self.code, self.name, self.text, self.call, self.detail)

    @property
    def is_sticky(self) -> bool:
        """Whether the context does nothing any more after this error."""
        return self.code in STICKY


_HINTS: dict[int, str] = {
    2: "use smaller inputs, or end other programs that use the GPU (nvidia-smi lists them)",
    100: "nvidia-smi says whether the machine has a GPU that this user may use",
    101: "kw doctor lists the GPUs there are",
    209: "compile for this GPU's architecture: kw doctor names it, --arch takes it",
    222: "this PTX is newer than the driver reads: update the driver, or assemble it first (pip install nvidia-nvjitlink-cu12)",
    700: "kw check finds the access that left its buffer",
    716: "kw check finds the misaligned access",
    719: "kw check runs the same program with every access checked",
    803: "the driver and its user-mode library differ: restart the machine after a driver update",
}


@functools.cache
def binding() -> Any:
    """NVIDIA's module. Raises ``ToolError`` with the pip command when it, or the driver, is missing."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise ToolError(f"NVIDIA's Python binding of the CUDA driver is missing ({error})", hint=INSTALL) from None
    return driver


_STACK_SIZE = 0
"""CU_LIMIT_STACK_SIZE."""


class Driver:
    """One GPU's driver in this process. Not for several threads at once, but for ``synchronize`` beside a watchdog."""

    def __init__(self) -> None:
        self._cuda = binding()
        self._device: Any = None
        try:
            self._call("cuInit", 0)
        except (RuntimeError, OSError) as error:  # pathfinder's way to say that there is no libcuda.so.1
            raise ToolError(
                f"there is no NVIDIA driver on this machine ({str(error).splitlines()[0]})",
                hint="install NVIDIA's driver, or use the virtual GPU: --device auto",
            ) from None

    # -- the device ------------------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many GPUs the driver shows to this process."""
        return int(self._call("cuDeviceGetCount"))

    def version(self) -> int:
        """The newest CUDA that the driver serves: 12080 is 12.8."""
        return int(self._call("cuDriverGetVersion"))

    def device(self, ordinal: int) -> None:
        """Chooses a GPU; what follows is about it. Raises ``DriverError`` 101 for one that is not there."""
        self._device = self._call("cuDeviceGet", ordinal)

    def begin(self, ordinal: int) -> None:
        """Retains a GPU's primary context and makes it this thread's."""
        self.device(ordinal)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", self._device))

    def end(self) -> None:
        """Releases the context; the GPU forgets everything when we were its only user."""
        self._call("cuDevicePrimaryCtxRelease", self._device)

    def reset(self) -> None:
        """Destroys everything in the primary context, for every user in this process."""
        self._call("cuDevicePrimaryCtxReset", self._device)

    def name(self) -> str:
        """The GPU's name, as ``NVIDIA H200``."""
        raw = self._call("cuDeviceGetName", 256, self._device)
        return bytes(raw).split(b"\0")[0].decode("utf-8", "replace")

    def uuid(self) -> bytes:
        """The 16 bytes that name the GPU."""
        return bytes(self._call("cuDeviceGetUuid", self._device).bytes)

    def total_bytes(self) -> int:
        """Bytes of the GPU's memory."""
        return int(self._call("cuDeviceTotalMem", self._device))

    def attribute(self, number: int) -> int:
        """A CUdevice_attribute by its number."""
        return int(self._call("cuDeviceGetAttribute", self._cuda.CUdevice_attribute(number), self._device))

    # -- modules ---------------------------------------------------------------------------------------------------

    def load(self, image: bytes) -> int:
        """A module from a cubin, or from PTX, which the driver compiles. The driver's words are in the error."""
        log = bytes(LOG_BYTES)  # the binding takes no other buffer; the driver writes into this one
        options = [self._cuda.CUjit_option(n) for n in (_ERROR_LOG, _ERROR_LOG_BYTES)]
        data = ctypes.create_string_buffer(image)  # PTX must end with a NUL
        values = [log, LOG_BYTES]
        try:
            return int(self._call("cuModuleLoadDataEx", ctypes.addressof(data), len(options), options, values))
        except DriverError as error:
            said = log.split(b"\0")[0].decode("utf-8", "replace").strip()
            raise DriverError(error.code, error.name, error.text, error.call, said) from None

    def unload(self, module: int) -> None:
        """Takes a module off the GPU."""
        self._call("cuModuleUnload", self._cuda.CUmodule(module))

    def function(self, module: int, name: str) -> int:
        """The handle of a kernel by its mangled name. Raises ``DriverError`` with code ``NOT_FOUND`` for one that the module lacks."""
        return int(self._call("cuModuleGetFunction", self._cuda.CUmodule(module), name.encode()))

    def variable(self, module: int, name: str) -> tuple[int, int]:
        """Address and size in bytes of a global variable."""
        address, size = self._call("cuModuleGetGlobal", self._cuda.CUmodule(module), name.encode())
        return int(address), int(size)

    def parameters(self, function: int) -> list[tuple[int, int]]:
        """Offset and size in bytes of each parameter of a kernel. Needs a driver of CUDA 12.4 or later."""
        found: list[tuple[int, int]] = []
        while True:
            try:
                offset, size = self._call("cuFuncGetParamInfo", self._cuda.CUfunction(function), len(found))
            except DriverError as error:
                if error.code != _INVALID_VALUE:
                    raise
                return found
            found.append((int(offset), int(size)))

    def function_attribute(self, function: int, number: int) -> int:
        """A CUfunction_attribute by its number."""
        attribute = self._cuda.CUfunction_attribute(number)
        return int(self._call("cuFuncGetAttribute", attribute, self._cuda.CUfunction(function)))

    def set_function_attribute(self, function: int, number: int, value: int) -> None:
        """Sets a CUfunction_attribute, by its number, of a kernel."""
        attribute = self._cuda.CUfunction_attribute(number)
        self._call("cuFuncSetAttribute", self._cuda.CUfunction(function), attribute, value)

    def resident_blocks(self, function: int, threads: int, shared_bytes: int) -> int:
        """Blocks of a kernel that one multiprocessor holds at a time."""
        handle = self._cuda.CUfunction(function)
        return int(self._call("cuOccupancyMaxActiveBlocksPerMultiprocessor", handle, threads, shared_bytes))

    # -- memory ----------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """The address of ``size`` bytes of device memory; their content is undefined. ``size`` must not be 0."""
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        """Frees what ``allocate`` returned."""
        self._call("cuMemFree", self._cuda.CUdeviceptr(address))

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        free, total = self._call("cuMemGetInfo")
        return int(free), int(total)

    def write(self, address: int, source: int, size: int) -> None:
        """Host memory (by address) to device memory."""
        self._call("cuMemcpyHtoD", self._cuda.CUdeviceptr(address), source, size)

    def read(self, target: int, address: int, size: int) -> None:
        """Device memory to host memory (by address)."""
        self._call("cuMemcpyDtoH", target, self._cuda.CUdeviceptr(address), size)

    def copy(self, to: int, source: int, size: int, stream: int = 0) -> None:
        """Any memory to any memory, as soon as the stream comes to it."""
        to_, source_ = self._cuda.CUdeviceptr(to), self._cuda.CUdeviceptr(source)
        self._call("cuMemcpyAsync", to_, source_, size, self._cuda.CUstream(stream))

    def fill(self, address: int, value: int, size: int, stream: int = 0) -> None:
        """Sets ``size`` bytes of device memory to ``value``, as soon as the stream comes to it."""
        self._call("cuMemsetD8Async", self._cuda.CUdeviceptr(address), value, size, self._cuda.CUstream(stream))

    def register_host(self, address: int, size: int) -> None:
        """Pins host memory, so that the GPU reaches it at the same address."""
        self._call("cuMemHostRegister", address, size, 1 | 2)  # portable and mapped

    def unregister_host(self, address: int) -> None:
        """Unpins what ``register_host`` pinned at ``address``."""
        self._call("cuMemHostUnregister", address)

    # -- memory at chosen addresses --------------------------------------------------------------------------------

    def granularity(self) -> int:
        """Bytes that ``map_at`` deals in."""
        kind = self._cuda.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        return int(self._call("cuMemGetAllocationGranularity", self._physical(), kind))

    def map_at(self, address: int, size: int) -> tuple[int, int]:
        """``size`` bytes of device memory at ``address``, both multiples of the granularity; the address it got, a handle.

        The driver may choose another address: then nothing is mapped, and the handle is 0.
        """
        cuda = self._cuda
        got = int(self._call("cuMemAddressReserve", size, 0, cuda.CUdeviceptr(address), 0))
        if got != address:
            self._call("cuMemAddressFree", cuda.CUdeviceptr(got), size)
            return got, 0
        prop = self._physical()
        handle = int(self._call("cuMemCreate", size, prop, 0))
        memory = cuda.CUmemGenericAllocationHandle(handle)
        self._call("cuMemMap", cuda.CUdeviceptr(address), size, 0, memory, 0)
        access = cuda.CUmemAccessDesc()
        access.location = prop.location
        access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        self._call("cuMemSetAccess", cuda.CUdeviceptr(address), size, [access], 1)
        return address, handle

    def unmap(self, address: int, size: int, handle: int) -> None:
        """Frees what ``map_at`` mapped, memory and addresses; ``size`` and ``handle`` are as they were there."""
        cuda = self._cuda
        self._call("cuMemUnmap", cuda.CUdeviceptr(address), size)
        self._call("cuMemRelease", cuda.CUmemGenericAllocationHandle(handle))
        self._call("cuMemAddressFree", cuda.CUdeviceptr(address), size)

    def _physical(self) -> Any:
        cuda = self._cuda
        prop = cuda.CUmemAllocationProp()
        prop.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        location = cuda.CUmemLocation()
        location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        location.id = int(self._device)
        prop.location = location
        return prop

    # -- streams, events, launches ---------------------------------------------------------------------------------

    def create_stream(self, blocking: bool = True, priority: int = 0) -> int:
        """A stream's handle. ``blocking``: it and the default stream wait for each other. Lower ``priority`` numbers go first."""
        return int(self._call("cuStreamCreateWithPriority", 0 if blocking else _NON_BLOCKING_STREAM, priority))

    def destroy_stream(self, stream: int) -> None:
        """Gives a stream's handle back; work that the stream still has is done all the same."""
        self._call("cuStreamDestroy", self._cuda.CUstream(stream))

    def synchronize_stream(self, stream: int) -> None:
        """Waits until all work of the stream is done."""
        self._call("cuStreamSynchronize", self._cuda.CUstream(stream))

    def query_stream(self, stream: int) -> None:
        """Raises ``DriverError`` 600 while there is work left."""
        self._call("cuStreamQuery", self._cuda.CUstream(stream))

    def wait(self, stream: int, event: int) -> None:
        """The stream waits for the event."""
        self._call("cuStreamWaitEvent", self._cuda.CUstream(stream), self._cuda.CUevent(event), 0)

    def create_event(self, flags: int = 0) -> int:
        return int(self._call("cuEventCreate", flags))

    def destroy_event(self, event: int) -> None:
        self._call("cuEventDestroy", self._cuda.CUevent(event))

    def record(self, event: int, stream: int = 0) -> None:
        self._call("cuEventRecord", self._cuda.CUevent(event), self._cuda.CUstream(stream))

    def synchronize_event(self, event: int) -> None:
        self._call("cuEventSynchronize", self._cuda.CUevent(event))

    def query_event(self, event: int) -> None:
        """Raises ``DriverError`` 600 while the event has not come."""
        self._call("cuEventQuery", self._cuda.CUevent(event))

    def elapsed_ms(self, start: int, end: int) -> float:
        return float(self._call("cuEventElapsedTime", self._cuda.CUevent(start), self._cuda.CUevent(end)))

    def synchronize(self) -> None:
        """Waits for all work. Raises what went wrong with it."""
        self._call("cuCtxSynchronize")

    def limit_stack(self, size: int) -> None:
        """Gives each thread so many bytes of stack, or more."""
        self._call("cuCtxSetLimit", self._cuda.CUlimit(_STACK_SIZE), size)

    def launch(self, function: int, launch: Launch, stream: int = 0) -> None:
        """Starts a kernel: ``function`` is the handle of the one that ``launch`` names."""
        parameters = launch.parameters
        buffer = ctypes.create_string_buffer(parameters, max(len(parameters), 1))
        size = ctypes.c_size_t(len(parameters))
        extra = (ctypes.c_void_p * 5)(_BUFFER, ctypes.addressof(buffer), _SIZE, ctypes.addressof(size), _END)
        handle, queue = self._cuda.CUfunction(function), self._cuda.CUstream(stream)
        given = (handle, *launch.grid, *launch.block, launch.shared_bytes, queue)
        if launch.is_cooperative:
            # This call takes arguments one by one.
            places = [ctypes.addressof(buffer) + offset for offset, _ in self.parameters(function)]
            self._call(
                "cuLaunchCooperativeKernel", *given, ctypes.addressof((ctypes.c_void_p * (len(places) + 1))(*places))
            )
            return
        self._call("cuLaunchKernel", *given, 0, ctypes.addressof(extra))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _call(self, name: str, *arguments: Any) -> Any:
        """Calls the driver; returns what comes behind the status: nothing, one value, or a tuple."""
        status, *values = getattr(self._cuda, name)(*arguments)
        code = int(status)
        if code:
            raise DriverError(code, status.name.removeprefix("CUDA_ERROR_"), self._text(status), name)
        if not values:
            return None
        return values[0] if len(values) == 1 else tuple(values)

    def _text(self, status: Any) -> str:
        failed, text = self._cuda.cuGetErrorString(status)
        return "no reason" if int(failed) or not text else text.decode("utf-8", "replace")
