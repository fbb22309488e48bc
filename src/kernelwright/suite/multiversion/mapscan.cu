/* The running examples of paper 003 (Figures 2 and 7) in three versions, as incremental flattening makes them.
 *
 *     mapscan M N SHAPES ITERATIONS
 *
 * Each row of an M x N matrix goes ITERATIONS times through: add the row's number to each element, then all prefix sums.
 * With SHAPES above 1 that is done again with half as many rows of twice the length, and so on (mapscan2): the parallelism
 * of the rows varies within one run. Prints a checksum.
 *
 *     V1   outer   a thread per row, everything inside it in sequence               if M >= rows
 *     V2   block   a block per row, kept in shared memory; N must fit in a block      if M * N >= elements
 *     V3   flat    everything flattened, each step a kernel over all elements
 */
#include <cstdio>
#include <cstdlib>
#include <kernelwright_threshold.h>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t error = (call);                                                   \
        if (error != cudaSuccess) {                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));            \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

__global__ void outer(unsigned *matrix, int rows, int columns, int iterations)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    for (int k = 0; k < iterations; k++) {
        unsigned sum = 0;
        for (int i = 0; i < columns; i++) {
            sum += matrix[row * columns + i] + row;
            matrix[row * columns + i] = sum;
        }
    }
}

__global__ void block(unsigned *matrix, int columns, int iterations)
{
    __shared__ unsigned part[1024];
    int row = blockIdx.x, i = threadIdx.x;
    unsigned own = matrix[row * columns + i];
    for (int k = 0; k < iterations; k++) {
        own += row;
        part[i] = own;
        __syncthreads();
        for (int step = 1; step < columns; step *= 2) {
            unsigned other = i >= step ? part[i - step] : 0;
            __syncthreads();
            own += other;
            part[i] = own;
            __syncthreads();
        }
    }
    matrix[row * columns + i] = own;
}

__global__ void add_row(unsigned *matrix, int columns, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        matrix[i] += i / columns;
}

__global__ void scan_step(const unsigned *from, unsigned *to, int columns, int step, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i] + (i % columns >= step ? from[i - step] : 0);
}

static void flat(unsigned **matrix, unsigned **other, int rows, int columns, int iterations)
{
    int count = rows * columns, blocks = (count + 255) / 256;
    for (int k = 0; k < iterations; k++) {
        add_row<<<blocks, 256>>>(*matrix, columns, count);
        for (int step = 1; step < columns; step *= 2) {
            scan_step<<<blocks, 256>>>(*matrix, *other, columns, step, count);
            unsigned *written = *other;
            *other = *matrix;
            *matrix = written;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s M N SHAPES ITERATIONS\n", argv[0]);
        return 2;
    }
    int rows = atoi(argv[1]), columns = atoi(argv[2]), shapes = atoi(argv[3]), iterations = atoi(argv[4]);
    int count = rows * columns;
    size_t bytes = sizeof(unsigned) * count;
    unsigned *host = (unsigned *)malloc(bytes), *matrix, *other;
    for (int i = 0; i < count; i++)
        host[i] = (i * 2654435761u) >> 24;
    CHECK(cudaMalloc(&matrix, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemcpy(matrix, host, bytes, cudaMemcpyHostToDevice));
    for (int shape = 0; shape < shapes; shape++) {
        if (KW_THRESHOLD("rows", rows))
            outer<<<(rows + 127) / 128, 128>>>(matrix, rows, columns, iterations);
        else if (KW_THRESHOLD_IF("elements", count, columns <= 1024))
            block<<<rows, columns>>>(matrix, columns, iterations);
        else
            flat(&matrix, &other, rows, columns, iterations);
        CHECK(cudaGetLastError());
        rows /= 2;
        columns *= 2;
    }
    CHECK(cudaMemcpy(host, matrix, bytes, cudaMemcpyDeviceToHost));
    unsigned long long sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum * 31 + host[i];
    printf("x%llx\n", sum);
    return 0;
}
