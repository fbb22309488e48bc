"""GPU architectures, as compilers name them. What a GPU of one can do is in ``target.py``; no other file knows an ``sm_`` number."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.values import frozen


@frozen
class Architecture:
    """One compute capability, as compilers name it."""

    name: str
    """``sm_90``, ``sm_90a``."""
    ptx: int
    """The lowest PTX ISA version (x10) that LLVM needs for it: 78 means ``.version 7.8``."""
    generation: str

    @property
    def number(self) -> int:
        """``__CUDA_ARCH__`` divided by 10: 90 for sm_90 and sm_90a."""
        return number_of(self.name)


# PTX ISA versions: NVIDIA's PTX ISA manual, "Release Notes" (the version that introduced each target).
ARCHITECTURES: dict[str, Architecture] = {
    a.name: a
    for a in (
        Architecture("sm_60", 50, "Pascal"),
        Architecture("sm_61", 50, "Pascal"),
        Architecture("sm_70", 60, "Volta"),
        Architecture("sm_72", 61, "Volta"),
        Architecture("sm_75", 63, "Turing"),
        Architecture("sm_80", 70, "Ampere"),
        Architecture("sm_86", 71, "Ampere"),
        Architecture("sm_87", 74, "Ampere"),
        Architecture("sm_89", 78, "Ada"),
        Architecture("sm_90", 78, "Hopper"),
        Architecture("sm_90a", 80, "Hopper"),
        Architecture("sm_100", 86, "Blackwell"),
        Architecture("sm_100a", 86, "Blackwell"),
        Architecture("sm_101", 86, "Blackwell"),
        Architecture("sm_103", 88, "Blackwell"),
        Architecture("sm_120", 87, "Blackwell"),
        Architecture("sm_121", 88, "Blackwell"),
    )
}

DEFAULT_ARCHITECTURE = "sm_80"

CUBINS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
"""What an export holds machine code for, as far as an assembler is installed that knows them."""

# PTX 7.8 (CUDA 11.8) is the floor: it holds every instruction of the architectures up to sm_90, and drivers since
# 2022 read it. Architectures that came later bring their own minimum.
PTX_FLOOR = 78


def architecture(name: str) -> Architecture:
    """The architecture called ``name``. Raises ``Misuse`` with the nearest names for an unknown one."""
    found = ARCHITECTURES.get(name) if isinstance(name, str) else None
    if found is None:
        import difflib

        near = difflib.get_close_matches(str(name), ARCHITECTURES, n=3, cutoff=0.5) or sorted(ARCHITECTURES)
        raise Misuse(f"unknown architecture {name!r}", hint=f"did you mean {', '.join(near)}?")
    return found


def number_of(name: str) -> int:
    """90 for ``sm_90`` and ``sm_90a``; also of a GPU's architecture that the table does not have yet."""
    return int("".join(letter for letter in name if letter.isdigit()))


def runs_on(arch: str, gpu: str) -> bool:
    """Whether code for ``arch`` runs on a GPU of architecture ``gpu``: it is no newer, and one with a letter is for its own alone."""
    return number_of(arch) <= number_of(gpu) if arch[-1].isdigit() else number_of(arch) == number_of(gpu)


def ptx_version(arch: str) -> int:
    """The PTX ISA version (x10) that code for ``arch`` may use and is emitted in: 78 means ``.version 7.8``."""
    return max(architecture(arch).ptx, PTX_FLOOR)
