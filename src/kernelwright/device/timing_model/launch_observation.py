"""A launch of the virtual GPU as the model takes it: counters laid onto IR blocks by name, the event log taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.cost.slow_paths import slow_label
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.launching.watching import Caches, Watch
from kernelwright.codegen.simt.lower import AccessInfo, BlockInfo, HostKernel
from kernelwright.codegen.source_lines import debug_chain, user_position
from kernelwright.device.timing_model.counters import (
    REQUEST,
    AccessCount,
    BlockCount,
    BlockTrace,
    Geometry,
    Kind,
    Observed,
    Space,
    in_turns,
)
from kernelwright.device.timing_model.neighbours import watched
from kernelwright.errors import DeviceError
from kernelwright.ir.module import BasicBlock, Function, Instruction, Module
from kernelwright.ir.text.printer import local_names
from kernelwright.launch import Launch, Triple

EVENTS = 1 << 20
"""Of the watched blocks; what does not fit is not logged."""
THREAD_BLOCK, BLOCK, GLOBAL, SHARED, BARRIER, LINES = range(6)
SPACES: tuple[Space, ...] = ("global", "shared", "local", "constant")
BARRIERS = ("llvm.nvvm.barrier", "llvm.nvvm.bar.")
"""How intrinsics begin that all warps of a block meet at; those of a single warp begin like them too."""
OF_A_WARP = "llvm.nvvm.bar.warp"


def block_labels(module: Module) -> dict[str, list[str]]:
    """The labels of each function's blocks, as PTX names them: a block without a name goes by its number."""
    return {f.name: list(_labels(f).values()) for f in module.functions.values() if not f.is_declaration}


def watch_of(grid: Triple, events: int = EVENTS) -> Watch:
    """What to give to a launch of this grid so that the model can follow its warps and their addresses."""
    return Watch(caches=Caches(events=events, blocks=watched(grid)))


