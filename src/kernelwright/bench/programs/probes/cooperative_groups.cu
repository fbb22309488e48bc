// Groups of a block, tiles of a warp, and a reduction over one.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sums(int *out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int sum = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
  block.sync();
  if (tile.thread_rank() == 0) out[block.thread_rank() / 16] = sum;
}
int main() {
  int h[4], *p;
  cudaMalloc(&p, sizeof h);
  sums<<<1, 64>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 120 && h[3] == 120 + 16 * 48 ? 0 : 1;
}
