// Fetches from arrays of layers, which no filter mixes, and from cube maps: CUDA programming guide, "Layered Textures",
// "Cubemap Textures". A cube map is an array of six layers, its faces.
#pragma once
#pragma GCC system_header

KW_DEVICE int __kw_layer(const kwTextureDescriptor *t, int layer) {
    return max(0, min(layer, (int)__nvvm_ldg_ui(&t->depth) - 1));
}

// Where a direction meets the cube: the face, and its coordinates there.
struct __kw_cube_place {
    int face;
    float s, t;
};
KW_DEVICE __kw_cube_place __kw_find_face(const kwTextureDescriptor *t, float x, float y, float z) {
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, s, r;
    int face;
    if (ax >= ay && ax >= az)
        face = x < 0, m = ax, s = x < 0 ? z : -z, r = -y;
    else if (ay >= az)
        face = 2 + (y < 0), m = ay, s = x, r = y < 0 ? -z : z;
    else
        face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, r = -y;
    float scale = __nvvm_ldg_i(&t->normalized_coords) ? 1.0f : (float)__nvvm_ldg_ui(&t->width);
    __kw_cube_place found = {face, (s / m + 1.0f) / 2.0f * scale, (r / m + 1.0f) / 2.0f * scale};
    return found;
}

template <class T, int dimensions>
KW_DEVICE T __kw_fetch_layer(cudaTextureObject_t object, float x, float y, int layer) {
    const kwTextureDescriptor *t = __kw_descriptor(object);
    return __kw_fetch_as<T, false>::template sample<dimensions>(t, x, y, 0, __kw_layer(t, layer));
}
template <class T> KW_DEVICE T __kw_fetch_cube(cudaTextureObject_t object, float x, float y, float z, int layer) {
    const kwTextureDescriptor *t = __kw_descriptor(object);
    __kw_cube_place at = __kw_find_face(t, x, y, z);
    int first = max(0, min(layer, (int)__nvvm_ldg_ui(&t->depth) / 6 - 1)) * 6;
    return __kw_fetch_as<T, false>::template sample<2>(t, at.s, at.t, 0, first + at.face);
}

#ifndef KW_FETCHES_ALONE

template <class T> KW_DEVICE T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
    return __kw_fetch_layer<T, 1>(object, x, 0, layer);
}
template <class T> KW_DEVICE T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
    return __kw_fetch_layer<T, 2>(object, x, y, layer);
}
template <class T> KW_DEVICE T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
    return __kw_fetch_cube<T>(object, x, y, z, layer);
}
template <class T> KW_DEVICE T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
    return texCubemapLayered<T>(object, x, y, z, 0);
}
template <class T> KW_DEVICE void tex1DLayered(T *result, cudaTextureObject_t object, float x, int layer) {
    *result = tex1DLayered<T>(object, x, layer);
}
template <class T> KW_DEVICE void tex2DLayered(T *result, cudaTextureObject_t object, float x, float y, int layer) {
    *result = tex2DLayered<T>(object, x, y, layer);
}
template <class T> KW_DEVICE void texCubemap(T *result, cudaTextureObject_t object, float x, float y, float z) {
    *result = texCubemap<T>(object, x, y, z);
}
template <class T>
KW_DEVICE void texCubemapLayered(T *result, cudaTextureObject_t object, float x, float y, float z, int layer) {
    *result = texCubemapLayered<T>(object, x, y, z, layer);
}

#endif
