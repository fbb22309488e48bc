/* Needleman-Wunsch: the best global alignment of two sequences (Needleman and Wunsch, 1970), linear gap penalty.
 *
 *     score[i][j] = max(score[i-1][j-1] + similarity[i][j], score[i-1][j] - penalty, score[i][j-1] - penalty)
 *
 * The score matrix is cut into 16x16 tiles. Tiles on one anti-diagonal do not depend on each other: one launch computes
 * them all, a block of 16 threads per tile, and the next launch takes the next anti-diagonal. Inside a tile the threads
 * walk over its own anti-diagonals in the same way. The host then follows the scores back from the last corner.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define TILE 16
#define RESIDUES 24 /* letters of the alphabet: 20 amino acids, B, Z, X and stop */
#define GAP 255     /* stands for a gap in the alignment */
#define MAX_LENGTH 1000000

typedef unsigned char Residue;

/* Fills one tile of `scores`, which has rows + 1 rows of cols + 1 columns; what lies above and to its left is known. */
static __device__ void score_tile(const int *similarity, int *scores, int rows, int cols, int penalty, int tile_row,
                           int tile_col)
{
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int similar[TILE][TILE];
    int thread = threadIdx.x;
    int top = tile_row * TILE;
    int left = tile_col * TILE;
    int height = min(TILE, rows - top);
    int width = min(TILE, cols - left);
    size_t pitch = (size_t)cols + 1;
    /* The tile's place in `scores`, one row and one column of its neighbours included. */
    int *corner = scores + top * pitch + left;

    for (int row = 0; row < height; row++) {
        if (thread < width)
            similar[row][thread] = similarity[(size_t)(top + row) * cols + left + thread];
    }
    if (thread == 0)
        score[0][0] = corner[0];
    if (thread < width)
        score[0][thread + 1] = corner[thread + 1];
    if (thread < height)
        score[thread + 1][0] = corner[(thread + 1) * pitch];
    __syncthreads();

    /* Thread t has row t of the tile; in step s it is at column s - t. */
    for (int step = 0; step < height + width - 1; step++) {
        int col = step - thread;
        if (thread < height && col >= 0 && col < width) {
            int diagonal = score[thread][col] + similar[thread][col];
            int up = score[thread][col + 1] - penalty;
            int back = score[thread + 1][col] - penalty;
            score[thread + 1][col + 1] = max(diagonal, max(up, back));
        }
        __syncthreads();
    }

    for (int row = 0; row < height; row++) {
        if (thread < width)
            corner[(row + 1) * pitch + thread + 1] = score[row + 1][thread + 1];
    }
}

/* Tiles of an anti-diagonal that begins at the left edge, bottom to top. */
__global__ void score_upper_left(const int *similarity, int *scores, int rows, int cols, int penalty, int diagonal)
{
    int tile_col = blockIdx.x;
    score_tile(similarity, scores, rows, cols, penalty, diagonal - tile_col, tile_col);
}

/* Tiles of an anti-diagonal that begins at the bottom edge, bottom to top. */
__global__ void score_lower_right(const int *similarity, int *scores, int rows, int cols, int penalty, int diagonal,
                                  int tile_rows)
{
    int tile_row = tile_rows - 1 - blockIdx.x;
    score_tile(similarity, scores, rows, cols, penalty, tile_row, diagonal - tile_row);
}

static Residue *read_sequence(const char *path, int *length)
{
    size_t count;
    Residue *sequence = (Residue *)read_whole_array(path, sizeof(Residue), &count);
    if (count == 0 || count > MAX_LENGTH) {
        fprintf(stderr, "error: %s holds %zu residues, which cannot be aligned\n", path, count);
        exit(EXIT_FAILED);
    }
    for (size_t i = 0; i < count; i++) {
        if (sequence[i] >= RESIDUES) {
            fprintf(stderr, "error: residue %zu of %s is %d, above %d\n", i, path, sequence[i], RESIDUES - 1);
            exit(EXIT_FAILED);
        }
    }
    *length = (int)count;
    return sequence;
}

