// Surfaces: ordinary loads and stores through the descriptor of an array, x in bytes, by the CUDA programming guide,
// "Surface Functions". What lies outside is zero, the nearest that lies inside, or the end of the kernel.
#pragma once
#pragma GCC system_header

// Where `bytes` bytes lie, or null where a read is zero and a write does nothing.
template <int bytes>
KW_DEVICE char *__kw_surface_place(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    static_assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16,
                  "what a surface holds is 1, 2, 4, 8 or 16 bytes large");
    const kwTextureDescriptor *t = __kw_descriptor(object);
    int texel = __nvvm_ldg_i(&t->channels) * __nvvm_ldg_i(&t->channel_bits) / 8;
    int row = (int)__nvvm_ldg_ui(&t->width) * texel;
    int rows = max((int)__nvvm_ldg_ui(&t->height), 1), slices = max((int)__nvvm_ldg_ui(&t->depth), 1);
    if (x < 0 || x > row - bytes || y < 0 || y >= rows || z < 0 || z >= slices) {
        if (mode == cudaBoundaryModeTrap) __trap();
        if (mode == cudaBoundaryModeZero) return 0;
        x = max(0, min(x, row - bytes)), y = max(0, min(y, rows - 1)), z = max(0, min(z, slices - 1));
    }
    return (char *)__nvvm_ldg_ull(&t->data) + z * __nvvm_ldg_ull(&t->slice_bytes) + y * __nvvm_ldg_ull(&t->row_bytes) + x;
}

template <class T>
KW_DEVICE T __kw_surface_read(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    const char *place = __kw_surface_place<sizeof(T)>(object, x, y, z, mode);
    return place ? *(const T *)place : T();
}
template <class T>
KW_DEVICE void __kw_surface_write(T data, cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    char *place = __kw_surface_place<sizeof(T)>(object, x, y, z, mode);
    if (place) *(T *)place = data;
}

#ifndef KW_FETCHES_ALONE

#define KW_SURFACE(name, y, z, ...)                                                                                     \
    template <class T>                                                                                                 \
    KW_DEVICE T name##read(cudaSurfaceObject_t object, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        return __kw_surface_read<T>(object, x, y, z, mode);                                                             \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    KW_DEVICE void name##read(T *data, cudaSurfaceObject_t object, __VA_ARGS__,                                         \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                   \
        *data = __kw_surface_read<T>(object, x, y, z, mode);                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    KW_DEVICE void name##write(T data, cudaSurfaceObject_t object, __VA_ARGS__,                                         \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                  \
        __kw_surface_write(data, object, x, y, z, mode);                                                                \
    }
KW_SURFACE(surf1D, 0, 0, int x)
KW_SURFACE(surf2D, y, 0, int x, int y)
KW_SURFACE(surf3D, y, z, int x, int y, int z)
KW_SURFACE(surf1DLayered, 0, layer, int x, int layer)
KW_SURFACE(surf2DLayered, y, layer, int x, int y, int layer)
KW_SURFACE(surfCubemap, y, face, int x, int y, int face)
KW_SURFACE(surfCubemapLayered, y, face, int x, int y, int face)
#undef KW_SURFACE

#endif
