// __constant__ and __device__ variables, written and read by the host.
__constant__ float weights[4];
__device__ int seen;
__global__ void use(float *out) {
  out[threadIdx.x] = weights[threadIdx.x % 4] * 2;
  atomicAdd(&seen, 1);
}
int main() {
  float w[4] = {1, 2, 3, 4}, h[8], *out;
  int zero = 0, n = 0;
  cudaMemcpyToSymbol(weights, w, sizeof w);
  cudaMemcpyToSymbol(seen, &zero, sizeof zero);
  cudaMalloc(&out, sizeof h);
  use<<<1, 8>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&n, seen, sizeof n);
  return n == 8 && h[3] == 8 && h[4] == 2 ? 0 : 1;
}
