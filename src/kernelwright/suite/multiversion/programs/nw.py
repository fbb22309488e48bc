"""Needleman-Wunsch alignments, many at once: scores along the anti-diagonals, one after the other."""

from kernelwright.suite.multiversion.nests import Array, Code, Loop, Map, NestedProgram

_CELL = """
int c = d - r;
if (c >= 0 && c < length) {
    int *here = score + b * (length + 1) * (length + 1) + (r + 1) * (length + 1) + c + 1;
    int aligned = here[-length - 2] + similarity[(b * length + r) * length + c];
    int gap = (here[-1] > here[-length - 1] ? here[-1] : here[-length - 1]) - 1;
    here[0] = aligned > gap ? aligned : gap;
}
"""
_BORDER = (
    "i % (length + 1) && i / (length + 1) % (length + 1) ? 0 : -(i % (length + 1) + i / (length + 1) % (length + 1))"
)

PROGRAM = NestedProgram(
    name="nw",
    line="scores of alignments of pairs of sequences",
    parameters=("pairs", "length"),
    arrays=(
        Array("similarity", "pairs * length * length", "(int)(noise(i) * 21) - 10", "int"),
        Array("score", "pairs * (length + 1) * (length + 1)", _BORDER, "int"),
    ),
    body=(Map("b", "pairs", (Loop("d", "2 * length - 1", (Map("r", "length", (Code(_CELL),)),)),), name="align"),),
    outputs=("score",),
    datasets=("1 96", "512 8"),
    large=("1 2048", "1024 64"),
    scale="1 pair of length 96 and 512 of length 8; Rodinia's have length 2048",
)
