/* NVIDIA's driver and NVRTC over this machine's memory, for tests without a device.
 *
 * Built into one library, which is found as libcuda.so.1 and as libnvrtc.so.13. The driver has one
 * device, an `sm_90` with the name in STUB_NAME. Of a module it uses nothing but names of kernels,
 * so it also runs what the real NVRTC has compiled: kernels are found by a part of their names and
 * computed here. What goes wrong depends on the size of a group (`twice`). A launch takes
 * 0.5 ms, of groups of 64 items 0.25 ms. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, FAILED = 719 };

static int failed;          /* the context is lost */
static float last = 0;      /* ms of the last launch */
static int opted;           /* bytes of shared memory that were opted in to */

int cuInit(unsigned flags) { return getenv("STUB_FAILS") ? 100 : (int)flags; }
/* NVRTC itself asks for this, for its cache. */
int cuGetExportTable(const void **table, const void *id) { return *table = 0, id ? NOT_FOUND : 1; }
int cuDriverGetVersion(int *v) { return *v = 12080, OK; }
int cuDeviceGetCount(int *n) { return *n = 1, OK; }
int cuDeviceGet(int *d, int i) { return *d = i, i == 0 ? OK : 101; }
int cuDeviceTotalMem_v2(size_t *n, int d) { return *n = (size_t)1 << 30, d; }
int cuDeviceGetName(char *name, int size, int d)
{
    const char *own = getenv("STUB_NAME");
    snprintf(name, size, "%s", own ? own : "NVIDIA Stub");
    return d;
}
int cuDeviceGetAttribute(int *v, int what, int d)
{
    switch (what) {
    case 1: *v = 1024; break;
    case 16: *v = 2; break;
    case 38: *v = 1 << 16; break;
    case 75: *v = 9; break;
    case 76: *v = 0; break;
    case 97: *v = 101376; break;
    default: return INVALID_VALUE;
    }
    return d;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { return *c = &failed, d; }
int cuCtxSetCurrent(void *c) { return c == &failed ? OK : 201; }

int cuGetErrorString(int code, const char **text)
{
    static const char *known[] = {"no error", "invalid argument", "out of memory"};
    *text = code == ILLEGAL_ADDRESS  ? "an illegal memory access was encountered"
            : code == 100            ? "no CUDA-capable device is detected"
            : code >= 0 && code <= 2 ? known[code]
                                     : "unknown";
    return OK;
}

/* Each piece knows its size, so that copies beyond it are refused, as a device does. */
enum { PIECES = 4096 };
static struct { char *at; size_t size; } pieces[PIECES];
static int holds(uint64_t at, size_t bytes)
{
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].at && (uint64_t)pieces[i].at <= at &&
            at + bytes <= (uint64_t)pieces[i].at + pieces[i].size)
            return 1;
    return 0;
}
int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
    if (bytes > (size_t)1 << 30)
        return 2;
    for (int i = 0; i < PIECES; i++)
        if (!pieces[i].at) {
            pieces[i].at = calloc(1, bytes);
            pieces[i].size = bytes;
            return *at = (uint64_t)pieces[i].at, OK;
        }
    return 2;
}
int cuMemFree_v2(uint64_t at)
{
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].at == (char *)at)
            return free(pieces[i].at), pieces[i].at = 0, OK;
    return INVALID_VALUE;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
    return !holds(to, n) ? INVALID_VALUE : (memcpy((void *)to, from, n), failed);
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
    return !holds(from, n) ? INVALID_VALUE : (memcpy(to, (void *)from, n), failed);
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t n)
{
    return !holds(to, n) || !holds(from, n) ? INVALID_VALUE
                                            : (memcpy((void *)to, (void *)from, n), failed);
}
int cuMemsetD8_v2(uint64_t to, unsigned char v, size_t n)
{
    return !holds(to, n) ? INVALID_VALUE : (memset((void *)to, v, n), failed);
}

int cuModuleLoadData(void **module, const void *image)
{
    return *module = calloc(1, 1), image ? OK : 200;
}
int cuModuleUnload(void *module) { return free(module), OK; }
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    static const char *known[] = {"probe", "compare", "read_all", "twice", "sums", "four"};
    for (int i = 0; module && i < 6; i++)
        if (strstr(name, known[i]))
            return *function = (void *)known[i], OK;
    return *function = (void *)"other", module ? OK : NOT_FOUND; /* It does nothing. */
}
int cuFuncSetAttribute(void *f, int what, int v) { return opted = v, f && what == 8 ? OK : 1; }

