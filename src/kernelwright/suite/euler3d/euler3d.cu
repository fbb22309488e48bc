/* Steady compressible flow around a body: the three-dimensional Euler equations on an unstructured grid of cells with
 * four faces each (tetrahedra).
 *
 * Cell-centred finite volumes in the manner of Corrigan, Camelli, Loehner and Wallin, "Running unstructured grid based
 * CFD solvers on modern graphics hardware" (AIAA 2009): one thread per cell, every quantity in an array of its own
 * so that neighbouring threads read neighbouring addresses. The flux through a face is Rusanov's (the mean of both sides
 * less a dissipation by the fastest wave); the time integration is a three-stage Runge-Kutta scheme (Jameson, Schmidt
 * and Turkel, AIAA 1981) with a time step of its own for each cell.
 *
 * Units: the far field has density 1 and speed of sound 1.
 */
#include "../common/cuda_check.h"
#include "../common/files.h"

#include <math.h>

#define BLOCK 192
#define FACES 4
#define STAGES 3

/* Values of a neighbour's number that mean no cell. */
#define WALL (-1)
#define FAR_FIELD (-2)

/* The conserved quantities, in the order of their arrays. */
enum { DENSITY, MOMENTUM_X, MOMENTUM_Y, MOMENTUM_Z, ENERGY, QUANTITIES };

/* What a start file gives in their place. */
enum { VELOCITY_X = MOMENTUM_X, VELOCITY_Y = MOMENTUM_Y, VELOCITY_Z = MOMENTUM_Z, PRESSURE = ENERGY };

#define GAMMA 1.4f  /* ratio of specific heats of air */
#define COURANT 0.5f

static const char USAGE[] =
    "usage: euler3d NEIGHBOURS NORMALS START MACH STEPS STATE\n"
    "  NEIGHBOURS  int32 file, 4 x cells: the cell behind each face; -1 wall, -2 far field\n"
    "  NORMALS     float file, 4 x 3 x cells: outward normal of each face, as long as the face is large\n"
    "  START       float file, 5 x cells: density, velocity x, y, z, pressure at the start\n"
    "  MACH        speed of the far field along x, above 0, at most 3\n"
    "  STEPS       time steps\n"
    "  STATE       float file to write, 5 x cells: density, momentum x, y, z, energy\n";

struct Flow {
    float density;
    float3 momentum;
    float energy;
    float3 velocity;
    float pressure;
    float sound;
};

struct Flux {
    float density;
    float3 momentum;
    float energy;
};

__constant__ Flow far_flow;
/* The far field's flux per unit of area in x, y and z. */
__constant__ float3 far_density_flux;
__constant__ float3 far_momentum_flux[3];
__constant__ float3 far_energy_flux;

static __host__ __device__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Completes a flow whose conserved quantities are set. */
static __host__ __device__ void derive(Flow *flow)
{
    flow->velocity.x = flow->momentum.x / flow->density;
    flow->velocity.y = flow->momentum.y / flow->density;
    flow->velocity.z = flow->momentum.z / flow->density;
    flow->pressure = (GAMMA - 1.0f) * (flow->energy - 0.5f * dot(flow->momentum, flow->velocity));
    flow->sound = sqrtf(GAMMA * flow->pressure / flow->density);
}

static __device__ Flow load_flow(const float *state, int cells, int cell)
{
    Flow flow;
    flow.density = state[DENSITY * cells + cell];
    flow.momentum.x = state[MOMENTUM_X * cells + cell];
    flow.momentum.y = state[MOMENTUM_Y * cells + cell];
    flow.momentum.z = state[MOMENTUM_Z * cells + cell];
    flow.energy = state[ENERGY * cells + cell];
    derive(&flow);
    return flow;
}

static __device__ float3 load_normal(const float *normal, int cells, int face, int cell)
{
    return make_float3(normal[(face * 3 + 0) * cells + cell], normal[(face * 3 + 1) * cells + cell],
                       normal[(face * 3 + 2) * cells + cell]);
}

/* What the flow carries through an area with this normal. */
static __host__ __device__ Flux flux_through(const Flow *flow, float3 normal)
{
    const float volume = dot(flow->velocity, normal);
    Flux flux;
    flux.density = flow->density * volume;
    flux.momentum.x = flow->momentum.x * volume + flow->pressure * normal.x;
    flux.momentum.y = flow->momentum.y * volume + flow->pressure * normal.y;
    flux.momentum.z = flow->momentum.z * volume + flow->pressure * normal.z;
    flux.energy = (flow->energy + flow->pressure) * volume;
    return flux;
}

/* The speed of the fastest wave across an area, times the area. */
static __device__ float wave_speed(const Flow *flow, float3 normal, float area)
{
    return fabsf(dot(flow->velocity, normal)) + flow->sound * area;
}

