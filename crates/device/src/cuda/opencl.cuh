// The words of OpenCL C that this program's own kernels use, in CUDA C++.
#define kernel extern "C" __global__
#define get_global_id(d) (blockIdx.x * (size_t)blockDim.x + threadIdx.x)
#define get_global_size(d) (gridDim.x * (size_t)blockDim.x)
#define atomic_or(place, bits) atomicOr(place, bits)
#define FLT_MAX 3.402823466e+38f
#define DBL_MAX 1.7976931348623157e+308
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long long ulong;
