/* Support vector machine: trains a classifier with the Gaussian kernel, one machine for each pair of classes, and tries
 * it on examples it has not seen.
 *
 * Training is sequential minimal optimisation (Platt, 1998) in the form of Keerthi et al. (2001): of all multipliers
 * two that violate the optimality conditions are chosen, by second-order information (Fan, Chen and Lin, "Working set
 * selection using second order information for training support vector machines", JMLR 6, 2005), and moved as far as
 * is best, until no two violate them by more than a tolerance. Each block of threads trains one machine.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define TILE 16
#define BLOCK 128
#define MAX_CLASSES 16
#define TOLERANCE 1e-3f
#define SMALLEST_CURVATURE 1e-6f

typedef struct {
    float *points; /* example after example */
    int *labels;
    int count;
} Examples;

/* The part of a machine's examples in the lists of all machines; the first `positives` belong to its first class. */
typedef struct {
    int first, count, positives;
} Machine;

typedef struct {
    float value;
    int index;
} Choice;

/* matrix[i][j] = exp(-gamma |a_i - b_j|^2), with as many rows as a has points and as many columns as b has. */
__global__ void compute_kernel_matrix(const float *a, int rows, const float *b, int cols, int features, float gamma,
                                      float *matrix)
{
    __shared__ float tile_a[TILE][TILE + 1];
    __shared__ float tile_b[TILE][TILE + 1];
    int x = threadIdx.x;
    int y = threadIdx.y;
    int row = blockIdx.y * TILE + y;
    int col = blockIdx.x * TILE + x;
    int row_of_b = blockIdx.x * TILE + y;
    float distance = 0.0f;

    for (int first = 0; first < features; first += TILE) {
        int feature = first + x;
        tile_a[y][x] = row < rows && feature < features ? a[row * features + feature] : 0.0f;
        tile_b[y][x] = row_of_b < cols && feature < features ? b[row_of_b * features + feature] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float difference = tile_a[y][k] - tile_b[x][k];
            distance += difference * difference;
        }
        __syncthreads();
    }
    if (row < rows && col < cols)
        matrix[row * cols + col] = expf(-gamma * distance);
}

/* Returns the largest value of the block and its index; of equal ones the lowest index. */
static __device__ Choice choose_largest(Choice mine, Choice *choices)
{
    int thread = threadIdx.x;
    choices[thread] = mine;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (thread < half) {
            Choice other = choices[thread + half];
            if (other.value > choices[thread].value ||
                (other.value == choices[thread].value && other.index < choices[thread].index))
                choices[thread] = other;
        }
        __syncthreads();
    }
    Choice largest = choices[0];
    __syncthreads(); /* `choices` may now be used again. */
    return largest;
}

/* Whether the multiplier can still move so that sign * multiplier grows. */
static __device__ bool can_rise(float multiplier, bool positive, float cost)
{
    return positive ? multiplier < cost : multiplier > 0.0f;
}

static __device__ bool can_fall(float multiplier, bool positive, float cost)
{
    return positive ? multiplier > 0.0f : multiplier < cost;
}

/* Trains one machine per block. `members` lists the machines' examples by number; `multipliers` are all zero at first.
 * slack[i] is what the machine's value, without its bias, falls short of the label of example i. */
