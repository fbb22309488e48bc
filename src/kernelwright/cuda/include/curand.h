// cuRAND's host library is another library than the runtime. curand_kernel.h, for device code, is ours.
#error "the cuRAND host library is not part of Kernelwright: use <random> on the host, <curand_kernel.h> on the device"
