"""What nvcc and the host compiler below it accept with a warning and clang by itself rejects: clang warns, too.

Found by compiling each with nvcc 13.0, g++ 12 and clang 22. What g++ rejects as well, such as ``throw(int)`` in C++17, stays an error.
"""

from __future__ import annotations

import re

NEEDS_NEWER = "our thrust needs C++17"
"""How the headers that refuse an older standard begin."""
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


def newer_standard(error: str, std: str | None) -> str | None:
    """The C++ standard for a source whose own, ``std``, is too old for our thrust, as ``error`` says; None for other errors.

    thrust was C++11 once, and build files say so still; what is valid in it is in C++17, but for ``register`` and its like.
    """
    found = re.fullmatch(r"(c|gnu)\+\+(98|03|0x|11|1y|14)", std or "")
    return f"{found[1]}++17" if found and NEEDS_NEWER in error else None
