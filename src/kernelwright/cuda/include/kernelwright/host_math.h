// CUDA's own math functions for host code. nvcc offers them there too; these are what the C library can express.
// erfinv, erfcinv, erfcx, normcdfinv and the modified Bessel functions exist on the device only.
#pragma once
#pragma GCC system_header

#define KW_HOST_1(name, value)                               \
    KW_HOST double name(double x) { return value; }          \
    KW_HOST float name##f(float x) { return (float)name((double)x); } \
    KW_HOST float name(float x) { return name##f(x); }
KW_HOST_1(rsqrt, 1.0 / ::sqrt(x))
KW_HOST_1(rcbrt, 1.0 / ::cbrt(x))
KW_HOST_1(normcdf, 0.5 * ::erfc(-x * 0.70710678118654752))
// Reduce first, so that multiples of a half are exact: sin(pi x) with x in [-1, 1].
KW_HOST_1(sinpi, ::sin(3.1415926535897931 * (::fabs(x = ::remainder(x, 2.0)) <= 0.5 ? x : ::copysign(1.0, x) - x)))
KW_HOST_1(cospi, ::fabs(x = ::fabs(::remainder(x, 2.0))) <= 0.25 ? ::cos(3.1415926535897931 * x)
                                                                   : ::sin(3.1415926535897931 * (0.5 - x)))
#undef KW_HOST_1

KW_HOST void sincospi(double x, double *sine, double *cosine) { *sine = sinpi(x); *cosine = cospi(x); }
KW_HOST void sincospif(float x, float *sine, float *cosine) { *sine = sinpif(x); *cosine = cospif(x); }
KW_HOST double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
KW_HOST float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }
KW_HOST double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
KW_HOST float norm3df(float x, float y, float z) { return (float)norm3d((double)x, (double)y, (double)z); }
KW_HOST double norm4d(double x, double y, double z, double w) { return ::hypot(::hypot(x, y), ::hypot(z, w)); }
KW_HOST float norm4df(float x, float y, float z, float w) {
    return (float)norm4d((double)x, (double)y, (double)z, (double)w);
}
KW_HOST double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
KW_HOST float rnorm3df(float x, float y, float z) { return (float)rnorm3d((double)x, (double)y, (double)z); }
KW_HOST double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
KW_HOST float rnorm4df(float x, float y, float z, float w) {
    return (float)rnorm4d((double)x, (double)y, (double)z, (double)w);
}
KW_HOST float fdividef(float x, float y) { return x / y; }
