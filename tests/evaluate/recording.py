"""A recorder for tests: runs kernels on the reference executor and writes down what a live one would."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from kernelwright.codegen.memory_layout import alloc_size
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.reference import run_reference
from kernelwright.device.variables import load_variables, variables_of, write_initial_values
from kernelwright.evaluate.capture.capture import Operation, ProgramIdentity
from kernelwright.evaluate.capture.writer import CaptureWriter
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from tests.evaluate import kernels

PROGRAM = ProgramIdentity(("./app", "input.txt"), "/home/user", "h100", {"kernelwright": "0.1"})


class Recorder:
    """A program under way: one module, an arena, a capture."""

    def __init__(self, path: Path, *names: str, arena: Arena, managed: bool = False) -> None:
        """``managed``: the variables lie in one section, one behind the other, as a program has its managed ones."""
        self.arena = arena
        self.text = kernels.text(*names)
        self.loaded = parse_module(self.text)
        placed: dict[str, Buffer] = {}
        if managed:
            section = arena.allocate(8192, "section", fill=0)
            at = section.address
            for variable in variables_of(self.loaded):
                placed[variable.name] = Buffer(at, alloc_size(variable.value_type), variable.name)
                at += 16
        self.variables = load_variables(self.loaded, arena, placed)
        if managed:
            write_initial_values(self.loaded, arena, self.variables.buffers)
        self.writer = CaptureWriter(path, PROGRAM, base=arena.base, reserve=arena.reserve)
        addresses = {name: b.address for name, b in self.variables.buffers.items()}
        self.writer.module("app.cu", self.text, "// ptx", addresses)

    def buffer(self, name: str, values: np.ndarray) -> Buffer:
        buffer = self.arena.allocate(values.nbytes, name)
        self.writer.operation(Operation("allocate", buffer.address, values.nbytes, name=name))
        self.write(buffer, values)
        return buffer

    def write(self, buffer: Buffer, values: np.ndarray) -> None:
        self.arena.view(buffer)[: values.nbytes] = values.ravel().view(np.uint8)
        self.writer.operation(Operation("write", buffer.address, values.nbytes), values.tobytes())

    def launch(self, kernel: str, grid: int, block: int, arguments: bytes) -> int:
        before = self.writer.memory(self.arena)
        result = run_reference(
            self.loaded,
            kernel,
            (grid, 1, 1),
            (block, 1, 1),
            arguments,
            self.arena,
            variables=self.variables,
            budget=1000,
        )
        return self.writer.launch(
            "app.cu", Launch(kernel, (grid, 1, 1), (block, 1, 1), arguments), before=before,
            after=self.writer.memory(self.arena), fault=str(result.fault or ""), time_us=2.5,
        )  # fmt: skip


def record(path: Path) -> None:
    """A program with every kind of thing in it: pointers in buffers and inside buffers, device variables, a big buffer that
    no launch can reach, a launch twice the same, one that fails."""
    with Arena() as arena:
        program = Recorder(path, "scale", "add", "follow", "count", "spin", arena=arena)
        values = np.arange(64, dtype=np.float32) + 1
        source = program.buffer("d_in", values)
        out = program.buffer("d_out", np.zeros(64, np.float32))
        program.buffer("d_big", np.random.default_rng(1).random(40_000, dtype=np.float32))
        pointers = np.array([source.address + 4 * (1 + i % 63) for i in range(64)], dtype=np.uint64)
        table = program.buffer("d_pointers", pointers)
        counted = program.buffer("d_counted", np.zeros(8, np.float32))
        integers = program.buffer("d_integers", np.arange(16, dtype=np.int32))
        scale = struct.pack("<QQfi", source.address, out.address, 2.0, 60)
        program.launch("_Z5scalePKfPffi", 16, 4, scale)
        program.write(out, np.zeros(64, np.float32))
        program.launch("_Z5scalePKfPffi", 16, 4, scale)
        program.launch("follow", 2, 32, struct.pack("<QQ", table.address, out.address))
        program.launch("count", 1, 8, struct.pack("<Q", counted.address))
        program.launch("count", 1, 8, struct.pack("<Q", counted.address))
        # A pointer into the middle of a buffer.
        program.launch("add", 1, 4, struct.pack("<Qi", integers.address + 16, 5))
        program.launch("add", 1, 20, struct.pack("<Qi", integers.address, 5))  # out of bounds
        program.writer.operation(Operation("read", 0, 256, source=out.address))
        program.writer.finish(0, {"result.bin": "0" * 40})
