// Modules and launches by the driver's functions.
#include <cuda.h>
int main() {
  CUdevice device;
  CUcontext context;
  cuInit(0);
  cuDeviceGet(&device, 0);
  return cuCtxCreate(&context, 0, device) == CUDA_SUCCESS ? 0 : 1;
}
__global__ void none() {}
