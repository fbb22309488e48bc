/* Particle filter: follows a bright disk through the noisy frames of a video (sampling importance resampling; Gordon,
 * Salmond and Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation", IEE Proc. F 140(2), 1993).
 *
 * Each particle is a guess where the disk is. With every frame the particles move as the object is believed to move,
 * are weighed by how well the pixels around them look like the disk, and are drawn anew in proportion to their weights.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define BLOCK 128
#define MAX_RADIUS 15
#define MAX_DISK (4 * MAX_RADIUS * MAX_RADIUS)

/* What is known of the video: grey values of background and object, their noise, and the object's motion per frame. */
#define BACKGROUND 100
#define OBJECT 228
#define NOISE 5.0
#define DRIFT_X 1.0
#define DRIFT_Y -2.0
#define SPREAD_X 5.0
#define SPREAD_Y 2.0

typedef unsigned char Pixel;

typedef struct {
    int x, y;
} Offset;

typedef struct {
    double weight, x, y;
} Sums;

/* The pixels of the disk, relative to its centre. */
__constant__ Offset disk[MAX_DISK];

/* Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003. The state must not be 0. */
static __host__ __device__ unsigned next_random(unsigned *state)
{
    unsigned x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/* Between 0 and 1, both excluded. */
static __host__ __device__ double next_uniform(unsigned *state)
{
    return (next_random(state) - 0.5) / 4294967296.0;
}

/* Box and Muller, 1958. */
static __device__ double next_normal(unsigned *state)
{
    double radius = sqrt(-2.0 * log(next_uniform(state)));
    return radius * cos(2.0 * 3.14159265358979323846 * next_uniform(state));
}

/* Moves each particle and stores its score: the mean log-likelihood ratio of object to background over the disk. */
__global__ void move_and_score(const Pixel *frame, int height, int width, int disk_pixels, int particles, double *x,
                               double *y, unsigned *random, double *scores)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= particles)
        return;
    unsigned state = random[i];
    double new_x = x[i] + DRIFT_X + SPREAD_X * next_normal(&state);
    double new_y = y[i] + DRIFT_Y + SPREAD_Y * next_normal(&state);
    random[i] = state;
    x[i] = new_x;
    y[i] = new_y;

    int centre_col = (int)floor(new_x + 0.5);
    int centre_row = (int)floor(new_y + 0.5);
    int sum = 0;
    for (int k = 0; k < disk_pixels; k++) {
        int col = centre_col + disk[k].x;
        int row = centre_row + disk[k].y;
        int pixel = BACKGROUND;
        if (row >= 0 && row < height && col >= 0 && col < width)
            pixel = frame[row * width + col];
        sum += (pixel - BACKGROUND) * (pixel - BACKGROUND) - (pixel - OBJECT) * (pixel - OBJECT);
    }
    scores[i] = sum / (2.0 * NOISE * NOISE * disk_pixels);
}

/* Each block stores the largest of its share of the values. */
__global__ void find_best(const double *values, int count, double *best)
{
    __shared__ double largest[BLOCK];
    int thread = threadIdx.x;
    double mine = -DBL_MAX;
    for (int i = blockIdx.x * BLOCK + thread; i < count; i += gridDim.x * BLOCK)
        mine = fmax(mine, values[i]);
    largest[thread] = mine;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half)
            largest[thread] = fmax(largest[thread], largest[thread + half]);
        __syncthreads();
    }
    if (thread == 0)
        best[blockIdx.x] = largest[0];
}

/* Adds up the Sums of all threads; the result is in sums[0]. */
static __device__ void add_up(Sums *sums, int thread)
{
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half) {
            sums[thread].weight += sums[thread + half].weight;
            sums[thread].x += sums[thread + half].x;
            sums[thread].y += sums[thread + half].y;
        }
        __syncthreads();
    }
}

/* Turns scores into weights, relative to the best so that they neither overflow nor all vanish. Each block stores the
 * sums of its weights and weighted positions. */
__global__ void weigh(const double *scores, const double *best, const double *x, const double *y, int particles,
                      double *weights, Sums *block_sums)
{
    __shared__ Sums sums[BLOCK];
    int thread = threadIdx.x;
    int i = blockIdx.x * BLOCK + thread;
    Sums mine = {0.0, 0.0, 0.0};
    if (i < particles) {
        mine.weight = exp(scores[i] - *best);
        mine.x = mine.weight * x[i];
        mine.y = mine.weight * y[i];
        weights[i] = mine.weight;
    }
    sums[thread] = mine;
    add_up(sums, thread);
    if (thread == 0)
        block_sums[blockIdx.x] = sums[0];
}

/* One block. */
__global__ void total(const Sums *block_sums, int blocks, Sums *totals)
{
    __shared__ Sums sums[BLOCK];
    int thread = threadIdx.x;
    Sums mine = {0.0, 0.0, 0.0};
    for (int i = thread; i < blocks; i += BLOCK) {
        mine.weight += block_sums[i].weight;
        mine.x += block_sums[i].x;
        mine.y += block_sums[i].y;
    }
    sums[thread] = mine;
    add_up(sums, thread);
    if (thread == 0)
        *totals = sums[0];
}

