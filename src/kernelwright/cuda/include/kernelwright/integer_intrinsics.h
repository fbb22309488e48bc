// Integer functions: counts, byte and bit shuffles, products and averages that do not overflow. Written as plain C
// where LLVM finds the instruction by itself.
#pragma once
#pragma GCC system_header

// ---- bits ----

KW_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
KW_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KW_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
KW_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
KW_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
KW_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KW_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
KW_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KW_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    return __nvvm_prmt(x, y, selector & 0x7777);  // the function ignores the sign-replicating bit of the instruction
}

// The 64-bit value high:low shifted; the c forms clamp the distance at 32 instead of taking it modulo 32.
KW_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned int)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
KW_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
KW_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
KW_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// The position of the n-th set bit from `base`: upwards for n > 0, downwards for n < 0, base itself for 0; -1 if none.
KW_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int n) { return __nvvm_fns(mask, base, n); }

// ---- products ----

KW_DEVICE int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
KW_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x * y) >> 32);
}
KW_DEVICE long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
KW_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
KW_DEVICE int __mul24(int x, int y) { return ((int)((unsigned int)x << 8) >> 8) * ((int)((unsigned int)y << 8) >> 8); }
KW_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }
KW_DEVICE int mul24(int x, int y) { return __mul24(x, y); }
KW_DEVICE unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }
KW_DEVICE int mulhi(int x, int y) { return __mulhi(x, y); }
KW_DEVICE unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
KW_DEVICE long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
KW_DEVICE unsigned long long umul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }

// ---- sums ----

KW_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }
KW_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
    return (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x) + z;
}
KW_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
KW_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
KW_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}
KW_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}

// ---- dot products of bytes (dp4a) and of half words with bytes (dp2a), added to c ----

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 610
// Without the instruction: programs that name an older architecture than they mean, which nvcc refuses, compute the same.
template <class Byte, class Other>
KW_DEVICE int __kw_dot_of_bytes(int a, int bytes, int at, int count, int c) {
    for (int n = 0; n < count; n++)
        c += (int)(Other)(a >> n * 8 * (int)sizeof(Other)) * (int)(Byte)(bytes >> 8 * (at + n));
    return c;
}
KW_DEVICE int __kw_idp4a_s(int a, int b, int c) { return __kw_dot_of_bytes<signed char, signed char>(a, b, 0, 4, c); }
KW_DEVICE int __kw_idp4a_u(int a, int b, int c) { return __kw_dot_of_bytes<unsigned char, unsigned char>(a, b, 0, 4, c); }
KW_DEVICE int __kw_idp2a_s(int a, int b, bool high, int c) {
    return __kw_dot_of_bytes<signed char, short>(a, b, high ? 2 : 0, 2, c);
}
KW_DEVICE int __kw_idp2a_u(int a, int b, bool high, int c) {
    return __kw_dot_of_bytes<unsigned char, unsigned short>(a, b, high ? 2 : 0, 2, c);
}
#else
extern "C" {
__device__ KW_NOCONVERGENT int __kw_idp4a_s(int, int, int) __asm("llvm.nvvm.idp4a.s.s");
__device__ KW_NOCONVERGENT int __kw_idp4a_u(int, int, int) __asm("llvm.nvvm.idp4a.u.u");
__device__ KW_NOCONVERGENT int __kw_idp2a_s(int, int, bool high, int) __asm("llvm.nvvm.idp2a.s.s");
__device__ KW_NOCONVERGENT int __kw_idp2a_u(int, int, bool high, int) __asm("llvm.nvvm.idp2a.u.u");
}
#endif
KW_DEVICE int __dp4a(int a, int b, int c) { return __kw_idp4a_s(a, b, c); }
KW_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return __kw_idp4a_u(a, b, c); }
KW_DEVICE int __dp4a(char4 a, char4 b, int c) {
    return __kw_idp4a_s(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
KW_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __kw_idp4a_u(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
KW_DEVICE int __dp2a_lo(int a, int b, int c) { return __kw_idp2a_s(a, b, false, c); }
KW_DEVICE int __dp2a_hi(int a, int b, int c) { return __kw_idp2a_s(a, b, true, c); }
KW_DEVICE unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return __kw_idp2a_u(a, b, false, c);
}
KW_DEVICE unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    return __kw_idp2a_u(a, b, true, c);
}
KW_DEVICE int __dp2a_lo(short2 a, char4 b, int c) {
    return __kw_idp2a_s(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), false, c);
}
KW_DEVICE int __dp2a_hi(short2 a, char4 b, int c) {
    return __kw_idp2a_s(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), true, c);
}
KW_DEVICE unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
    return __kw_idp2a_u(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), false, c);
}
KW_DEVICE unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
    return __kw_idp2a_u(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), true, c);
}