/* y[i] = 2 * x[i] + items in a group, with a fault for some sizes of groups. */
static void twice(const int *x, int *y, long items, int group)
{
    for (long i = 0; i < items; i++)
        y[i] = 2 * x[i] + group;
    if (group == 16)
        y[items] = 7;
    if (group == 8)
        y[5] += 1;
    if (group == 4)
        failed = ILLEGAL_ADDRESS;
    if (group == 2)
        abort();
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **values, void **extra)
{
    const char *name = function;
    long items = (long)gx * gy * gz * bx * by * bz;
    if (stream || extra || bx * by * bz > 1024 || shared > 49152 && (int)shared > opted)
        return INVALID_VALUE;
    last = bx == 64 ? 0.25 : 0.5;
    if (!strcmp(name, "probe"))
        for (long i = 0; i < items; i++)
            (*(int **)values[0])[i] += 41;
    if (!strcmp(name, "twice"))
        twice(*(int **)values[0], *(int **)values[1], items, bx);
    if (!strcmp(name, "sums")) /* The length of shared memory, as it arrives. */
        for (long i = 0; i < items; i++)
            (*(int **)values[0])[i] = shared;
    if (!strcmp(name, "compare") && !getenv("STUB_TRUSTS")) /* Doubtful: the host decides. */
        **(unsigned **)values[4] = 1;
    return OK;
}

int cuEventCreate(void **event, unsigned flags) { return *event = calloc(1, 4), (int)flags; }
int cuEventDestroy_v2(void *event) { return free(event), OK; }
int cuEventRecord(void *event, void *stream) { return event && !stream ? OK : INVALID_VALUE; }
int cuEventSynchronize(void *event) { return event ? failed : INVALID_VALUE; }
int cuEventElapsedTime(float *ms, void *a, void *b) { return *ms = last, a && b ? OK : 1; }

/* NVRTC: one `__global__` a program, whose parameters' sizes follow from their texts. A source with
 * `#define WG 32` does not compile, in the words of NVRTC 13.5. */
struct program { char *source, name[256], ptx[1024]; };

const char *nvrtcGetErrorString(int code) { return code == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "?"; }
int nvrtcGetNumSupportedArchs(int *n) { return *n = 2, OK; }
int nvrtcGetSupportedArchs(int *all) { return all[0] = 80, all[1] = 90, OK; }
int nvrtcCreateProgram(struct program **p, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names)
{
    *p = calloc(1, sizeof **p);
    (*p)->source = strdup(source);
    return headers || texts || names || strcmp(name, "kernel.cu") ? 3 : OK;
}
int nvrtcAddNameExpression(struct program *p, const char *name)
{
    return snprintf(p->name, sizeof p->name, "%s", name), OK;
}
static const char *log_of(struct program *p)
{
    return strstr(p->source, "#define WG 32\n")
               ? "kernel.cu(13): error: identifier \"nothing\" is undefined\n      y[i] = nothing;\n"
               : "";
}
int nvrtcCompileProgram(struct program *p, int n, const char *const *options)
{
    int target = 0;
    for (int i = 0; i < n; i++)
        target |= !strcmp(options[i], "--gpu-architecture=sm_90");
    const char *at = strstr(p->source, "kernel void ");
    at = at ? at : strstr(p->source, "__global__ void ");
    if (!target || !at)
        return 5;
    if (*log_of(p))
        return 6;
    at = strstr(at, "void ") + 5;
    const char *open = strchr(at, '('), *close = strchr(open, ')');
    char *ptx = p->ptx;
    ptx += sprintf(ptx, ".visible .entry %.*s(", (int)(open - at), at);
    for (const char *one = open + 1; one < close; one = strcspn(one, ",)") + one + 1) {
        char text[128] = "";
        strncat(text, one, strcspn(one, ",)") < 127 ? strcspn(one, ",)") : 127);
        int bits = strchr(text, '*') || strstr(text, "ulong") ? 64 : 32;
        ptx += sprintf(ptx, "%s.param .u%d p", one > open + 1 ? "," : "", bits);
    }
    sprintf(ptx, ")\n{ }\n");
    return OK;
}
int nvrtcGetProgramLogSize(struct program *p, size_t *n) { return *n = strlen(log_of(p)) + 1, OK; }
int nvrtcGetProgramLog(struct program *p, char *log) { return strcpy(log, log_of(p)), OK; }
int nvrtcGetLoweredName(struct program *p, const char *name, const char **lowered)
{
    static char own[256];
    char *at = strstr(p->ptx, ".entry ") + 7;
    snprintf(own, sizeof own, "%.*s", (int)strcspn(at, "("), at);
    return *lowered = own, strcmp(name, p->name);
}
int nvrtcGetPTXSize(struct program *p, size_t *n) { return *n = strlen(p->ptx) + 1, OK; }
int nvrtcGetPTX(struct program *p, char *ptx) { return strcpy(ptx, p->ptx), OK; }
int nvrtcGetCUBINSize(struct program *p, size_t *n) { return *n = p ? 4 : 0, OK; }
int nvrtcGetCUBIN(struct program *p, char *bin) { return memcpy(bin, "stub", 4), p ? OK : 4; }
int nvrtcDestroyProgram(struct program **p)
{
    return free((*p)->source), free(*p), *p = 0, OK;
}