/* Adds to `sum` the Rusanov flux from `here` to `there`, whose own flux through the face is `there_flux`. */
static __device__ void add_face(Flux *sum, const Flow *here, const Flow *there, const Flux *there_flux, float3 normal)
{
    const float area = sqrtf(dot(normal, normal));
    const float speed = fmaxf(wave_speed(here, normal, area), wave_speed(there, normal, area));
    const Flux here_flux = flux_through(here, normal);
    sum->density += 0.5f * (here_flux.density + there_flux->density - speed * (there->density - here->density));
    sum->momentum.x += 0.5f * (here_flux.momentum.x + there_flux->momentum.x - speed * (there->momentum.x - here->momentum.x));
    sum->momentum.y += 0.5f * (here_flux.momentum.y + there_flux->momentum.y - speed * (there->momentum.y - here->momentum.y));
    sum->momentum.z += 0.5f * (here_flux.momentum.z + there_flux->momentum.z - speed * (there->momentum.z - here->momentum.z));
    sum->energy += 0.5f * (here_flux.energy + there_flux->energy - speed * (there->energy - here->energy));
}

/* The conserved quantities of the flow at the start. */
__global__ void initialise(int cells, const float *start, float *state)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const float density = start[DENSITY * cells + cell];
    const float3 velocity = make_float3(start[VELOCITY_X * cells + cell], start[VELOCITY_Y * cells + cell],
                                        start[VELOCITY_Z * cells + cell]);
    state[DENSITY * cells + cell] = density;
    state[MOMENTUM_X * cells + cell] = density * velocity.x;
    state[MOMENTUM_Y * cells + cell] = density * velocity.y;
    state[MOMENTUM_Z * cells + cell] = density * velocity.z;
    state[ENERGY * cells + cell] =
        start[PRESSURE * cells + cell] / (GAMMA - 1.0f) + 0.5f * density * dot(velocity, velocity);
}

/* Each cell's time step over its volume: the Courant number over the mean of what waves sweep through its faces. */
__global__ void choose_time_step(int cells, const float *normal, const float *state, float *step)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const Flow flow = load_flow(state, cells, cell);
    float swept = 0.0f;
    for (int face = 0; face < FACES; ++face) {
        const float3 outward = load_normal(normal, cells, face, cell);
        swept += wave_speed(&flow, outward, sqrtf(dot(outward, outward)));
    }
    step[cell] = COURANT / (0.5f * swept);
}

/* What leaves each cell through its faces. */
__global__ void sum_fluxes(int cells, const int *neighbour, const float *normal, const float *state, float *outflow)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const Flow here = load_flow(state, cells, cell);
    Flux sum = {0.0f, {0.0f, 0.0f, 0.0f}, 0.0f};
    for (int face = 0; face < FACES; ++face) {
        const int other = neighbour[face * cells + cell];
        const float3 outward = load_normal(normal, cells, face, cell);
        if (other >= 0) {
            const Flow there = load_flow(state, cells, other);
            const Flux there_flux = flux_through(&there, outward);
            add_face(&sum, &here, &there, &there_flux, outward);
        } else if (other == FAR_FIELD) {
            const Flow there = far_flow;
            Flux there_flux;
            there_flux.density = dot(far_density_flux, outward);
            there_flux.momentum.x = dot(far_momentum_flux[0], outward);
            there_flux.momentum.y = dot(far_momentum_flux[1], outward);
            there_flux.momentum.z = dot(far_momentum_flux[2], outward);
            there_flux.energy = dot(far_energy_flux, outward);
            add_face(&sum, &here, &there, &there_flux, outward);
        } else { /* a wall lets nothing through and takes the pressure */
            sum.momentum.x += here.pressure * outward.x;
            sum.momentum.y += here.pressure * outward.y;
            sum.momentum.z += here.pressure * outward.z;
        }
    }
    outflow[DENSITY * cells + cell] = sum.density;
    outflow[MOMENTUM_X * cells + cell] = sum.momentum.x;
    outflow[MOMENTUM_Y * cells + cell] = sum.momentum.y;
    outflow[MOMENTUM_Z * cells + cell] = sum.momentum.z;
    outflow[ENERGY * cells + cell] = sum.energy;
}

/* One Runge-Kutta stage, counted from 0: the state at the step's beginning, less a part of the step times the outflow. */
__global__ void advance(int cells, int stage, const float *before, const float *step, const float *outflow, float *state)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const float part = step[cell] / (float)(STAGES - stage);
    for (int quantity = 0; quantity < QUANTITIES; ++quantity)
        state[quantity * cells + cell] = before[quantity * cells + cell] - part * outflow[quantity * cells + cell];
}

template <typename T> static T *device_array(size_t count)
{
    T *array;
    CUDA_CHECK(cudaMalloc((void **)&array, count * sizeof(T)));
    return array;
}

