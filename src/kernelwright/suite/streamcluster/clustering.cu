/* The GPU's part of stream clustering: distances of all points to one candidate, and what they would change. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"
#include "clustering.h"

#define BLOCK 256

static struct {
    int count, dims;
    float *coordinates; /* first coordinate of all points, then the second, and so on */
    float *weights;
    double *costs;
    double *changes; /* by how much the candidate would change each cost */
    double *savings;
    int *members; /* number of each point's centre */
    int *renumber;
} gpu;

/* The weighted squared distance between two points. */
static __device__ double measure(const float *coordinates, const float *weights, int count, int dims, int point,
                                 int centre)
{
    float sum = 0.0f;
    for (int d = 0; d < dims; d++) {
        float difference = coordinates[(size_t)d * count + point] - coordinates[(size_t)d * count + centre];
        sum += difference * difference;
    }
    return (double)weights[point] * sum;
}

__global__ void assign_all(const float *coordinates, const float *weights, int count, int dims, int centre,
                           double *costs, int *members)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        costs[i] = measure(coordinates, weights, count, dims, i, centre);
        members[i] = 0;
    }
}

/* The block first adds up in shared memory, one sum for each centre and one for the candidate, then once for all. The
 * sums are doubles: exact, in any order, for whole coordinates and weights of reasonable size. */
__global__ void assess(const float *coordinates, const float *weights, int count, int dims, int candidate,
                       const double *costs, const int *members, int centres, double *changes, double *savings)
{
    extern __shared__ double sums[];
    int thread = threadIdx.x;
    int i = blockIdx.x * BLOCK + thread;
    for (int k = thread; k <= centres; k += BLOCK)
        sums[k] = 0.0;
    __syncthreads();

    if (i < count) {
        double change = measure(coordinates, weights, count, dims, i, candidate) - costs[i];
        changes[i] = change;
        atomicAdd(&sums[change < 0.0 ? centres : members[i]], change);
    }
    __syncthreads();

    for (int k = thread; k <= centres; k += BLOCK) {
        if (sums[k] != 0.0)
            atomicAdd(&savings[k], sums[k]);
    }
}

__global__ void reassign(int count, const double *changes, const int *renumber, int opened, double *costs, int *members)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        int member = renumber[members[i]];
        if (member < 0 || changes[i] < 0.0) {
            member = opened;
            costs[i] += changes[i];
        }
        members[i] = member;
    }
}

static int block_count(void)
{
    return (gpu.count - 1) / BLOCK + 1;
}

void clustering_begin(const float *points, const float *weights, int count, int dims, int first)
{
    size_t values = (size_t)count * dims;
    float *coordinates = (float *)allocate(values, sizeof(float));
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < dims; d++)
            coordinates[(size_t)d * count + i] = points[(size_t)i * dims + d];
    }
    gpu.count = count;
    gpu.dims = dims;
    CUDA_CHECK(cudaMalloc((void **)&gpu.coordinates, values * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.weights, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.costs, count * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.changes, count * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.savings, (MAX_CENTRES + 1) * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.members, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.renumber, MAX_CENTRES * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(gpu.coordinates, coordinates, values * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(gpu.weights, weights, count * sizeof(float), cudaMemcpyHostToDevice));
    free(coordinates);

    assign_all<<<block_count(), BLOCK>>>(gpu.coordinates, gpu.weights, count, dims, first, gpu.costs, gpu.members);
    CUDA_CHECK_LAUNCH();
}

void clustering_assess(int point, int centres, double *savings)
{
    size_t bytes = (centres + 1) * sizeof(double);
    CUDA_CHECK(cudaMemset(gpu.savings, 0, bytes));
    assess<<<block_count(), BLOCK, bytes>>>(gpu.coordinates, gpu.weights, gpu.count, gpu.dims, point, gpu.costs,
                                            gpu.members, centres, gpu.changes, gpu.savings);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(savings, gpu.savings, bytes, cudaMemcpyDeviceToHost));
}

void clustering_open(int centres, const int *renumber, int opened)
{
    CUDA_CHECK(cudaMemcpy(gpu.renumber, renumber, centres * sizeof(int), cudaMemcpyHostToDevice));
    reassign<<<block_count(), BLOCK>>>(gpu.count, gpu.changes, gpu.renumber, opened, gpu.costs, gpu.members);
    CUDA_CHECK_LAUNCH();
}

void clustering_get(double *costs, int *members)
{
    CUDA_CHECK(cudaMemcpy(costs, gpu.costs, gpu.count * sizeof(double), cudaMemcpyDeviceToHost));
    if (members)
        CUDA_CHECK(cudaMemcpy(members, gpu.members, gpu.count * sizeof(int), cudaMemcpyDeviceToHost));
}

void clustering_end(void)
{
    CUDA_CHECK(cudaFree(gpu.coordinates));
    CUDA_CHECK(cudaFree(gpu.weights));
    CUDA_CHECK(cudaFree(gpu.costs));
    CUDA_CHECK(cudaFree(gpu.changes));
    CUDA_CHECK(cudaFree(gpu.savings));
    CUDA_CHECK(cudaFree(gpu.members));
    CUDA_CHECK(cudaFree(gpu.renumber));
}
