// Fourier transforms of 512 numbers by threads of eight each, in registers and shared memory; for float and double.
template <class T> struct Complex { T x, y; };
template <class T> __device__ Complex<T> operator+(Complex<T> a, Complex<T> b) { return {a.x + b.x, a.y + b.y}; }
template <class T> __device__ Complex<T> operator-(Complex<T> a, Complex<T> b) { return {a.x - b.x, a.y - b.y}; }
template <class T> __device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class T> __device__ Complex<T> turn(T angle) { return {cos(angle), sin(angle)}; }

template <class T, int direction> __device__ void two(Complex<T> &a, Complex<T> &b) {
    Complex<T> first = a;
    a = first + b, b = first - b;
}
template <class T, int direction> __device__ void four(Complex<T> &a, Complex<T> &b, Complex<T> &c, Complex<T> &d) {
    two<T, direction>(a, c), two<T, direction>(b, d);
    d = d * Complex<T>{0, T(direction)};
    two<T, direction>(a, b), two<T, direction>(c, d);
}
template <class T, int direction> __device__ void eight(Complex<T> *a) {
    const T h = T(0.70710678118654752440);
#pragma unroll
    for (int i = 0; i < 4; i++) two<T, direction>(a[i], a[i + 4]);
    a[5] = a[5] * Complex<T>{h, direction * h}, a[6] = a[6] * Complex<T>{0, T(direction)}, a[7] = a[7] * Complex<T>{-h, direction * h};
    four<T, direction>(a[0], a[1], a[2], a[3]), four<T, direction>(a[4], a[5], a[6], a[7]);
}
template <class T> __device__ void exchange(Complex<T> *a, T *room, int to, int step, int from, int stride) {
    for (int part = 0; part < 2; part++) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) room[to + i * step] = part ? a[i].y : a[i].x;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) (part ? a[i].y : a[i].x) = room[from + i * stride];
    }
}
template <class T, int direction> __global__ void transform(Complex<T> *numbers) {
    __shared__ T room[8 * 64 + 64];
    int thread = threadIdx.x;
    Complex<T> a[8], *own = numbers + blockIdx.x * 512 + thread;
#pragma unroll
    for (int i = 0; i < 8; i++) a[i] = own[i * 64];
    eight<T, direction>(a);
#pragma unroll
    for (int i = 1; i < 8; i++) a[i] = a[i] * turn(T(direction * 2 * 3.14159265358979323846 / 512) * i * thread);
    exchange(a, room, thread, 66, (thread >> 3) * 66 + (thread & 7), 8);
    eight<T, direction>(a);
#pragma unroll
    for (int i = 1; i < 8; i++) a[i] = a[i] * turn(T(direction * 2 * 3.14159265358979323846 / 64) * i * (thread >> 3));
    exchange(a, room, (thread >> 3) * 8 + (thread & 7), 72, (thread >> 3) * 72 + (thread & 7) * 8, 1);
    eight<T, direction>(a);
#pragma unroll
    for (int i = 0; i < 8; i++) own[i * 64] = a[i];
}
template __global__ void transform<float, 1>(Complex<float> *);
template __global__ void transform<float, -1>(Complex<float> *);
template __global__ void transform<double, 1>(Complex<double> *);
template __global__ void transform<double, -1>(Complex<double> *);