template <typename T> static T *to_device(const T *items, size_t count)
{
    T *array = device_array<T>(count);
    CUDA_CHECK(cudaMemcpy(array, items, count * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

/* Fills the constants with a flow of density 1, speed of sound 1 and this speed along x. */
static void set_far_field(float mach)
{
    Flow flow;
    flow.density = 1.0f;
    flow.momentum = make_float3(mach, 0.0f, 0.0f);
    flow.energy = 1.0f / (GAMMA * (GAMMA - 1.0f)) + 0.5f * mach * mach;
    derive(&flow);
    const Flux x = flux_through(&flow, make_float3(1.0f, 0.0f, 0.0f));
    const Flux y = flux_through(&flow, make_float3(0.0f, 1.0f, 0.0f));
    const Flux z = flux_through(&flow, make_float3(0.0f, 0.0f, 1.0f));
    const float3 density_flux = make_float3(x.density, y.density, z.density);
    const float3 momentum_flux[3] = {make_float3(x.momentum.x, y.momentum.x, z.momentum.x),
                                     make_float3(x.momentum.y, y.momentum.y, z.momentum.y),
                                     make_float3(x.momentum.z, y.momentum.z, z.momentum.z)};
    const float3 energy_flux = make_float3(x.energy, y.energy, z.energy);
    CUDA_CHECK(cudaMemcpyToSymbol(far_flow, &flow, sizeof(flow)));
    CUDA_CHECK(cudaMemcpyToSymbol(far_density_flux, &density_flux, sizeof(density_flux)));
    CUDA_CHECK(cudaMemcpyToSymbol(far_momentum_flux, momentum_flux, sizeof(momentum_flux)));
    CUDA_CHECK(cudaMemcpyToSymbol(far_energy_flux, &energy_flux, sizeof(energy_flux)));
}

static void check_neighbours(const int *neighbour, int cells)
{
    for (int i = 0; i < FACES * cells; ++i) {
        if (neighbour[i] < FAR_FIELD || neighbour[i] >= cells) {
            fprintf(stderr, "error: face %d of cell %d leads to %d; the last cell is %d\n", i / cells, i % cells,
                    neighbour[i], cells - 1);
            exit(EXIT_FAILED);
        }
    }
}

static void check_start(const float *start, int cells)
{
    for (int cell = 0; cell < cells; ++cell) {
        if (!(start[DENSITY * cells + cell] > 0.0f && start[PRESSURE * cells + cell] > 0.0f)) {
            fprintf(stderr, "error: cell %d starts with a density or pressure that is not positive\n", cell);
            exit(EXIT_FAILED);
        }
    }
}

int main(int argc, char **argv)
{
    float mach;
    int steps;
    if (argc != 7 || !parse_float(argv[4], &mach) || !(mach > 0.0f && mach <= 3.0f) ||
        !parse_int(argv[5], 0, INT_MAX, &steps)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    size_t items;
    int *neighbour = (int *)read_whole_array(argv[1], FACES * sizeof(int), &items);
    if (items < 1 || items > INT_MAX / (3 * FACES)) {
        fprintf(stderr, "error: the grid has no cell, or too many for int32\n");
        return EXIT_FAILED;
    }
    const int cells = (int)items;
    check_neighbours(neighbour, cells);
    float *normal = (float *)read_array(argv[2], (size_t)3 * FACES * cells, sizeof(float));
    const size_t state_items = (size_t)QUANTITIES * cells;
    float *state = (float *)read_array(argv[3], state_items, sizeof(float));
    check_start(state, cells);

    set_far_field(mach);
    int *d_neighbour = to_device(neighbour, (size_t)FACES * cells);
    float *d_normal = to_device(normal, (size_t)3 * FACES * cells);
    float *d_before = to_device(state, state_items); /* the start, to begin with */
    float *d_state = device_array<float>(state_items);
    float *d_outflow = device_array<float>(state_items);
    float *d_step = device_array<float>(cells);

    const int blocks = (cells + BLOCK - 1) / BLOCK;
    initialise<<<blocks, BLOCK>>>(cells, d_before, d_state);
    CUDA_CHECK_LAUNCH();
    for (int done = 0; done < steps; ++done) {
        CUDA_CHECK(cudaMemcpy(d_before, d_state, state_items * sizeof(float), cudaMemcpyDeviceToDevice));
        choose_time_step<<<blocks, BLOCK>>>(cells, d_normal, d_state, d_step);
        CUDA_CHECK_LAUNCH();
        for (int stage = 0; stage < STAGES; ++stage) {
            sum_fluxes<<<blocks, BLOCK>>>(cells, d_neighbour, d_normal, d_state, d_outflow);
            CUDA_CHECK_LAUNCH();
            advance<<<blocks, BLOCK>>>(cells, stage, d_before, d_step, d_outflow, d_state);
            CUDA_CHECK_LAUNCH();
        }
    }
    CUDA_CHECK(cudaMemcpy(state, d_state, state_items * sizeof(float), cudaMemcpyDeviceToHost));
    write_array(argv[6], state, state_items, sizeof(float));
    printf("euler3d: %d cells, %d steps at Mach %g\n", cells, steps, mach);

    CUDA_CHECK(cudaFree(d_neighbour));
    CUDA_CHECK(cudaFree(d_normal));
    CUDA_CHECK(cudaFree(d_state));
    CUDA_CHECK(cudaFree(d_before));
    CUDA_CHECK(cudaFree(d_outflow));
    CUDA_CHECK(cudaFree(d_step));
    free(neighbour);
    free(normal);
    free(state);
    return 0;
}