/* Fills in `scores`, whose first row and first column are given. */
static void score_all(const int *similarity, int *scores, int rows, int cols, int penalty)
{
    size_t similarity_bytes = (size_t)rows * cols * sizeof(int);
    size_t scores_bytes = (size_t)(rows + 1) * (cols + 1) * sizeof(int);
    int *device_similarity, *device_scores;
    CUDA_CHECK(cudaMalloc((void **)&device_similarity, similarity_bytes));
    CUDA_CHECK(cudaMalloc((void **)&device_scores, scores_bytes));
    CUDA_CHECK(cudaMemcpy(device_similarity, similarity, similarity_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_scores, scores, scores_bytes, cudaMemcpyHostToDevice));

    int tile_rows = (rows - 1) / TILE + 1;
    int tile_cols = (cols - 1) / TILE + 1;
    for (int diagonal = 0; diagonal < tile_rows; diagonal++) {
        int blocks = diagonal < tile_cols ? diagonal + 1 : tile_cols;
        score_upper_left<<<blocks, TILE>>>(device_similarity, device_scores, rows, cols, penalty, diagonal);
        CUDA_CHECK_LAUNCH();
    }
    for (int diagonal = tile_rows; diagonal < tile_rows + tile_cols - 1; diagonal++) {
        int columns_left = tile_rows + tile_cols - 1 - diagonal;
        int blocks = columns_left < tile_rows ? columns_left : tile_rows;
        score_lower_right<<<blocks, TILE>>>(device_similarity, device_scores, rows, cols, penalty, diagonal, tile_rows);
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpy(scores, device_scores, scores_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_similarity));
    CUDA_CHECK(cudaFree(device_scores));
}

/* Follows the scores from the last cell to the first; of equal moves the diagonal one is taken, then the one up.
 * Writes the two aligned rows backwards, ending at `first_end` and `second_end`, and returns their length. */
static int trace_back(const int *scores, const int *similarity, const Residue *first, int rows, const Residue *second,
                      int cols, int penalty, Residue *first_end, Residue *second_end)
{
    size_t pitch = (size_t)cols + 1;
    int i = rows, j = cols, length = 0;
    while (i > 0 || j > 0) {
        const int *cell = scores + i * pitch + j;
        length++;
        if (i > 0 && j > 0 && *cell == cell[-(long)pitch - 1] + similarity[(size_t)(i - 1) * cols + j - 1]) {
            first_end[-length] = first[--i];
            second_end[-length] = second[--j];
        } else if (i > 0 && (j == 0 || *cell == cell[-(long)pitch] - penalty)) {
            first_end[-length] = first[--i];
            second_end[-length] = GAP;
        } else {
            first_end[-length] = GAP;
            second_end[-length] = second[--j];
        }
    }
    return length;
}

int main(int argc, char **argv)
{
    int penalty;
    if (argc != 7 || !parse_int(argv[4], 0, 1000, &penalty)) {
        fprintf(stderr,
                "usage: %s FIRST SECOND SUBSTITUTION PENALTY SCORES ALIGNMENT\n"
                "  FIRST, SECOND  input: the sequences, residue numbers 0 to %d, uint8\n"
                "  SUBSTITUTION   input: the score of each pair of residues, %d x %d int32\n"
                "  PENALTY        what each gap costs, 0 to 1000\n"
                "  SCORES         output: the score matrix, a row and a column longer than the sequences, int32\n"
                "  ALIGNMENT      output: the aligned sequences, two rows of one length, %d for a gap, uint8\n",
                argv[0], RESIDUES - 1, RESIDUES, RESIDUES, GAP);
        return EXIT_USAGE;
    }
    int rows, cols;
    Residue *first = read_sequence(argv[1], &rows);
    Residue *second = read_sequence(argv[2], &cols);
    int *substitution = (int *)read_array(argv[3], RESIDUES * RESIDUES, sizeof(int));

    size_t cells = (size_t)(rows + 1) * (cols + 1);
    int *scores = (int *)allocate(cells, sizeof(int));
    int *similarity = (int *)allocate((size_t)rows * cols, sizeof(int));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++)
            similarity[(size_t)i * cols + j] = substitution[first[i] * RESIDUES + second[j]];
    }
    for (int i = 0; i <= rows; i++)
        scores[i * ((size_t)cols + 1)] = -penalty * i;
    for (int j = 0; j <= cols; j++)
        scores[j] = -penalty * j;

    score_all(similarity, scores, rows, cols, penalty);

    int longest = rows + cols;
    Residue *alignment = (Residue *)allocate(2 * (size_t)longest, sizeof(Residue));
    int length = trace_back(scores, similarity, first, rows, second, cols, penalty, alignment + longest,
                            alignment + 2 * (size_t)longest);
    /* The second row directly after the first. */
    memmove(alignment, alignment + longest - length, length);
    memmove(alignment + length, alignment + 2 * (size_t)longest - length, length);

    printf("%d and %d residues align over %d places with score %d\n", rows, cols, length, scores[cells - 1]);
    write_array(argv[5], scores, cells, sizeof(int));
    write_array(argv[6], alignment, 2 * (size_t)length, sizeof(Residue));
    free(first);
    free(second);
    free(substitution);
    free(similarity);
    free(scores);
    free(alignment);
    return 0;
}