/* Returns the sum of the values of this thread and all before it in the block; `scratch` holds two values a thread. */
static __device__ double scan_block(double value, double *scratch, int thread)
{
    double *from = scratch;
    double *to = scratch + BLOCK;
    from[thread] = value;
    __syncthreads();
    for (int reach = 1; reach < BLOCK; reach *= 2) {
        to[thread] = from[thread] + (thread >= reach ? from[thread - reach] : 0.0);
        __syncthreads();
        double *swap = from;
        from = to;
        to = swap;
    }
    return from[thread];
}

/* Normalises the weights and stores their running sums, begun anew in each block, and each block's whole sum. */
__global__ void normalise_and_scan(const double *weights, const Sums *totals, int particles, double *running,
                                   double *block_sums)
{
    __shared__ double scratch[2 * BLOCK];
    int thread = threadIdx.x;
    int i = blockIdx.x * BLOCK + thread;
    double sum = scan_block(i < particles ? weights[i] / totals->weight : 0.0, scratch, thread);
    if (i < particles)
        running[i] = sum;
    if (thread == BLOCK - 1)
        block_sums[blockIdx.x] = sum;
}

/* One block: stores for each block the sum of all blocks before it. */
__global__ void scan_blocks(const double *block_sums, int blocks, double *before)
{
    __shared__ double scratch[2 * BLOCK];
    __shared__ double carry;
    int thread = threadIdx.x;
    if (thread == 0)
        carry = 0.0;
    __syncthreads();
    for (int first = 0; first < blocks; first += BLOCK) {
        int i = first + thread;
        double value = i < blocks ? block_sums[i] : 0.0;
        double sum = carry + scan_block(value, scratch, thread);
        if (i < blocks)
            before[i] = sum - value;
        __syncthreads();
        if (thread == BLOCK - 1)
            carry = sum;
        __syncthreads();
    }
}

/* Systematic resampling (Kitagawa, 1996): cuts the weights laid end to end into equal parts, and lets new particle i
 * continue the one that part i, at `offset` between 0 and 1 of its width, falls on. */