__global__ void train(const float *matrix, int examples, const Machine *machines, const int *members, float cost,
                      int max_iterations, float *multipliers, float *slack, float *biases)
{
    __shared__ Choice choices[BLOCK];
    Machine machine = machines[blockIdx.x];
    int thread = threadIdx.x;
    members += machine.first;
    multipliers += machine.first;
    slack += machine.first;

    for (int k = thread; k < machine.count; k += BLOCK)
        slack[k] = k < machine.positives ? 1.0f : -1.0f;

    Choice up, down;
    for (int iteration = 0; iteration < max_iterations; iteration++) {
        /* The multiplier that most wants to rise, */
        up.value = -FLT_MAX;
        up.index = 0;
        for (int k = thread; k < machine.count; k += BLOCK) {
            if (slack[k] > up.value && can_rise(multipliers[k], k < machine.positives, cost)) {
                up.value = slack[k];
                up.index = k;
            }
        }
        up = choose_largest(up, choices);

        /* and the one that gains most if it falls by as much. */
        const float *row_up = matrix + members[up.index] * examples;
        down.value = 0.0f;
        down.index = -1;
        for (int k = thread; k < machine.count; k += BLOCK) {
            float violation = up.value - slack[k];
            if (violation > TOLERANCE && can_fall(multipliers[k], k < machine.positives, cost)) {
                float curvature = fmaxf(2.0f - 2.0f * row_up[members[k]], SMALLEST_CURVATURE);
                float gain = violation * violation / curvature;
                if (gain > down.value) {
                    down.value = gain;
                    down.index = k;
                }
            }
        }
        down = choose_largest(down, choices);
        if (down.index < 0)
            break;

        const float *row_down = matrix + members[down.index] * examples;
        bool up_is_positive = up.index < machine.positives;
        bool down_is_positive = down.index < machine.positives;
        float multiplier_up = multipliers[up.index];
        float multiplier_down = multipliers[down.index];
        float curvature = fmaxf(2.0f - 2.0f * row_up[members[down.index]], SMALLEST_CURVATURE);
        float step = (up.value - slack[down.index]) / curvature;
        step = fminf(step, up_is_positive ? cost - multiplier_up : multiplier_up);
        step = fminf(step, down_is_positive ? multiplier_down : cost - multiplier_down);
        __syncthreads();

        if (thread == up.index % BLOCK)
            multipliers[up.index] = multiplier_up + (up_is_positive ? step : -step);
        if (thread == down.index % BLOCK)
            multipliers[down.index] = multiplier_down + (down_is_positive ? -step : step);
        for (int k = thread; k < machine.count; k += BLOCK)
            slack[k] -= step * (row_up[members[k]] - row_down[members[k]]);
    }

    /* The bias lies between what the multipliers that can rise and those that can fall ask for. */
    up.value = down.value = -FLT_MAX;
    up.index = down.index = 0;
    for (int k = thread; k < machine.count; k += BLOCK) {
        if (can_rise(multipliers[k], k < machine.positives, cost))
            up.value = fmaxf(up.value, slack[k]);
        if (can_fall(multipliers[k], k < machine.positives, cost))
            down.value = fmaxf(down.value, -slack[k]);
    }
    up = choose_largest(up, choices);
    down = choose_largest(down, choices);
    if (thread == 0)
        biases[blockIdx.x] = 0.5f * (up.value - down.value);
}

/* The value of machine blockIdx.y for each example to classify; matrix[i][j] relates it to training example j. */
__global__ void decide(const float *matrix, int count, int examples, const Machine *machines, const int *members,
                       const float *multipliers, const float *biases, float *values)
{
    Machine machine = machines[blockIdx.y];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float value = biases[blockIdx.y];
    for (int k = 0; k < machine.count; k++) {
        float multiplier = multipliers[machine.first + k];
        float weight = k < machine.positives ? multiplier : -multiplier;
        value += weight * matrix[i * examples + members[machine.first + k]];
    }
    values[blockIdx.y * count + i] = value;
}

/* Each machine votes for one of its two classes; of equally many votes the lower class wins. */
__global__ void vote(const float *values, int count, int classes, int *predictions)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    int votes[MAX_CLASSES];
    for (int c = 0; c < classes; c++)
        votes[c] = 0;
    int machine = 0;
    for (int c = 0; c < classes; c++) {
        for (int d = c + 1; d < classes; d++) {
            votes[values[machine * count + i] > 0.0f ? c : d]++;
            machine++;
        }
    }
    int winner = 0;
    for (int c = 1; c < classes; c++) {
        if (votes[c] > votes[winner])
            winner = c;
    }
    predictions[i] = winner;
}

static Examples read_examples(const char *points_path, const char *labels_path, int features)
{
    Examples examples;
    size_t count;
    examples.labels = (int *)read_whole_array(labels_path, sizeof(int), &count);
    if (count == 0 || count > 32768) {
        fprintf(stderr, "error: %s holds %zu labels, not 1 to 32768\n", labels_path, count);
        exit(EXIT_FAILED);
    }
    for (size_t i = 0; i < count; i++) {
        if (examples.labels[i] < 0 || examples.labels[i] >= MAX_CLASSES) {
            fprintf(stderr, "error: label %zu of %s is %d, not 0 to %d\n", i, labels_path, examples.labels[i],
                    MAX_CLASSES - 1);
            exit(EXIT_FAILED);
        }
    }
    examples.count = (int)count;
    examples.points = (float *)read_array(points_path, count * features, sizeof(float));
    return examples;
}

