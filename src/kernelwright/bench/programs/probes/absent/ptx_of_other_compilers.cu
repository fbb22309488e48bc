// PTX that our compiler did not make: the virtual GPU runs LLVM-IR.
#include <cuda.h>
const char *ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";
int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, 0, device);
  return cuModuleLoadData(&module, ptx) == CUDA_SUCCESS ? 0 : 1;
}
