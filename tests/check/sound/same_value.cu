// A race on which nothing depends: every thread that finds something writes the same 1.
#include <cstdio>

__global__ void any(const int *in, int *found)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 3)
        *found = 1;
}

int main()
{
    int values[128], *in, *found, got = 0;
    for (int i = 0; i < 128; i++)
        values[i] = i;
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMalloc(&found, sizeof(int));
    cudaMemset(found, 0, sizeof(int));
    any<<<2, 64>>>(in, found);
    cudaMemcpy(&got, found, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d\n", got);
    return got == 1 ? 0 : 2;
}
