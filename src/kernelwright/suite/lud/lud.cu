/* LU decomposition without pivoting, in place: afterwards the strict lower triangle of the matrix holds L (whose
 * diagonal is 1) and the rest holds U.
 *
 * Right-looking blocked algorithm (Golub and Van Loan, "Matrix Computations", section 3.2). Per block column: factor
 * the diagonal block, solve for the blocks right of it and below it, update what remains.
 */
#include "../common/cuda_check.h"
#include "../common/files.h"

#define BLOCK 16

static const char USAGE[] =
    "usage: lud N MATRIX RESULT\n"
    "  N       order of the matrix, 1 to 16384\n"
    "  MATRIX  float file, N x N, row by row; must be factorable without pivoting\n"
    "  RESULT  float file to write: L and U in one matrix\n";

/* Factors the diagonal block that begins at row and column `start`. One block of BLOCK threads, one row each. */
__global__ void factor_diagonal(float *matrix, int order, int start)
{
    __shared__ float diagonal[BLOCK][BLOCK];

    const int lane = threadIdx.x;
    for (int i = 0; i < BLOCK; ++i)
        diagonal[i][lane] = matrix[(size_t)(start + i) * order + start + lane];
    __syncthreads();

    for (int k = 0; k < BLOCK - 1; ++k) {
        if (lane > k) {
            diagonal[lane][k] /= diagonal[k][k];
            for (int j = k + 1; j < BLOCK; ++j)
                diagonal[lane][j] -= diagonal[lane][k] * diagonal[k][j];
        }
        __syncthreads();
    }

    for (int i = 0; i < BLOCK; ++i)
        matrix[(size_t)(start + i) * order + start + lane] = diagonal[i][lane];
}

/* Thread block b takes the b-th block right of the diagonal block and the b-th below it: the first BLOCK threads solve
 * L X = A for a column of the one, the others X U = A for a row of the other. */
__global__ void solve_perimeter(float *matrix, int order, int start)
{
    __shared__ float diagonal[BLOCK][BLOCK];
    __shared__ float right[BLOCK][BLOCK];
    __shared__ float below[BLOCK][BLOCK];

    const int lane = threadIdx.x % BLOCK;
    const bool solves_right = threadIdx.x < BLOCK;
    const int offset = start + (blockIdx.x + 1) * BLOCK;
    if (solves_right) {
        for (int i = 0; i < BLOCK; ++i) {
            diagonal[i][lane] = matrix[(size_t)(start + i) * order + start + lane];
            right[i][lane] = matrix[(size_t)(start + i) * order + offset + lane];
        }
    } else {
        for (int i = 0; i < BLOCK; ++i)
            below[i][lane] = matrix[(size_t)(offset + i) * order + start + lane];
    }
    __syncthreads();

    if (solves_right) {
        for (int i = 1; i < BLOCK; ++i)
            for (int k = 0; k < i; ++k)
                right[i][lane] -= diagonal[i][k] * right[k][lane];
    } else {
        for (int j = 0; j < BLOCK; ++j) {
            for (int k = 0; k < j; ++k)
                below[lane][j] -= below[lane][k] * diagonal[k][j];
            below[lane][j] /= diagonal[j][j];
        }
    }
    __syncthreads();

    if (solves_right) {
        for (int i = 1; i < BLOCK; ++i)
            matrix[(size_t)(start + i) * order + offset + lane] = right[i][lane];
    } else {
        for (int i = 0; i < BLOCK; ++i)
            matrix[(size_t)(offset + i) * order + start + lane] = below[i][lane];
    }
}

/* Subtracts from each remaining block the product of the solved block in its rows and the one in its columns. */
__global__ void update_interior(float *matrix, int order, int start)
{
    __shared__ float left[BLOCK][BLOCK];
    __shared__ float above[BLOCK][BLOCK];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = start + (blockIdx.y + 1) * BLOCK + ty;
    const int col = start + (blockIdx.x + 1) * BLOCK + tx;
    left[ty][tx] = matrix[(size_t)row * order + start + tx];
    above[ty][tx] = matrix[(size_t)(start + ty) * order + col];
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < BLOCK; ++k)
        sum += left[ty][k] * above[k][tx];
    matrix[(size_t)row * order + col] -= sum;
}

/* Returns the matrix enlarged to `padded` rows and columns by an identity, which the factorisation leaves alone. */
static float *pad(const float *matrix, int order, int padded)
{
    float *result = (float *)allocate((size_t)padded * padded, sizeof(float));
    for (int row = 0; row < order; ++row)
        memcpy(result + (size_t)row * padded, matrix + (size_t)row * order, order * sizeof(float));
    for (int row = order; row < padded; ++row)
        result[(size_t)row * padded + row] = 1.0f;
    return result;
}

int main(int argc, char **argv)
{
    int order;
    if (argc != 4 || !parse_int(argv[1], 1, 16384, &order)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    float *matrix = (float *)read_array(argv[2], (size_t)order * order, sizeof(float));
    const int padded = (order + BLOCK - 1) / BLOCK * BLOCK;
    float *work = pad(matrix, order, padded);
    const size_t bytes = (size_t)padded * padded * sizeof(float);

    float *d_matrix;
    CUDA_CHECK(cudaMalloc((void **)&d_matrix, bytes));
    CUDA_CHECK(cudaMemcpy(d_matrix, work, bytes, cudaMemcpyHostToDevice));
    for (int start = 0; start < padded; start += BLOCK) {
        factor_diagonal<<<1, BLOCK>>>(d_matrix, padded, start);
        CUDA_CHECK_LAUNCH();
        const int remaining = (padded - start) / BLOCK - 1;
        if (remaining > 0) {
            solve_perimeter<<<remaining, 2 * BLOCK>>>(d_matrix, padded, start);
            CUDA_CHECK_LAUNCH();
            update_interior<<<dim3(remaining, remaining), dim3(BLOCK, BLOCK)>>>(d_matrix, padded, start);
            CUDA_CHECK_LAUNCH();
        }
    }
    CUDA_CHECK(cudaMemcpy(work, d_matrix, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_matrix));

    for (int row = 0; row < order; ++row)
        memcpy(matrix + (size_t)row * order, work + (size_t)row * padded, order * sizeof(float));
    write_array(argv[3], matrix, (size_t)order * order, sizeof(float));
    printf("lud: order %d\n", order);
    free(matrix);
    free(work);
    return 0;
}
