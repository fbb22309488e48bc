// The kernel of tests/stories/again.cu in a program: again_program PASSES BLOCK [thread]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#include "../stories/again.cu"

static const int N = 256;
static float *in, *out;
static int passes, block;

static void *launch(void *)
{
    again<<<(N + block - 1) / block, block>>>(in, out, N, passes);
    return NULL;
}

int main(int argc, char **argv)
{
    passes = argc > 1 ? atoi(argv[1]) : 5, block = argc > 2 ? atoi(argv[2]) : 64;
    float values[N], results[N];
    for (int i = 0; i < N; i++) values[i] = i * 0.25f;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    launch(NULL);
    if (argc > 3) {
        pthread_t other;
        pthread_create(&other, NULL, launch, NULL);
        pthread_join(other, NULL);
    }
    cudaMemcpy(results, out, sizeof values, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += results[i];
    printf("%.3f %s\n", sum, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