def observe(
    result: LaunchResult,
    launch: Launch,
    buffers: Sequence[tuple[int, int]] = (),
    warm: float = 0.0,
) -> Observed:
    """``buffers``: addresses (start, end) of global memory, as ``Arena.bounds`` has them.

    Follows warps where the kernel was lowered with ``SimtOptions(trace=True)`` and launched with ``watch_of(grid)``.
    Raises ``DeviceError`` for a launch that stopped at a fault: what it did until then says nothing of its time.
    """
    kernel = result.kernel
    if result.fault is not None:
        raise DeviceError(
            f"the launch of '{kernel.name}' stopped with a fault ({result.fault.kind}), so it has no time",
            hint="run `kw check` to see where",
        )
    names = _Names()
    x, y, z = launch.block
    return Observed(
        kernel=kernel.name,
        geometry=Geometry(launch.grid, launch.block, kernel.shared_total(launch.shared_bytes)),
        blocks=_blocks(kernel, result, names),
        accesses=_accesses(kernel, result, names),
        trace=_trace(result, -(-x * y * z // 32)),
        buffers=tuple((int(start), int(end)) for start, end in buffers),
        warm=warm,
        ends_early=result.events_beyond > 0,
    )


class _Names:
    """Labels of blocks and places of instructions, each function looked at once."""

    def __init__(self) -> None:
        self._labels: dict[Function, dict[BasicBlock, str]] = {}
        self._places: dict[str, tuple[str, int]] = {}

    def label(self, block: BasicBlock | None) -> str:
        if block is None or block.parent is None:
            return ""
        found = self._labels.get(block.parent)
        if found is None:
            found = self._labels[block.parent] = _labels(block.parent)
        return found[block]

    def place(self, instruction: Instruction) -> tuple[str, int]:
        """File and line of the user's source; line 0 when unknown."""
        node = instruction.metadata.get("dbg", "")
        function = instruction.function
        if not node or function is None or function.module is None:
            return "", 0
        if node not in self._places:
            position = user_position(debug_chain(function.module, node))
            self._places[node] = (position.file, position.line) if position else ("", 0)
        return self._places[node]


def _labels(function: Function) -> dict[BasicBlock, str]:
    names = local_names(function)
    return {block: block.name or names[block].removeprefix("%") for block in function.blocks}


def _blocks(kernel: HostKernel, result: LaunchResult, names: _Names) -> tuple[BlockCount, ...]:
    first: dict[tuple[str, BasicBlock | None, int], int] = {}
    barriers = [_barriers_before(b) for b in kernel.blocks]
    for info, n in zip(kernel.blocks, barriers, strict=True):
        if info.is_slow_path:
            continue
        key = (info.function, info.origin, n)
        first[key] = min(first.get(key, info.start), info.start)
    executions, lanes = result.executions.tolist(), result.lanes.tolist()
    return tuple(
        BlockCount(
            function=info.function,
            label=slow_label(names.label(info.origin)) if info.is_slow_path else names.label(info.origin),
            barriers=n,
            starts=info.is_slow_path
            or (info.origin is not None and first[info.function, info.origin, n] == info.start),
            executions=executions[i],
            lanes=lanes[i],
        )
        for i, (info, n) in enumerate(zip(kernel.blocks, barriers, strict=True))
    )


def _barriers_before(info: BlockInfo) -> int:
    if info.origin is None or info.is_slow_path:
        return 0
    return sum(is_barrier(i) for i in info.origin.instructions[: info.start])


def is_barrier(instruction: Instruction) -> bool:
    """Whether it is a call that all warps of a block meet at."""
    callee = instruction.callee if instruction.opcode == "call" else None
    name = callee.name if isinstance(callee, Function) else ""
    return name.startswith(BARRIERS) and not name.startswith(OF_A_WARP)


def _accesses(kernel: HostKernel, result: LaunchResult, names: _Names) -> tuple[AccessCount, ...]:
    runs = result.executions
    in_shared = result.sites["in_shared"].tolist()
    sectors, waves, serial = result.sectors.tolist(), result.wavefronts.tolist(), result.serial.tolist()
    apart = _apart(result, len(kernel.accesses))
    turns = _turns(result, len(kernel.accesses))
    found = []
    for i, access in enumerate(kernel.accesses):
        file, line = names.place(access.origin)
        requests = int(runs[access.block]) if len(runs) else 0
        space = _space(access, in_shared[i], requests)
        found.append(
            AccessCount(
                function=access.function,
                label=names.label(access.origin.parent),
                kind=cast(Kind, access.kind),
                space=space,
                bytes=access.size,
                requests=requests,
                shared_requests=requests if access.space == 1 else in_shared[i],
                sectors=sectors[i],
                wavefronts=waves[i],
                serial=serial[i],
                file=file,
                line=line,
                apart=apart[i],
                turns=turns[i],
            )
        )
    return tuple(found)


def _apart(result: LaunchResult, accesses: int) -> list[float]:
    """Per access the share of its logged requests whose neighbouring lanes ask for different words."""
    kinds = result.events >> np.uint64(56)
    logged, differ = np.zeros(accesses), np.zeros(accesses)
    for kind, bit in ((SHARED, 16), (GLOBAL, 7)):
        events = result.events[kinds == kind]
        which = (events >> np.uint64(24)).astype(np.int64) & 0xFFFFFF
        logged += np.bincount(which, minlength=accesses)
        differ += np.bincount(which, (events >> np.uint64(bit) & np.uint64(1)).astype(np.float64), minlength=accesses)
    shares: list[float] = np.where(logged > 0, differ / np.maximum(logged, 1), 1.0).tolist()
    return shares


def _turns(result: LaunchResult, accesses: int) -> list[tuple[float, float, float]]:
    """Per access the mean over its logged requests to global or local memory; of lanes that do not meet where none was logged."""
    events = result.events[result.events >> np.uint64(56) == GLOBAL]
    which = (events >> np.uint64(24)).astype(np.int64) & 0xFFFFFF
    logged = np.bincount(which, minlength=accesses)

    def mean(at: int, parts: int) -> list[float]:
        beyond = np.bincount(which, (events >> np.uint64(at) & np.uint64(31)).astype(np.float64), minlength=accesses)
        found: list[float] = np.where(logged > 0, 1 + beyond / np.maximum(logged, 1), parts).tolist()
        return found

    return list(zip(mean(8, 1), mean(13, 2), mean(18, 4), strict=True))


def _space(access: AccessInfo, in_shared: int, requests: int) -> Space:
    """A generic pointer counts as what most of its requests were."""
    if access.constant:
        return "constant"
    return "shared" if access.space == 0 and in_shared * 2 > requests else SPACES[access.space]


def _trace(result: LaunchResult, warps: int) -> tuple[BlockTrace, ...]:
    events = result.events
    kinds = (events >> np.uint64(56)).astype(np.int64)
    cuts = [*np.flatnonzero(kinds == THREAD_BLOCK).tolist(), len(events)]
    spans = list(pairwise(cuts))
    if result.events_lost and len(spans) > 1:
        spans = spans[:-1]  # the log ends inside it
    numbers = events >> np.uint64(24) & np.uint64(0xFFFFFF)
    parts: dict[int, list[tuple[int, int]]] = {}
    for a, b in spans:  # a block that others run beside is gone on with
        parts.setdefault(int(numbers[a]), []).append((a, b))
    places = (np.concatenate([np.arange(a, b) for a, b in each]) for each in parts.values())
    return tuple(_block_trace(events[at], kinds[at], warps) for at in places)


def _block_trace(events: npt.NDArray[np.uint64], kinds: npt.NDArray[np.int64], warps: int) -> BlockTrace:
    number = int(events[0] >> np.uint64(24)) & 0xFFFFFF
    warp = (events >> np.uint64(48)).astype(np.int64) & 0xFF
    which = (events >> np.uint64(24)).astype(np.int64) & 0xFFFFFF
    run = kinds == BLOCK
    paths = tuple(which[run & (warp == w)].astype(np.int32) for w in range(warps))
    is_line = kinds == LINES
    lines = events[is_line] & np.uint64((1 << 48) - 1)
    asked = np.flatnonzero(kinds == GLOBAL)
    before = np.cumsum(is_line)
    requests: npt.NDArray[Any] = np.zeros(len(asked), REQUEST)
    if len(asked):
        requests["access"] = which[asked]
        requests["first_line"] = before[asked]
        requests["last_line"] = np.append(before[asked][1:], len(lines))
        requests["warp"] = warp[asked]
        requests["at"] = _entries_begun(run, warp, warps)[asked] - 1
        requests = requests[in_turns(warp[asked], np.cumsum(kinds == BARRIER)[asked])]
    return BlockTrace(number, paths, requests, lines)


def _entries_begun(run: npt.NDArray[np.bool_], warp: npt.NDArray[np.int64], warps: int) -> npt.NDArray[np.int64]:
    """Per event: how many entries of its warp's path have begun by then."""
    found = np.zeros(len(run), np.int64)
    for number in range(warps):
        mine = warp == number
        found[mine] = np.cumsum(run[mine])
    return found
