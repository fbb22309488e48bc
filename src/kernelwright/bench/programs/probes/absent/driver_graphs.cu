// Graphs by the driver's functions; the runtime has them.
#include <cuda.h>
int main() {
  CUgraph graph;
  return cuGraphCreate(&graph, 0) == CUDA_SUCCESS ? 0 : 1;
}
__global__ void none() {}
