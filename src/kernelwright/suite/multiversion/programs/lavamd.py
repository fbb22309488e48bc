"""Potentials of particles in a grid of boxes: each feels those of its own box and of the 26 around it."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Map, NestedProgram

_FUNCTIONS = """
/* What particle q of the boxes around does to particle p of box b. The fourth component is the charge. */
static __device__ float pair(const float4 *particle, int b, int p, int q, int boxes, int particles)
{
    int near = q / particles;
    int x = b % boxes + near % 3 - 1, y = b / boxes % boxes + near / 3 % 3 - 1, z = b / boxes / boxes + near / 9 - 1;
    if (x < 0 || y < 0 || z < 0 || x >= boxes || y >= boxes || z >= boxes)
        return 0;
    float4 own = particle[b * particles + p], other = particle[((z * boxes + y) * boxes + x) * particles + q % particles];
    float dx = other.x - own.x + near % 3 - 1, dy = other.y - own.y + near / 3 % 3 - 1, dz = other.z - own.z + near / 9 - 1;
    return other.w * expf(-2 * (dx * dx + dy * dy + dz * dz));
}
"""

PROGRAM = NestedProgram(
    name="lavamd",
    line="potentials of particles in boxes, from the boxes around",
    parameters=("boxes", "particles"),
    arrays=(
        Array(
            "particle",
            "boxes * boxes * boxes * particles",
            "make_float4(noise(4 * i), noise(4 * i + 1), noise(4 * i + 2), noise(4 * i + 3))",
            "float4",
        ),
        Array("potential", "boxes * boxes * boxes * particles"),
    ),
    body=(
        Map(
            "b",
            "boxes * boxes * boxes",
            (
                Map(
                    "p",
                    "particles",
                    (
                        Fold("sum", "q", "27 * particles", "pair(particle, b, p, q, boxes, particles)"),
                        Code("potential[b * particles + p] = sum;"),
                    ),
                    scalars=(("float", "sum"),),
                    name="particles",
                ),
            ),
            name="boxes",
        ),
    ),
    outputs=("potential",),
    datasets=("6 4", "2 32"),
    large=("10 32", "4 100"),
    scale="6^3 boxes of 4 particles and 2^3 of 32; Rodinia has 10^3 of 100, of which the large ones have one number each",
    functions=_FUNCTIONS,
)
