/* SRAD: speckle-reducing anisotropic diffusion (Yu and Acton, "Speckle reducing anisotropic diffusion", IEEE Trans.
 * Image Processing 11(11), 2002), for ultrasound and radar images.
 *
 * Each iteration takes the speckle's strength from a uniform region of the image, computes how much each pixel may
 * diffuse (much where the image only has speckle, little at edges) and moves the image one step. Outside the image its
 * outermost pixels continue.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define TILE 16
#define REDUCE_BLOCK 256
#define MAX_REDUCE_BLOCKS 64

typedef struct {
    int top, left, height, width;
} Region;

/* Each block stores the sum, and the sum of squares, of its share of the region's pixels. */
__global__ void sum_region(const float *image, int cols, Region region, double *sums, double *sums_of_squares)
{
    __shared__ double sum[REDUCE_BLOCK];
    __shared__ double sum_of_squares[REDUCE_BLOCK];
    int thread = threadIdx.x;
    int pixels = region.height * region.width;
    double my_sum = 0.0, my_sum_of_squares = 0.0;

    for (int i = blockIdx.x * REDUCE_BLOCK + thread; i < pixels; i += gridDim.x * REDUCE_BLOCK) {
        int row = region.top + i / region.width;
        int col = region.left + i % region.width;
        double pixel = image[row * cols + col];
        my_sum += pixel;
        my_sum_of_squares += pixel * pixel;
    }
    sum[thread] = my_sum;
    sum_of_squares[thread] = my_sum_of_squares;
    __syncthreads();

    for (int half = REDUCE_BLOCK / 2; half > 0; half /= 2) {
        if (thread < half) {
            sum[thread] += sum[thread + half];
            sum_of_squares[thread] += sum_of_squares[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        sums[blockIdx.x] = sum[0];
        sums_of_squares[blockIdx.x] = sum_of_squares[0];
    }
}

/* Computes the differences of each pixel to its four neighbours, and its diffusion coefficient. `speckle` is the
 * squared coefficient of variation of the uniform region. */
__global__ void find_coefficients(const float *image, int rows, int cols, float speckle, float *north, float *south,
                                  float *west, float *east, float *coefficients)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    int y = threadIdx.y + 1;
    int x = threadIdx.x + 1;
    /* Threads beyond the image load its outermost pixels, which their neighbours inside need. */
    int near_row = min(row, rows - 1);
    int near_col = min(col, cols - 1);

    tile[y][x] = image[near_row * cols + near_col];
    if (y == 1)
        tile[0][x] = image[max(row - 1, 0) * cols + near_col];
    if (y == TILE)
        tile[TILE + 1][x] = image[min(row + 1, rows - 1) * cols + near_col];
    if (x == 1)
        tile[y][0] = image[near_row * cols + max(col - 1, 0)];
    if (x == TILE)
        tile[y][TILE + 1] = image[near_row * cols + min(col + 1, cols - 1)];
    __syncthreads();

    if (row < rows && col < cols) {
        float pixel = tile[y][x];
        float to_north = tile[y - 1][x] - pixel;
        float to_south = tile[y + 1][x] - pixel;
        float to_west = tile[y][x - 1] - pixel;
        float to_east = tile[y][x + 1] - pixel;

        float gradient =
            (to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east) / (pixel * pixel);
        float laplacian = (to_north + to_south + to_west + to_east) / pixel;
        float divisor = 1.0f + 0.25f * laplacian;
        float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (divisor * divisor);
        float coefficient = 1.0f / (1.0f + (variation - speckle) / (speckle * (1.0f + speckle)));

        int here = row * cols + col;
        north[here] = to_north;
        south[here] = to_south;
        west[here] = to_west;
        east[here] = to_east;
        coefficients[here] = fminf(fmaxf(coefficient, 0.0f), 1.0f);
    }
}

/* Moves the image one step of size `lambda`. */
__global__ void diffuse(float *image, int rows, int cols, float lambda, const float *north, const float *south,
                        const float *west, const float *east, const float *coefficients)
{
    __shared__ float tile[TILE + 1][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    int y = threadIdx.y;
    int x = threadIdx.x;
    int near_row = min(row, rows - 1);
    int near_col = min(col, cols - 1);

    tile[y][x] = coefficients[near_row * cols + near_col];
    if (y == TILE - 1)
        tile[TILE][x] = coefficients[min(row + 1, rows - 1) * cols + near_col];
    if (x == TILE - 1)
        tile[y][TILE] = coefficients[near_row * cols + min(col + 1, cols - 1)];
    __syncthreads();

    if (row < rows && col < cols) {
        int here = row * cols + col;
        float divergence = tile[y][x] * (north[here] + west[here]) + tile[y + 1][x] * south[here] +
                           tile[y][x + 1] * east[here];
        image[here] += 0.25f * lambda * divergence;
    }
}

/* The squared coefficient of variation (variance over squared mean) in the region; 0 when it has no speckle at all. */
static float measure_speckle(const float *image, int cols, Region region, double *device_sums)
{
    int pixels = region.height * region.width;
    int blocks = (pixels - 1) / REDUCE_BLOCK + 1;
    if (blocks > MAX_REDUCE_BLOCKS)
        blocks = MAX_REDUCE_BLOCKS;
    sum_region<<<blocks, REDUCE_BLOCK>>>(image, cols, region, device_sums, device_sums + blocks);
    CUDA_CHECK_LAUNCH();

    double sums[2 * MAX_REDUCE_BLOCKS];
    CUDA_CHECK(cudaMemcpy(sums, device_sums, 2 * blocks * sizeof(double), cudaMemcpyDeviceToHost));
    double sum = 0.0, sum_of_squares = 0.0;
    for (int i = 0; i < blocks; i++) {
        sum += sums[i];
        sum_of_squares += sums[blocks + i];
    }
    double mean = sum / pixels;
    double variance = sum_of_squares / pixels - mean * mean;
    return variance > 0.0 ? (float)(variance / (mean * mean)) : 0.0f;
}

int main(int argc, char **argv)
{
    int rows, cols, top, bottom, left, right, iterations;
    float lambda;
    if (argc != 11 || !parse_int(argv[2], 1, 32768, &rows) || !parse_int(argv[3], 1, 32768, &cols) ||
        !parse_int(argv[4], 0, rows - 1, &top) || !parse_int(argv[5], top, rows - 1, &bottom) ||
        !parse_int(argv[6], 0, cols - 1, &left) || !parse_int(argv[7], left, cols - 1, &right) ||
        !parse_float(argv[8], &lambda) || lambda <= 0.0f || lambda > 1.0f ||
        !parse_int(argv[9], 1, INT_MAX, &iterations)) {
        fprintf(stderr,
                "usage: %s IMAGE ROWS COLS TOP BOTTOM LEFT RIGHT LAMBDA ITERATIONS RESULT\n"
                "  IMAGE         input: the grey values, row after row, uint8\n"
                "  ROWS, COLS    size of the image, 1 to 32768 each\n"
                "  TOP .. RIGHT  first and last row, first and last column of a uniform region\n"
                "  LAMBDA        size of a step, above 0 and at most 1\n"
                "  ITERATIONS    number of steps\n"
                "  RESULT        output: the grey values afterwards, float32\n",
                argv[0]);
        return EXIT_USAGE;
    }
    Region region = {top, left, bottom - top + 1, right - left + 1};
    size_t pixels = (size_t)rows * cols;
    size_t bytes = pixels * sizeof(float);
    unsigned char *grey = (unsigned char *)read_array(argv[1], pixels, 1);
    float *image = (float *)allocate(pixels, sizeof(float));
    /* The scanner took the logarithm to make the image visible; speckle multiplies the signal before that. */
    for (size_t i = 0; i < pixels; i++)
        image[i] = expf(grey[i] / 255.0f);

    float *device_image, *north, *south, *west, *east, *coefficients;
    double *sums;
    CUDA_CHECK(cudaMalloc((void **)&device_image, bytes));
    CUDA_CHECK(cudaMalloc((void **)&north, bytes));
    CUDA_CHECK(cudaMalloc((void **)&south, bytes));
    CUDA_CHECK(cudaMalloc((void **)&west, bytes));
    CUDA_CHECK(cudaMalloc((void **)&east, bytes));
    CUDA_CHECK(cudaMalloc((void **)&coefficients, bytes));
    CUDA_CHECK(cudaMalloc((void **)&sums, 2 * MAX_REDUCE_BLOCKS * sizeof(double)));
    CUDA_CHECK(cudaMemcpy(device_image, image, bytes, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE);
    dim3 grid((cols - 1) / TILE + 1, (rows - 1) / TILE + 1);
    for (int iteration = 0; iteration < iterations; iteration++) {
        float speckle = measure_speckle(device_image, cols, region, sums);
        if (speckle <= 0.0f) {
            fprintf(stderr, "error: the region has no speckle to measure in iteration %d\n", iteration);
            return EXIT_FAILED;
        }
        find_coefficients<<<grid, block>>>(device_image, rows, cols, speckle, north, south, west, east, coefficients);
        CUDA_CHECK_LAUNCH();
        diffuse<<<grid, block>>>(device_image, rows, cols, lambda, north, south, west, east, coefficients);
        CUDA_CHECK_LAUNCH();
    }

    CUDA_CHECK(cudaMemcpy(image, device_image, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_image));
    CUDA_CHECK(cudaFree(north));
    CUDA_CHECK(cudaFree(south));
    CUDA_CHECK(cudaFree(west));
    CUDA_CHECK(cudaFree(east));
    CUDA_CHECK(cudaFree(coefficients));
    CUDA_CHECK(cudaFree(sums));
    for (size_t i = 0; i < pixels; i++)
        image[i] = 255.0f * logf(image[i]);
    write_array(argv[10], image, pixels, sizeof(float));
    printf("%d iterations on %d x %d pixels\n", iterations, rows, cols);
    free(grey);
    free(image);
    return 0;
}
