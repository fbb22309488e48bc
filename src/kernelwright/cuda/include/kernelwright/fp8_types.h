// One format of eight bits as types, with the names that KW_FP8, KW_FP8X2, KW_FP8X4 and KW_FP8_FORMAT are. Part of cuda_fp8.h, which
// takes it in once for each format.
#pragma GCC system_header

#define KW_FROM(type, how) \
    explicit KW_NARROW_METHOD KW_FP8(const type value) : __x(how(value, __NV_SATFINITE, KW_FP8_FORMAT)) {}
// Beyond 2^16 every integer stops at the largest number, and up to there a float holds it exactly.
#define KW_FROM_INTEGER(type) explicit KW_NARROW_METHOD KW_FP8(const type value) : KW_FP8((float)value) {}
#define KW_TO_INTEGER(type) \
    explicit KW_NARROW_METHOD operator type() const { return __kw_fp8_to_integer<type>((float)*this); }

struct KW_FP8 {
    __nv_fp8_storage_t __x;

    KW_FP8() = default;
    KW_FROM(float, __nv_cvt_float_to_fp8)
    KW_FROM(double, __nv_cvt_double_to_fp8)
    KW_FROM(__half, __nv_cvt_halfraw_to_fp8)
    KW_FROM(__nv_bfloat16, __nv_cvt_bfloat16raw_to_fp8)
    KW_FROM_INTEGER(short)
    KW_FROM_INTEGER(int)
    KW_FROM_INTEGER(long)
    KW_FROM_INTEGER(long long)
    KW_FROM_INTEGER(unsigned short)
    KW_FROM_INTEGER(unsigned int)
    KW_FROM_INTEGER(unsigned long)
    KW_FROM_INTEGER(unsigned long long)

    explicit KW_NARROW_METHOD operator float() const { return __kw_fp8_to_float(__x, KW_FP8_FORMAT); }
    explicit KW_NARROW_METHOD operator double() const { return (double)(float)*this; }
    explicit KW_NARROW_METHOD operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, KW_FP8_FORMAT)); }
    explicit KW_NARROW_METHOD operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }
    explicit KW_NARROW_METHOD operator bool() const { return (__x & 0x7f) != 0; }
    KW_TO_INTEGER(char)
    KW_TO_INTEGER(signed char)
    KW_TO_INTEGER(short)
    KW_TO_INTEGER(int)
    KW_TO_INTEGER(long)
    KW_TO_INTEGER(long long)
    KW_TO_INTEGER(unsigned char)
    KW_TO_INTEGER(unsigned short)
    KW_TO_INTEGER(unsigned int)
    KW_TO_INTEGER(unsigned long)
    KW_TO_INTEGER(unsigned long long)
};

struct __attribute__((aligned(2))) KW_FP8X2 {
    __nv_fp8x2_storage_t __x;

    KW_FP8X2() = default;
    explicit KW_NARROW_METHOD KW_FP8X2(const float2 value)
        : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, KW_FP8_FORMAT)) {}
    explicit KW_NARROW_METHOD KW_FP8X2(const double2 value)
        : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, KW_FP8_FORMAT)) {}
    explicit KW_NARROW_METHOD KW_FP8X2(const __half2 value)
        : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, KW_FP8_FORMAT)) {}
    explicit KW_NARROW_METHOD KW_FP8X2(const __nv_bfloat162 value)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(value, __NV_SATFINITE, KW_FP8_FORMAT)) {}

    explicit KW_NARROW_METHOD operator __half2() const {
        return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, KW_FP8_FORMAT));
    }
    explicit KW_NARROW_METHOD operator float2() const {
        return make_float2(__kw_fp8_to_float((__nv_fp8_storage_t)(__x & 0xff), KW_FP8_FORMAT),
                           __kw_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), KW_FP8_FORMAT));
    }
};

struct __attribute__((aligned(4))) KW_FP8X4 {
    __nv_fp8x4_storage_t __x;

    KW_FP8X4() = default;
    explicit KW_NARROW_METHOD KW_FP8X4(const float4 v)
        : KW_FP8X4(KW_FP8X2(make_float2(v.x, v.y)), KW_FP8X2(make_float2(v.z, v.w))) {}
    explicit KW_NARROW_METHOD KW_FP8X4(const double4 v)
        : KW_FP8X4(KW_FP8X2(make_double2(v.x, v.y)), KW_FP8X2(make_double2(v.z, v.w))) {}
    explicit KW_NARROW_METHOD KW_FP8X4(const __half2 low, const __half2 high)
        : KW_FP8X4(KW_FP8X2(low), KW_FP8X2(high)) {}
    explicit KW_NARROW_METHOD KW_FP8X4(const __nv_bfloat162 low, const __nv_bfloat162 high)
        : KW_FP8X4(KW_FP8X2(low), KW_FP8X2(high)) {}

    explicit KW_NARROW_METHOD operator float4() const {
        return make_float4(part(0), part(8), part(16), part(24));
    }

 private:
    KW_NARROW_METHOD KW_FP8X4(const KW_FP8X2 low, const KW_FP8X2 high)
        : __x((__nv_fp8x4_storage_t)low.__x | (__nv_fp8x4_storage_t)high.__x << 16) {}
    KW_NARROW_METHOD float part(int shift) const {
        return __kw_fp8_to_float((__nv_fp8_storage_t)(__x >> shift & 0xff), KW_FP8_FORMAT);
    }
};

#undef KW_FROM
#undef KW_FROM_INTEGER
#undef KW_TO_INTEGER
#undef KW_FP8
#undef KW_FP8X2
#undef KW_FP8X4
#undef KW_FP8_FORMAT
