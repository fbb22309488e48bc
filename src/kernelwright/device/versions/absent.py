"""Versions that a program has no use for: of kernels that it does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kernelwright.cuda.names import readable
from kernelwright.kernel_version import Version


def without_kernel(versions: Iterable[Version], kernels: Collection[str]) -> Iterator[str]:
    """A sentence for each version of a kernel that is not among ``kernels``, mangled names."""
    names = {_plain(name) for name in kernels}
    for version in versions:
        if version.kernel in kernels:
            continue
        shown = readable(version.kernel)
        why = (
            f"the program's kernel {shown} takes other arguments now"
            if _plain(version.kernel) in names
            else f"the program has no kernel {shown}"
        )
        yield f"{version.name} is not used: {why}; the original runs"


def _plain(kernel: str) -> str:
    return readable(kernel).split("<")[0]
