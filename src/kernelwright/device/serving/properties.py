"""What a program learns about the virtual GPU: the device properties of a GPU by name."""

from __future__ import annotations

import uuid

from kernelwright.architectures import architecture
from kernelwright.cuda.wire.protocol import DeviceProperties
from kernelwright.target import Gpu

DRIVER_VERSION = 12080
CONSTANT_BYTES = 64 << 10
SHARED_PER_BLOCK = 48 << 10
"""What a block gets without ``cudaFuncSetAttribute`` (CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x)."""


def properties_of(gpu: Gpu, number: int = 0) -> DeviceProperties:
    """``cudaDeviceProp`` of the virtual GPU that stands for ``gpu``; of several the one with this ``number``."""
    sm = gpu.sm
    capability = architecture(gpu.arch).number
    unique = f"{gpu.name}.virtual.kernelwright" + (f".{number}" if number else "")
    rates = sm.rates
    return DeviceProperties(
        name=f"{gpu.title} (virtual)".encode(),
        uuid=uuid.uuid5(uuid.NAMESPACE_DNS, unique).bytes,
        global_bytes=gpu.memory_bytes,
        shared_bytes_per_block=SHARED_PER_BLOCK,
        shared_bytes_per_block_optin=sm.shared_per_block,
        shared_bytes_per_multiprocessor=sm.shared_bytes,
        reserved_shared_bytes_per_block=sm.shared_reserved,
        constant_bytes=CONSTANT_BYTES,
        max_pitch=0x7FFFFFFF,
        texture_alignment=512,
        texture_pitch_alignment=32,
        surface_alignment=512,
        major=capability // 10,
        minor=capability % 10,
        multiprocessors=gpu.multiprocessors,
        warp_size=32,
        max_threads_per_block=1024,
        max_threads_per_multiprocessor=sm.threads,
        max_blocks_per_multiprocessor=sm.blocks,
        max_block=(1024, 1024, 64),
        max_grid=(0x7FFFFFFF, 65535, 65535),
        registers_per_block=sm.registers,
        registers_per_multiprocessor=sm.registers,
        clock_khz=gpu.clock_mhz * 1000,
        # Two transfers per clock.
        memory_clock_khz=round(gpu.dram_gb_per_s * 1e6 * 8 / gpu.memory_bus_bits / 2),
        memory_bus_bits=gpu.memory_bus_bits,
        l2_bytes=gpu.l2_bytes,
        persisting_l2_bytes=0,
        async_engines=gpu.copy_engines,
        ecc=1,
        concurrent_kernels=1,
        cooperative_launch=1,
        concurrent_managed_access=1,
        compute_preemption=1,
        single_to_double_ratio=rates["fma"] // rates["fp64"],
        max_texture_1d=131072,
        max_texture_1d_linear=268435456,
        max_texture_2d=(131072, 65536),
        max_texture_2d_linear=(131072, 65000, 2097120),
        max_texture_3d=(16384, 16384, 16384),
        pci_bus=1 + number,
        virtual_device=1,
        driver_version=DRIVER_VERSION,
    )