static int largest_label(Examples examples)
{
    int largest = 0;
    for (int i = 0; i < examples.count; i++)
        largest = examples.labels[i] > largest ? examples.labels[i] : largest;
    return largest;
}

/* Fills in one machine for each pair of classes; returns the number of entries in `members`. */
static int pair_up(Examples training, int classes, Machine *machines, int *members)
{
    int used = 0, machine = 0;
    for (int c = 0; c < classes; c++) {
        for (int d = c + 1; d < classes; d++) {
            int first = used;
            for (int i = 0; i < training.count; i++) {
                if (training.labels[i] == c)
                    members[used++] = i;
            }
            int positives = used - first;
            for (int i = 0; i < training.count; i++) {
                if (training.labels[i] == d)
                    members[used++] = i;
            }
            machines[machine].first = first;
            machines[machine].count = used - first;
            machines[machine].positives = positives;
            if (positives == 0 || positives == used - first) {
                fprintf(stderr, "error: no training example has label %d\n", positives == 0 ? c : d);
                exit(EXIT_FAILED);
            }
            machine++;
        }
    }
    return used;
}

/* Trains on the one and predicts the labels of the other examples. Copies out the machines' multipliers and biases. */
static void train_and_predict(Examples training, Examples validation, int features, float cost, float gamma,
                              int max_iterations, int classes, const Machine *machines, const int *members, int entries,
                              float *multipliers, float *biases, int *predictions)
{
    int machine_count = classes * (classes - 1) / 2;
    size_t training_bytes = (size_t)training.count * features * sizeof(float);
    size_t validation_bytes = (size_t)validation.count * features * sizeof(float);
    float *training_points, *validation_points, *training_matrix, *validation_matrix;
    float *device_multipliers, *slack, *device_biases, *values;
    Machine *device_machines;
    int *device_members, *device_predictions;
    CUDA_CHECK(cudaMalloc((void **)&training_points, training_bytes));
    CUDA_CHECK(cudaMalloc((void **)&validation_points, validation_bytes));
    CUDA_CHECK(cudaMalloc((void **)&training_matrix, (size_t)training.count * training.count * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&validation_matrix, (size_t)validation.count * training.count * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&device_machines, machine_count * sizeof(Machine)));
    CUDA_CHECK(cudaMalloc((void **)&device_members, entries * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&device_multipliers, entries * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&slack, entries * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&device_biases, machine_count * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&values, (size_t)machine_count * validation.count * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&device_predictions, validation.count * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(training_points, training.points, training_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(validation_points, validation.points, validation_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_machines, machines, machine_count * sizeof(Machine), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_members, members, entries * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(device_multipliers, 0, entries * sizeof(float)));

    dim3 tile(TILE, TILE);
    int tiles = (training.count - 1) / TILE + 1;
    dim3 training_grid(tiles, tiles);
    dim3 validation_grid(tiles, (validation.count - 1) / TILE + 1);
    compute_kernel_matrix<<<training_grid, tile>>>(training_points, training.count, training_points, training.count,
                                                   features, gamma, training_matrix);
    CUDA_CHECK_LAUNCH();
    train<<<machine_count, BLOCK>>>(training_matrix, training.count, device_machines, device_members, cost,
                                    max_iterations, device_multipliers, slack, device_biases);
    CUDA_CHECK_LAUNCH();

    int blocks = (validation.count - 1) / BLOCK + 1;
    dim3 decide_grid(blocks, machine_count);
    compute_kernel_matrix<<<validation_grid, tile>>>(validation_points, validation.count, training_points,
                                                     training.count, features, gamma, validation_matrix);
    CUDA_CHECK_LAUNCH();
    decide<<<decide_grid, BLOCK>>>(validation_matrix, validation.count, training.count, device_machines, device_members,
                                   device_multipliers, device_biases, values);
    CUDA_CHECK_LAUNCH();
    vote<<<blocks, BLOCK>>>(values, validation.count, classes, device_predictions);
    CUDA_CHECK_LAUNCH();

    CUDA_CHECK(cudaMemcpy(multipliers, device_multipliers, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(biases, device_biases, machine_count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(predictions, device_predictions, validation.count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(training_points));
    CUDA_CHECK(cudaFree(validation_points));
    CUDA_CHECK(cudaFree(training_matrix));
    CUDA_CHECK(cudaFree(validation_matrix));
    CUDA_CHECK(cudaFree(device_machines));
    CUDA_CHECK(cudaFree(device_members));
    CUDA_CHECK(cudaFree(device_multipliers));
    CUDA_CHECK(cudaFree(slack));
    CUDA_CHECK(cudaFree(device_biases));
    CUDA_CHECK(cudaFree(values));
    CUDA_CHECK(cudaFree(device_predictions));
}

int main(int argc, char **argv)
{
    int features, max_iterations;
    float cost, gamma;
    if (argc != 12 || !parse_int(argv[5], 1, 4096, &features) || !parse_float(argv[6], &cost) || cost <= 0.0f ||
        !parse_float(argv[7], &gamma) || gamma <= 0.0f || !parse_int(argv[8], 1, INT_MAX, &max_iterations)) {
        fprintf(stderr,
                "usage: %s POINTS LABELS VALIDATION_POINTS VALIDATION_LABELS FEATURES COST GAMMA ITERATIONS MODEL "
                "PREDICTIONS ERROR\n"
                "  POINTS, LABELS          input: the training examples, float32 and int32 (0 to %d)\n"
                "  VALIDATION_POINTS, ...  input: other examples to try the classifier on\n"
                "  FEATURES                coordinates of a point, 1 to 4096\n"
                "  COST                    of an example on the wrong side, above 0\n"
                "  GAMMA                   of the kernel exp(-gamma distance^2), above 0\n"
                "  ITERATIONS              of one machine's training, at most\n"
                "  MODEL                   output: the multipliers of all machines, then their biases, float32\n"
                "  PREDICTIONS             output: labels of the validation examples, int32\n"
                "  ERROR                   output: the share of wrong predictions, float64\n",
                argv[0], MAX_CLASSES - 1);
        return EXIT_USAGE;
    }
    Examples training = read_examples(argv[1], argv[2], features);
    Examples validation = read_examples(argv[3], argv[4], features);
    int classes = largest_label(training) + 1;
    if (classes < 2) {
        fprintf(stderr, "error: all training examples have label 0\n");
        return EXIT_FAILED;
    }
    int machine_count = classes * (classes - 1) / 2;
    Machine *machines = (Machine *)allocate(machine_count, sizeof(Machine));
    /* Each example takes part in the machines of its class against each other one. */
    int *members = (int *)allocate((size_t)training.count * (classes - 1), sizeof(int));
    int entries = pair_up(training, classes, machines, members);
    float *model = (float *)allocate((size_t)entries + machine_count, sizeof(float));
    int *predictions = (int *)allocate(validation.count, sizeof(int));

    train_and_predict(training, validation, features, cost, gamma, max_iterations, classes, machines, members, entries,
                      model, model + entries, predictions);

    int wrong = 0, support_vectors = 0;
    for (int i = 0; i < validation.count; i++)
        wrong += predictions[i] != validation.labels[i];
    for (int i = 0; i < entries; i++)
        support_vectors += model[i] > 0.0f;
    double error = (double)wrong / validation.count;
    printf("%d machines with %d support vectors predict %d of %d labels wrong: error %.4f\n", machine_count,
           support_vectors, wrong, validation.count, error);
    write_array(argv[9], model, (size_t)entries + machine_count, sizeof(float));
    write_array(argv[10], predictions, validation.count, sizeof(int));
    write_array(argv[11], &error, 1, sizeof(double));
    free(training.points);
    free(training.labels);
    free(validation.points);
    free(validation.labels);
    free(machines);
    free(members);
    free(model);
    free(predictions);
    return 0;
}
