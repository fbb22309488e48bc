// threadIdx, blockIdx, blockDim, gridDim and warpSize. Reading a component reads its special register.
#pragma once
#pragma GCC system_header

#define KW_BUILTIN_VARIABLE(name, reg)                                                                            \
    struct __kw_##name##_t {                                                                                      \
        __declspec(property(get = read_x)) unsigned int x;                                                        \
        __declspec(property(get = read_y)) unsigned int y;                                                        \
        __declspec(property(get = read_z)) unsigned int z;                                                        \
        KW_DEVICE unsigned int read_x() { return __nvvm_read_ptx_sreg_##reg##_x(); }                              \
        KW_DEVICE unsigned int read_y() { return __nvvm_read_ptx_sreg_##reg##_y(); }                              \
        KW_DEVICE unsigned int read_z() { return __nvvm_read_ptx_sreg_##reg##_z(); }                              \
        __device__ __attribute__((always_inline, nodebug)) operator dim3() const { return dim3(x, y, z); }        \
        __device__ __attribute__((always_inline, nodebug)) operator uint3() const { return make_uint3(x, y, z); } \
    };                                                                                                            \
    extern const __device__ __attribute__((weak)) __kw_##name##_t name;

KW_BUILTIN_VARIABLE(threadIdx, tid)
KW_BUILTIN_VARIABLE(blockIdx, ctaid)
KW_BUILTIN_VARIABLE(blockDim, ntid)
KW_BUILTIN_VARIABLE(gridDim, nctaid)
#undef KW_BUILTIN_VARIABLE

__attribute__((device)) const int warpSize = 32;
