// Conversions between numbers with a chosen rounding, and between numbers and their bits.
#pragma once
#pragma GCC system_header

#define KW_CONVERT(to, from, name)                                     \
    KW_DEVICE to __##name##_rn(from x) { return __nv_##name##_rn(x); } \
    KW_DEVICE to __##name##_rz(from x) { return __nv_##name##_rz(x); } \
    KW_DEVICE to __##name##_ru(from x) { return __nv_##name##_ru(x); } \
    KW_DEVICE to __##name##_rd(from x) { return __nv_##name##_rd(x); }
KW_CONVERT(float, double, double2float)
KW_CONVERT(int, double, double2int)
KW_CONVERT(unsigned int, double, double2uint)
KW_CONVERT(long long, double, double2ll)
KW_CONVERT(unsigned long long, double, double2ull)
KW_CONVERT(int, float, float2int)
KW_CONVERT(unsigned int, float, float2uint)
KW_CONVERT(long long, float, float2ll)
KW_CONVERT(unsigned long long, float, float2ull)
KW_CONVERT(float, int, int2float)
KW_CONVERT(float, unsigned int, uint2float)
KW_CONVERT(float, long long, ll2float)
KW_CONVERT(float, unsigned long long, ull2float)
KW_CONVERT(double, long long, ll2double)
KW_CONVERT(double, unsigned long long, ull2double)
#undef KW_CONVERT
KW_DEVICE double __int2double_rn(int x) { return __nv_int2double_rn(x); }
KW_DEVICE double __uint2double_rn(unsigned int x) { return __nv_uint2double_rn(x); }

KW_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KW_DEVICE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
KW_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KW_DEVICE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
KW_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KW_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KW_DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KW_DEVICE int __double2loint(double x) { return (int)__double_as_longlong(x); }
KW_DEVICE double __hiloint2double(int high, int low) {
    return __builtin_bit_cast(double, (unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}
