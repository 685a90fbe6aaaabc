// Functions of OpenCL as LLVM has them for AMD devices, for amd.rs: those of examples/kernels.
#define OF(d, what) ((d) == 0 ? (int)what##_x() : (d) == 1 ? (int)what##_y() : (int)what##_z())
#define LOCAL_SIZE(d) ((d) == 0 ? LOCAL_X : (d) == 1 ? LOCAL_Y : LOCAL_Z)
#define get_local_id(d) OF(d, __builtin_amdgcn_workitem_id)
#define get_group_id(d) OF(d, __builtin_amdgcn_workgroup_id)
#define get_global_id(d) (get_group_id(d) * LOCAL_SIZE(d) + get_local_id(d))
#define get_global_size(d) OF(d, __builtin_amdgcn_grid_size)
#define barrier(fence)                                     \
    do {                                                   \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                      \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define rsqrt(x) __builtin_amdgcn_rsqf(x)
#define native_rsqrt(x) __builtin_amdgcn_rsqf(x)
