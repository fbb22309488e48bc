"""What nvcc and the host compiler below it accept with a warning and clang by itself rejects: clang warns, too.

Found by compiling each with nvcc 13.0, g++ 12 and clang 22. What g++ rejects as well, such as ``throw(int)`` in C++17, stays an error.
"""

from __future__ import annotations

_CPP = (
    "register",  # `register int i;` in C++17
    "c++11-narrowing",  # `unsigned char c[] = {n};`
    "reserved-user-defined-literal",  # `"%d"NAME` without a space
    "missing-template-arg-list-after-template-kw",
    "non-pod-varargs",
    "writable-strings",
)
_C = (
    "implicit-function-declaration",
    "implicit-int",
    "int-conversion",
    "incompatible-pointer-types",
    "incompatible-function-pointer-types",
    "return-mismatch",
)


def warned_about(kind: str) -> list[str]:
    """clang's flags for a source of ``kind`` (``cuda``, ``c++`` or ``c``): what its makers compile with a warning compiles."""
    return [f"-Wno-error={name}" for name in (_C if kind == "c" else _CPP)]
