"""Memory of a file that several processes map at one address: mapped, made huge, given back.

Huge pages: a page of 4 KiB costs a fault when it is first touched, over a microsecond on a virtual machine and so more than all else
that is done with its bytes, and an entry of the processor's table of addresses whenever it is used. Systems rarely give shared
memory huge pages by themselves (``shmem_enabled`` is "never" by default), but Linux 6.1 and later collapse what is asked for
(``MADV_COLLAPSE``, madvise(2)), whatever the settings.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
from functools import cache

from kernelwright.errors import DeviceError

HUGE = 2 << 20
"""Bytes of a huge page, and a multiple of where one begins: of x86-64, and of ARM with pages of 4 KiB."""

_MAP_FIXED = 0x10
_MAP_NORESERVE = 0x4000
_MAP_FIXED_NOREPLACE = 0x100000
_MADV_REMOVE = 9
_MADV_COLLAPSE = 25
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE

# Bases whose mapping this process keeps after ``release``: they hold zero pages, so that a stale view reads zeros instead
# of ending the process, and the next mapping takes their place, so that addresses stay the same from arena to arena.
_released: dict[int, int] = {}


def map_file(fd: int, size: int, bases: list[int]) -> int:
    """The address at which ``size`` bytes of a file are mapped now: the first of ``bases`` that is free here.

    Raises ``DeviceError`` when none is.
    """
    found = _mapped_at(bases, fd, size)
    if found is None:
        gc.collect()  # arenas that only circles of references still hold
        found = _mapped_at(bases, fd, size)
    if found is None:
        raise DeviceError(
            f"This process has no free address range of {size} bytes at {bases[0]:#x} for the device's memory "
            f"({os.strerror(ctypes.get_errno())}).",
            hint="close other arenas, or raise the limit of virtual memory (ulimit -v)",
        )
    return found


def map_again(fd: int, base: int, size: int, *, private: bool) -> bool:
    """Maps the first ``size`` bytes of a file in place of what ``base`` maps: a copy of this process's own, or the file itself.
    Whether that could be done."""
    kind = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
    return bool(_libc().mmap(base, size, _READ_WRITE, kind | _MAP_NORESERVE | _MAP_FIXED, fd, 0) == base)


def release(fd: int, base: int, size: int) -> None:
    """Closes the file, and leaves zeros at the addresses."""
    # Shared, for what is private and writable counts against a worker's limit of memory (RLIMIT_DATA), touched or not.
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _MAP_NORESERVE | _MAP_FIXED
    if _libc().mmap(base, size, _READ_WRITE, flags, -1, 0) == base:
        _released[base] = size
    os.close(fd)


def give_back(first: int, last: int) -> None:
    """Whole pages of a mapped file, from ``first`` to before ``last``: their memory is free, and read again they are zero."""
    _libc().madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _MADV_REMOVE)


def make_huge(first: int, last: int) -> bool:
    """Commits the memory of a mapped file from ``first``, a multiple of ``HUGE``, to before ``last``, in huge pages; what it holds stays.
    False where the system has none: then nothing is lost, and pages come one by one as they are touched."""
    for address in range(first, last, HUGE):
        ctypes.c_char.from_address(address).value  # noqa: B018  # where nothing was touched, there is nothing to collapse
    return bool(_libc().madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _MADV_COLLAPSE) == 0)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong,
    ]  # fmt: skip
    return libc


def _mapped_at(bases: list[int], fd: int, size: int) -> int | None:
    for base in bases:
        if base in _released:
            _libc().munmap(ctypes.c_void_p(base), ctypes.c_size_t(_released.pop(base)))
        got = _libc().mmap(base, size, _READ_WRITE, mmap.MAP_SHARED | _MAP_NORESERVE | _MAP_FIXED_NOREPLACE, fd, 0)
        if got == base:
            return base
        if got not in (None, ctypes.c_void_p(-1).value):
            _libc().munmap(ctypes.c_void_p(got), ctypes.c_size_t(size))
    return None
