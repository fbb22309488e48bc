// CUDA's own math functions for host code. nvcc offers them there too; these are what the C library can express.
// erfinv, erfcinv, erfcx, normcdfinv and the modified Bessel functions exist on the device only.
//
// Newer C libraries declare some of them (rsqrt, sinpi, cospi), but a program may run on an older one that lacks them.
// So ours are inline definitions of the same C functions, which agree with any declaration before.
#pragma once
#pragma GCC system_header

#define KW_HOST_C extern "C" __inline__ __attribute__((host))
#define KW_HOST_1(name, value)                                                   \
    KW_HOST_C double name(double x) noexcept { return value; }                   \
    KW_HOST_C float name##f(float x) noexcept { return (float)name((double)x); } \
    KW_HOST float name(float x) { return name##f(x); }
KW_HOST_1(rsqrt, 1.0 / ::sqrt(x))
KW_HOST_1(rcbrt, 1.0 / ::cbrt(x))
KW_HOST_1(normcdf, 0.5 * ::erfc(-x * 0.70710678118654752))
// x is reduced first, so that multiples of a half are exact: x - 2 round(x / 2) lies in [-1, 1].
KW_HOST_1(sinpi, ::sin(3.1415926535897931 * (::fabs(x = ::remainder(x, 2.0)) <= 0.5 ? x : ::copysign(1.0, x) - x)))
KW_HOST_1(cospi, (x = ::fabs(::remainder(x, 2.0))) <= 0.25 ? ::cos(3.1415926535897931 * x)
                                                           : ::sin(3.1415926535897931 * (0.5 - x)))
#undef KW_HOST_1

KW_HOST_C void sincospi(double x, double *sine, double *cosine) noexcept { *sine = sinpi(x); *cosine = cospi(x); }
KW_HOST_C void sincospif(float x, float *sine, float *cosine) noexcept { *sine = sinpif(x); *cosine = cospif(x); }

#define KW_HOST_N(name, operands, operands_f, values, value)  \
    KW_HOST_C double name operands noexcept { return value; } \
    KW_HOST_C float name##f operands_f noexcept { return (float)name values; }
KW_HOST_N(rhypot, (double x, double y), (float x, float y), ((double)x, (double)y), 1.0 / ::hypot(x, y))
KW_HOST_N(norm3d, (double x, double y, double z), (float x, float y, float z), ((double)x, (double)y, (double)z),
          ::hypot(::hypot(x, y), z))
KW_HOST_N(rnorm3d, (double x, double y, double z), (float x, float y, float z), ((double)x, (double)y, (double)z),
          1.0 / norm3d(x, y, z))
KW_HOST_N(norm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
          ((double)x, (double)y, (double)z, (double)w), ::hypot(::hypot(x, y), ::hypot(z, w)))
KW_HOST_N(rnorm4d, (double x, double y, double z, double w), (float x, float y, float z, float w),
          ((double)x, (double)y, (double)z, (double)w), 1.0 / norm4d(x, y, z, w))
#undef KW_HOST_N
KW_HOST_C float fdividef(float x, float y) noexcept { return x / y; }
#undef KW_HOST_C
