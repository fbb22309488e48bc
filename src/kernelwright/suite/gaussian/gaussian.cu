/* Solves A x = b by Gaussian elimination without pivoting: forward elimination on the GPU, one pivot after the other
 * with two kernels each, back substitution on the host.
 */
#include "../common/cuda_check.h"
#include "../common/files.h"

#define MULTIPLIER_BLOCK 512
#define ELIMINATION_BLOCK 16

static const char USAGE[] =
    "usage: gaussian N MATRIX RIGHT_HAND_SIDE SOLUTION\n"
    "  N                number of unknowns, 1 to 16384\n"
    "  MATRIX           float file, N x N, row by row; must be solvable without pivoting\n"
    "  RIGHT_HAND_SIDE  float file, N items\n"
    "  SOLUTION         float file to write, N items\n";

/* Stores for each row below the pivot what multiple of the pivot row removes its element in the pivot column. */
__global__ void compute_multipliers(int unknowns, int pivot, const float *matrix, float *multiplier)
{
    const int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= unknowns)
        return;
    multiplier[row] = matrix[(size_t)row * unknowns + pivot] / matrix[(size_t)pivot * unknowns + pivot];
}

/* Subtracts those multiples of the pivot row, on the right-hand side too. */
__global__ void eliminate(int unknowns, int pivot, const float *multiplier, float *matrix, float *right)
{
    const int row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int col = pivot + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= unknowns || col >= unknowns)
        return;
    matrix[(size_t)row * unknowns + col] -= multiplier[row] * matrix[(size_t)pivot * unknowns + col];
    if (col == pivot)
        right[row] -= multiplier[row] * right[pivot];
}

static void substitute_back(int unknowns, const float *matrix, const float *right, float *solution)
{
    for (int row = unknowns - 1; row >= 0; --row) {
        double sum = right[row];
        for (int col = row + 1; col < unknowns; ++col)
            sum -= (double)matrix[(size_t)row * unknowns + col] * solution[col];
        solution[row] = (float)(sum / matrix[(size_t)row * unknowns + row]);
    }
}

int main(int argc, char **argv)
{
    int unknowns;
    if (argc != 5 || !parse_int(argv[1], 1, 16384, &unknowns)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    const size_t elements = (size_t)unknowns * unknowns;
    float *matrix = (float *)read_array(argv[2], elements, sizeof(float));
    float *right = (float *)read_array(argv[3], unknowns, sizeof(float));
    float *solution = (float *)allocate(unknowns, sizeof(float));

    float *d_matrix, *d_right, *d_multiplier;
    CUDA_CHECK(cudaMalloc((void **)&d_matrix, elements * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_right, unknowns * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_multiplier, unknowns * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_matrix, matrix, elements * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_right, right, unknowns * sizeof(float), cudaMemcpyHostToDevice));

    const dim3 block(ELIMINATION_BLOCK, ELIMINATION_BLOCK);
    for (int pivot = 0; pivot < unknowns - 1; ++pivot) {
        const int rows = unknowns - 1 - pivot;
        compute_multipliers<<<(rows + MULTIPLIER_BLOCK - 1) / MULTIPLIER_BLOCK, MULTIPLIER_BLOCK>>>(unknowns, pivot,
                                                                                                  d_matrix, d_multiplier);
        CUDA_CHECK_LAUNCH();
        const dim3 grid((rows + 1 + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
        eliminate<<<grid, block>>>(unknowns, pivot, d_multiplier, d_matrix, d_right);
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpy(matrix, d_matrix, elements * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(right, d_right, unknowns * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_matrix));
    CUDA_CHECK(cudaFree(d_right));
    CUDA_CHECK(cudaFree(d_multiplier));

    substitute_back(unknowns, matrix, right, solution);
    write_array(argv[4], solution, unknowns, sizeof(float));
    printf("gaussian: %d unknowns\n", unknowns);
    free(matrix);
    free(right);
    free(solution);
    return 0;
}
