/* Tracks points on the walls of a beating heart through the frames of an ultrasound sequence.
 *
 * Each point carries a template, the patch of image around it. In every frame the patch is sought near where the point
 * was by normalised cross-correlation, with window sums from summed-area tables (Lewis, "Fast normalized
 * cross-correlation", Vision Interface 1995), weighted to prefer small motions; then the template is blended with the
 * patch found. The structure, one thread block per point and a kernel per frame, follows the GPU version of the heart-wall
 * tracker of Szafaryn, Skadron and Saucerman ("Experiences accelerating MATLAB systems biology applications", 2009).
 * Correlations are summed in double precision: neighbouring displacements often match almost equally well.
 */
#include "../common/cuda_check.h"
#include "../common/files.h"

#include <math.h>

#define THREADS 256
#define MOST_POINTS 128
#define MOST_TEMPLATE_RADIUS 12
#define MOST_SEARCH_RADIUS 8
#define MOST_TEMPLATE (2 * MOST_TEMPLATE_RADIUS + 1)
#define MOST_SEARCH (2 * MOST_SEARCH_RADIUS + 1)
#define MOST_WINDOW (MOST_TEMPLATE + MOST_SEARCH - 1)

/* How much of a template is replaced by the patch found, and the displacement at which the weight falls to 1/e, as a
 * multiple of the search radius. */
#define BLEND 0.2f
#define MOTION_SCALE 2.0f

static const char USAGE[] =
    "usage: heartwall FRAMES ROWS COLS TEMPLATE SEARCH IMAGES POINTS TRACKS SCORES\n"
    "  FRAMES    frames of the sequence, at least 1\n"
    "  ROWS COLS of a frame, each at least 8, at most 8192\n"
    "  TEMPLATE  radius of a template, 1 to 12 pixels\n"
    "  SEARCH    farthest motion from frame to frame along each axis, 1 to 8 pixels\n"
    "  IMAGES    file of unsigned bytes, FRAMES x ROWS x COLS\n"
    "  POINTS    int32 file of (row, column) pairs in the first frame, at most 128\n"
    "  TRACKS    int32 file to write, FRAMES x points x (row, column)\n"
    "  SCORES    float file to write, (FRAMES - 1) x points: how well each point was found, 1 is a perfect match\n";

struct Setup {
    int rows, cols;
    int template_radius;
    int search_radius;
};

__constant__ Setup setup;
__constant__ int2 start_point[MOST_POINTS];                      /* x: row, y: column */
__constant__ float motion_weight[MOST_SEARCH * MOST_SEARCH];     /* by row, then column of the displacement */

/* The pixel at a position, or the nearest one of the image. */
static __device__ float pixel(const unsigned char *image, int row, int col)
{
    const int r = min(max(row, 0), setup.rows - 1);
    const int c = min(max(col, 0), setup.cols - 1);
    return (float)image[r * setup.cols + c];
}

/* The sum of `value` over the thread block, for all its threads. `scratch` has room for one item per thread. */
static __device__ double block_sum(double value, double *scratch)
{
    const int thread = threadIdx.x;
    scratch[thread] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            scratch[thread] += scratch[thread + half];
        __syncthreads();
    }
    const double sum = scratch[0];
    __syncthreads(); /* the caller may use the scratch again */
    return sum;
}

/* Cuts each point's template out of the first frame. One block per point. */
__global__ void cut_templates(const unsigned char *image, float *templates)
{
    const int size = 2 * setup.template_radius + 1;
    const int2 centre = start_point[blockIdx.x];
    float *own = templates + blockIdx.x * size * size;
    for (int i = threadIdx.x; i < size * size; i += THREADS)
        own[i] = pixel(image, centre.x + i / size - setup.template_radius, centre.y + i % size - setup.template_radius);
}

