/* Transient temperatures of a chip, after the HotSpot model (Huang et al., "HotSpot: a compact thermal modeling
 * methodology for early-stage VLSI design", IEEE TVLSI 2006), for one layer of silicon.
 *
 * Every cell of a grid has a heat capacity, thermal resistances to its four neighbours and one through the silicon to
 * the heat sink. Explicit Euler steps: each launch advances several of them inside a tile in shared memory. A tile
 * loses one ring of cells per step, so tiles overlap by the number of steps on every side (ghost zones; Meng and
 * Skadron, ICS 2009). No heat flows across the chip's edge.
 */
#include "../common/cuda_check.h"
#include "../common/files.h"

#define TILE 16
#define MOST_STEPS_PER_LAUNCH ((TILE - 1) / 2)

/* The chip: 16 mm by 16 mm of silicon, 0.5 mm thick, over a sink at 45 degrees Celsius. Units are m, W, J and K. */
static const double CHIP_HEIGHT = 0.016, CHIP_WIDTH = 0.016, CHIP_THICKNESS = 0.0005;
static const double CONDUCTIVITY = 100.0;   /* W / (m K) */
static const double VOLUMIC_HEAT = 1.75e6;  /* J / (m^3 K) */
static const float SINK_TEMPERATURE = 318.15f;

static const char USAGE[] =
    "usage: hotspot ROWS COLS STEPS STEPS_PER_LAUNCH TEMPERATURES POWERS RESULT\n"
    "  ROWS COLS         cells of the grid, each at most 32768\n"
    "  STEPS             time steps to simulate\n"
    "  STEPS_PER_LAUNCH  time steps that one kernel launch advances, 1 to 7\n"
    "  TEMPERATURES      float file, ROWS x COLS: kelvin at the start\n"
    "  POWERS            float file, ROWS x COLS: watts dissipated in each cell\n"
    "  RESULT            float file to write: kelvin at the end\n";

/* Advances `steps` time steps from `before` to `after`. `rate` is the time step over a cell's heat capacity (K/J),
 * `resistance_x`, `_y` and `_z` lead to the next column, the next row and the heat sink (K/W). */
__global__ void advance(int steps, int rows, int cols, const float *before, const float *power, float *after, float rate,
                        float resistance_x, float resistance_y, float resistance_z, float sink)
{
    __shared__ float now[TILE][TILE];
    __shared__ float next[TILE][TILE];
    __shared__ float heat[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int inner = TILE - 2 * steps;
    const int row = (int)blockIdx.y * inner - steps + ty;
    const int col = (int)blockIdx.x * inner - steps + tx;
    const bool on_chip = row >= 0 && row < rows && col >= 0 && col < cols;
    if (on_chip) {
        now[ty][tx] = before[row * cols + col];
        heat[ty][tx] = power[row * cols + col];
    }
    __syncthreads();

    /* At the chip's edge a cell is its own neighbour, across which no heat flows. */
    const int north = row > 0 ? ty - 1 : ty;
    const int south = row < rows - 1 ? ty + 1 : ty;
    const int west = col > 0 ? tx - 1 : tx;
    const int east = col < cols - 1 ? tx + 1 : tx;
    const float conductance_x = 1.0f / resistance_x;
    const float conductance_y = 1.0f / resistance_y;
    const float conductance_z = 1.0f / resistance_z;

    bool known = on_chip;
    for (int step = 0; step < steps; ++step) {
        /* The outermost ring of what the previous step knew lacks neighbours. */
        known = on_chip && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
        if (known) {
            const float here = now[ty][tx];
            next[ty][tx] = here + rate * (heat[ty][tx] + (now[north][tx] + now[south][tx] - 2.0f * here) * conductance_y +
                                          (now[ty][west] + now[ty][east] - 2.0f * here) * conductance_x +
                                          (sink - here) * conductance_z);
        }
        __syncthreads();
        if (known)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (known)
        after[row * cols + col] = now[ty][tx];
}

int main(int argc, char **argv)
{
    int rows, cols, steps, steps_per_launch;
    if (argc != 8 || !parse_int(argv[1], 1, 32768, &rows) || !parse_int(argv[2], 1, 32768, &cols) ||
        !parse_int(argv[3], 0, INT_MAX, &steps) || !parse_int(argv[4], 1, MOST_STEPS_PER_LAUNCH, &steps_per_launch)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    const size_t cells = (size_t)rows * cols;
    float *temperature = (float *)read_array(argv[5], cells, sizeof(float));
    float *power = (float *)read_array(argv[6], cells, sizeof(float));

    const double dx = CHIP_WIDTH / cols, dy = CHIP_HEIGHT / rows;
    const double capacity = VOLUMIC_HEAT * CHIP_THICKNESS * dx * dy;
    const double rx = dx / (CONDUCTIVITY * CHIP_THICKNESS * dy);
    const double ry = dy / (CONDUCTIVITY * CHIP_THICKNESS * dx);
    const double rz = CHIP_THICKNESS / (CONDUCTIVITY * dx * dy);
    /* Half of the longest step for which explicit Euler is stable. */
    const double time_step = 0.5 * capacity / (2.0 / rx + 2.0 / ry + 1.0 / rz);

    float *d_power, *d_from, *d_to;
    CUDA_CHECK(cudaMalloc((void **)&d_power, cells * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_from, cells * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_to, cells * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_power, power, cells * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_from, temperature, cells * sizeof(float), cudaMemcpyHostToDevice));

    const dim3 block(TILE, TILE);
    for (int done = 0; done < steps; done += steps_per_launch) {
        const int now = steps - done < steps_per_launch ? steps - done : steps_per_launch;
        const int inner = TILE - 2 * now;
        const dim3 grid((cols + inner - 1) / inner, (rows + inner - 1) / inner);
        advance<<<grid, block>>>(now, rows, cols, d_from, d_power, d_to, (float)(time_step / capacity), (float)rx,
                                 (float)ry, (float)rz, SINK_TEMPERATURE);
        CUDA_CHECK_LAUNCH();
        float *swap = d_from;
        d_from = d_to;
        d_to = swap;
    }

    CUDA_CHECK(cudaMemcpy(temperature, d_from, cells * sizeof(float), cudaMemcpyDeviceToHost));
    write_array(argv[7], temperature, cells, sizeof(float));
    printf("hotspot: %d x %d cells, %d steps of %g s\n", rows, cols, steps, time_step);

    CUDA_CHECK(cudaFree(d_power));
    CUDA_CHECK(cudaFree(d_from));
    CUDA_CHECK(cudaFree(d_to));
    free(temperature);
    free(power);
    return 0;
}
