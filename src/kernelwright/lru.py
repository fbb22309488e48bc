"""A cache in memory that drops what was used least recently: bounded by how many values it holds, or by how large they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """At most ``most`` values, whose sizes together are at most ``most_bytes``; the newest is held whatever its size.

    ``size`` gives the bytes of a value and is asked only where ``most_bytes`` is given. Not for several threads at once.
    """

    def __init__(
        self, most: int | None = None, *, most_bytes: int | None = None, size: Callable[[V], int] | None = None
    ) -> None:
        if (most_bytes is None) != (size is None):
            raise ValueError("most_bytes and size belong together")
        self.bytes = 0
        """The sizes of the values together; 0 where no sizes are asked for."""
        self._most = most
        self._most_bytes = most_bytes
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        """Does not count as a use."""
        return key in self._values

    def get(self, key: K) -> V | None:
        """The value, which is now the one used last; None when there is none."""
        found = self._values.get(key)
        if found is not None:
            self._values.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> None:
        """Holds a value, in place of the key's earlier one, and drops the least recently used beyond the bounds."""
        self._forget(key)
        self._values[key] = value
        if self._size is not None:
            self.bytes += self._size(value)
        while self._is_over():
            self._forget(next(iter(self._values)))

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value, made when there is none. What ``make`` raises is passed on, and nothing is held then."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def clear(self) -> None:
        """Drops all values."""
        self._values.clear()
        self.bytes = 0

    def _forget(self, key: K) -> None:
        if key in self._values:
            value = self._values.pop(key)
            if self._size is not None:
                self.bytes -= self._size(value)

    def _is_over(self) -> bool:
        held = len(self._values)
        over_count = self._most is not None and held > self._most
        over_bytes = self._most_bytes is not None and self.bytes > self._most_bytes
        return held > 1 and (over_count or over_bytes)
