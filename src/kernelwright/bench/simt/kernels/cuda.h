/* The words of kernels.inc in CUDA. */
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define LOCAL __shared__
#define DEVICE static __device__
#define BARRIER __syncthreads()
#define TX ((int)threadIdx.x)
#define TY ((int)threadIdx.y)
#define BX ((int)blockIdx.x)
#define BY ((int)blockIdx.y)
#define WIDTH ((int)blockDim.x)
#define HEIGHT ((int)blockDim.y)
#define BLOCKS ((int)gridDim.x)
#define EXP expf
#define SET(place, value) atomicExch(place, value)
