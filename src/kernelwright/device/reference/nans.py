"""Other bits for NaNs, to find out whether a kernel's result depends on them.

A NaN that arithmetic makes has the bits of the executor that computes it: executors may differ. A kernel that looks at them as an
integer comes to results that mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kernelwright.device import floating_point
from kernelwright.device.reference import body

_WIDTHS = {"half": 16, "bfloat": 16, "single": 32, "float": 32, "double": 64}


@contextmanager
def negative_nans() -> Iterator[None]:
    """Kernels that are translated in here see the sign set in every NaN that arithmetic made and they look at the bits of."""
    names = {f"{kind}_bits": width for kind, width in _WIDTHS.items()}
    kept = {name: body.HELPERS[name] for name in names}
    body.HELPERS.update({name: _negative(kept[name], 1 << (width - 1)) for name, width in names.items()})
    try:
        yield
    finally:
        body.HELPERS.update(kept)


def _negative(to_bits: Callable[[float], int], sign: int) -> Callable[[float], int]:
    def bits(x: float) -> int:
        made = x != x and not isinstance(x, floating_point.Payload)
        return to_bits(x) ^ sign if made else to_bits(x)

    return bits
