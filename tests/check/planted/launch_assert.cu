// finds: launch at DEFECT: an assertion of the kernel does not hold
#include <cassert>

__global__ void check(const int *in)
{
    assert(in[threadIdx.x] < 31); // DEFECT
}

int main()
{
    int values[32], *in;
    for (int i = 0; i < 32; i++)
        values[i] = i;
    cudaMalloc(&in, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    check<<<1, 32>>>(in);
    cudaDeviceSynchronize();
    return 0;
}
