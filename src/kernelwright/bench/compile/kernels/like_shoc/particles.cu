// Forces between near particles (Lennard-Jones), and a nine-point stencil in shared memory; for float and double.
template <class T> struct Point { T x, y, z, w; };

template <class T, int most> __global__ void forces(Point<T> *force, const Point<T> *at, const int *near, int n, T cutoff, T lj1, T lj2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point<T> own = at[i], sum = {0, 0, 0, 0};
    for (int j = 0; j < most; j++) {
        Point<T> other = at[near[j * n + i]];
        T dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff) {
            T inverse = T(1) / r2, r6 = inverse * inverse * inverse, f = inverse * r6 * (lj1 * r6 - lj2);
            sum.x += dx * f, sum.y += dy * f, sum.z += dz * f;
        }
    }
    force[i] = sum;
}
template <class T, int rows, int columns> __global__ void stencil(const T *in, T *out, int pitch, T centre, T side, T corner) {
    __shared__ T tile[rows + 2][columns + 2];
    int x = blockIdx.x * columns, y = blockIdx.y * rows;
    for (int r = threadIdx.y; r < rows + 2; r += blockDim.y)
        for (int c = threadIdx.x; c < columns + 2; c += blockDim.x) tile[r][c] = in[(y + r) * pitch + x + c];
    __syncthreads();
    int c = threadIdx.x + 1;
#pragma unroll
    for (int r = 1; r <= rows; r++) {
        T value = centre * tile[r][c] + side * (tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1]) +
                  corner * (tile[r - 1][c - 1] + tile[r - 1][c + 1] + tile[r + 1][c - 1] + tile[r + 1][c + 1]);
        out[(y + r) * pitch + x + c] = value;
    }
}
#define OF(T)                                                                                                     \
    template __global__ void forces<T, 128>(Point<T> *, const Point<T> *, const int *, int, T, T, T);              \
    template __global__ void stencil<T, 8, 128>(const T *, T *, int, T, T, T);                                     \
    template __global__ void stencil<T, 16, 64>(const T *, T *, int, T, T, T);
OF(float)
OF(double)
