"""Types of a kernel's parameters, from its mangled name or its source; ``c++filt`` gave the expected ones."""

from __future__ import annotations

import pytest

from kernelwright.cuda.signatures import parameter_types

MANGLED = {
    "_Z3addPKfS0_Pfi": ("const float*", "const float*", "float*", "int"),
    "_ZN3net5scaleIfEEvPT_S1_i": ("float*", "float", "int"),
    "_ZN3net5scaleIfEEvPT_fi": ("float*", "float", "int"),
    "_Z1kPPfS0_Pm": ("float**", "float**", "unsigned long*"),
    "_Z1kPPfS_Pm": ("float**", "float*", "unsigned long*"),
    "_Z4reduIfLi4EEvPKT_PS0_j": ("const float*", "float*", "unsigned int"),
    "_Z1k6float4PS_Pf": ("", "", "float*"),
    "_Z4spinPVi": ("int*",),
    "_ZN1a1b1kEPKdPNS_1cE": ("", ""),
    "_Z1kIN1a1bEEvPT_i": ("", ""),
}


@pytest.mark.parametrize("name", MANGLED)
def test_of_mangled_names(name: str) -> None:
    assert parameter_types(name, len(MANGLED[name])) == MANGLED[name]


def test_another_number_of_parameters_is_no_signature() -> None:
    assert parameter_types("_Z3addPKfS0_Pfi", 3) == ("", "", "")
    assert parameter_types("_Z1kv", 0) == ()


@pytest.mark.parametrize(
    ("declared", "types"),
    [
        ("const float *__restrict__ a, float const *b, unsigned n", ("const float*", "const float*", "unsigned int")),
        ("float4 *c, T d, uint8_t *e, size_t n", ("", "", "unsigned char*", "unsigned long")),
        ("double **rows, volatile int *flag, /* old: */ bool yes // why", ("double**", "int*", "bool")),
        ("float a[16], int n", ("", "int")),
        ("int", ("",)),
    ],
)
def test_of_sources(declared: str, types: tuple[str, ...]) -> None:
    text = f'extern "C" __global__ void add({declared}\n)\n{{ }}\nint main() {{ add<<<1, 1>>>(0); return 0; }}'
    assert parameter_types("add", len(types), text) == types


def test_what_two_definitions_say_is_not_known() -> None:
    one = "void add(int *a) { }"
    assert parameter_types("add", 1, one) == ("int*",)
    assert parameter_types("add", 1, f"#if X\n{one}\n#else\nvoid add(float *a) {{ }}\n#endif") == ("",)
