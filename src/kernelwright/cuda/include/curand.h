#error "the cuRAND host library is not part of Kernelwright: generate on the host with <random>, or on the device with <curand_kernel.h>"
