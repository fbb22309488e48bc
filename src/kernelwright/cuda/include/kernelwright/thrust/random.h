// Random numbers of thrust, on both sides: generators that multiply (minstd_rand and its like), numbers of a range, whole and real. The
// sequences are thrust's: each number is the next of the generator, mapped to [0, 1) by its largest value and one, then to the range.
#pragma once
#pragma GCC system_header
#include "functional.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace thrust {
namespace random {

// x -> (a x + c) mod m, in 64 bits; m of 0 stands for 2^32.
template <class T, T A, T C, T M> struct linear_congruential_engine {
    typedef T result_type;
    static constexpr T multiplier = A, increment = C, modulus = M;
    static constexpr T min = C == 0u ? 1u : 0u;
    static constexpr T max = M - 1u;
    static constexpr T default_seed = 1u;

    KW_BOTH explicit linear_congruential_engine(T s = default_seed) { seed(s); }
    KW_BOTH void seed(T s = default_seed) {
        const T rest = M ? s % M : s;
        state = C == 0 && rest == 0 ? 1 : rest;
    }
    KW_BOTH T operator()() { return state = step(A, state, C); }
    // Many steps at once: the step, as a map, is squared.
    KW_BOTH void discard(unsigned long long count) {
        T a = A, c = C, by = 1, added = 0;
        for (; count; count >>= 1) {
            if (count & 1) added = step(a, added, c), by = step(a, by, 0);
            c = step(a, c, c), a = step(a, a, 0);
        }
        state = step(by, state, added);
    }
    friend KW_BOTH bool operator==(const linear_congruential_engine &a, const linear_congruential_engine &b) {
        return a.state == b.state;
    }
    friend KW_BOTH bool operator!=(const linear_congruential_engine &a, const linear_congruential_engine &b) {
        return a.state != b.state;
    }

  private:
    T state;
    static KW_BOTH T step(T a, T x, T c) {
        const unsigned long long found = (unsigned long long)a * x + c;
        return (T)(M ? found % M : found);
    }
};

typedef linear_congruential_engine<std::uint32_t, 16807, 0, 2147483647> minstd_rand0;
typedef linear_congruential_engine<std::uint32_t, 48271, 0, 2147483647> minstd_rand;
typedef minstd_rand default_random_engine;

namespace details {

template <class Real> struct Range {
    Real first, second;
};

}  // namespace details

template <class Real = double> struct uniform_real_distribution {
    typedef Real result_type;
    typedef details::Range<Real> param_type;

    KW_BOTH explicit uniform_real_distribution(Real a = 0, Real b = 1) : range{a, b} {}
    KW_BOTH explicit uniform_real_distribution(const param_type &given) : range(given) {}
    KW_BOTH void reset() {}
    template <class Engine> KW_BOTH Real operator()(Engine &engine) { return (*this)(engine, range); }
    template <class Engine> KW_BOTH Real operator()(Engine &engine, const param_type &given) {
        Real unit = static_cast<Real>(engine() - Engine::min);
        unit /= Real(1) + static_cast<Real>(Engine::max - Engine::min);
        return unit * (given.second - given.first) + given.first;
    }
    KW_BOTH Real a() const { return range.first; }
    KW_BOTH Real b() const { return range.second; }
    KW_BOTH Real min() const { return a(); }
    KW_BOTH Real max() const { return b(); }
    KW_BOTH param_type param() const { return range; }
    KW_BOTH void param(const param_type &given) { range = given; }

  private:
    param_type range;
};

template <class Integer = int> struct uniform_int_distribution {
    typedef Integer result_type;
    typedef details::Range<Integer> param_type;

    KW_BOTH explicit uniform_int_distribution(Integer a = 0, Integer b = (std::numeric_limits<Integer>::max)())
        : range{a, b} {}
    KW_BOTH explicit uniform_int_distribution(const param_type &given) : range(given) {}
    KW_BOTH void reset() {}
    template <class Engine> KW_BOTH Integer operator()(Engine &engine) { return (*this)(engine, range); }
    template <class Engine> KW_BOTH Integer operator()(Engine &engine, const param_type &given) {
        typedef std::conditional_t<(sizeof(Integer) < 4), float, double> Real;
        const Real end = static_cast<Real>(given.second) + Real(1);
        uniform_real_distribution<Real> real(static_cast<Real>(given.first), end);
        return static_cast<Integer>(real(engine));
    }
    KW_BOTH Integer a() const { return range.first; }
    KW_BOTH Integer b() const { return range.second; }
    KW_BOTH Integer min() const { return a(); }
    KW_BOTH Integer max() const { return b(); }
    KW_BOTH param_type param() const { return range; }
    KW_BOTH void param(const param_type &given) { range = given; }

  private:
    param_type range;
};

}  // namespace random

using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

}  // namespace thrust