__global__ void resample(const double *running, const double *before, const double *x, const double *y, int particles,
                         double offset, double *new_x, double *new_y)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= particles)
        return;
    double place = (i + offset) / particles;
    int low = 0, high = particles - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (before[middle / BLOCK] + running[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    new_x[i] = x[low];
    new_y[i] = y[low];
}

static int upload_disk(int radius)
{
    Offset offsets[MAX_DISK];
    int count = 0;
    for (int y = -radius; y <= radius; y++) {
        for (int x = -radius; x <= radius; x++) {
            if (x * x + y * y <= radius * radius) {
                offsets[count].x = x;
                offsets[count].y = y;
                count++;
            }
        }
    }
    CUDA_CHECK(cudaMemcpyToSymbol(disk, offsets, count * sizeof(Offset)));
    return count;
}

/* Spreads neighbouring seeds over all 32 bits (finaliser of MurmurHash3, Austin Appleby, public domain); never 0. */
static unsigned mix(unsigned seed)
{
    seed ^= seed >> 16;
    seed *= 0x85ebca6bu;
    seed ^= seed >> 13;
    seed *= 0xc2b2ae35u;
    seed ^= seed >> 16;
    return seed ? seed : 1;
}

/* Follows the object from the middle of the first frame. `track` takes x and y of each frame, `positions` the x and
 * then the y of all particles after the last frame. */
static void follow(const Pixel *video, int frames, int height, int width, int radius, int particles, unsigned seed,
                   double *track, double *positions)
{
    int blocks = (particles - 1) / BLOCK + 1;
    size_t frame_bytes = (size_t)height * width * sizeof(Pixel);
    size_t bytes = particles * sizeof(double);
    Pixel *frame;
    double *x, *y, *new_x, *new_y, *scores, *best, *weights, *running, *scan_sums, *before;
    unsigned *random;
    Sums *block_sums, *totals;
    CUDA_CHECK(cudaMalloc((void **)&frame, frame_bytes));
    CUDA_CHECK(cudaMalloc((void **)&x, bytes));
    CUDA_CHECK(cudaMalloc((void **)&y, bytes));
    CUDA_CHECK(cudaMalloc((void **)&new_x, bytes));
    CUDA_CHECK(cudaMalloc((void **)&new_y, bytes));
    CUDA_CHECK(cudaMalloc((void **)&scores, bytes));
    CUDA_CHECK(cudaMalloc((void **)&weights, bytes));
    CUDA_CHECK(cudaMalloc((void **)&running, bytes));
    CUDA_CHECK(cudaMalloc((void **)&random, particles * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc((void **)&best, (blocks + 1) * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&scan_sums, blocks * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&before, blocks * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&block_sums, blocks * sizeof(Sums)));
    CUDA_CHECK(cudaMalloc((void **)&totals, sizeof(Sums)));

    int disk_pixels = upload_disk(radius);
    unsigned *states = (unsigned *)allocate(particles, sizeof(unsigned));
    track[0] = width / 2;
    track[1] = height / 2;
    for (int i = 0; i < particles; i++) {
        states[i] = mix(seed + 1 + i);
        positions[i] = track[0];
        positions[particles + i] = track[1];
    }
    CUDA_CHECK(cudaMemcpy(random, states, particles * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(x, positions, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(y, positions + particles, bytes, cudaMemcpyHostToDevice));
    free(states);

    unsigned state = mix(seed);
    for (int k = 1; k < frames; k++) {
        CUDA_CHECK(cudaMemcpy(frame, video + k * frame_bytes, frame_bytes, cudaMemcpyHostToDevice));
        move_and_score<<<blocks, BLOCK>>>(frame, height, width, disk_pixels, particles, x, y, random, scores);
        CUDA_CHECK_LAUNCH();
        find_best<<<blocks, BLOCK>>>(scores, particles, best + 1);
        CUDA_CHECK_LAUNCH();
        find_best<<<1, BLOCK>>>(best + 1, blocks, best);
        CUDA_CHECK_LAUNCH();
        weigh<<<blocks, BLOCK>>>(scores, best, x, y, particles, weights, block_sums);
        CUDA_CHECK_LAUNCH();
        total<<<1, BLOCK>>>(block_sums, blocks, totals);
        CUDA_CHECK_LAUNCH();
        normalise_and_scan<<<blocks, BLOCK>>>(weights, totals, particles, running, scan_sums);
        CUDA_CHECK_LAUNCH();
        scan_blocks<<<1, BLOCK>>>(scan_sums, blocks, before);
        CUDA_CHECK_LAUNCH();
        resample<<<blocks, BLOCK>>>(running, before, x, y, particles, next_uniform(&state), new_x, new_y);
        CUDA_CHECK_LAUNCH();

        Sums sums;
        CUDA_CHECK(cudaMemcpy(&sums, totals, sizeof sums, cudaMemcpyDeviceToHost));
        track[2 * k] = sums.x / sums.weight;
        track[2 * k + 1] = sums.y / sums.weight;
        double *swap = x;
        x = new_x;
        new_x = swap;
        swap = y;
        y = new_y;
        new_y = swap;
    }

    CUDA_CHECK(cudaMemcpy(positions, x, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(positions + particles, y, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(frame));
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    CUDA_CHECK(cudaFree(new_x));
    CUDA_CHECK(cudaFree(new_y));
    CUDA_CHECK(cudaFree(scores));
    CUDA_CHECK(cudaFree(weights));
    CUDA_CHECK(cudaFree(running));
    CUDA_CHECK(cudaFree(random));
    CUDA_CHECK(cudaFree(best));
    CUDA_CHECK(cudaFree(scan_sums));
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(block_sums));
    CUDA_CHECK(cudaFree(totals));
}

int main(int argc, char **argv)
{
    int frames, height, width, radius, particles, seed;
    if (argc != 10 || !parse_int(argv[2], 2, INT_MAX, &frames) || !parse_int(argv[3], 1, 32768, &height) ||
        !parse_int(argv[4], 1, 32768, &width) || !parse_int(argv[5], 1, MAX_RADIUS, &radius) ||
        !parse_int(argv[6], 1, 1 << 24, &particles) || !parse_int(argv[7], 0, INT_MAX, &seed)) {
        fprintf(stderr,
                "usage: %s VIDEO FRAMES HEIGHT WIDTH RADIUS PARTICLES SEED TRACK POSITIONS\n"
                "  VIDEO          input: grey values, frame after frame and row after row, uint8;\n"
                "                 the object is in the middle of the first frame\n"
                "  HEIGHT, WIDTH  size of a frame, 1 to 32768 each\n"
                "  RADIUS         of the object in pixels, 1 to %d\n"
                "  PARTICLES      1 to %d\n"
                "  SEED           of the random numbers\n"
                "  TRACK          output: x and y of the object in each frame, float64\n"
                "  POSITIONS      output: the x, then the y, of all particles after the last frame, float64\n",
                argv[0], MAX_RADIUS, 1 << 24);
        return EXIT_USAGE;
    }
    Pixel *video = (Pixel *)read_array(argv[1], (size_t)frames * height * width, sizeof(Pixel));
    double *track = (double *)allocate(2 * (size_t)frames, sizeof(double));
    double *positions = (double *)allocate(2 * (size_t)particles, sizeof(double));

    follow(video, frames, height, width, radius, particles, (unsigned)seed, track, positions);

    for (int k = 0; k < frames; k++)
        printf("frame %d: %.3f %.3f\n", k, track[2 * k], track[2 * k + 1]);
    write_array(argv[8], track, 2 * (size_t)frames, sizeof(double));
    write_array(argv[9], positions, 2 * (size_t)particles, sizeof(double));
    free(video);
    free(track);
    free(positions);
    return 0;
}
