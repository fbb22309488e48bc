"""Potentials and forces of particles in a grid of boxes: each feels those of its own box and of the 26 around it.

Of a particle with charge q at distance d: the potential q exp(-|d|^2 / 2), and the force 2 q exp(-|d|^2 / 2) d.
"""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Map, NestedProgram

_FUNCTIONS = """
static __device__ float4 sum_of(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
/* What particle q of the boxes around does to particle p of box b: the force, and as the fourth component the potential. The fourth
 * component of a particle is its charge. */
static __device__ float4 pair(const float4 *particle, int b, int p, int q, int boxes, int particles)
{
    int near = q / particles;
    int x = b % boxes + near % 3 - 1, y = b / boxes % boxes + near / 3 % 3 - 1, z = b / boxes / boxes + near / 9 - 1;
    if (x < 0 || y < 0 || z < 0 || x >= boxes || y >= boxes || z >= boxes)
        return make_float4(0, 0, 0, 0);
    float4 own = particle[b * particles + p], other = particle[((z * boxes + y) * boxes + x) * particles + q % particles];
    float dx = own.x - other.x - near % 3 + 1, dy = own.y - other.y - near / 3 % 3 + 1, dz = own.z - other.z - near / 9 + 1;
    float potential = other.w * expf(-0.5f * (dx * dx + dy * dy + dz * dz)), strength = 2 * potential;
    return make_float4(strength * dx, strength * dy, strength * dz, potential);
}
"""
_STORE = """
int place = b * particles + p;
potential[place] = felt.w;
force[3 * place] = felt.x;
force[3 * place + 1] = felt.y;
force[3 * place + 2] = felt.z;
"""

PROGRAM = NestedProgram(
    name="lavamd",
    line="potentials of particles in boxes and forces on them, from the boxes around",
    parameters=("boxes", "particles"),
    arrays=(
        Array(
            "particle",
            "boxes * boxes * boxes * particles",
            "make_float4(noise(4 * i), noise(4 * i + 1), noise(4 * i + 2), noise(4 * i + 3))",
            "float4",
        ),
        Array("potential", "boxes * boxes * boxes * particles"),
        Array("force", "3 * boxes * boxes * boxes * particles"),
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
                        Fold(
                            "felt",
                            "q",
                            "27 * particles",
                            "pair(particle, b, p, q, boxes, particles)",
                            "sum_of",
                            "make_float4(0, 0, 0, 0)",
                            "float4",
                        ),
                        Code(_STORE),
                    ),
                    scalars=(("float4", "felt"),),
                    name="particles",
                ),
            ),
            name="boxes",
        ),
    ),
    outputs=("potential", "force"),
    datasets=("6 4", "2 32"),
    large=("10 32", "4 100"),
    scale="6^3 boxes of 4 particles and 2^3 of 32; Rodinia has 10^3 of 100, of which the large ones have one number each",
    functions=_FUNCTIONS,
)
