// Writes every result several times: all passes over the row but the first are in vain, and no compiler may know that the
// two rows do not overlap. Few passes at most: inputs with a million each are tried by the tests of the prover.
__global__ void again(const float *in, float *out, int n, int passes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes && pass < 64; pass++) {
        if (i >= n)
            break;
        out[i] = in[i] * 3.0f + 1.0f;
    }
}
