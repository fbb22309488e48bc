// Texture fetches as ordinary loads through a kwTextureDescriptor (texture_types.h), by the rules of the CUDA
// programming guide, "Texture Fetching": point or linear filter (weights with 8 fractional bits), four address modes,
// coordinates in texels or normalised, integers as they are or as floats in [0, 1] and [-1, 1].
#pragma once
#pragma GCC system_header

// The descriptor does not change while a kernel runs, nor does what it points to: every load here is an __ldg.

// ---- texels ----

// A texel type: its channel type, how many, and the float type of the same shape.
template <class T> struct __kw_texel;
#define KW_TEXEL(type, channel_, n, real_) \
    template <> struct __kw_texel<type> {  \
        typedef channel_ channel;          \
        typedef real_ real;                \
        enum { channels = n };             \
    };
#define KW_TEXELS(element, vector)          \
    KW_TEXEL(element, element, 1, float)    \
    KW_TEXEL(vector##1, element, 1, float1) \
    KW_TEXEL(vector##2, element, 2, float2) \
    KW_TEXEL(vector##4, element, 4, float4)
KW_TEXEL(char, signed char, 1, float)
KW_TEXELS(signed char, char)
KW_TEXELS(unsigned char, uchar)
KW_TEXELS(short, short)
KW_TEXELS(unsigned short, ushort)
KW_TEXELS(int, int)
KW_TEXELS(unsigned int, uint)
KW_TEXELS(float, float)
#undef KW_TEXEL
#undef KW_TEXELS

// What a fetch computes with: a vector of as many floats as the texel has channels.
template <int n> struct __kw_floats { typedef float type __attribute__((ext_vector_type(n))); };

KW_DEVICE float __kw_normalized(unsigned char x) { return x / 255.0f; }
KW_DEVICE float __kw_normalized(unsigned short x) { return x / 65535.0f; }
KW_DEVICE float __kw_normalized(signed char x) { return fmaxf(x / 127.0f, -1.0f); }
KW_DEVICE float __kw_normalized(short x) { return fmaxf(x / 32767.0f, -1.0f); }

// Texel number `index` of a row, read as channels of type C and made floats by `convert`.
#define KW_READ_ROW(name, C, convert)                                                                \
    template <int n> KW_DEVICE typename __kw_floats<n>::type name(const char *row, int index) {      \
        typename __kw_floats<n>::type texel;                                                         \
        for (int c = 0; c < n; c++) texel[c] = convert(__ldg((const C *)row + (long)index * n + c)); \
        return texel;                                                                                \
    }
#define KW_HALF_BITS(bits) ((float)__builtin_bit_cast(_Float16, bits))
KW_READ_ROW(__kw_read_float, float, )
KW_READ_ROW(__kw_read_half, unsigned short, KW_HALF_BITS)
KW_READ_ROW(__kw_read_unorm8, unsigned char, __kw_normalized)
KW_READ_ROW(__kw_read_unorm16, unsigned short, __kw_normalized)
KW_READ_ROW(__kw_read_snorm8, signed char, __kw_normalized)
KW_READ_ROW(__kw_read_snorm16, short, __kw_normalized)
#undef KW_READ_ROW
#undef KW_HALF_BITS

// `stored` says at compile time that memory holds floats, as it does behind a texture<float...> in element mode.
template <int n, bool stored>
KW_DEVICE typename __kw_floats<n>::type __kw_read_as_floats(const kwTextureDescriptor *t, const char *row, int index) {
    if (stored) return __kw_read_float<n>(row, index);
    int kind = __nvvm_ldg_i(&t->channel_kind), bits = __nvvm_ldg_i(&t->channel_bits);
    if (kind == cudaChannelFormatKindFloat)
        return bits == 16 ? __kw_read_half<n>(row, index) : __kw_read_float<n>(row, index);
    if (kind == cudaChannelFormatKindUnsigned)
        return bits == 8 ? __kw_read_unorm8<n>(row, index) : __kw_read_unorm16<n>(row, index);
    return bits == 8 ? __kw_read_snorm8<n>(row, index) : __kw_read_snorm16<n>(row, index);
}

// ---- addresses ----

KW_DEVICE const kwTextureDescriptor *__kw_descriptor(cudaTextureObject_t object) {
    return (const kwTextureDescriptor *)object;
}

KW_DEVICE const char *__kw_texel_data(const kwTextureDescriptor *t) { return (const char *)__nvvm_ldg_ull(&t->data); }

// The texel that coordinate i names in a dimension of n texels, or -1 for the border.
KW_DEVICE int __kw_texel_index(const kwTextureDescriptor *t, int dimension, int i, int n) {
    int mode = __nvvm_ldg_i(&t->address_mode[dimension]);
    if (mode == cudaAddressModeBorder) return i >= 0 && i < n ? i : -1;
    if (mode == cudaAddressModeClamp || !__nvvm_ldg_i(&t->normalized_coords)) return max(0, min(i, n - 1));
    int period = mode == cudaAddressModeMirror ? 2 * n : n;
    int r = i % period;
    if (r < 0) r += period;
    return r < n ? r : period - 1 - r;
}

// The row that holds texels (?, y, z), or null for the border.
KW_DEVICE const char *__kw_texel_row(const kwTextureDescriptor *t, int y, int z) {
    if (y < 0 || z < 0) return 0;
    unsigned long long row = y * __nvvm_ldg_ull(&t->row_bytes), slice = z * __nvvm_ldg_ull(&t->slice_bytes);
    return __kw_texel_data(t) + row + slice;
}

// A coordinate in texels. Huge and undefined ones saturate, so that they still name a texel or the border.
KW_DEVICE float __kw_texel_coordinate(const kwTextureDescriptor *t, float x, unsigned int n) {
    return __nvvm_ldg_i(&t->normalized_coords) ? x * (float)n : x;
}

// The texel that a point filter takes.
KW_DEVICE int __kw_nearest(const kwTextureDescriptor *t, int dimension, float x, unsigned int n) {
    return __kw_texel_index(t, dimension, __float2int_rd(__kw_texel_coordinate(t, x, n)), n);
}

template <int n> KW_DEVICE typename __kw_floats<n>::type __kw_border(const kwTextureDescriptor *t) {
    typename __kw_floats<n>::type texel;
    for (int c = 0; c < n; c++) texel[c] = __nvvm_ldg_f(&t->border[c]);
    return texel;
}

// ---- filters: a texel coordinate for each of the first `dimensions` dimensions, 0 for the others; `layer`: of one or two dimensions ----

template <int n, bool stored>
KW_DEVICE typename __kw_floats<n>::type __kw_texel_floats(const kwTextureDescriptor *t, int x, int y, int z) {
    const char *row = __kw_texel_row(t, y, z);
    return row && x >= 0 ? __kw_read_as_floats<n, stored>(t, row, x) : __kw_border<n>(t);
}

// One dimension of a linear filter: the two texels, and the weight of the second.
struct __kw_neighbours {
    int i[2];
    float weight;
};
KW_DEVICE __kw_neighbours __kw_find_neighbours(const kwTextureDescriptor *t, int dimension, float x, unsigned int n) {
    float at = __kw_texel_coordinate(t, x, n) - 0.5f, whole = floorf(at);
    int i = min(__float2int_rz(whole), 0x7ffffffe);  // i + 1 must not overflow
    __kw_neighbours found = {{__kw_texel_index(t, dimension, i, n), __kw_texel_index(t, dimension, i + 1, n)},
                             rintf((at - whole) * 256.0f) / 256.0f};
    return found;
}

template <int dimensions, int n, bool stored>
KW_DEVICE typename __kw_floats<n>::type __kw_sample(const kwTextureDescriptor *t, float x, float y, float z, int layer) {
    typedef typename __kw_floats<n>::type floats;
    unsigned int width = __nvvm_ldg_ui(&t->width), height = __nvvm_ldg_ui(&t->height), depth = __nvvm_ldg_ui(&t->depth);
    if (__nvvm_ldg_i(&t->filter_mode) == cudaFilterModePoint) {
        int i = __kw_nearest(t, 0, x, width);
        int j = dimensions > 1 ? __kw_nearest(t, 1, y, height) : 0;
        int k = dimensions > 2 ? __kw_nearest(t, 2, z, depth) : layer;
        return __kw_texel_floats<n, stored>(t, i, j, k);
    }
    const __kw_neighbours none = {{0, 0}, 0.0f}, same = {{layer, 0}, 0.0f};
    __kw_neighbours ix = __kw_find_neighbours(t, 0, x, width);
    __kw_neighbours iy = dimensions > 1 ? __kw_find_neighbours(t, 1, y, height) : none;
    __kw_neighbours iz = dimensions > 2 ? __kw_find_neighbours(t, 2, z, depth) : same;
    floats slice[2];
    for (int c = 0; c < (dimensions > 2 ? 2 : 1); c++) {
        floats line[2];
        for (int b = 0; b < (dimensions > 1 ? 2 : 1); b++) {
            floats left = __kw_texel_floats<n, stored>(t, ix.i[0], iy.i[b], iz.i[c]);
            floats right = __kw_texel_floats<n, stored>(t, ix.i[1], iy.i[b], iz.i[c]);
            line[b] = left * (1.0f - ix.weight) + right * ix.weight;
        }
        slice[c] = dimensions > 1 ? line[0] * (1.0f - iy.weight) + line[1] * iy.weight : line[0];
    }
    return dimensions > 2 ? slice[0] * (1.0f - iz.weight) + slice[1] * iz.weight : slice[0];
}

// ---- fetches: as the texel type itself, or as floats of its shape ----

template <class T> KW_DEVICE T __kw_read_texel(const char *row, int index) {
    typedef typename __kw_texel<T>::channel channel;
    enum { n = __kw_texel<T>::channels };
    struct { channel c[n]; } texel;
    for (int c = 0; c < n; c++) texel.c[c] = __ldg((const channel *)row + (long)index * n + c);
    return __builtin_bit_cast(T, texel);
}

// Integers: never filtered, zero on the border.
template <class T, bool floats, bool stored> struct __kw_fetch {
    static __device__ __attribute__((always_inline, nodebug)) T linear(const kwTextureDescriptor *t, int x) {
        return x >= 0 && x < __nvvm_ldg_ui(&t->width) ? __kw_read_texel<T>(__kw_texel_data(t), x) : T();
    }
    template <int dimensions>
    static __device__ __attribute__((always_inline, nodebug)) T sample(const kwTextureDescriptor *t, float x, float y,
                                                                       float z, int layer = 0) {
        int i = __kw_nearest(t, 0, x, __nvvm_ldg_ui(&t->width));
        int j = dimensions > 1 ? __kw_nearest(t, 1, y, __nvvm_ldg_ui(&t->height)) : 0;
        int k = dimensions > 2 ? __kw_nearest(t, 2, z, __nvvm_ldg_ui(&t->depth)) : layer;
        const char *row = __kw_texel_row(t, j, k);
        return row && i >= 0 ? __kw_read_texel<T>(row, i) : T();
    }
};
template <class T, bool stored> struct __kw_fetch<T, true, stored> {
    enum { n = __kw_texel<T>::channels };
    static __device__ __attribute__((always_inline, nodebug)) T linear(const kwTextureDescriptor *t, int x) {
        if (x < 0 || x >= __nvvm_ldg_ui(&t->width)) return T();
        return __builtin_bit_cast(T, __kw_read_as_floats<n, stored>(t, __kw_texel_data(t), x));
    }
    template <int dimensions>
    static __device__ __attribute__((always_inline, nodebug)) T sample(const kwTextureDescriptor *t, float x, float y,
                                                                       float z, int layer = 0) {
        return __builtin_bit_cast(T, __kw_sample<dimensions, n, stored>(t, x, y, z, layer));
    }
};
template <class T> struct __kw_is_float_texel { enum { value = __is_same(typename __kw_texel<T>::channel, float) }; };
template <class T, bool stored> struct __kw_fetch_as : __kw_fetch<T, __kw_is_float_texel<T>::value, stored> {};

#ifndef KW_FETCHES_ALONE  // with NVIDIA's headers, theirs are the functions that programs call

// ---- texture objects ----

template <class T> KW_DEVICE T tex1Dfetch(cudaTextureObject_t object, int x) {
    return __kw_fetch_as<T, false>::linear(__kw_descriptor(object), x);
}
template <class T> KW_DEVICE T tex1D(cudaTextureObject_t object, float x) {
    return __kw_fetch_as<T, false>::template sample<1>(__kw_descriptor(object), x, 0, 0);
}
template <class T> KW_DEVICE T tex2D(cudaTextureObject_t object, float x, float y) {
    return __kw_fetch_as<T, false>::template sample<2>(__kw_descriptor(object), x, y, 0);
}
template <class T> KW_DEVICE T tex3D(cudaTextureObject_t object, float x, float y, float z) {
    return __kw_fetch_as<T, false>::template sample<3>(__kw_descriptor(object), x, y, z);
}
template <class T> KW_DEVICE void tex1Dfetch(T *result, cudaTextureObject_t object, int x) {
    *result = tex1Dfetch<T>(object, x);
}
template <class T> KW_DEVICE void tex1D(T *result, cudaTextureObject_t object, float x) {
    *result = tex1D<T>(object, x);
}
template <class T> KW_DEVICE void tex2D(T *result, cudaTextureObject_t object, float x, float y) {
    *result = tex2D<T>(object, x, y);
}
template <class T> KW_DEVICE void tex3D(T *result, cudaTextureObject_t object, float x, float y, float z) {
    *result = tex3D<T>(object, x, y, z);
}

// ---- texture references ----

template <class T, cudaTextureReadMode mode> struct __kw_fetched { typedef T type; };
template <class T> struct __kw_fetched<T, cudaReadModeNormalizedFloat> { typedef typename __kw_texel<T>::real type; };

// In device code the variable is the address of its descriptor, whatever its host type says.
template <class T, int d, cudaTextureReadMode m>
KW_DEVICE const kwTextureDescriptor *__kw_behind(const texture<T, d, m> &reference) {
    return __kw_descriptor(*(const cudaTextureObject_t *)&reference);
}

#define KW_REFERENCE_FETCH template <class T, cudaTextureReadMode m> KW_DEVICE typename __kw_fetched<T, m>::type
#define KW_FETCH_BEHIND(T, m) __kw_fetch_as<typename __kw_fetched<T, m>::type, m == cudaReadModeElementType>
KW_REFERENCE_FETCH tex1Dfetch(const texture<T, cudaTextureType1D, m> &reference, int x) {
    return KW_FETCH_BEHIND(T, m)::linear(__kw_behind(reference), x);
}
KW_REFERENCE_FETCH tex1D(const texture<T, cudaTextureType1D, m> &reference, float x) {
    return KW_FETCH_BEHIND(T, m)::template sample<1>(__kw_behind(reference), x, 0, 0);
}
KW_REFERENCE_FETCH tex2D(const texture<T, cudaTextureType2D, m> &reference, float x, float y) {
    return KW_FETCH_BEHIND(T, m)::template sample<2>(__kw_behind(reference), x, y, 0);
}
KW_REFERENCE_FETCH tex3D(const texture<T, cudaTextureType3D, m> &reference, float x, float y, float z) {
    return KW_FETCH_BEHIND(T, m)::template sample<3>(__kw_behind(reference), x, y, z);
}
#undef KW_FETCH_BEHIND
#undef KW_REFERENCE_FETCH

#endif
