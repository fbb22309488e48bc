// In the place of clang's header of this name: what NVIDIA's texture functions call. Theirs becomes an instruction of the
// texture unit; a texture object of our runtime is the address of a descriptor, and a fetch is ordinary loads.
#pragma once
#pragma GCC system_header

#include <__clang_cuda_intrinsics.h>  // __ldg

#include "../../qualifiers.h"
#include "../../texture_descriptor.h"
#define KW_FETCHES_ALONE
#include "../../texture_fetch.h"

// Layers, cubes, mipmaps, gathers and surfaces: no object of our runtime has them.
extern "C" __device__ void __kw_layered_cubic_mipmapped_or_surface_access();

// NVIDIA's headers name the function by a text, "__itex2D", which is a constant wherever one of them is inlined.
#define KW_NAMED(digit, next) (name[6] == digit && name[7] == 'D' && name[8] == next)
template <class T> KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, int x) {
    if (KW_NAMED('1', 'f'))
        *result = __kw_fetch_as<T, false>::linear(__kw_descriptor(object), x);
    else
        __kw_layered_cubic_mipmapped_or_surface_access();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x) {
    if (KW_NAMED('1', 0))
        *result = __kw_fetch_as<T, false>::template sample<1>(__kw_descriptor(object), x, 0, 0);
    else
        __kw_layered_cubic_mipmapped_or_surface_access();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y) {
    if (KW_NAMED('2', 0))
        *result = __kw_fetch_as<T, false>::template sample<2>(__kw_descriptor(object), x, y, 0);
    else
        __kw_layered_cubic_mipmapped_or_surface_access();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y, float z) {
    if (KW_NAMED('3', 0))
        *result = __kw_fetch_as<T, false>::template sample<3>(__kw_descriptor(object), x, y, z);
    else
        __kw_layered_cubic_mipmapped_or_surface_access();
}
template <class... Any> KW_DEVICE void __nv_tex_surf_handler(const char *, Any...) {
    __kw_layered_cubic_mipmapped_or_surface_access();
}
#undef KW_NAMED
