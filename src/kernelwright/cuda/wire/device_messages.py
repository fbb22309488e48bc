"""What devices are and reach, on the wire: a part of ``protocol.py``, defined by ``runtime/protocol.h`` as the rest is."""

from __future__ import annotations

from kernelwright.cuda.wire.structures import Body, u8, u32, u64
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class PeerAccess(Body):
    """struct kw_peer_access. Of the message's device to ``peer``."""

    c_name = "kw_peer_access"
    peer: int = u32()
    is_enabled: int = u32()


@dataclass(frozen=True)
class DeviceProperties(Body):
    """struct kw_device_properties. ``name``: UTF-8, NUL-padded."""

    c_name = "kw_device_properties"
    name: bytes = u8(256)
    uuid: bytes = u8(16)
    global_bytes: int = u64()
    shared_bytes_per_block: int = u64()
    shared_bytes_per_block_optin: int = u64()
    shared_bytes_per_multiprocessor: int = u64()
    reserved_shared_bytes_per_block: int = u64()
    constant_bytes: int = u64()
    max_pitch: int = u64()
    texture_alignment: int = u64()
    texture_pitch_alignment: int = u64()
    surface_alignment: int = u64()
    major: int = u32()
    minor: int = u32()
    multiprocessors: int = u32()
    warp_size: int = u32()
    max_threads_per_block: int = u32()
    max_threads_per_multiprocessor: int = u32()
    max_blocks_per_multiprocessor: int = u32()
    max_block: tuple[int, ...] = u32(3)
    max_grid: tuple[int, ...] = u32(3)
    registers_per_block: int = u32()
    registers_per_multiprocessor: int = u32()
    clock_khz: int = u32()
    memory_clock_khz: int = u32()
    memory_bus_bits: int = u32()
    l2_bytes: int = u32()
    persisting_l2_bytes: int = u32()
    async_engines: int = u32()
    ecc: int = u32()
    integrated: int = u32()
    concurrent_kernels: int = u32()
    concurrent_managed_access: int = u32()
    pageable_memory_access: int = u32()
    cooperative_launch: int = u32()
    compute_preemption: int = u32()
    single_to_double_ratio: int = u32()
    max_texture_1d: int = u32()
    max_texture_1d_linear: int = u32()
    max_texture_2d: tuple[int, ...] = u32(2)
    max_texture_2d_linear: tuple[int, ...] = u32(3)
    max_texture_3d: tuple[int, ...] = u32(3)
    pci_bus: int = u32()
    pci_device: int = u32()
    pci_domain: int = u32()
    kernel_timeout: int = u32()
    virtual_device: int = u32()
    driver_version: int = u32()
    reserved: int = u32()
