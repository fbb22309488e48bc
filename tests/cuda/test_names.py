"""Mangled names: what c++filt says, less the parameters."""

from __future__ import annotations

import pytest

from kernelwright.cuda.names import base_name, is_called, readable

# As c++filt (binutils 2.40) prints the name before its parameter list, except that const stands first.
NAMES = {
    "_Z3addPKfS0_Pfi": "add",
    "_ZN3net6reduceIfLi4EEEvPT_": "net::reduce<float, 4>",
    "_ZL6hiddenv": "hidden",
    "_ZN12_GLOBAL__N_14hereEv": "(anonymous namespace)::here",
    "_ZN2ns5outer5innerEi": "ns::outer::inner",
    "_Z4swapIPKdLb1EEvT_": "swap<const double*, true>",
    "_Z4stepILin3EmEvT0_": "step<-3, unsigned long>",
    "_Z5applyIN3net3SumEEvT_": "apply<net::Sum>",
    "_Z5applyI3BoxIiEEvT_": "apply<Box<int>>",
    "saxpy": "saxpy",
    "main": "main",
}


@pytest.mark.parametrize("mangled", NAMES)
def test_readable(mangled: str) -> None:
    assert readable(mangled) == NAMES[mangled]


@pytest.mark.parametrize(
    "mangled", ["_Z", "_Z9short", "_ZN3net", "_Zli2xxy", "_Z3fooIXadL_Z3barvEEEvv", "_ZNSt6vectorIiE"]
)
def test_what_cannot_be_read_stays_as_it_is(mangled: str) -> None:
    assert readable(mangled) == mangled


def test_base_name() -> None:
    assert base_name("_ZN3net6reduceIfLi4EEEvPT_") == "reduce"
    assert base_name("saxpy") == "saxpy"


@pytest.mark.parametrize(
    "name", ["_ZN3net6reduceIfLi4EEEvPT_", "net::reduce<float, 4>", "net::reduce", "reduce", "reduce<float, 4>"]
)
def test_names_a_person_may_use(name: str) -> None:
    assert is_called("_ZN3net6reduceIfLi4EEEvPT_", name)
    assert not is_called("_ZN3net7reducerEv", name) and not is_called("_Z9my_reducev", name)
