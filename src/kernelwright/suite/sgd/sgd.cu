/* Stochastic gradient descent with momentum: trains a network with one hidden layer to classify points, and tries it on
 * examples it has not seen.
 *
 * The hidden layer is rectified, the output a softmax, the loss its cross entropy. Each step takes the gradient over a
 * batch of examples by back-propagation (Rumelhart, Hinton and Williams, 1986) and moves the weights with momentum
 * (Polyak, 1964). A layer's weights have one row per input and a last one for the bias, one column per output.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define TILE 16
#define BLOCK 128

typedef struct {
    float *points; /* example after example */
    int *labels;
    int count;
} Examples;

typedef struct {
    int inputs, outputs;
    float *weights, *gradient, *velocity; /* (inputs + 1) x outputs, on the GPU */
} Layer;

/* Copies the batch's examples, `order` says which, to the front. */
__global__ void gather(const float *points, const int *labels, const int *order, int rows, int features, float *batch,
                       int *batch_labels)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < rows * features)
        batch[i] = points[order[i / features] * features + i % features];
    if (i < rows)
        batch_labels[i] = labels[order[i]];
}

/* outputs = inputs * weights, with the bias; negative outputs become 0 where `rectify` is set. */
__global__ void forward(const float *inputs, const float *weights, int rows, int input_count, int output_count,
                        bool rectify, float *outputs)
{
    __shared__ float tile_inputs[TILE][TILE];
    __shared__ float tile_weights[TILE][TILE];
    int x = threadIdx.x;
    int y = threadIdx.y;
    int row = blockIdx.y * TILE + y;
    int col = blockIdx.x * TILE + x;
    float sum = 0.0f;

    for (int first = 0; first < input_count; first += TILE) {
        tile_inputs[y][x] = row < rows && first + x < input_count ? inputs[row * input_count + first + x] : 0.0f;
        tile_weights[y][x] =
            col < output_count && first + y < input_count ? weights[(first + y) * output_count + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile_inputs[y][k] * tile_weights[k][x];
        __syncthreads();
    }
    if (row < rows && col < output_count) {
        sum += weights[input_count * output_count + col];
        outputs[row * output_count + col] = rectify ? fmaxf(sum, 0.0f) : sum;
    }
}

/* Turns the scores of each example, in place, into the gradient of the batch's mean loss. */
__global__ void softmax_gradient(const int *labels, int rows, int classes, float *scores)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float *mine = scores + row * classes;
    float largest = mine[0];
    for (int c = 1; c < classes; c++)
        largest = fmaxf(largest, mine[c]);
    float sum = 0.0f;
    for (int c = 0; c < classes; c++) {
        mine[c] = expf(mine[c] - largest);
        sum += mine[c];
    }
    for (int c = 0; c < classes; c++)
        mine[c] = (mine[c] / sum - (c == labels[row] ? 1.0f : 0.0f)) / rows;
}

/* The gradient of the layer's inputs from that of its outputs, where the inputs are above 0 (else it is 0). */
__global__ void backward(const float *output_gradient, const float *weights, const float *inputs, int rows,
                         int input_count, int output_count, float *input_gradient)
{
    int row = blockIdx.y * TILE + threadIdx.y;
    int input = blockIdx.x * TILE + threadIdx.x;
    if (row >= rows || input >= input_count)
        return;
    float sum = 0.0f;
    for (int k = 0; k < output_count; k++)
        sum += output_gradient[row * output_count + k] * weights[input * output_count + k];
    input_gradient[row * input_count + input] = inputs[row * input_count + input] > 0.0f ? sum : 0.0f;
}

/* The gradient of the layer's weights, and of the bias in the last row. */
__global__ void weight_gradient(const float *inputs, const float *output_gradient, int rows, int input_count,
                                int output_count, float *gradient)
{
    int input = blockIdx.y * TILE + threadIdx.y;
    int output = blockIdx.x * TILE + threadIdx.x;
    if (input > input_count || output >= output_count)
        return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) {
        float value = input < input_count ? inputs[row * input_count + input] : 1.0f;
        sum += value * output_gradient[row * output_count + output];
    }
    gradient[input * output_count + output] = sum;
}