/* Finds each point in the next frame and updates its template. One block per point. */
__global__ void track_points(const unsigned char *image, const int2 *from, int2 *to, float *templates, float *score)
{
    __shared__ float window[MOST_WINDOW * MOST_WINDOW];
    __shared__ float pattern[MOST_TEMPLATE * MOST_TEMPLATE];
    /* Sums over all pixels above and left of a position, with a row and a column of zeros in front. */
    __shared__ double area_sum[(MOST_WINDOW + 1) * (MOST_WINDOW + 1)];
    __shared__ double area_square[(MOST_WINDOW + 1) * (MOST_WINDOW + 1)];
    __shared__ double scratch[THREADS];
    __shared__ double best_score[THREADS];
    __shared__ int best_offset[THREADS];

    const int thread = threadIdx.x;
    const int size = 2 * setup.template_radius + 1;
    const int offsets = 2 * setup.search_radius + 1;
    const int side = size + offsets - 1;
    const int pitch = side + 1;
    const int pixels = size * size;
    const int reach = setup.template_radius + setup.search_radius;
    const int2 centre = from[blockIdx.x];
    float *own = templates + blockIdx.x * pixels;

    for (int i = thread; i < side * side; i += THREADS)
        window[i] = pixel(image, centre.x + i / side - reach, centre.y + i % side - reach);

    /* The template less its mean, so that its correlation with any window needs no mean of that window. */
    double part = 0.0;
    for (int i = thread; i < pixels; i += THREADS) {
        pattern[i] = own[i];
        part += pattern[i];
    }
    const double mean = block_sum(part, scratch) / pixels;
    part = 0.0;
    for (int i = thread; i < pixels; i += THREADS) {
        pattern[i] = (float)(pattern[i] - mean);
        part += (double)pattern[i] * pattern[i];
    }
    const double pattern_energy = block_sum(part, scratch);

    /* Summed-area tables: along the columns, then along the rows. */
    if (thread < pitch) {
        area_sum[thread] = 0.0;
        area_square[thread] = 0.0;
        double sum = 0.0, square = 0.0;
        for (int row = 0; row < side; ++row) {
            if (thread > 0) {
                const double value = window[row * side + thread - 1];
                sum += value;
                square += value * value;
            }
            area_sum[(row + 1) * pitch + thread] = sum;
            area_square[(row + 1) * pitch + thread] = square;
        }
    }
    __syncthreads();
    if (thread < pitch) {
        for (int col = 1; col < pitch; ++col) {
            area_sum[thread * pitch + col] += area_sum[thread * pitch + col - 1];
            area_square[thread * pitch + col] += area_square[thread * pitch + col - 1];
        }
    }
    __syncthreads();

    best_score[thread] = -2.0; /* below any correlation */
    best_offset[thread] = 0;
    for (int offset = thread; offset < offsets * offsets; offset += THREADS) {
        const int top = offset / offsets;
        const int left = offset % offsets;
        double correlation = 0.0;
        for (int row = 0; row < size; ++row)
            for (int col = 0; col < size; ++col)
                correlation += (double)pattern[row * size + col] * window[(top + row) * side + left + col];

        const int above = top * pitch, below = (top + size) * pitch;
        const int right = left + size;
        const double sum = area_sum[below + right] - area_sum[above + right] - area_sum[below + left] + area_sum[above + left];
        const double square =
            area_square[below + right] - area_square[above + right] - area_square[below + left] + area_square[above + left];
        const double energy = pattern_energy * (square - sum * sum / pixels);
        /* Where either is flat there is nothing to correlate. */
        const double match = energy > 0.0 ? motion_weight[offset] * correlation / sqrt(energy) : 0.0;
        if (match > best_score[thread]) {
            best_score[thread] = match;
            best_offset[thread] = offset;
        }
    }
    __syncthreads();

    /* The best of all; among equals the first in row order. */
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            const double other = best_score[thread + half];
            const int offset = best_offset[thread + half];
            if (other > best_score[thread] || (other == best_score[thread] && offset < best_offset[thread])) {
                best_score[thread] = other;
                best_offset[thread] = offset;
            }
        }
        __syncthreads();
    }

    const int top = best_offset[0] / offsets;
    const int left = best_offset[0] % offsets;
    for (int i = thread; i < pixels; i += THREADS)
        own[i] = (1.0f - BLEND) * own[i] + BLEND * window[(top + i / size) * side + left + i % size];
    if (thread == 0) {
        const int row = centre.x + top - setup.search_radius;
        const int col = centre.y + left - setup.search_radius;
        to[blockIdx.x] = make_int2(min(max(row, 0), setup.rows - 1), min(max(col, 0), setup.cols - 1));
        score[blockIdx.x] = (float)best_score[0];
    }
}

