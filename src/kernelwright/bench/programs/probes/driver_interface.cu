// Contexts, memory, copies and fills, streams and events by the driver's functions, on memory that the runtime's kernel works on.
#include <cuda.h>
#include <cstring>
__global__ void add(int *p, int n) { p[threadIdx.x] += n; }
int main() {
  CUdevice device;
  CUcontext made, current, popped;
  CUdeviceptr p;
  CUstream stream;
  CUevent begun, done;
  int h[64], major = 0, minor = 0, multiprocessors = 0;
  float ms = -1;
  char name[64];
  const char *error;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDeviceGetName(name, sizeof name, device)) return 2;
  cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  cuDeviceComputeCapability(&major, &minor, device);
  if (multiprocessors < 1 || major < 7) return 3;
  if (cuCtxCreate(&made, 0, device) || cuCtxGetCurrent(&current) || current != made) return 5;
  if (cuMemAlloc(&p, sizeof h) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) return 6;
  cuEventCreate(&begun, CU_EVENT_DEFAULT);
  cuEventCreate(&done, CU_EVENT_DEFAULT);
  cuMemsetD32(p, 1000, 32);
  cuMemsetD32(p + sizeof h / 2, 7, 32);
  cuCtxSynchronize();
  cuEventRecord(begun, stream);
  add<<<1, 64, 0, stream>>>((int *)p, 5);
  cuEventRecord(done, stream);
  cuMemcpyDtoHAsync(h, p, sizeof h, stream);
  if (cuStreamSynchronize(stream) || cuEventElapsedTime(&ms, begun, done)) return 7;
  if (h[0] != 1005 || h[31] != 1005 || h[32] != 12 || h[63] != 12 || ms < 0) return 8;
  if (cuGetErrorName(CUDA_ERROR_INVALID_HANDLE, &error) || strcmp(error, "CUDA_ERROR_INVALID_HANDLE")) return 9;
  cuEventDestroy(begun);
  cuEventDestroy(done);
  cuStreamDestroy(stream);
  cuMemFree(p);
  return cuCtxPopCurrent(&popped) || popped != made || cuCtxDestroy(made) ? 10 : 0;
}
