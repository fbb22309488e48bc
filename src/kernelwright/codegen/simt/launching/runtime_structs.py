"""The runtime's structs as Python sees them; ``runtime/simt.h`` and ``runtime/check.h`` are the other half."""

from __future__ import annotations

import ctypes
import struct

import numpy as np

ACCESS = np.dtype(
    [
        ("kind", "u1"), ("space", "u1"), ("size", "u1"), ("components", "u1"), ("align", "u1"), ("form", "u1"),
        ("zero_extend", "u1"), ("segments", "u1"), ("segment_lanes", "u1"), ("spread", "u1"), ("operation", "u1"),
        ("is_volatile", "u1"), ("is_float", "u1"), ("several", "u1"), ("stated", "u1"), ("is_constant", "u1"),
        ("footprint", "<u4"), ("stride", "<i8"),
        ("coefficient", "<i8"), ("root_stride", "<i8"),
    ],
    align=True,
)  # fmt: skip
SITE = np.dtype(
    [
        ("low", "<u8"), ("count", "<u8"), ("sectors", "<i8"), ("waves", "<i8"), ("serial", "<i8"),
        ("in_shared", "<u8"), ("in_local", "<u8"), ("start", "<u8"), ("end", "<u8"), ("writable", "<u4"),
        ("index", "<u4"), ("l1_hits", "<u8"), ("l2_hits", "<u8"), ("looked_up", "<u8"), ("access", "<u8"),
        ("reserved", "<u8", (2,)),
    ]
)  # fmt: skip
POINT = np.dtype(
    [
        ("is_gather", "u1"), ("checked", "u1"), ("operation", "u1"), ("mode", "u1"), ("kind", "<u2"), ("threads", "<u2"),
        ("number", "u1"), ("is_grid", "u1"), ("reduces", "u1"), ("pad", "u1"),
    ]
)  # fmt: skip
FINDING = np.dtype(
    [
        ("kind", "<u4"), ("scope", "<u4"), ("site", "<u4"), ("other_site", "<u4"), ("block", "<u4"), ("thread", "<u4"),
        ("other_block", "<u4"), ("other_thread", "<u4"), ("address", "<u8"), ("size", "<u4"), ("write", "<u4"),
        ("other_write", "<u4"), ("benign", "<u4"), ("atomic", "<u4"), ("other_atomic", "<u4"), ("count", "<u8"),
    ]
)  # fmt: skip


class Fault(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32), ("site", ctypes.c_uint32), ("block", ctypes.c_uint32), ("thread", ctypes.c_uint32),
        ("address", ctypes.c_uint64), ("size", ctypes.c_uint32), ("write", ctypes.c_uint32),
        ("detail", ctypes.c_uint64 * 6),
    ]  # fmt: skip


class Context(ctypes.Structure):
    _fields_ = [
        ("budget", ctypes.c_int64), ("shared_host", ctypes.c_uint64), ("local_host", ctypes.c_uint64),
        ("parameters", ctypes.c_uint64), ("symbols", ctypes.c_void_p), ("sites", ctypes.c_void_p),
        ("counts", ctypes.c_void_p), ("by_value_host", ctypes.c_uint64), ("ctaid", ctypes.c_uint32 * 3),
        ("nctaid", ctypes.c_uint32 * 3), ("ntid", ctypes.c_uint32 * 3), ("barrier_result", ctypes.c_uint32),
        ("clock", ctypes.c_uint64), ("attention", ctypes.c_uint32), ("watched", ctypes.c_uint32),
        ("dynamic_shared", ctypes.c_uint32), ("block_shared", ctypes.c_uint32),
        ("cooperative", ctypes.c_uint32), ("pad", ctypes.c_uint32),
        ("true_sites", ctypes.c_void_p), ("blind_sites", ctypes.c_void_p), ("n_sites", ctypes.c_uint32),
        ("shared_size", ctypes.c_uint64), ("local_size", ctypes.c_uint64), ("by_value_size", ctypes.c_uint64),
        ("buffers", ctypes.c_void_p), ("by_value", ctypes.c_void_p), ("n_buffers", ctypes.c_uint32),
        ("n_by_value", ctypes.c_uint32), ("counting", ctypes.c_uint32),
        ("block_linear", ctypes.c_uint32), ("frame", ctypes.c_void_p), ("fault", ctypes.c_void_p),
        ("check", ctypes.c_void_p), ("cache", ctypes.c_void_p), ("print", ctypes.c_void_p),
        ("print_size", ctypes.c_uint64), ("print_used", ctypes.c_uint64), ("print_lost", ctypes.c_uint64),
        ("arrivals", ctypes.c_uint32 * 16), ("overread", ctypes.c_uint32), ("pad2", ctypes.c_uint32),
        ("overreads", ctypes.c_void_p), ("weak", ctypes.c_void_p), ("spread", ctypes.c_uint32),
        ("departed", ctypes.c_uint32), ("written", ctypes.c_void_p), ("homes", ctypes.c_void_p),
        ("changes", ctypes.c_void_p), ("patterns", ctypes.c_void_p), ("met", ctypes.c_uint32 * 2),
    ]  # fmt: skip


