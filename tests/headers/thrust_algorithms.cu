// Every algorithm of thrust that our headers have, on the device, on the host, and with neither named: a line for each, for test_thrust.py.
#include <thrust/adjacent_difference.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/logical.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cstdlib>

// Names that programs give to macros, and our headers must not use.
#define BLOCK 3
#define TILE 4
#define ITEMS 5

struct Value { __host__ __device__ int operator()(long i) const { return (int)((i * 7919 + 13) % 1009 - 300); } };
struct Square { __host__ __device__ long operator()(int x) { return (long)x * x; } };  // not const: functors may be so
struct Odd { __host__ __device__ bool operator()(int x) const { return x & 1; } };
struct Tens { __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; } };
struct Affine { int a, b; };  // a x + b: composing is associative and does not commute
struct After { __host__ __device__ Affine operator()(Affine f, Affine g) const { return {f.a * g.a % 97, (f.b * g.a + g.b) % 97}; } };
struct Make { __host__ __device__ Affine operator()(int x) const { return {(x % 5 + 5) % 5 + 1, (x % 7 + 7) % 7}; } };
struct Offset { __host__ __device__ int operator()(Affine f) const { return f.b; } };
struct Twice { __host__ __device__ void operator()(int &x) const { x *= 2; } };

template <class V> void show(const char *name, const V &of) {
    thrust::host_vector<typename V::value_type> values = of;
    printf("%s:", name);
    for (size_t i = 0; i < values.size(); i++) printf(" %ld", (long)values[i]);
    puts("");
}
#define SAY(name, ...) do { long told[] = {__VA_ARGS__}; printf("%s:", name); for (long each : told) printf(" %ld", each); puts(""); } while (0)

