// NVRTC: source to PTX while the program runs, loaded as a module, launched by a name that an expression asked for.
#include <cuda.h>
#include <nvrtc.h>
#include <vector>
const char *source = R"(
#include "twice.h"
__constant__ float factor;
template <typename T> __global__ void scale(T *p, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = twice(p[i]) * by * factor;
})";
int main() {
  const char *header = "template <typename T> __device__ T twice(T x) { return x + x; }", *called = "twice.h";
  const char *options[] = {"--gpu-architecture=compute_80", "--std=c++17"}, *name = nullptr;
  nvrtcProgram program;
  size_t size = 0;
  nvrtcCreateProgram(&program, source, "scale.cu", 1, &header, &called);
  nvrtcAddNameExpression(program, "scale<float>");
  if (nvrtcCompileProgram(program, 2, options) || nvrtcGetPTXSize(program, &size)) return 1;
  std::vector<char> ptx(size);
  if (nvrtcGetPTX(program, ptx.data()) || nvrtcGetLoweredName(program, "scale<float>", &name)) return 2;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr p, f;
  float h[100], by = 10, factor = 3;
  int n = 100;
  for (int i = 0; i < n; i++) h[i] = i;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, 0, device)) return 3;
  if (cuModuleLoadData(&module, ptx.data()) || cuModuleGetFunction(&kernel, module, name)) return 4;
  if (cuModuleGetGlobal(&f, &size, module, "factor") || size != sizeof factor) return 5;
  cuMemcpyHtoD(f, &factor, sizeof factor);
  cuMemAlloc(&p, sizeof h);
  cuMemcpyHtoD(p, h, sizeof h);
  void *arguments[] = {&p, &by, &n};
  if (cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)) return 6;
  cuMemcpyDtoH(h, p, sizeof h);
  for (int i = 0; i < n; i++)
    if (h[i] != i * 60.f) return 7;
  nvrtcDestroyProgram(&program);
  return cuModuleUnload(module) || cuMemFree(p) || cuCtxDestroy(context) ? 8 : 0;
}