static void set_constants(Setup host_setup, const int2 *points, int count)
{
    float weight[MOST_SEARCH * MOST_SEARCH];
    const int radius = host_setup.search_radius;
    const float scale = MOTION_SCALE * (float)radius;
    int items = 0;
    for (int row = -radius; row <= radius; ++row)
        for (int col = -radius; col <= radius; ++col)
            weight[items++] = expf(-(float)(row * row + col * col) / (scale * scale));
    CUDA_CHECK(cudaMemcpyToSymbol(setup, &host_setup, sizeof(host_setup)));
    CUDA_CHECK(cudaMemcpyToSymbol(start_point, points, count * sizeof(int2)));
    CUDA_CHECK(cudaMemcpyToSymbol(motion_weight, weight, items * sizeof(float)));
}

static void check_points(const int2 *points, size_t count, int rows, int cols)
{
    int sound = count >= 1 && count <= MOST_POINTS;
    for (size_t i = 0; sound && i < count; ++i)
        sound = points[i].x >= 0 && points[i].x < rows && points[i].y >= 0 && points[i].y < cols;
    if (!sound) {
        fprintf(stderr, "error: need 1 to %d points, all inside a frame of %d x %d\n", MOST_POINTS, rows, cols);
        exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv)
{
    int frames;
    Setup host_setup;
    if (argc != 10 || !parse_int(argv[1], 1, 1 << 16, &frames) || !parse_int(argv[2], 8, 8192, &host_setup.rows) ||
        !parse_int(argv[3], 8, 8192, &host_setup.cols) ||
        !parse_int(argv[4], 1, MOST_TEMPLATE_RADIUS, &host_setup.template_radius) ||
        !parse_int(argv[5], 1, MOST_SEARCH_RADIUS, &host_setup.search_radius)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    const size_t frame_bytes = (size_t)host_setup.rows * host_setup.cols;
    unsigned char *images = (unsigned char *)read_array(argv[6], frames * frame_bytes, 1);
    size_t items;
    int2 *first = (int2 *)read_whole_array(argv[7], sizeof(int2), &items);
    check_points(first, items, host_setup.rows, host_setup.cols);
    const int points = (int)items;
    const int size = 2 * host_setup.template_radius + 1;
    int2 *tracks = (int2 *)allocate((size_t)frames * points, sizeof(int2));
    float *scores = (float *)allocate((size_t)frames * points, sizeof(float));

    set_constants(host_setup, first, points);
    unsigned char *d_image;
    int2 *d_tracks;
    float *d_templates, *d_scores;
    CUDA_CHECK(cudaMalloc((void **)&d_image, frame_bytes));
    CUDA_CHECK(cudaMalloc((void **)&d_tracks, (size_t)frames * points * sizeof(int2)));
    CUDA_CHECK(cudaMalloc((void **)&d_templates, (size_t)points * size * size * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_scores, (size_t)frames * points * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_tracks, first, points * sizeof(int2), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_image, images, frame_bytes, cudaMemcpyHostToDevice));
    cut_templates<<<points, THREADS>>>(d_image, d_templates);
    CUDA_CHECK_LAUNCH();
    for (int frame = 1; frame < frames; ++frame) {
        CUDA_CHECK(cudaMemcpy(d_image, images + frame * frame_bytes, frame_bytes, cudaMemcpyHostToDevice));
        track_points<<<points, THREADS>>>(d_image, d_tracks + (size_t)(frame - 1) * points, d_tracks + (size_t)frame * points,
                                          d_templates, d_scores + (size_t)(frame - 1) * points);
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpy(tracks, d_tracks, (size_t)frames * points * sizeof(int2), cudaMemcpyDeviceToHost));
    if (frames > 1)
        CUDA_CHECK(cudaMemcpy(scores, d_scores, (size_t)(frames - 1) * points * sizeof(float), cudaMemcpyDeviceToHost));
    write_array(argv[8], tracks, (size_t)frames * points, sizeof(int2));
    write_array(argv[9], scores, (size_t)(frames - 1) * points, sizeof(float));
    printf("heartwall: %d points in %d frames of %d x %d\n", points, frames, host_setup.rows, host_setup.cols);

    CUDA_CHECK(cudaFree(d_image));
    CUDA_CHECK(cudaFree(d_tracks));
    CUDA_CHECK(cudaFree(d_templates));
    CUDA_CHECK(cudaFree(d_scores));
    free(images);
    free(first);
    free(tracks);
    free(scores);
    return 0;
}
