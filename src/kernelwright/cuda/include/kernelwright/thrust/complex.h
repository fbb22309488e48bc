// thrust::complex, on both sides. Products are the plain ones, quotients are scaled first, as cuComplex's are; infinities and NaN
// are no special cases.
#pragma once
#pragma GCC system_header
#include "../../thrust/pair.h"

#include <cmath>
#include <complex>
#include <iosfwd>
#include <type_traits>

namespace thrust {
namespace details {

// The C library's functions by the width of their argument: on the device there are no overloads in std.
#define KW_OF_WIDTH(name)                                                 \
    KW_BOTH inline float name##_of(float x) { return ::name##f(x); }      \
    KW_BOTH inline double name##_of(double x) { return ::name(x); }
#define KW_OF_WIDTH_2(name)                                                               \
    KW_BOTH inline float name##_of(float x, float y) { return ::name##f(x, y); }          \
    KW_BOTH inline double name##_of(double x, double y) { return ::name(x, y); }
KW_OF_WIDTH(sqrt)
KW_OF_WIDTH(fabs)
KW_OF_WIDTH(exp)
KW_OF_WIDTH(log)
KW_OF_WIDTH(sin)
KW_OF_WIDTH(cos)
KW_OF_WIDTH(sinh)
KW_OF_WIDTH(cosh)
KW_OF_WIDTH_2(hypot)
KW_OF_WIDTH_2(atan2)
KW_OF_WIDTH_2(copysign)
#undef KW_OF_WIDTH
#undef KW_OF_WIDTH_2

}  // namespace details

template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;

    complex() = default;
    complex(const complex &) = default;
    KW_BOTH constexpr complex(const T &re) : data{re, T()} {}
    KW_BOTH constexpr complex(const T &re, const T &im) : data{re, im} {}
    template <class U> KW_BOTH constexpr complex(const complex<U> &z) : data{T(z.real()), T(z.imag())} {}
    template <class U> complex(const std::complex<U> &z) : data{T(z.real()), T(z.imag())} {}
    complex &operator=(const complex &) = default;
    KW_BOTH complex &operator=(const T &re) { return data[0] = re, data[1] = T(), *this; }
    template <class U> KW_BOTH complex &operator=(const complex<U> &z) {
        return data[0] = T(z.real()), data[1] = T(z.imag()), *this;
    }
    operator std::complex<T>() const { return std::complex<T>(data[0], data[1]); }

    KW_BOTH constexpr T real() const { return data[0]; }
    KW_BOTH constexpr T imag() const { return data[1]; }
    KW_BOTH void real(T re) { data[0] = re; }
    KW_BOTH void imag(T im) { data[1] = im; }

    template <class U> KW_BOTH complex &operator+=(const U &other) { return *this = *this + other; }
    template <class U> KW_BOTH complex &operator-=(const U &other) { return *this = *this - other; }
    template <class U> KW_BOTH complex &operator*=(const U &other) { return *this = *this * other; }
    template <class U> KW_BOTH complex &operator/=(const U &other) { return *this = *this / other; }

  private:
    T data[2];
};

// Of two types, as of two numbers of those.
template <class T, class U> using Wider = complex<std::common_type_t<T, U>>;

