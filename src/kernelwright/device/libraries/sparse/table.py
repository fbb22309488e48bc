"""The routines of cuSPARSE by their public names."""

from __future__ import annotations

from typing import Any

from kernelwright.device.libraries.number_types import F32, NumberType
from kernelwright.device.libraries.sparse.conversions import CONVERSIONS
from kernelwright.device.libraries.sparse.products import PRODUCTS
from kernelwright.device.libraries.sparse.solves import SOLVES

SPARSE_ROUTINES: dict[str, tuple[Any, NumberType]] = {
    f"cusparse{name}": (run, F32) for name, run in {**PRODUCTS, **SOLVES, **CONVERSIONS}.items()
}
"""As in ``blas_table.py``. Descriptors tell the types."""
