/* The words of kernels.inc in OpenCL C. */
#define KERNEL __kernel void
#define GLOBAL __global
#define LOCAL __local
#define DEVICE static
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define TX ((int)get_local_id(0))
#define TY ((int)get_local_id(1))
#define BX ((int)get_group_id(0))
#define BY ((int)get_group_id(1))
#define WIDTH ((int)get_local_size(0))
#define HEIGHT ((int)get_local_size(1))
#define BLOCKS ((int)get_num_groups(0))
#define EXP exp
#define SET(place, value) atomic_xchg(place, value)
