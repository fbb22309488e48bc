"""The routines of cuSOLVER's dense interface by their public names."""

from __future__ import annotations

from typing import Any

from kernelwright.device.libraries.dense import reflections, spectra, systems
from kernelwright.device.libraries.dense.devinfo import wrong_parameter
from kernelwright.device.libraries.number_types import BY_LETTER, I32, NumberType

# Of every type: the end of the name, behind the letter of the type.
_OF_EVERY_TYPE: dict[str, Any] = {
    "potrf": systems.potrf,
    "potrs": systems.potrs,
    "potri": systems.potri,
    "potrfBatched": systems.potrf_batched,
    "potrsBatched": systems.potrs_batched,
    "getrf": systems.getrf,
    "getrs": systems.getrs,
    "geqrf": reflections.geqrf,
    "gesvd": spectra.gesvd,
}
# What is orthogonal and symmetric of reals is unitary and Hermitian of complex numbers.
_OF_REALS: dict[str, Any] = {
    "orgqr": reflections.orgqr,
    "ormqr": reflections.ormqr,
    "syevd": spectra.syevd,
    "sygvd": spectra.sygvd,
}
_OF_COMPLEX: dict[str, Any] = {
    "ungqr": reflections.orgqr,
    "unmqr": reflections.ormqr,
    "heevd": spectra.syevd,
    "hegvd": spectra.sygvd,
}

DENSE_ROUTINES: dict[str, tuple[Any, NumberType]] = {
    **{
        f"cusolverDn{letter}{end}": (run, BY_LETTER[letter])
        for letters, rows in (("SDCZ", _OF_EVERY_TYPE), ("SD", _OF_REALS), ("CZ", _OF_COMPLEX))
        for letter in letters
        for end, run in rows.items()
    },
    "cusolverDnWrongParameter": (wrong_parameter, I32),
}
"""As in ``blas_table.py``. ``cusolverDnWrongParameter`` is no function of cuSOLVER's: what a call with wrong arguments leaves."""
