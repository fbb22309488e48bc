/* The GPU's part of stream clustering: distances of all points to one candidate, and what they would change. The host adds that up
 * and moves the points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cuda_check.h"
#include "../common/files.h"
#include "clustering.h"

#define BLOCK 512
#define MOST_BLOCKS 65535 /* in a row of the grid */

typedef struct {
    float weight;
    int centre; /* the point that it belongs to */
    double cost;
} Point;

static struct {
    int count, dims;
    int assessed;             /* the candidate of the last assessment */
    const float *coordinates; /* the caller's, point after point */
    Point *points;
    int *numbers; /* of each point that is a centre, -1 for others */
    char *nearer;
    double *changes;
    int most; /* centres that there is room for in changes */
} host;

static struct {
    float *coordinates; /* first coordinate of all points, then the second, and so on */
    Point *points;
    int *numbers;
    char *nearer;    /* whether a point is nearer to the candidate than to its centre */
    double *changes; /* a row for each point: by how much the candidate changes its cost, in the column of its centre, or in the last one
                        where it is nearer to the candidate */
} gpu;

/* The squared distance between two points. */
static __device__ float between(const float *coordinates, int count, int dims, int point, int other)
{
    float sum = 0.0f;
    for (int d = 0; d < dims; d++) {
        float difference = coordinates[d * count + point] - coordinates[d * count + other];
        sum += difference * difference;
    }
    return sum;
}

__global__ void assess(int count, int dims, int candidate, int centres, const float *coordinates, const Point *points,
                       const int *numbers, double *changes, char *nearer)
{
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        double *row = changes + i * (centres + 1);
        double change = (double)between(coordinates, count, dims, i, candidate) * points[i].weight - points[i].cost;
        if (change < 0.0) {
            row[centres] += change;
            nearer[i] = 1;
        } else {
            row[numbers[points[i].centre]] += change;
        }
    }
}

static double cost_at(int point, int centre)
{
    const float *one = host.coordinates + (size_t)point * host.dims, *other = host.coordinates + (size_t)centre * host.dims;
    float sum = 0.0f;
    for (int d = 0; d < host.dims; d++)
        sum += (one[d] - other[d]) * (one[d] - other[d]);
    return (double)sum * host.points[point].weight;
}

static void move(int point, int centre)
{
    host.points[point].centre = centre;
    host.points[point].cost = cost_at(point, centre);
}

static void make_room(int centres)
{
    if (centres <= host.most)
        return;
    host.most = centres;
    free(host.changes);
    host.changes = (double *)allocate((size_t)host.count * (centres + 1), sizeof(double));
    CUDA_CHECK(cudaFree(gpu.changes));
    CUDA_CHECK(cudaMalloc((void **)&gpu.changes, (size_t)host.count * (centres + 1) * sizeof(double)));
}

void clustering_begin(const float *points, const float *weights, int count, int dims, int first)
{
    size_t values = (size_t)count * dims;
    float *coordinates = (float *)allocate(values, sizeof(float));
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < dims; d++)
            coordinates[(size_t)d * count + i] = points[(size_t)i * dims + d];
    }
    memset(&host, 0, sizeof host);
    host.count = count;
    host.dims = dims;
    host.coordinates = points;
    host.points = (Point *)allocate(count, sizeof(Point));
    host.numbers = (int *)allocate(count, sizeof(int));
    host.nearer = (char *)allocate(count, 1);
    for (int i = 0; i < count; i++) {
        host.points[i].weight = weights[i];
        host.numbers[i] = i == first ? 0 : -1;
        move(i, first);
    }
    gpu.changes = NULL;
    CUDA_CHECK(cudaMalloc((void **)&gpu.coordinates, values * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.points, count * sizeof(Point)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.numbers, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&gpu.nearer, count));
    CUDA_CHECK(cudaMemcpy(gpu.coordinates, coordinates, values * sizeof(float), cudaMemcpyHostToDevice));
    free(coordinates);
}

void clustering_assess(int point, int centres, double *savings)
{
    int count = host.count, blocks = (count - 1) / BLOCK + 1, rows = (blocks - 1) / MOST_BLOCKS + 1;
    dim3 grid((blocks - 1) / rows + 1, rows);
    make_room(centres);
    size_t bytes = (size_t)count * (centres + 1) * sizeof(double);
    CUDA_CHECK(cudaMemcpy(gpu.points, host.points, count * sizeof(Point), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(gpu.numbers, host.numbers, count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(gpu.nearer, 0, count));
    CUDA_CHECK(cudaMemset(gpu.changes, 0, bytes));
    assess<<<grid, BLOCK>>>(count, host.dims, point, centres, gpu.coordinates, gpu.points, gpu.numbers, gpu.changes,
                            gpu.nearer);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host.nearer, gpu.nearer, count, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(host.changes, gpu.changes, bytes, cudaMemcpyDeviceToHost));
    memset(savings, 0, (centres + 1) * sizeof(double));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k <= centres; k++)
            savings[k] += host.changes[(size_t)i * (centres + 1) + k];
    }
    host.assessed = point;
}

void clustering_open(int centres, const int *renumber, int opened)
{
    (void)centres;
    for (int i = 0; i < host.count; i++) {
        if (host.nearer[i] || renumber[host.numbers[host.points[i].centre]] < 0)
            move(i, host.assessed);
    }
    for (int i = 0; i < host.count; i++) {
        if (host.numbers[i] >= 0)
            host.numbers[i] = renumber[host.numbers[i]];
    }
    host.numbers[host.assessed] = opened;
}

void clustering_get(double *costs, int *members)
{
    for (int i = 0; i < host.count; i++) {
        costs[i] = host.points[i].cost;
        if (members)
            members[i] = host.numbers[host.points[i].centre];
    }
}

void clustering_end(void)
{
    CUDA_CHECK(cudaFree(gpu.coordinates));
    CUDA_CHECK(cudaFree(gpu.points));
    CUDA_CHECK(cudaFree(gpu.numbers));
    CUDA_CHECK(cudaFree(gpu.nearer));
    CUDA_CHECK(cudaFree(gpu.changes));
    free(host.points);
    free(host.numbers);
    free(host.nearer);
    free(host.changes);
}
