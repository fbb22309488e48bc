// The algorithms of thrust that we have: called by the host, with a policy or without. Part of thrust/*.h.
#pragma once
#pragma GCC system_header
#include "vectors.h"
#include <memory>

namespace thrust {
namespace details {

#define KW_LOOP [=] __host__ __device__(Count i) mutable

// ---- element by element ----

template <class On, class From, class To> To copy(const On &on, From first, From last, To to) {
    constexpr bool is_plain = std::is_same_v<On, OnDevice> && !is_of_device<From> && !is_of_device<To>;
    if constexpr (is_plain) { // pointers without a type that says so, and a policy that does
        loop(on, last - first, KW_LOOP { to[i] = first[i]; });
        return to + (last - first);
    } else if constexpr (std::is_same_v<On, OnDevice>)
        return copy_elements(on, first, last - first, to);
    else
        return copy_elements(OnDevice{}, first, last - first, to);
}
template <class On, class From, class Size, class To> To copy_n(const On &on, From first, Size count, To to) {
    return copy(on, first, first + count, to);
}
template <class On, class From, class To, class Function>
To transform(const On &on, From first, From last, To to, Function f) {
    auto in = plain(first);
    auto out = plain(to);
    loop(on, last - first, KW_LOOP { out[i] = f(in[i]); });
    return to + (last - first);
}
template <class On, class A, class B, class To, class Function>
To transform(const On &on, A first, A last, B second, To to, Function f) {
    auto a = plain(first);
    auto b = plain(second);
    auto out = plain(to);
    loop(on, last - first, KW_LOOP { out[i] = f(a[i], b[i]); });
    return to + (last - first);
}
template <class On, class Iterator, class Function>
Iterator for_each(const On &on, Iterator first, Iterator last, Function f) {
    auto in = plain(first);
    loop(on, last - first, KW_LOOP { f(in[i]); });
    return last;
}
template <class On, class Iterator, class Size, class Function>
Iterator for_each_n(const On &on, Iterator first, Size count, Function f) {
    return for_each(on, first, first + count, f);
}
template <class On, class Iterator, class T> void fill(const On &on, Iterator first, Iterator last, const T &value) {
    auto out = plain(first);
    ValueOf<Iterator> with = value;
    loop(on, last - first, KW_LOOP { out[i] = with; });
}
template <class On, class Iterator, class Size, class T>
Iterator fill_n(const On &on, Iterator first, Size count, const T &value) {
    fill(on, first, first + count, value);
    return first + count;
}
template <class On, class Iterator, class T = ValueOf<Iterator>>
void sequence(const On &on, Iterator first, Iterator last, T from = T(0), T step = T(1)) {
    auto out = plain(first);
    loop(on, last - first, KW_LOOP { out[i] = from + step * T(i); });
}
template <class On, class Iterator, class Function>
void tabulate(const On &on, Iterator first, Iterator last, Function f) {
    auto out = plain(first);
    loop(on, last - first, KW_LOOP { out[i] = f(i); });
}
template <class On, class Iterator, class Function>
void generate(const On &on, Iterator first, Iterator last, Function f) { // on the device each thread has an `f` of its own
    auto out = plain(first);
    loop(on, last - first, KW_LOOP { out[i] = f(); });
}
template <class On, class Iterator, class Size, class Function>
Iterator generate_n(const On &on, Iterator first, Size count, Function f) {
    generate(on, first, first + count, f);
    return first + count;
}
template <class On, class Map, class From, class To> To gather(const On &on, Map first, Map last, From from, To to) {
    auto map = plain(first);
    auto in = plain(from);
    auto out = plain(to);
    loop(on, last - first, KW_LOOP { out[i] = in[map[i]]; });
    return to + (last - first);
}
template <class On, class From, class Map, class To> void scatter(const On &on, From first, From last, Map map, To to) {
    auto in = plain(first);
    auto at = plain(map);
    auto out = plain(to);
    loop(on, last - first, KW_LOOP { out[at[i]] = in[i]; });
}
template <class On, class Iterator, class Test, class T>
void replace_if(const On &on, Iterator first, Iterator last, Test test, const T &value) {
    auto in = plain(first);
    ValueOf<Iterator> with = value;
    loop(on, last - first, KW_LOOP { if (test(in[i])) in[i] = with; });
}
template <class On, class Iterator> void reverse(const On &on, Iterator first, Iterator last) {
    auto in = plain(first);
    Count count = last - first;
    loop(on, count / 2, KW_LOOP {
        ValueOf<Iterator> kept = in[i];
        in[i] = in[count - 1 - i];
        in[count - 1 - i] = kept;
    });
}

// ---- reductions ----

template <class On, class Iterator, class Function, class T, class Operator>
T transform_reduce(const On &on, Iterator first, Iterator last, Function f, T initial, Operator op) {
    auto in = plain(first);
    return reduce(on, last - first, KW_LOOP -> T { return f(in[i]); }, initial, op);
}
template <class On, class Iterator, class T = ValueOf<Iterator>, class Operator = plus<T>>
T reduce_range(const On &on, Iterator first, Iterator last, T initial = T(), Operator op = Operator()) {
    auto in = plain(first);
    return reduce(on, last - first, KW_LOOP -> T { return in[i]; }, initial, op);
}
template <class On, class A, class B, class T, class Sum = plus<T>, class Product = multiplies<T>>
T inner_product(const On &on, A first, A last, B second, T initial, Sum sum = Sum(), Product product = Product()) {
    auto a = plain(first);
    auto b = plain(second);
    return reduce(on, last - first, KW_LOOP -> T { return product(a[i], b[i]); }, initial, sum);
}
template <class On, class Iterator, class Test>
std::ptrdiff_t count_if(const On &on, Iterator first, Iterator last, Test test) {
    auto in = plain(first);
    return reduce(on, last - first, KW_LOOP -> Count { return test(in[i]) ? 1 : 0; }, Count(0), plus<Count>());
}
template <class On, class Iterator, class T>
std::ptrdiff_t count(const On &on, Iterator first, Iterator last, const T &value) {
    T wanted = value;
    return count_if(on, first, last, [=] __host__ __device__(const ValueOf<Iterator> &each) mutable { return each == wanted; });
}
template <class On, class Iterator, class Test>
Iterator find_if(const On &on, Iterator first, Iterator last, Test test) {
    auto in = plain(first);
    Count count = last - first;
    return first + reduce(on, count, KW_LOOP -> Count { return test(in[i]) ? i : count; }, count, minimum<Count>());
}
template <class On, class Iterator, class T>
Iterator find(const On &on, Iterator first, Iterator last, const T &value) {
    T wanted = value;
    return find_if(on, first, last, [=] __host__ __device__(const ValueOf<Iterator> &each) mutable { return each == wanted; });
}
template <class On, class Iterator, class Test> bool any_of(const On &on, Iterator first, Iterator last, Test test) {
    return count_if(on, first, last, test) != 0;
}
template <class On, class Iterator, class Test> bool all_of(const On &on, Iterator first, Iterator last, Test test) {
    return count_if(on, first, last, test) == last - first;
}
template <class On, class Iterator, class Test> bool none_of(const On &on, Iterator first, Iterator last, Test test) {
    return count_if(on, first, last, test) == 0;
}
template <class On, class A, class B, class Equal = equal_to<>>
bool equal(const On &on, A first, A last, B second, Equal equals = Equal()) {
    auto a = plain(first);
    auto b = plain(second);
    return reduce(on, last - first, KW_LOOP -> int { return equals(a[i], b[i]); }, 1, minimum<int>());
}
template <class On, class Iterator, class Less = less<>>
bool is_sorted(const On &on, Iterator first, Iterator last, Less before = Less()) {
    auto in = plain(first);
    return reduce(on, last - first - 1, KW_LOOP -> int { return before(in[i + 1], in[i]) ? 0 : 1; }, 1, minimum<int>());
}
// Of equal elements the first.
template <class On, class Iterator, class Less = less<>>
Iterator min_element(const On &on, Iterator first, Iterator last, Less before = Less()) {
    auto in = plain(first);
    return first + reduce(on, last - first, KW_LOOP -> Count { return i; }, Count(0),
                          [=] __host__ __device__(Count a, Count b) mutable -> Count {
                              return before(in[b], in[a]) || (b < a && !before(in[a], in[b])) ? b : a;
                          });
}
template <class On, class Iterator, class Less = less<>>
Iterator max_element(const On &on, Iterator first, Iterator last, Less before = Less()) {
    return min_element(on, first, last, [=] __host__ __device__(const ValueOf<Iterator> &a, const ValueOf<Iterator> &b) mutable {
        return before(b, a);
    });
}
template <class On, class Iterator, class Less = less<>>
thrust::pair<Iterator, Iterator> minmax_element(const On &on, Iterator first, Iterator last, Less before = Less()) {
    return {min_element(on, first, last, before), max_element(on, first, last, before)};
}

// ---- scans, and what is made of them ----

template <class On, class From, class To, class Operator = plus<>>
To inclusive_scan(const On &on, From first, From last, To to, Operator op = Operator()) {
    typedef ValueOf<From> T;
    auto in = plain(first);
    auto out = plain(to);
    scan<T>(on, last - first, KW_LOOP -> T { return in[i]; }, op, [=] __host__ __device__(Count i, const T &v) mutable { out[i] = v; });
    return to + (last - first);
}
template <class On, class From, class To, class T = ValueOf<From>, class Operator = plus<>>
To exclusive_scan(const On &on, From first, From last, To to, T initial = T(), Operator op = Operator()) {
    auto in = plain(first);
    auto out = plain(to);
    Count count = last - first;
    if constexpr (std::is_same_v<On, OnHost>) {
        for (Count i = 0; i < count; i++) {
            T value = in[i];
            out[i] = initial;
            initial = op(initial, value);
        }
    } else { // by way of other memory: `to` may be `first`
        Scratch<T> sums(count);
        T *sum = sums.get();
        scan<T>(on, count, KW_LOOP -> T { return in[i]; }, op, WriteTo<T>{sum});
        loop(on, count, KW_LOOP { out[i] = i ? T(op(initial, sum[i - 1])) : initial; });
    }
    return to + count;
}
template <class On, class From, class To, class Operator = minus<>>
To adjacent_difference(const On &on, From first, From last, To to, Operator op = Operator()) {
    typedef ValueOf<From> T;
    Count count = last - first;
    auto in = plain(first);
    auto out = plain(to);
    if constexpr (std::is_same_v<On, OnHost>) {
        for (Count i = count; i-- > 0;) out[i] = i ? op(in[i], in[i - 1]) : in[i];
    } else {
        Scratch<T> kept(count);
        T *values = kept.get();
        loop(on, count, KW_LOOP { values[i] = in[i]; });
        loop(on, count, KW_LOOP { out[i] = i ? op(values[i], values[i - 1]) : values[i]; });
    }
    return to + count;
}

// Calls `put(i, place)` for each `i` that `test` takes, with its place among those; how many there are.
template <class Test, class Put> Count compact(const OnDevice &on, Count count, Test test, Put put) {
    if (count <= 0) return 0;
    Scratch<Count> taken(count);
    Count *upto = taken.get();
    scan<Count>(on, count, KW_LOOP -> Count { return test(i) ? 1 : 0; }, plus<Count>(), WriteTo<Count>{upto});
    loop(on, count, [=] __device__(Count i) mutable { if (upto[i] != (i ? upto[i - 1] : 0)) put(i, upto[i] - 1); });
    Count total;
    transfer(on, &total, upto + count - 1, sizeof total, cudaMemcpyDeviceToHost);
    return total;
}
template <class Test, class Put> Count compact(const OnHost &, Count count, Test test, Put put) {
    std::vector<Count> taken;
    for (Count i = 0; i < count; i++)
        if (test(i)) taken.push_back(i);
    for (Count place = 0; place < (Count)taken.size(); place++) put(taken[place], place);
    return taken.size();
}
// What is read while places before it are written has to lie elsewhere.
template <class On, class Iterator> auto copy_of(const On &on, Iterator first, Count count) {
    typedef ValueOf<Iterator> T;
    if constexpr (std::is_same_v<On, OnHost>)
        return std::vector<T>(first, first + count);
    else {
        auto in = plain(first);
        auto kept = std::make_unique<Scratch<T>>(count);
        T *out = kept->get();
        loop(on, count, KW_LOOP { out[i] = in[i]; });
        return kept;
    }
}
template <class T> T *memory_of(std::vector<T> &of) { return of.data(); }
template <class T> T *memory_of(std::unique_ptr<Scratch<T>> &of) { return of->get(); }

template <class On, class From, class Stencil, class To, class Test>
To copy_if(const On &on, From first, From last, Stencil stencil, To to, Test test) {
    auto in = plain(first);
    auto of = plain(stencil);
    auto out = plain(to);
    return to + compact(on, last - first, KW_LOOP -> bool { return test(of[i]); },
                        [=] __host__ __device__(Count i, Count place) mutable { out[place] = in[i]; });
}
template <class On, class From, class To, class Test>
To copy_if(const On &on, From first, From last, To to, Test test) {
    return copy_if(on, first, last, first, to, test);
}
template <class On, class Iterator, class Test>
Iterator remove_if(const On &on, Iterator first, Iterator last, Test test) {
    auto kept = copy_of(on, first, last - first);
    auto in = memory_of(kept);
    auto out = plain(first);
    return first + compact(on, last - first, KW_LOOP -> bool { return !test(in[i]); },
                           [=] __host__ __device__(Count i, Count place) mutable { out[place] = in[i]; });
}
template <class On, class Iterator, class T>
Iterator remove(const On &on, Iterator first, Iterator last, const T &value) {
    T unwanted = value;
    return remove_if(on, first, last, [=] __host__ __device__(const ValueOf<Iterator> &each) mutable { return each == unwanted; });
}
template <class On, class Iterator, class Equal = equal_to<>>
Iterator unique(const On &on, Iterator first, Iterator last, Equal equals = Equal()) {
    auto kept = copy_of(on, first, last - first);
    auto in = memory_of(kept);
    auto out = plain(first);
    return first + compact(on, last - first, KW_LOOP -> bool { return i == 0 || !equals(in[i - 1], in[i]); },
                           [=] __host__ __device__(Count i, Count place) mutable { out[place] = in[i]; });
}
template <class On, class Keys, class Values, class Equal = equal_to<>>
thrust::pair<Keys, Values> unique_by_key(const On &on, Keys first, Keys last, Values values, Equal equals = Equal()) {
    Count count = last - first;
    auto kept_keys = copy_of(on, first, count);
    auto kept_values = copy_of(on, values, count);
    auto keys = memory_of(kept_keys);
    auto in = memory_of(kept_values);
    auto to_keys = plain(first);
    auto to_values = plain(values);
    Count left = compact(on, count, KW_LOOP -> bool { return i == 0 || !equals(keys[i - 1], keys[i]); },
                         [=] __host__ __device__(Count i, Count place) mutable {
                             to_keys[place] = keys[i];
                             to_values[place] = in[i];
                         });
    return {first + left, values + left};
}

// A sum that begins anew with each group.
template <class T> struct Grouped {
    T value;
    bool is_first;
};
template <class On, class Keys, class Values, class ToKeys, class ToValues, class Equal = equal_to<>, class Operator = plus<>>
thrust::pair<ToKeys, ToValues> reduce_by_key(const On &on, Keys first, Keys last, Values values, ToKeys to_keys,
                                             ToValues to_values, Equal equals = Equal(), Operator op = Operator()) {
    typedef ValueOf<ToValues> T;
    Count count = last - first;
    auto keys = plain(first);
    auto in = plain(values);
    auto out_keys = plain(to_keys);
    auto out_values = plain(to_values);
    std::conditional_t<std::is_same_v<On, OnHost>, std::vector<T>, Scratch<T>> sums(count);
    T *sum = nullptr;
    if constexpr (std::is_same_v<On, OnHost>) sum = sums.data();
    else sum = sums.get();
    scan<Grouped<T>>(
        on, count, KW_LOOP -> Grouped<T> { return {T(in[i]), i == 0 || !equals(keys[i - 1], keys[i])}; },
        [=] __host__ __device__(const Grouped<T> &a, const Grouped<T> &b) mutable -> Grouped<T> {
            return {b.is_first ? b.value : T(op(a.value, b.value)), a.is_first || b.is_first};
        },
        [=] __host__ __device__(Count i, const Grouped<T> &group) mutable { sum[i] = group.value; });
    Count groups = compact(on, count, KW_LOOP -> bool { return i == count - 1 || !equals(keys[i], keys[i + 1]); },
                           [=] __host__ __device__(Count i, Count place) mutable {
                               out_keys[place] = keys[i];
                               out_values[place] = sum[i];
                           });
    return {to_keys + groups, to_values + groups};
}

// ---- sorting, stable throughout ----

template <class On, class Iterator, class Less = less<>>
void stable_sort(const On &on, Iterator first, Iterator last, Less before = Less()) {
    sort(on, last - first, plain(first), NoValues(), before);
}
template <class On, class Keys, class Values, class Less = less<>>
void stable_sort_by_key(const On &on, Keys first, Keys last, Values values, Less before = Less()) {
    sort(on, last - first, plain(first), plain(values), before);
}

}  // namespace details

// Every algorithm by its name: with a policy, and without.
#define KW_ALGORITHM(name, meaning)                                                                              \
    template <class Policy, class... Rest>                                                                       \
    auto name(const Policy &on, Rest... rest)->std::enable_if_t<details::is_policy<Policy>, decltype(details::meaning(on, rest...))> { \
        return details::meaning(on, rest...);                                                                    \
    }                                                                                                            \
    template <class First, class... Rest>                                                                        \
    auto name(First first, Rest... rest)                                                                         \
        ->std::enable_if_t<!details::is_policy<First>,                                                           \
                           decltype(details::meaning(details::policy_of<First, Rest...>(), first, rest...))> {   \
        return details::meaning(details::policy_of<First, Rest...>(), first, rest...);                           \
    }
KW_ALGORITHM(copy, copy)
KW_ALGORITHM(copy_n, copy_n)
KW_ALGORITHM(transform, transform)
KW_ALGORITHM(for_each, for_each)
KW_ALGORITHM(for_each_n, for_each_n)
KW_ALGORITHM(fill, fill)
KW_ALGORITHM(fill_n, fill_n)
KW_ALGORITHM(sequence, sequence)
KW_ALGORITHM(tabulate, tabulate)
KW_ALGORITHM(generate, generate)
KW_ALGORITHM(generate_n, generate_n)
KW_ALGORITHM(gather, gather)
KW_ALGORITHM(scatter, scatter)
KW_ALGORITHM(replace_if, replace_if)
KW_ALGORITHM(reverse, reverse)
KW_ALGORITHM(transform_reduce, transform_reduce)
KW_ALGORITHM(reduce, reduce_range)
KW_ALGORITHM(inner_product, inner_product)
KW_ALGORITHM(count_if, count_if)
KW_ALGORITHM(count, count)
KW_ALGORITHM(find_if, find_if)
KW_ALGORITHM(find, find)
KW_ALGORITHM(any_of, any_of)
KW_ALGORITHM(all_of, all_of)
KW_ALGORITHM(none_of, none_of)
KW_ALGORITHM(equal, equal)
KW_ALGORITHM(is_sorted, is_sorted)
KW_ALGORITHM(min_element, min_element)
KW_ALGORITHM(max_element, max_element)
KW_ALGORITHM(minmax_element, minmax_element)
KW_ALGORITHM(inclusive_scan, inclusive_scan)
KW_ALGORITHM(exclusive_scan, exclusive_scan)
KW_ALGORITHM(adjacent_difference, adjacent_difference)
KW_ALGORITHM(copy_if, copy_if)
KW_ALGORITHM(remove_if, remove_if)
KW_ALGORITHM(remove, remove)
KW_ALGORITHM(unique, unique)
KW_ALGORITHM(unique_by_key, unique_by_key)
KW_ALGORITHM(reduce_by_key, reduce_by_key)
KW_ALGORITHM(sort, stable_sort)
KW_ALGORITHM(stable_sort, stable_sort)
KW_ALGORITHM(sort_by_key, stable_sort_by_key)
KW_ALGORITHM(stable_sort_by_key, stable_sort_by_key)
#undef KW_ALGORITHM
#undef KW_LOOP

}  // namespace thrust