REQUEST = struct.Struct("<qQQ4IIIQ")
"""What differs from launch to launch: budget, addresses of symbols and of buffers, number of buffers, grid, the byte that a
read past a buffer gives, or ``NO_OVERREAD``, whether its blocks may wait for the whole grid, and a number for the table of buffers."""
NO_OVERREAD = 256
OVERREAD = np.dtype(
    [
        ("buffer", "<u8"), ("address", "<u8"), ("size", "<u8"), ("farthest", "<u8"), ("count", "<u8"), ("place", "<u4"),
        ("before", "<u4"), ("block", "<u4"), ("thread", "<u4"),
    ]
)  # fmt: skip
OVERREAD_HEAD = np.dtype("<u8")
"""The number of rows."""


class LaunchStruct(ctypes.Structure):
    """A launch as the runtime takes it (``simt_launch``)."""

    _fields_ = [
        ("context", Context), ("request", ctypes.c_uint8 * REQUEST.size), ("kernel", ctypes.c_void_p),
        ("frames", ctypes.c_void_p),
        ("frame_size", ctypes.c_uint64), ("local_bytes", ctypes.c_uint64), ("fresh_bytes", ctypes.c_uint64), ("local", ctypes.c_void_p),
        ("shared", ctypes.c_void_p), ("n_warps", ctypes.c_uint32), ("n_threads", ctypes.c_uint32),
        ("segments", ctypes.c_uint32), ("n_points", ctypes.c_uint32), ("points", ctypes.c_void_p),
        ("block_order", ctypes.c_void_p), ("warp_order", ctypes.c_void_p), ("warp_rows", ctypes.c_uint32),
        ("n_groups", ctypes.c_uint32), ("groups", ctypes.c_void_p), ("group_rows", ctypes.c_uint32),
        ("watch_every", ctypes.c_uint32), ("blocks_done", ctypes.c_uint64), ("watch_list", ctypes.c_void_p),
        ("n_watch_list", ctypes.c_uint32), ("new_shape", ctypes.c_uint32), ("fresh_sites", ctypes.c_void_p),
        ("n_counts", ctypes.c_uint32), ("n_order", ctypes.c_uint32), ("pause_ns", ctypes.c_uint64),
        ("goes_on", ctypes.c_uint32), ("halted", ctypes.c_uint32), ("patience_ns", ctypes.c_uint64),
        ("placed", ctypes.c_uint64), ("known_table", ctypes.c_uint64),
        ("workers", ctypes.c_void_p), ("n_workers", ctypes.c_uint64),
    ]  # fmt: skip


class SpreadStruct(ctypes.Structure):
    """What is said of a launch whose blocks run at the same time (``simt_spread``)."""

    _fields_ = [
        ("n_workers", ctypes.c_uint64), ("step", ctypes.c_uint64), ("n_blocks", ctypes.c_uint64),
        ("written", ctypes.c_void_p), ("homes", ctypes.c_void_p), ("saved", ctypes.c_void_p),
        ("n_saved", ctypes.c_uint64), ("room", ctypes.c_void_p), ("departed", ctypes.c_uint64),
        ("busy_ns", ctypes.c_uint64), ("launch", ctypes.c_void_p), ("next", ctypes.c_uint64),
        ("ended", ctypes.c_uint32), ("pad", ctypes.c_uint32),
    ]  # fmt: skip


class Check(ctypes.Structure):
    """The part of ``simt_check`` that the host fills in and reads."""

    _fields_ = [
        ("races", ctypes.c_uint32), ("unwritten", ctypes.c_uint32), ("written", ctypes.c_void_p),
        ("shared_written", ctypes.c_void_p), ("local_written", ctypes.c_void_p), ("findings", ctypes.c_void_p),
        ("n_findings", ctypes.c_uint32), ("max_findings", ctypes.c_uint32), ("incomplete", ctypes.c_uint32),
        ("touched", ctypes.c_uint32), ("n_threads", ctypes.c_uint32), ("n_points", ctypes.c_uint32),
        ("filler", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("passed", ctypes.c_void_p),
    ]  # fmt: skip


BUFFER = np.dtype([("start", "<u8"), ("end", "<u8"), ("index", "<u4"), ("writable", "<u4")])
KINDS = {"load": 0, "store": 1, "atomic": 2}
OPERATIONS = (
    "add", "sub", "and", "nand", "or", "xor", "xchg", "max", "min", "umax", "umin", "fadd", "fsub", "fmax", "fmin",
    "fmaximum", "fminimum", "uinc_wrap", "udec_wrap", "cas", "usub_cond", "usub_sat",
)  # fmt: skip
FLOATS = {"half": 1, "bfloat": 2, "float": 3, "double": 4}
FAULT_KINDS = (
    "", "out-of-bounds", "misaligned", "barrier", "trap", "assert", "endless", "read-only", "out-of-bounds", "barrier",
    "misaligned", "endless", "barrier",
    "trap",
)  # fmt: skip
AT_ACCESS, AT_BARRIER, AT_NOTE = frozenset([1, 2, 7]), 3, frozenset([4, 5, 8, 9, 10, 13])
"""What the ``site`` of a fault of each kind counts."""
MISALIGNED_BULK = 10
AT_WAIT, AT_GRID = 11, 12
WAITS = "it waits for ever: no thread of its block, nor of those that run beside it, changes what it waits for"
NOT_COOPERATIVE = (
    "it waits for the whole grid, in a launch that is not cooperative: launch it with cudaLaunchCooperativeKernel"
)
NOT_ALL = "it waits for the whole grid, and other blocks have ended or wait elsewhere"
MESSAGES = {
    9: "a thread takes part in a warp operation whose member mask leaves it out",
    13: "it calls through a pointer that is the address of no device function of this type",
}
"""What to say of a kind that has another's name."""
