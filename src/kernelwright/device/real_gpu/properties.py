"""What a program learns about a real GPU: the driver's attributes as ``cudaDeviceProp`` has them."""

from __future__ import annotations

from typing import Any

from kernelwright.cuda.wire.protocol import DeviceProperties
from kernelwright.device.real_gpu.driver import Driver

# Field of DeviceProperties -> CUdevice_attribute (cuda.h), one or one per component.
ATTRIBUTES: dict[str, int | tuple[int, ...]] = {
    "shared_bytes_per_block": 8,
    "shared_bytes_per_block_optin": 97,
    "shared_bytes_per_multiprocessor": 81,
    "reserved_shared_bytes_per_block": 111,
    "constant_bytes": 9,
    "max_pitch": 11,
    "texture_alignment": 14,
    "texture_pitch_alignment": 51,
    "surface_alignment": 30,
    "major": 75,
    "minor": 76,
    "multiprocessors": 16,
    "warp_size": 10,
    "max_threads_per_block": 1,
    "max_threads_per_multiprocessor": 39,
    "max_blocks_per_multiprocessor": 106,
    "max_block": (2, 3, 4),
    "max_grid": (5, 6, 7),
    "registers_per_block": 12,
    "registers_per_multiprocessor": 82,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "persisting_l2_bytes": 108,
    "async_engines": 40,
    "ecc": 32,
    "integrated": 18,
    "concurrent_kernels": 31,
    "concurrent_managed_access": 89,
    "pageable_memory_access": 88,
    "cooperative_launch": 95,
    "compute_preemption": 90,
    "single_to_double_ratio": 87,
    "max_texture_1d": 21,
    "max_texture_1d_linear": 69,
    "max_texture_2d": (22, 23),
    "max_texture_2d_linear": (70, 71, 72),
    "max_texture_3d": (24, 25, 26),
    "pci_bus": 33,
    "pci_device": 34,
    "pci_domain": 50,
    "kernel_timeout": 17,
}


def properties_of_gpu(driver: Driver) -> DeviceProperties:
    """The properties of the GPU that ``driver`` has chosen."""
    found: dict[str, Any] = {
        field: tuple(driver.attribute(n) for n in numbers) if isinstance(numbers, tuple) else driver.attribute(numbers)
        for field, numbers in ATTRIBUTES.items()
    }
    return DeviceProperties(
        name=driver.name().encode()[:255],
        uuid=driver.uuid(),
        global_bytes=driver.total_bytes(),
        driver_version=driver.version(),
        **found,
    )
