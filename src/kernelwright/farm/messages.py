"""Messages between a pool, the template its workers are copied from, and the workers: one datagram each.

A datagram arrives whole or not at all, and one that was not read yet can be taken back by the holder of the other end
of the socket. A large body travels as a descriptor of anonymous memory: it has no name, so nothing is left behind
whichever end dies.

    head   kind, what it is about (a number), where the body is      16 bytes
    body   a pickle: behind the head, or in the last descriptor
"""

from __future__ import annotations

import enum
import mmap
import os
import pickle
import socket
import struct
from array import array
from collections.abc import Sequence
from typing import Any

from kernelwright.lazy_dataclasses import dataclass

INLINE_BYTES = 1 << 15
"""Bodies up to this size travel in the datagram itself: a socket's buffer holds six of the largest."""
DESCRIPTORS = 5
"""What one datagram may carry."""

_HEAD = struct.Struct("<BBxxxxxxQ")
_RIGHTS_BYTES = socket.CMSG_LEN(DESCRIPTORS * array("i").itemsize)
_DATAGRAM_BYTES = _HEAD.size + INLINE_BYTES


class Kind(enum.IntEnum):
    """What a message says; the number says about which worker (to and from the template) or which parcel."""

    SETUP = 1  # pool → template: what the workers shall do
    READY = 2  # template → pool, worker → pool: set up
    FAILED = 3  # the same: set-up raised, the body is the error
    BEAR = 4  # pool → template: make a worker; carries its socket and its life line. pool → nursery: make a template
    BORN = 5  # the same back: its process id
    KILL = 6  # pool → template
    DIED = 7  # template → pool: (exit code, end of its log); nursery → pool: exit code
    WORK = 8  # pool → worker: an item
    DONE = 9  # worker → pool: (seconds, result)
    RAISED = 10  # worker → pool: (seconds, Raised)


@dataclass(frozen=True)
class Message:
    kind: Kind
    number: int
    body: bytes
    """A pickle; empty when it is in the last descriptor."""
    descriptors: tuple[int, ...] = ()

    def value(self) -> Any:
        """What was sent. Call it once: it gives back the memory of a large body. Raises whatever unpickling raises."""
        if self.body:
            return pickle.loads(self.body)
        memory = self.descriptors[-1]
        try:
            with mmap.mmap(memory, 0, prot=mmap.PROT_READ) as mapped:
                return pickle.loads(mapped)
        finally:
            os.close(memory)

    def discard(self) -> None:
        """Gives back what a message holds that will not be read."""
        for each in self.descriptors:
            os.close(each)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends between which datagrams keep their order."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack(value: object) -> bytes:
    """Raises whatever pickling raises."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def send(
    to: socket.socket, kind: Kind, number: int, body: bytes, descriptors: Sequence[int] = (), *, wait: bool = True
) -> bool:
    """Whether it could be sent: False when the buffer is full and ``wait`` is off. ``body`` is what ``pack`` returns.

    Raises ``BrokenPipeError`` or ``ConnectionError`` when the other end is closed.
    """
    flags = 0 if wait else socket.MSG_DONTWAIT
    small = len(body) <= INLINE_BYTES
    memory = -1 if small else _in_memory(body)
    try:
        head = _HEAD.pack(kind, small, number)
        carried = [*descriptors] if small else [*descriptors, memory]
        parts = [head, body] if small else [head]
        # Not socket.send_fds and recv_fds, which forget their flags.
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", carried))] if carried else []
        to.sendmsg(parts, rights, flags)
    except BlockingIOError:
        return False
    finally:
        if memory >= 0:
            os.close(memory)
    return True


def receive(by: socket.socket, *, wait: bool = True) -> Message | None:
    """The next message; None when the other end is closed. Raises ``BlockingIOError`` when there is none and ``wait`` is
    off."""
    flags = socket.MSG_CMSG_CLOEXEC | (0 if wait else socket.MSG_DONTWAIT)
    data, rights, _, _ = by.recvmsg(_DATAGRAM_BYTES, _RIGHTS_BYTES, flags)
    if not data:
        return None
    descriptors = array("i")
    for _, _, carried in rights:
        descriptors.frombytes(carried)
    kind, _, number = _HEAD.unpack_from(data)
    return Message(Kind(kind), number, data[_HEAD.size :], tuple(descriptors))


def _in_memory(body: bytes) -> int:
    """A descriptor of anonymous memory that holds the body."""
    memory = os.memfd_create("kernelwright-farm")
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(memory, view) :]
    except BaseException:
        os.close(memory)
        raise
    return memory
