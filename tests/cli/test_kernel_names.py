"""Kernels as a person names them on a command line."""

from __future__ import annotations

import pytest

from kernelwright.cli.commands.evolve import _mangled
from kernelwright.errors import Misuse

SCALE, RACY, OTHER = "_ZN2ns5scaleIfLi3EEEvPT_i", "_ZN2ns4racyEPi", "_ZN5other4racyEPi"


@pytest.mark.parametrize("name", ["scale", "ns::scale", "ns::scale<float, 3>", SCALE])
def test_a_kernel_is_found_without_its_namespace_and_arguments(name: str) -> None:
    assert _mangled((name,), [RACY, SCALE]) == (SCALE,)


def test_what_fits_several_or_none_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(Misuse, match="several kernels are called 'racy'") as raised:
        _mangled(("racy",), [RACY, OTHER])
    assert "ns::racy, other::racy" in str(raised.value)
    with pytest.raises(Misuse, match="no kernel is called 'cale'") as raised:
        _mangled(("cale",), [SCALE])
    assert "ns::scale<float, 3>" in str(raised.value)