template <class T, class U> KW_BOTH Wider<T, U> operator+(const complex<T> &a, const complex<U> &b) {
    return Wider<T, U>(a.real() + b.real(), a.imag() + b.imag());
}
template <class T, class U> KW_BOTH Wider<T, U> operator-(const complex<T> &a, const complex<U> &b) {
    return Wider<T, U>(a.real() - b.real(), a.imag() - b.imag());
}
template <class T, class U> KW_BOTH Wider<T, U> operator*(const complex<T> &a, const complex<U> &b) {
    return Wider<T, U>(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
template <class T, class U> KW_BOTH Wider<T, U> operator/(const complex<T> &a, const complex<U> &b) {
    typedef std::common_type_t<T, U> R;
    const R scale = R(1) / (details::fabs_of(R(b.real())) + details::fabs_of(R(b.imag())));
    const R ar = a.real() * scale, ai = a.imag() * scale, br = b.real() * scale, bi = b.imag() * scale;
    const R norm = R(1) / (br * br + bi * bi);
    return complex<R>((ar * br + ai * bi) * norm, (ai * br - ar * bi) * norm);
}
template <class T, class U> KW_BOTH bool operator==(const complex<T> &a, const complex<U> &b) {
    return a.real() == b.real() && a.imag() == b.imag();
}
template <class T, class U> KW_BOTH bool operator!=(const complex<T> &a, const complex<U> &b) { return !(a == b); }

// With a number on either side.
template <class T, class U> using WiderIfNumber = std::enable_if_t<std::is_arithmetic_v<U>, Wider<T, U>>;
#define KW_WITH_A_NUMBER(op, right, left)                                                                         \
    template <class T, class U> KW_BOTH WiderIfNumber<T, U> operator op(const complex<T> &a, const U &b) { return right; } \
    template <class T, class U> KW_BOTH WiderIfNumber<T, U> operator op(const U &a, const complex<T> &b) { return left; }
KW_WITH_A_NUMBER(+, (Wider<T, U>(a.real() + b, a.imag())), (Wider<T, U>(a + b.real(), b.imag())))
KW_WITH_A_NUMBER(-, (Wider<T, U>(a.real() - b, a.imag())), (Wider<T, U>(a - b.real(), -b.imag())))
KW_WITH_A_NUMBER(*, (Wider<T, U>(a.real() * b, a.imag() * b)), (Wider<T, U>(a * b.real(), a * b.imag())))
KW_WITH_A_NUMBER(/, (Wider<T, U>(a.real() / b, a.imag() / b)), (Wider<T, U>(a) / b))
#undef KW_WITH_A_NUMBER
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
KW_BOTH bool operator==(const complex<T> &a, const U &b) { return a.real() == b && a.imag() == T(); }
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
KW_BOTH bool operator!=(const complex<T> &a, const U &b) { return !(a == b); }

template <class T> KW_BOTH complex<T> operator+(const complex<T> &z) { return z; }
template <class T> KW_BOTH complex<T> operator-(const complex<T> &z) { return complex<T>(-z.real(), -z.imag()); }

template <class T> KW_BOTH T abs(const complex<T> &z) { return details::hypot_of(z.real(), z.imag()); }
template <class T> KW_BOTH T arg(const complex<T> &z) { return details::atan2_of(z.imag(), z.real()); }
template <class T> KW_BOTH T norm(const complex<T> &z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class T> KW_BOTH complex<T> conj(const complex<T> &z) { return complex<T>(z.real(), -z.imag()); }
template <class T> KW_BOTH complex<T> polar(const T &length, const T &angle = T()) {
    return complex<T>(length * details::cos_of(angle), length * details::sin_of(angle));
}
template <class T> KW_BOTH complex<T> exp(const complex<T> &z) { return polar(details::exp_of(z.real()), z.imag()); }
template <class T> KW_BOTH complex<T> log(const complex<T> &z) { return complex<T>(details::log_of(abs(z)), arg(z)); }
template <class T> KW_BOTH complex<T> log10(const complex<T> &z) { return log(z) / T(2.30258509299404568402); }
template <class T> KW_BOTH complex<T> sqrt(const complex<T> &z) {
    const T larger = details::sqrt_of((details::fabs_of(z.real()) + abs(z)) / 2);
    if (larger == T()) return complex<T>(T(), z.imag());
    const T smaller = z.imag() / (2 * larger);
    if (z.real() >= T()) return complex<T>(larger, smaller);
    return complex<T>(details::fabs_of(smaller), details::copysign_of(larger, z.imag()));
}
template <class T, class U> KW_BOTH Wider<T, U> pow(const complex<T> &z, const complex<U> &to) {
    return exp(Wider<T, U>(log(Wider<T, U>(z)) * Wider<T, U>(to)));
}
template <class T, class U> KW_BOTH WiderIfNumber<T, U> pow(const complex<T> &z, const U &to) {
    return exp(Wider<T, U>(log(Wider<T, U>(z)) * std::common_type_t<T, U>(to)));
}
template <class T> KW_BOTH complex<T> sinh(const complex<T> &z) {
    return complex<T>(details::sinh_of(z.real()) * details::cos_of(z.imag()),
                      details::cosh_of(z.real()) * details::sin_of(z.imag()));
}
template <class T> KW_BOTH complex<T> cosh(const complex<T> &z) {
    return complex<T>(details::cosh_of(z.real()) * details::cos_of(z.imag()),
                      details::sinh_of(z.real()) * details::sin_of(z.imag()));
}
template <class T> KW_BOTH complex<T> sin(const complex<T> &z) {
    const complex<T> turned = sinh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}
template <class T> KW_BOTH complex<T> cos(const complex<T> &z) { return cosh(complex<T>(-z.imag(), z.real())); }
// Without the difference of products that sine by cosine has.
template <class T> KW_BOTH complex<T> tanh(const complex<T> &z) {
    const T below = details::cosh_of(2 * z.real()) + details::cos_of(2 * z.imag());
    return complex<T>(details::sinh_of(2 * z.real()) / below, details::sin_of(2 * z.imag()) / below);
}
template <class T> KW_BOTH complex<T> tan(const complex<T> &z) {
    const complex<T> turned = tanh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}

template <class T, class Letter, class Traits>
std::basic_ostream<Letter, Traits> &operator<<(std::basic_ostream<Letter, Traits> &out, const complex<T> &z) {
    return out << std::complex<T>(z);
}
template <class T, class Letter, class Traits>
std::basic_istream<Letter, Traits> &operator>>(std::basic_istream<Letter, Traits> &in, complex<T> &z) {
    std::complex<T> read;
    in >> read;
    z = complex<T>(read);
    return in;
}

}  // namespace thrust