__global__ void momentum_step(const float *gradient, int count, float rate, float momentum, float *velocity,
                              float *weights)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        float moved = momentum * velocity[i] - rate * gradient[i];
        velocity[i] = moved;
        weights[i] += moved;
    }
}

/* The class with the highest score; of equal ones the lowest. */
__global__ void choose_class(const float *scores, int rows, int classes, int *predictions)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    int best = 0;
    for (int c = 1; c < classes; c++) {
        if (scores[row * classes + c] > scores[row * classes + best])
            best = c;
    }
    predictions[row] = best;
}

static int blocks_of(int count)
{
    return (count - 1) / BLOCK + 1;
}

static dim3 tiles_of(int cols, int rows)
{
    return dim3((cols - 1) / TILE + 1, (rows - 1) / TILE + 1);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
    return *state;
}

static size_t weight_count(const Layer *layer)
{
    return (size_t)(layer->inputs + 1) * layer->outputs;
}

/* Weights uniform with the variance that keeps a rectified layer's signal (He et al., 2015); biases 0. */
static void make_layer(Layer *layer, int inputs, int outputs, uint32_t *random)
{
    layer->inputs = inputs;
    layer->outputs = outputs;
    size_t bytes = weight_count(layer) * sizeof(float);
    float *weights = (float *)allocate(weight_count(layer), sizeof(float));
    float limit = sqrtf(6.0f / inputs);
    for (int i = 0; i < inputs * outputs; i++)
        weights[i] = limit * ((next_random(random) >> 8) / 8388608.0f - 1.0f);
    CUDA_CHECK(cudaMalloc((void **)&layer->weights, bytes));
    CUDA_CHECK(cudaMalloc((void **)&layer->gradient, bytes));
    CUDA_CHECK(cudaMalloc((void **)&layer->velocity, bytes));
    CUDA_CHECK(cudaMemcpy(layer->weights, weights, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(layer->velocity, 0, bytes));
    free(weights);
}

static void free_layer(Layer *layer)
{
    CUDA_CHECK(cudaFree(layer->weights));
    CUDA_CHECK(cudaFree(layer->gradient));
    CUDA_CHECK(cudaFree(layer->velocity));
}

static void run_layer(const Layer *layer, const float *inputs, int rows, bool rectify, float *outputs)
{
    dim3 tile(TILE, TILE);
    forward<<<tiles_of(layer->outputs, rows), tile>>>(inputs, layer->weights, rows, layer->inputs, layer->outputs,
                                                      rectify, outputs);
    CUDA_CHECK_LAUNCH();
}

static void find_gradient(const Layer *layer, const float *inputs, const float *output_gradient, int rows)
{
    dim3 tile(TILE, TILE);
    weight_gradient<<<tiles_of(layer->outputs, layer->inputs + 1), tile>>>(inputs, output_gradient, rows, layer->inputs,
                                                                           layer->outputs, layer->gradient);
    CUDA_CHECK_LAUNCH();
}

static void move_weights(Layer *layer, float rate, float momentum)
{
    int count = (int)weight_count(layer);
    momentum_step<<<blocks_of(count), BLOCK>>>(layer->gradient, count, rate, momentum, layer->velocity, layer->weights);
    CUDA_CHECK_LAUNCH();
}

/* Trains both layers for some epochs, each over all examples in random order, a batch at a time. */
static void train(Layer *hidden, Layer *output, Examples training, int batch_size, int epochs, float rate,
                  float momentum, uint32_t *random)
{
    int features = hidden->inputs, units = hidden->outputs, classes = output->outputs;
    int *order = (int *)allocate(training.count, sizeof(int));
    for (int i = 0; i < training.count; i++)
        order[i] = i;
    float *points, *batch, *activations, *activation_gradient, *scores;
    int *labels, *batch_labels, *device_order;
    size_t points_bytes = (size_t)training.count * features * sizeof(float);
    CUDA_CHECK(cudaMalloc((void **)&points, points_bytes));
    CUDA_CHECK(cudaMalloc((void **)&labels, training.count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&device_order, training.count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&batch, (size_t)batch_size * features * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&batch_labels, batch_size * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&activations, (size_t)batch_size * units * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&activation_gradient, (size_t)batch_size * units * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&scores, (size_t)batch_size * classes * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(points, training.points, points_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(labels, training.labels, training.count * sizeof(int), cudaMemcpyHostToDevice));

    dim3 tile(TILE, TILE);
    for (int epoch = 0; epoch < epochs; epoch++) {
        for (int i = training.count - 1; i > 0; i--) {
            int other = (int)(((uint64_t)next_random(random) * (uint32_t)(i + 1)) >> 32);
            int swap = order[i];
            order[i] = order[other];
            order[other] = swap;
        }
        CUDA_CHECK(cudaMemcpy(device_order, order, training.count * sizeof(int), cudaMemcpyHostToDevice));
        for (int first = 0; first < training.count; first += batch_size) {
            int rows = training.count - first < batch_size ? training.count - first : batch_size;
            gather<<<blocks_of(rows * features), BLOCK>>>(points, labels, device_order + first, rows, features, batch,
                                                          batch_labels);
            CUDA_CHECK_LAUNCH();
            run_layer(hidden, batch, rows, true, activations);
            run_layer(output, activations, rows, false, scores);
            softmax_gradient<<<blocks_of(rows), BLOCK>>>(batch_labels, rows, classes, scores);
            CUDA_CHECK_LAUNCH();
            backward<<<tiles_of(units, rows), tile>>>(scores, output->weights, activations, rows, units, classes,
                                                      activation_gradient);
            CUDA_CHECK_LAUNCH();
            find_gradient(output, activations, scores, rows);
            find_gradient(hidden, batch, activation_gradient, rows);
            move_weights(output, rate, momentum);
            move_weights(hidden, rate, momentum);
        }
    }
    CUDA_CHECK(cudaFree(points));
    CUDA_CHECK(cudaFree(labels));
    CUDA_CHECK(cudaFree(device_order));
    CUDA_CHECK(cudaFree(batch));
    CUDA_CHECK(cudaFree(batch_labels));
    CUDA_CHECK(cudaFree(activations));
    CUDA_CHECK(cudaFree(activation_gradient));
    CUDA_CHECK(cudaFree(scores));
    free(order);
}

static void predict(const Layer *hidden, const Layer *output, Examples examples, int *predictions)
{
    size_t points_bytes = (size_t)examples.count * hidden->inputs * sizeof(float);
    float *points, *activations, *scores;
    int *device_predictions;
    CUDA_CHECK(cudaMalloc((void **)&points, points_bytes));
    CUDA_CHECK(cudaMalloc((void **)&activations, (size_t)examples.count * hidden->outputs * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&scores, (size_t)examples.count * output->outputs * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&device_predictions, examples.count * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(points, examples.points, points_bytes, cudaMemcpyHostToDevice));
    run_layer(hidden, points, examples.count, true, activations);
    run_layer(output, activations, examples.count, false, scores);
    choose_class<<<blocks_of(examples.count), BLOCK>>>(scores, examples.count, output->outputs, device_predictions);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(predictions, device_predictions, examples.count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(points));
    CUDA_CHECK(cudaFree(activations));
    CUDA_CHECK(cudaFree(scores));
    CUDA_CHECK(cudaFree(device_predictions));
}

static Examples read_examples(const char *points_path, const char *labels_path, int features, int classes)
{
    Examples examples;
    size_t count;
    examples.labels = (int *)read_whole_array(labels_path, sizeof(int), &count);
    if (count == 0 || count > 1 << 20) {
        fprintf(stderr, "error: %s holds %zu labels, not 1 to %d\n", labels_path, count, 1 << 20);
        exit(EXIT_FAILED);
    }
    for (size_t i = 0; i < count; i++) {
        if (examples.labels[i] < 0 || examples.labels[i] >= classes) {
            fprintf(stderr, "error: label %zu of %s is %d, not 0 to %d\n", i, labels_path, examples.labels[i],
                    classes - 1);
            exit(EXIT_FAILED);
        }
    }
    examples.count = (int)count;
    examples.points = (float *)read_array(points_path, count * features, sizeof(float));
    return examples;
}

int main(int argc, char **argv)
{
    int features, units, classes, batch_size, epochs, seed;
    float rate, momentum;
    if (argc != 16 || !parse_int(argv[5], 1, 1024, &features) || !parse_int(argv[6], 1, 1024, &units) ||
        !parse_int(argv[7], 2, 1024, &classes) || !parse_int(argv[8], 1, 65536, &batch_size) ||
        !parse_int(argv[9], 1, INT_MAX, &epochs) || !parse_float(argv[10], &rate) || rate <= 0.0f ||
        !parse_float(argv[11], &momentum) || momentum < 0.0f || momentum >= 1.0f ||
        !parse_int(argv[12], 0, INT_MAX, &seed)) {
        fprintf(stderr,
                "usage: %s POINTS LABELS VALIDATION_POINTS VALIDATION_LABELS FEATURES UNITS CLASSES BATCH EPOCHS RATE "
                "MOMENTUM SEED MODEL PREDICTIONS ERROR\n"
                "  POINTS, LABELS          input: the training examples, float32 and int32 (0 to CLASSES - 1)\n"
                "  VALIDATION_POINTS, ...  input: other examples to try the network on\n"
                "  FEATURES                coordinates of a point, 1 to 1024\n"
                "  UNITS, CLASSES          size of the hidden and of the output layer, up to 1024\n"
                "  BATCH                   examples per step, 1 to 65536\n"
                "  EPOCHS                  passes over the training examples\n"
                "  RATE, MOMENTUM          of learning, above 0, and 0 to below 1\n"
                "  SEED                    of the random numbers\n"
                "  MODEL                   output: weights of the hidden, then of the output layer, float32\n"
                "  PREDICTIONS             output: labels of the validation examples, int32\n"
                "  ERROR                   output: the share of wrong predictions, float64\n",
                argv[0]);
        return EXIT_USAGE;
    }
    Examples training = read_examples(argv[1], argv[2], features, classes);
    Examples validation = read_examples(argv[3], argv[4], features, classes);
    if (batch_size > training.count)
        batch_size = training.count;

    uint32_t random = (uint32_t)seed;
    Layer hidden, output;
    make_layer(&hidden, features, units, &random);
    make_layer(&output, units, classes, &random);
    int *predictions = (int *)allocate(validation.count, sizeof(int));
    train(&hidden, &output, training, batch_size, epochs, rate, momentum, &random);
    predict(&hidden, &output, validation, predictions);

    size_t hidden_count = weight_count(&hidden), output_count = weight_count(&output);
    float *model = (float *)allocate(hidden_count + output_count, sizeof(float));
    CUDA_CHECK(cudaMemcpy(model, hidden.weights, hidden_count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(model + hidden_count, output.weights, output_count * sizeof(float), cudaMemcpyDeviceToHost));
    free_layer(&hidden);
    free_layer(&output);

    int wrong = 0;
    for (int i = 0; i < validation.count; i++)
        wrong += predictions[i] != validation.labels[i];
    double error = (double)wrong / validation.count;
    printf("after %d epochs %d of %d predictions are wrong: error %.4f\n", epochs, wrong, validation.count, error);
    write_array(argv[13], model, hidden_count + output_count, sizeof(float));
    write_array(argv[14], predictions, validation.count, sizeof(int));
    write_array(argv[15], &error, 1, sizeof(double));
    free(training.points);
    free(training.labels);
    free(validation.points);
    free(validation.labels);
    free(predictions);
    free(model);
    return 0;
}
