// In the place of clang's header of this name: what NVIDIA's texture and surface functions call. Theirs becomes an
// instruction of the texture unit; a texture object of our runtime is the address of a descriptor, and a fetch is ordinary
// loads.
#pragma once
#pragma GCC system_header

#include <__clang_cuda_intrinsics.h>  // __ldg

#include "../../qualifiers.h"
#include "../../texture_descriptor.h"
#define KW_FETCHES_ALONE
#include "../../texture_fetch.h"
#include "../../texture_layers.h"
#include "../../surface_access.h"

// Mipmaps, gathers and sparse textures: no object of our runtime has them.
extern "C" __device__ void __kw_mipmapped_gathered_or_sparse_texture();

// NVIDIA's headers name the function by a text, "__itex2D" or "__isurf2Dwrite_v2", which is a constant wherever one of them
// is inlined. Their parameters tell most of them apart, and a few characters the rest.

// ---- textures: "__itex" and what follows from here on ----

#define KW_IS(at, character) (name[6 + at] == character)
template <class T> KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, int x) {
    if (KW_IS(0, '1') && KW_IS(2, 'f'))  // 1Dfetch
        *result = __kw_fetch_as<T, false>::linear(__kw_descriptor(object), x);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x) {
    if (KW_IS(0, '1') && KW_IS(2, 0))
        *result = __kw_fetch_as<T, false>::template sample<1>(__kw_descriptor(object), x, 0, 0);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y) {
    if (KW_IS(0, '2') && KW_IS(2, 0))  // not 1DLod
        *result = __kw_fetch_as<T, false>::template sample<2>(__kw_descriptor(object), x, y, 0);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y, float z) {
    if (KW_IS(0, '3') && KW_IS(2, 0))  // not 2DLod
        *result = __kw_fetch_as<T, false>::template sample<3>(__kw_descriptor(object), x, y, z);
    else if (KW_IS(0, 'C') && KW_IS(7, 0))  // Cubemap
        *result = __kw_fetch_cube<T>(object, x, y, z, 0);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, int layer) {
    if (KW_IS(0, '1') && KW_IS(2, 'L') && KW_IS(9, 0))  // 1DLayered
        *result = __kw_fetch_layer<T, 1>(object, x, 0, layer);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y, int layer) {
    if (KW_IS(0, '2') && KW_IS(2, 'L') && KW_IS(9, 0))  // 2DLayered, not 2Dgather
        *result = __kw_fetch_layer<T, 2>(object, x, y, layer);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *result, cudaTextureObject_t object, float x, float y, float z, int layer) {
    if (KW_IS(0, 'C') && KW_IS(7, 'L') && KW_IS(14, 0))  // CubemapLayered
        *result = __kw_fetch_cube<T>(object, x, y, z, layer);
    else
        __kw_mipmapped_gathered_or_sparse_texture();
}
#undef KW_IS

// ---- surfaces: "__isurf", what the surface is, and "read" or "write_v2" ----

KW_DEVICE bool __kw_reads_surface(const char *name) {
    const char *verb = name + 7 + (name[7] == 'C' ? 7 : 2);  // behind Cubemap, or 1D, 2D, 3D
    return verb[verb[0] == 'L' ? 7 : 0] == 'r';              // behind Layered
}
template <class T>
KW_DEVICE void __kw_access_surface(const char *name, T *data, cudaSurfaceObject_t object, int x, int y, int z,
                                   cudaSurfaceBoundaryMode mode) {
    if (__kw_reads_surface(name))
        *data = __kw_surface_read<T>(object, x, y, z, mode);
    else
        __kw_surface_write(*data, object, x, y, z, mode);
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *data, cudaSurfaceObject_t object, int x, cudaSurfaceBoundaryMode mode) {
    __kw_access_surface(name, data, object, x, 0, 0, mode);
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *data, cudaSurfaceObject_t object, int x, int y, cudaSurfaceBoundaryMode mode) {
    bool is_layered = name[7] == '1';  // 1DLayered, 2D
    __kw_access_surface(name, data, object, x, is_layered ? 0 : y, is_layered ? y : 0, mode);
}
template <class T>
KW_DEVICE void __nv_tex_surf_handler(const char *name, T *data, cudaSurfaceObject_t object, int x, int y, int z,
                                     cudaSurfaceBoundaryMode mode) {
    __kw_access_surface(name, data, object, x, y, z, mode);
}

template <class... Any> KW_DEVICE void __nv_tex_surf_handler(const char *, Any...) {
    __kw_mipmapped_gathered_or_sparse_texture();
}
