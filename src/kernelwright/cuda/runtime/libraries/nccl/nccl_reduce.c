/* The arithmetic of reductions. Half precision and bfloat16 are computed in float and rounded once. */
#include "nccl_comm.h"

#include <string.h>

/* ---- 16 bits ---- */

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00)
        return from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x400) { /* a subnormal is a whole number of 2^-24 */
        float value = (float)magnitude * 0x1p-24f;
        return sign ? -value : value;
    }
    return from_bits(sign | ((magnitude << 13) + (112u << 23)));
}

static uint16_t float_to_half(float value)
{
    uint32_t bits = to_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff; /* a GPU's NaN */
    if (magnitude >= 0x47800000)
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) /* the sum's last bit is worth 2^-24: it rounds as it should */
        return (uint16_t)(sign | (to_bits(from_bits(magnitude) + 0.5f) - to_bits(0.5f)));
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (magnitude - (112u << 23)) >> 13);
}

static float bfloat16_to_float(uint16_t value)
{
    return from_bits((uint32_t)value << 16);
}

static uint16_t float_to_bfloat16(float value)
{
    uint32_t bits = to_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- element by element ---- */

#define EACH(expression)                 \
    do {                                 \
        for (size_t i = 0; i < n; i++)   \
            a[i] = (expression);         \
    } while (0)

/* Integers wrap around, in the unsigned type U of their size. */
#define INTEGER(T, U)                                                              \
    static void combine_##T(uint32_t op, T *a, const T *b, size_t n)               \
    {                                                                              \
        switch (op) {                                                              \
        case ncclProd: EACH((T)((uint64_t)(U)a[i] * (U)b[i])); break;              \
        case ncclMax: EACH(a[i] < b[i] ? b[i] : a[i]); break;                      \
        case ncclMin: EACH(b[i] < a[i] ? b[i] : a[i]); break;                      \
        default: EACH((T)((U)a[i] + (U)b[i])); break;                              \
        }                                                                          \
    }                                                                              \
    static void divide_##T(T *a, size_t ranks, size_t n) { EACH((T)(a[i] / (T)ranks)); } \
    static void scale_##T(T *a, const char *scalar, size_t n)                      \
    {                                                                              \
        T by;                                                                      \
        memcpy(&by, scalar, sizeof by);                                            \
        EACH((T)((uint64_t)(U)a[i] * (U)by));                                      \
    }

/* Of a NaN and a number, the greater and the smaller are the number, as fmax and fmin of CUDA have it. */
#define REAL(T)                                                                    \
    static void combine_##T(uint32_t op, T *a, const T *b, size_t n)               \
    {                                                                              \
        switch (op) {                                                              \
        case ncclProd: EACH(a[i] * b[i]); break;                                   \
        case ncclMax: EACH(b[i] > a[i] || a[i] != a[i] ? b[i] : a[i]); break;      \
        case ncclMin: EACH(b[i] < a[i] || a[i] != a[i] ? b[i] : a[i]); break;      \
        default: EACH(a[i] + b[i]); break;                                         \
        }                                                                          \
    }                                                                              \
    static void divide_##T(T *a, size_t ranks, size_t n) { EACH(a[i] / (T)ranks); } \
    static void scale_##T(T *a, const char *scalar, size_t n)                      \
    {                                                                              \
        T by;                                                                      \
        memcpy(&by, scalar, sizeof by);                                            \
        EACH(a[i] * by);                                                           \
    }

INTEGER(int8_t, uint8_t)
INTEGER(uint8_t, uint8_t)
INTEGER(int32_t, uint32_t)
INTEGER(uint32_t, uint32_t)
INTEGER(int64_t, uint64_t)
INTEGER(uint64_t, uint64_t)
REAL(float)
REAL(double)

/* ---- vectors of all ranks ---- */

#define VECTORS(T)                                                                 \
    do {                                                                           \
        for (size_t r = 1; r <= others; r++)                                       \
            combine_##T(op, (T *)to, (const T *)(to + r * stride), count);         \
        if (op == ncclAvg)                                                         \
            divide_##T((T *)to, others + 1, count);                                \
    } while (0)

enum { BLOCK = 512 };

static void combine_16(float (*widen)(uint16_t), uint16_t (*narrow)(float), uint32_t op, char *to, size_t stride,
                       size_t others, size_t count)
{
    float sum[BLOCK], more[BLOCK];
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? count - at : BLOCK;
        uint16_t *first = (uint16_t *)to + at;
        for (size_t i = 0; i < n; i++)
            sum[i] = widen(first[i]);
        for (size_t r = 1; r <= others; r++) {
            const uint16_t *from = (const uint16_t *)(to + r * stride) + at;
            for (size_t i = 0; i < n; i++)
                more[i] = widen(from[i]);
            combine_float(op, sum, more, n);
        }
        if (op == ncclAvg)
            divide_float(sum, others + 1, n);
        for (size_t i = 0; i < n; i++)
            first[i] = narrow(sum[i]);
    }
}

void kw_nccl_combine(uint32_t type, uint32_t op, char *to, size_t stride, size_t others, size_t count)
{
    switch (type) {
    case ncclInt8: VECTORS(int8_t); break;
    case ncclUint8: VECTORS(uint8_t); break;
    case ncclInt32: VECTORS(int32_t); break;
    case ncclUint32: VECTORS(uint32_t); break;
    case ncclInt64: VECTORS(int64_t); break;
    case ncclUint64: VECTORS(uint64_t); break;
    case ncclFloat32: VECTORS(float); break;
    case ncclFloat64: VECTORS(double); break;
    case ncclFloat16: combine_16(half_to_float, float_to_half, op, to, stride, others, count); break;
    case ncclBfloat16: combine_16(bfloat16_to_float, float_to_bfloat16, op, to, stride, others, count); break;
    }
}

static void scale_16(float (*widen)(uint16_t), uint16_t (*narrow)(float), char *to, const char *scalar, size_t count)
{
    uint16_t by, *a = (uint16_t *)to;
    memcpy(&by, scalar, sizeof by);
    for (size_t i = 0; i < count; i++)
        a[i] = narrow(widen(a[i]) * widen(by));
}

void kw_nccl_scale(uint32_t type, char *to, const char *scalar, size_t count)
{
    switch (type) {
    case ncclInt8: scale_int8_t((int8_t *)to, scalar, count); break;
    case ncclUint8: scale_uint8_t((uint8_t *)to, scalar, count); break;
    case ncclInt32: scale_int32_t((int32_t *)to, scalar, count); break;
    case ncclUint32: scale_uint32_t((uint32_t *)to, scalar, count); break;
    case ncclInt64: scale_int64_t((int64_t *)to, scalar, count); break;
    case ncclUint64: scale_uint64_t((uint64_t *)to, scalar, count); break;
    case ncclFloat32: scale_float((float *)to, scalar, count); break;
    case ncclFloat64: scale_double((double *)to, scalar, count); break;
    case ncclFloat16: scale_16(half_to_float, float_to_half, to, scalar, count); break;
    case ncclBfloat16: scale_16(bfloat16_to_float, float_to_bfloat16, to, scalar, count); break;
    }
}
