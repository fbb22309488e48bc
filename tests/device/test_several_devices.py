"""Several devices on one arena: what each reaches, for the virtual GPU and for the executor that defines what a kernel does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.protocol import Message
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.reference import execute_reference
from kernelwright.device.serving.errors import CudaError
from kernelwright.device.serving.timeline import COPY_US, HostClock, Timeline
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module
from kernelwright.launch import Launch

from .conftest import packed
from .wire_client import Client, Failed, settings

SOURCE = """
extern "C" __global__ void move(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
"""


@pytest.mark.parametrize(
    ("device", "peers", "to", "start", "fits"),
    [
        (0, (), 0, 0, True),
        (0, (), 0, 1, False),
        (0, (), 1, 0, False),
        (0, (1,), 0, 1, True),
        (0, (1,), 1, 0, True),
        (0, (2,), 0, 1, False),
        (1, (), 0, 1, False),
        (1, (0,), 0, 1, True),
        (1, (), 2, 1, True),  # 2: pinned memory of device 0
    ],
)
@pytest.mark.parametrize("overread", [None, 0])
def test_executors_agree_on_what_a_device_reaches(
    arena: Arena,
    compiled: Callable[[str], Module],
    device: int,
    peers: tuple[int, ...],
    to: int,
    start: int,
    fits: bool,
    overread: int | None,
) -> None:
    buffers = []
    for owner in (0, 1):
        arena.device = owner
        buffers.append(arena.allocate(128, f"of {owner}"))
    arena.device = 0
    buffers.append(arena.allocate(128, "pinned", is_shared=True))
    arena.view(buffers[start], np.int32)[:] = np.arange(32)
    arena.device = device
    arena.set_peers(frozenset(peers))
    loaded = load(compiled(SOURCE), arena)
    parameters = packed(np.uint64(buffers[to].address), np.uint64(buffers[start].address))
    execution = Execution(loaded, Launch("move", (1, 1, 1), (32, 1, 1), parameters), overread=overread)
    fast = VirtualGpu().run(execution, arena)
    written = bytes(arena.bytes(buffers[to].address, 128))
    slow = execute_reference(execution, arena)
    assert (fast.fault is None, slow.fault is None) == (fits, fits)
    if fits:
        assert written == bytes(arena.bytes(buffers[start].address, 128))
    else:
        assert fast.fault is not None and slow.fault is not None
        assert fast.fault.message == slow.fault.message
        assert "may not reach it (cudaDeviceEnablePeerAccess)" in fast.fault.message


def test_a_device_that_is_not_there_and_peers_of_one() -> None:
    with Client(settings(gpus=2)) as client:
        assert client.welcome.device_count == 2
        with pytest.raises(Failed) as failed:
            client.request(Message.ALLOCATE, wire.Allocate(size=16), device=2)
        assert failed.value.result == CudaError.INVALID_DEVICE
        client.command(Message.PEER_ACCESS, wire.PeerAccess(peer=5, is_enabled=1))
        with pytest.raises(Failed) as failed:
            client.request(Message.DEVICE_SYNCHRONIZE)
        assert failed.value.result == CudaError.INVALID_DEVICE
        for device in (0, 1):
            properties, _ = client.request(Message.DEVICE_PROPERTIES, device=device)
            assert isinstance(properties, wire.DeviceProperties) and properties.pci_bus == 1 + device


def test_memory_is_divided() -> None:
    found = []
    for gpus in (1, 4):
        with Client(settings(gpus=gpus, memory_bytes=1 << 30)) as client:
            info, _ = client.request(Message.MEMORY_INFO)
            assert isinstance(info, wire.MemoryInfo)
            found.append(info.free)
    assert found == [1 << 30, 1 << 28]


def test_streams_of_two_devices_run_beside_each_other_and_a_peer_copy_waits_for_both() -> None:
    clock = HostClock()
    one, two = (Timeline(device_gb_per_s=1.0, host_gb_per_s=0.1, host=clock) for _ in range(2))
    one.run(0, 500)
    two.run(0, 300)
    assert max(one.end_us, two.end_us) < 510, "nothing orders them"
    one.record(1, 0)
    one.copy_from_peer(two, 0, 1000)  # behind both legacy streams
    one.record(2, 0)
    two.record(3, 0)
    copied = COPY_US + 1000 / 100
    assert one.elapsed_ms(1, 2) == pytest.approx(copied / 1e3)
    assert one.elapsed_ms(2, 3) == 0, "what comes next on the other device waits for it"
    two.run(0, 1000)
    two.record(4, 0)
    one.synchronize()
    assert clock.now < two.end_us, "waiting for one device is not waiting for the other"
    one.create(5, blocking=False)
    one.wait(5, 4)
    one.record(6, 5)
    assert one.elapsed_ms(4, 6) == 0, "an event of another device can be waited for"
