// The program's own memory, registered: kernels and the program use it in place, and it stays what it is after that.
#include <cstdlib>
__global__ void twice(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
int main() {
  const int n = 5000;
  int *all = (int *)malloc((n + 7) * sizeof(int)), *p = all + 3, *d, *none, wrong = 0;
  for (int i = 0; i < n + 7; i++) all[i] = i;
  cudaHostRegister(p, n * sizeof(int), cudaHostRegisterMapped);
  cudaHostGetDevicePointer(&d, p, 0);
  twice<<<(n + 255) / 256, 256>>>(d, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n + 7; i++) wrong += all[i] != (i < 3 || i >= n + 3 ? i : 2 * i);
  p[7] = 100;
  cudaPointerAttributes known;
  cudaPointerGetAttributes(&known, p + 1);
  wrong += known.type != cudaMemoryTypeHost || known.devicePointer != d + 1 || known.hostPointer != p + 1;
  twice<<<1, 8>>>(d, 8);  // whose result is there when the memory is unregistered
  cudaHostUnregister(p);
  wrong += p[7] != 200 || p[6] != 4 * 9 || p[8] != 2 * 11;
  wrong += cudaHostGetDevicePointer(&none, p, 0) != cudaErrorInvalidValue;
  cudaHostRegister(p, 64, cudaHostRegisterDefault);
  cudaHostGetDevicePointer(&d, p, 0);
  cudaDeviceReset();
  wrong += p[7] != 200;
  cudaHostUnregister(p);
  free(all);
  int local[4] = {1, 2, 3, 4};
  cudaHostRegister(local, sizeof local, cudaHostRegisterMapped);
  cudaHostUnregister(local);
  wrong += local[3] != 4;
  return wrong ? 1 : 0;
}
