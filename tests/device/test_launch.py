"""A launch from the message to the kernel: its codecs, and the virtual GPU, which is given its memory with each launch."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.launch_codec import read_launch
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.load_module import load
from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.evaluate.capture.capture import launch_as_json, launch_from_json
from kernelwright.evaluate.judging.case_runner import Ran, Runner, by_kernel
from kernelwright.ir import parse_module
from kernelwright.launch import Launch

STORE = """
target triple = "nvptx64-nvidia-cuda"
@count = addrspace(1) global i32 5, align 4
define ptx_kernel void @store(ptr %out, i32 %n) {
  store i32 %n, ptr %out, align 4
  ret void
}
define ptx_kernel void @add_up(ptr %out) {
  %old = load i32, ptr addrspace(1) @count, align 4
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(1) @count, align 4
  store i32 %new, ptr %out, align 4
  ret void
}
"""
ONE = (1, 1, 1)
LAUNCH = Launch("store", (2, 3, 4), (5, 6, 7), b"\1\2\3\4\5", 64)


def test_a_message_is_a_launch() -> None:
    body = wire.Launch(stream=9, kernel=7, grid=LAUNCH.grid, block=LAUNCH.block, shared_bytes=64, arguments_size=5)
    assert read_launch(body.pack() + LAUNCH.parameters, {7: "store"}.__getitem__) == (9, 7, LAUNCH)


def test_a_recorded_launch_is_the_launch() -> None:
    assert launch_from_json(json.loads(json.dumps(launch_as_json(LAUNCH)))) == LAUNCH


def test_geometry_is_all_but_the_parameters() -> None:
    assert replace(LAUNCH, parameters=b"").geometry == LAUNCH.geometry
    others = (replace(LAUNCH, kernel="k"), replace(LAUNCH, grid=ONE), replace(LAUNCH, block=ONE))
    assert LAUNCH.geometry not in [other.geometry for other in (*others, replace(LAUNCH, shared_bytes=0))]


def stored(gpu: VirtualGpu, arena: Arena, number: int) -> int:
    """What the kernel leaves in a new buffer of the arena."""
    buffer = arena.allocate(4, "out", fill=0)
    parameters = buffer.address.to_bytes(8, "little") + number.to_bytes(4, "little")
    module = parse_module(STORE)
    launched = gpu.run(Execution(load(module, arena), Launch("store", ONE, ONE, parameters)), arena)
    assert launched.fault is None
    return int(arena.view(buffer, np.int32)[0])


def test_a_virtual_gpu_runs_on_the_memory_of_the_call() -> None:
    gpu = VirtualGpu()
    with Arena() as one, Arena() as other:
        assert (stored(gpu, one, 3), stored(gpu, other, 4), stored(gpu, one, 5)) == (3, 4, 5)


def test_code_is_kept_by_what_it_is_made_of() -> None:
    with Arena() as arena:
        loaded = load(parse_module(STORE), arena)
        again = load(parse_module(STORE), arena)
        gpu = VirtualGpu()
        made = gpu.compile(loaded, "store", ONE)
        assert gpu.compile(loaded, "store", ONE) is made
        assert gpu.compile(loaded, "store", (2, 1, 1)) is not made
        assert gpu.compile(loaded, "store", ONE, split=True) is not made
        assert gpu.compile(again, "store", ONE) is not made, "another module, of which nothing else is known"
        keyed = gpu.compile(replace(loaded, key="store"), "store", ONE)
        assert gpu.compile(replace(again, key="store"), "store", ONE) is keyed


def test_only_so_much_code_is_kept() -> None:
    with Arena() as arena:
        loaded = load(parse_module(STORE), arena)
        gpu = VirtualGpu(kept=2)
        first = gpu.compile(loaded, "store", ONE)
        gpu.compile(loaded, "store", (2, 1, 1))
        assert gpu.compile(loaded, "store", ONE) is first
        gpu.compile(loaded, "store", (3, 1, 1))  # in place of what was used longest ago
        assert gpu.compile(loaded, "store", ONE) is first
        assert len(gpu._compiled) == 2


def test_split_warps_get_code_of_their_own() -> None:
    with Arena() as arena:
        out = arena.allocate(4, "out", fill=0)
        launch = Launch("store", ONE, (32, 1, 1), out.address.to_bytes(8, "little") + bytes([7, 0, 0, 0]))
        execution = Execution(load(parse_module(STORE), arena), launch)
        gpu = VirtualGpu()
        usual = gpu.run(execution, arena)
        split = gpu.run(replace(execution, schedule=Schedule.subwarp(4, 1)), arena)
        assert usual.fault is None and split.fault is None
        assert not usual.compiled.kernel.options.split and split.compiled.kernel.options.split


def test_guards_see_arguments_one_by_one() -> None:
    with Arena() as arena:
        out = arena.allocate(64, "out", fill=0)
        loaded = load(parse_module(STORE), arena)
        launch = Launch("store", ONE, ONE, (out.address + 8).to_bytes(8, "little") + bytes([7, 0, 0, 0]))
        facts = facts_of_execution(Execution(loaded, launch), arena)
        assert facts.launch is launch
        assert facts.arguments == (launch.parameters[:8], bytes([7, 0, 0, 0]))
        assert facts.regions == (range(out.address, out.end), None)
        count = loaded.variables.buffers["count"]
        assert facts.variables == (range(count.address, count.end),)
        arena.bytes(count.address, 4)[:] = bytes([1, 2, 0, 0])
        assert facts_of_execution(Execution(loaded, launch), arena).contents == (("count", bytes([1, 2, 0, 0])),)


def test_a_run_goes_on_through_another_executor() -> None:
    seen: list[Launch] = []
    gpu = VirtualGpu()

    def looking(execution: Execution, arena: Arena) -> Ran:
        seen.append(execution.launch)
        return gpu.run(execution, arena)

    with Arena() as arena:
        out = arena.allocate(4, "out", fill=0)
        launch = Launch("add_up", ONE, ONE, out.address.to_bytes(8, "little"))
        runner = Runner(by_kernel(parse_module(STORE)), gpu.run, arena)
        runner.launch(launch)
        through = runner.through(looking)
        through.launch(launch)
        runner.launch(launch)
        assert seen == [launch] and len(runner.results) == 3, "one run, of which one launch was looked at"
        assert int(arena.view(out, np.int32)[0]) == 8, "and device variables keep their values"


def test_variables_that_are_placed_keep_their_values() -> None:
    with Arena() as arena:
        out, count = arena.allocate(4, "out", fill=0), arena.allocate(4, "elsewhere", fill=0)
        arena.view(count, np.int32)[0] = 40
        runner = Runner(by_kernel(parse_module(STORE)), VirtualGpu().run, arena)
        runner.launch(Launch("add_up", ONE, ONE, out.address.to_bytes(8, "little")), {"count": count.address})
        assert int(arena.view(out, np.int32)[0]) == 41
