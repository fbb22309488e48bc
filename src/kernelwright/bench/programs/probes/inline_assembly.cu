// PTX in the source: a special register, arithmetic with flags, a conversion, a byte permutation.
__global__ void by_hand(unsigned *out) {
  unsigned lane, low, high, bytes;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("{ add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0; }" : "=r"(low), "=r"(high) : "r"(0xffffffffu), "r"(2u));
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(bytes) : "r"(0x11223344u), "r"(0u));
  if (lane == 3) out[0] = low, out[1] = high, out[2] = bytes;
}
int main() {
  unsigned h[3], *p;
  cudaMalloc(&p, sizeof h);
  by_hand<<<1, 32>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[0] == 1 && h[1] == 1 && h[2] == 0x44332211u ? 0 : 1;
}
