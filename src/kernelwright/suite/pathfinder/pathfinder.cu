/* PathFinder: the cheapest way through a grid of costs from the first row to each cell of the last one. Each step goes
 * to the next row, straight or one column aside.
 *
 * One launch advances several rows. A block loads its columns and a border of as many columns on either side as there
 * are rows to advance; the border's columns are computed twice, here and by the neighbour, so that the blocks need not
 * wait for each other. With each row one column at each end becomes unknown, until only the block's own are left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define BLOCK 256

/* Advances `steps` rows, at most `border`; `wall` points to the first of them. */
__global__ void advance(const int *wall, const int *costs_before, int *costs_after, int cols, int steps, int border)
{
    __shared__ int previous[BLOCK];
    __shared__ int current[BLOCK];
    int thread = threadIdx.x;
    int col = (int)blockIdx.x * (BLOCK - 2 * border) + thread - border;
    bool in_grid = col >= 0 && col < cols;

    if (in_grid)
        previous[thread] = costs_before[col];
    __syncthreads();

    for (int step = 0; step < steps; step++) {
        bool known = in_grid && thread > step && thread < BLOCK - 1 - step;
        if (known) {
            int cheapest = previous[thread];
            if (col > 0)
                cheapest = min(cheapest, previous[thread - 1]);
            if (col < cols - 1)
                cheapest = min(cheapest, previous[thread + 1]);
            current[thread] = cheapest + wall[(size_t)step * cols + col];
        }
        __syncthreads();
        if (known)
            previous[thread] = current[thread];
        __syncthreads();
    }

    if (in_grid && thread >= border && thread < BLOCK - border)
        costs_after[col] = previous[thread];
}

int main(int argc, char **argv)
{
    int rows, height;
    if (argc != 5 || !parse_int(argv[2], 1, INT_MAX, &rows) || !parse_int(argv[3], 1, BLOCK / 2 - 1, &height)) {
        fprintf(stderr,
                "usage: %s WALL ROWS HEIGHT COSTS\n"
                "  WALL    input: the cost of each cell, row after row, int32\n"
                "  ROWS    rows of the wall\n"
                "  HEIGHT  rows to advance in one launch, 1 to %d\n"
                "  COSTS   output: the cost of the cheapest path to each cell of the last row, int32\n",
                argv[0], BLOCK / 2 - 1);
        return EXIT_USAGE;
    }
    size_t cells;
    int *wall = (int *)read_whole_array(argv[1], sizeof(int), &cells);
    if (cells == 0 || cells % rows || cells / rows > INT_MAX - BLOCK) {
        fprintf(stderr, "error: the %zu cells of %s do not make %d rows\n", cells, argv[1], rows);
        return EXIT_FAILED;
    }
    int cols = (int)(cells / rows);

    int *device_wall, *before, *after;
    CUDA_CHECK(cudaMalloc((void **)&device_wall, cells * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&before, cols * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&after, cols * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device_wall, wall, cells * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(before, wall, cols * sizeof(int), cudaMemcpyHostToDevice));

    int own_columns = BLOCK - 2 * height;
    int blocks = (cols - 1) / own_columns + 1;
    for (int row = 1; row < rows; row += height) {
        int steps = rows - row < height ? rows - row : height;
        advance<<<blocks, BLOCK>>>(device_wall + (size_t)row * cols, before, after, cols, steps, height);
        CUDA_CHECK_LAUNCH();
        int *last = before;
        before = after;
        after = last;
    }

    int *costs = (int *)allocate(cols, sizeof(int));
    CUDA_CHECK(cudaMemcpy(costs, before, cols * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_wall));
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(after));

    int cheapest = 0;
    for (int col = 1; col < cols; col++) {
        if (costs[col] < costs[cheapest])
            cheapest = col;
    }
    printf("the cheapest of %d paths costs %d and ends in column %d\n", cols, costs[cheapest], cheapest);
    write_array(argv[4], costs, cols, sizeof(int));
    free(wall);
    free(costs);
    return 0;
}
