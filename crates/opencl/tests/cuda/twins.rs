//! Kernels of `examples/kernels` in CUDA.
