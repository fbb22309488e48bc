// Section 3.6: a 64-bit division whose operands usually fit in 32 bits.
__global__ void quotient(long *out, long a, long b) { out[threadIdx.x] = a / b; }
