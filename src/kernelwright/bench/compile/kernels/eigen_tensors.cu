// Expressions of Eigen's tensors on the device: each is a tree of types, and becomes kernels of its own.
#define EIGEN_USE_GPU
#include <unsupported/Eigen/CXX11/Tensor>

typedef Eigen::TensorMap<Eigen::Tensor<float, 2>> Matrix;
typedef Eigen::TensorMap<Eigen::Tensor<float, 0>> Number;

void element_by_element(Eigen::GpuDevice &device, Matrix a, Matrix b, Matrix c) {
    c.device(device) = a + b * a.constant(2.0f) - a.sqrt();
}
void product(Eigen::GpuDevice &device, Matrix a, Matrix b, Matrix c) {
    Eigen::array<Eigen::IndexPair<int>, 1> over = {Eigen::IndexPair<int>(1, 0)};
    c.device(device) = a.contract(b, over);
}
void sum(Eigen::GpuDevice &device, Matrix a, Number s) { s.device(device) = a.sum(); }
