// A kernel that other compile flags make faster, and edits, too: flags_program PASSES [onto]
#include <cstdio>
#include <cstdlib>

__global__ void series(const float *in, float *out, int n, int passes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes; pass++) {
        if (i >= n)
            break;
        float sum = in[i];
        for (int k = 0; k < 100; k++) sum = sum * in[k % 32] + k;
        out[i] = sum;
    }
}

int main(int argc, char **argv)
{
    const int n = 64;
    int passes = argc > 1 ? atoi(argv[1]) : 5, onto = argc > 2;
    float values[n], *in, *out;
    for (int i = 0; i < n; i++) values[i] = i / 64.0f;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    // "onto": the row is written onto itself, which a promise that it shares no memory excludes.
    series<<<2, 32>>>(in, onto ? in : out, n, passes);
    cudaMemcpy(values, onto ? in : out, sizeof values, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += values[i];
    printf("%.3f %s\n", sum, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
