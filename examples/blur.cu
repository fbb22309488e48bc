// A three-point blur of one row of values, staged through shared memory. A mask says which places to leave alone.
#define TILE 64

__global__ void blur(const float *in, const int *frozen, float *out, int n)
{
    __shared__ float row[TILE + 2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x + 1;

    row[t] = in[min(max(i, 0), n - 1)];
    if (threadIdx.x == 0)
        row[0] = in[max(i - 1, 0)];
    if (threadIdx.x == blockDim.x - 1)
        row[t + 1] = in[min(i + 1, n - 1)];
    __syncthreads();

    if (i >= 0 && i < n)
        out[i] = frozen[i] ? row[t] : 0.25f * row[t - 1] + 0.5f * row[t] + 0.25f * row[t + 1];
}
