// What a program asks before it launches.
__global__ void kernel(int *p) { p[threadIdx.x] = 1; }
int main() {
  int count = 0, blocks = 0, best = 0, least = 0, value = 0;
  cudaDeviceProp of;
  cudaFuncAttributes attributes;
  cudaGetDeviceCount(&count);
  cudaGetDeviceProperties(&of, 0);
  cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0);
  cudaOccupancyMaxPotentialBlockSize(&least, &best, kernel, 0, 0);
  cudaFuncGetAttributes(&attributes, kernel);
  bool right = count >= 1 && of.warpSize == 32 && value == of.multiProcessorCount && blocks > 0 && best >= 256;
  return right && attributes.numRegs > 0 && attributes.maxThreadsPerBlock >= 256 ? 0 : 1;
}