// Its arguments: the policy with its comma, or nothing.
#define ALL(...) \
    Vector<int> v(n), w(n), keys(n), counts(n); \
    Vector<long> squares(n); \
    thrust::tabulate(__VA_ARGS__ v.begin(), v.end(), Value()); \
    thrust::transform(__VA_ARGS__ v.begin(), v.end(), squares.begin(), Square()); show("squares", squares); \
    thrust::transform(__VA_ARGS__ v.begin(), v.end(), v.begin() , w.begin(), thrust::plus<int>()); show("doubled", w); \
    w = v; thrust::sort(__VA_ARGS__ w.begin(), w.end()); show("sorted", w); \
    SAY("is sorted", thrust::is_sorted(__VA_ARGS__ w.begin(), w.end()), thrust::is_sorted(__VA_ARGS__ v.begin(), v.end())); \
    w = v; thrust::sequence(__VA_ARGS__ keys.begin(), keys.end()); \
    thrust::stable_sort_by_key(__VA_ARGS__ w.begin(), w.end(), keys.begin(), thrust::greater<int>()); show("order", keys); \
    SAY("sums", thrust::reduce(__VA_ARGS__ v.begin(), v.end()), thrust::reduce(__VA_ARGS__ v.begin(), v.end(), 5000, thrust::maximum<int>()), \
        thrust::transform_reduce(__VA_ARGS__ v.begin(), v.end(), Square(), 5L, thrust::plus<long>()), \
        thrust::inner_product(__VA_ARGS__ v.begin(), v.end(), squares.begin(), 3L)); \
    thrust::inclusive_scan(__VA_ARGS__ v.begin(), v.end(), w.begin()); show("inclusive", w); \
    w = v; thrust::exclusive_scan(__VA_ARGS__ w.begin(), w.end(), w.begin(), 100); show("exclusive", w); \
    Vector<Affine> maps(n); thrust::transform(__VA_ARGS__ v.begin(), v.end(), maps.begin(), Make()); \
    thrust::inclusive_scan(__VA_ARGS__ maps.begin(), maps.end(), maps.begin(), After()); \
    thrust::transform(__VA_ARGS__ maps.begin(), maps.end(), w.begin(), Offset()); show("composed", w); \
    auto both = thrust::minmax_element(__VA_ARGS__ v.begin(), v.end()); \
    SAY("extremes", thrust::min_element(__VA_ARGS__ v.begin(), v.end()) - v.begin(), thrust::max_element(__VA_ARGS__ v.begin(), v.end()) - v.begin(), \
        both.first - v.begin(), both.second - v.begin()); \
    SAY("found", thrust::find(__VA_ARGS__ v.begin(), v.end(), 200) - v.begin(), thrust::find(__VA_ARGS__ v.begin(), v.end(), 5000) - v.begin(), \
        thrust::count_if(__VA_ARGS__ v.begin(), v.end(), Odd()), thrust::count(__VA_ARGS__ v.begin(), v.end(), -287), \
        thrust::any_of(__VA_ARGS__ v.begin(), v.end(), Odd()), thrust::all_of(__VA_ARGS__ v.begin(), v.end(), Odd()), thrust::none_of(__VA_ARGS__ v.begin(), v.end(), Odd())); \
    w = v; w.resize(thrust::remove_if(__VA_ARGS__ w.begin(), w.end(), Odd()) - w.begin()); show("even", w); \
    w.resize(n); w.resize(thrust::copy_if(__VA_ARGS__ v.begin(), v.end(), w.begin(), Odd()) - w.begin()); show("odd", w); \
    w = v; thrust::replace_if(__VA_ARGS__ w.begin(), w.end(), Odd(), 7); show("replaced", w); \
    w = v; thrust::sort(__VA_ARGS__ w.begin(), w.end()); keys = w; \
    w.resize(thrust::unique(__VA_ARGS__ w.begin(), w.end()) - w.begin()); show("unique", w); \
    w.resize(n); auto ends = thrust::reduce_by_key(__VA_ARGS__ keys.begin(), keys.end(), thrust::constant_iterator<int>(2), w.begin(), counts.begin()); \
    w.resize(ends.first - w.begin()); counts.resize(ends.second - counts.begin()); show("keys", w); show("counts", counts); \
    w.resize(n); thrust::sequence(__VA_ARGS__ w.begin(), w.end()); \
    auto cut = thrust::unique_by_key(__VA_ARGS__ keys.begin(), keys.end(), w.begin(), Tens()); w.resize(cut.second - w.begin()); show("first of tens", w); \
    w = v; thrust::reverse(__VA_ARGS__ w.begin(), w.end()); show("reversed", w); \
    SAY("equal", thrust::equal(__VA_ARGS__ v.begin(), v.end(), w.begin()), thrust::equal(__VA_ARGS__ v.begin(), v.end(), v.begin())); \
    w = v; thrust::adjacent_difference(__VA_ARGS__ w.begin(), w.end(), w.begin()); show("differences", w); \
    keys.resize(n); thrust::sequence(__VA_ARGS__ keys.begin(), keys.end(), n - 1, -1); \
    thrust::gather(__VA_ARGS__ keys.begin(), keys.end(), v.begin(), w.begin()); show("gathered", w); \
    counts.resize(n); thrust::scatter(__VA_ARGS__ w.begin(), w.end(), keys.begin(), counts.begin()); show("scattered", counts); \
    thrust::fill(__VA_ARGS__ w.begin() + 1, w.end(), 9); show("filled", w); \
    keys = v; thrust::for_each(__VA_ARGS__ keys.begin(), keys.end(), Twice()); show("doubled in place", keys); \
    auto computed = thrust::make_transform_iterator(v.begin(), Square()); \
    SAY("computed", thrust::reduce(__VA_ARGS__ computed, computed + n, 0L), n > 1 ? (long)computed[1] : 0L); \
    thrust::copy(__VA_ARGS__ v.begin(), v.end(), w.begin()); show("copied", w);

void all(char where, int n) {
    if (where == 'd') {
#define Vector thrust::device_vector
        ALL(thrust::device,)
    } else if (where == 'a') {
        ALL()  // by its iterators: of the device
#undef Vector
    } else {
#define Vector thrust::host_vector
        ALL(thrust::host,)
    }
}
int main(int, char **words) {
    for (char **n = words + 2; *n; n++) {
        all(words[1][0], atoi(*n));
        puts("");
    }
}
