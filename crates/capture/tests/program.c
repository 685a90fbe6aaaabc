/* A program with OpenCL whose launches the tests know. What it does is named by its arguments, each
 * done in order. It declares what it needs, so that no headers are needed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *object;
typedef const void *data;
typedef unsigned long bits;
int clGetPlatformIDs(unsigned, object *, unsigned *);
int clGetDeviceIDs(object, bits, unsigned, object *, unsigned *);
object clCreateContext(data, unsigned, object *, data, data, int *);
object clCreateCommandQueue(object, object, bits, int *);
object clCreateProgramWithSource(object, unsigned, const char **, data, int *);
object clCreateProgramWithBinary(object, unsigned, object *, const size_t *, const unsigned char **,
                                 int *, int *);
int clGetProgramInfo(object, unsigned, size_t, void *, size_t *);
int clBuildProgram(object, unsigned, object *, const char *, data, data);
int clCompileProgram(object, unsigned, object *, const char *, unsigned, data, data, data, data);
object clLinkProgram(object, unsigned, object *, const char *, unsigned, object *, data, data, int *);
object clCreateKernel(object, const char *, int *);
int clCreateKernelsInProgram(object, unsigned, object *, unsigned *);
object clCloneKernel(object, int *);
int clReleaseKernel(object);
int clSetKernelArg(object, unsigned, size_t, data);
int clSetKernelArgSVMPointer(object, unsigned, data);
object clCreateBuffer(object, bits, size_t, data, int *);
object clCreateSubBuffer(object, bits, unsigned, data, int *);
object clCreateImage2D(object, bits, data, size_t, size_t, size_t, data, int *);
object clCreateSampler(object, unsigned, unsigned, unsigned, int *);
int clReleaseMemObject(object);
void *clSVMAlloc(object, bits, size_t, unsigned);
int clEnqueueNDRangeKernel(object, object, unsigned, data, data, data, unsigned, data, data);
int clEnqueueTask(object, object, unsigned, data, data);
int clEnqueueReadBuffer(object, object, unsigned, size_t, size_t, void *, unsigned, data, data);
int clFinish(object);
object clCreateUserEvent(object, int *);

static const char *source =
    "kernel void scale(global float *x, float a, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) x[i] *= a;\n"
    "}\n"
    "kernel void rows(global const float *x, global float *y, local float *part, int width) {\n"
    "  int row = get_group_id(1), lid = get_local_id(0);\n"
    "  float sum = 0;\n"
    "  for (int c = lid; c < width; c += WG) sum += x[row * width + c];\n"
    "  part[lid] = sum;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (lid == 0) { for (int s = 1; s < WG; s++) sum += part[s]; y[row] = sum; }\n"
    "}\n"
    "kernel void pick(read_only image2d_t from, sampler_t how, global float4 *to) {\n"
    "  to[0] = read_imagef(from, how, (int2)(0, 0));\n"
    "}\n";
static object device, context, queue, program, scale, rows, x, y;

static object ok(object o, int line)
{
    if (!o) {
        fprintf(stderr, "line %d failed\n", line);
        exit(9);
    }
    return o;
}
#define MADE(o) ok((o), __LINE__)
#define DONE(e) ok((e) == 0 ? (object)&device : 0, __LINE__)

static void begin(void)
{
    object platform;
    unsigned n;
    int e;
    DONE(clGetPlatformIDs(1, &platform, &n));
    DONE(clGetDeviceIDs(platform, 0xffffffff, 1, &device, &n));
    context = MADE(clCreateContext(0, 1, &device, 0, 0, &e));
    queue = MADE(clCreateCommandQueue(context, device, 0, &e));
    program = MADE(clCreateProgramWithSource(context, 1, &source, 0, &e));
    DONE(clBuildProgram(program, 1, &device, "-DWG=32 -D NAME=\"a b\" -cl-mad-enable", 0, 0));
    scale = MADE(clCreateKernel(program, "scale", &e));
    rows = MADE(clCreateKernel(program, "rows", &e));
    x = MADE(clCreateBuffer(context, 1, 12800, 0, &e));
    y = MADE(clCreateBuffer(context, 1, 64, 0, &e));
}

/* An event that launches of `scale` wait for. */
static object gate;

static void run_scale(object kernel, size_t items, size_t local, int n)
{
    float a = 0.5f;
    DONE(clSetKernelArg(kernel, 0, sizeof x, &x));
    DONE(clSetKernelArg(kernel, 1, sizeof a, &a));
    DONE(clSetKernelArg(kernel, 2, sizeof n, &n));
    DONE(clEnqueueNDRangeKernel(queue, kernel, 1, 0, &items, local ? &local : 0, gate != 0,
                                gate ? &gate : 0, 0));
}

static void run_rows(void)
{
    size_t global[2] = {32, 16}, local[2] = {32, 1};
    int width = 200;
    DONE(clSetKernelArg(rows, 0, sizeof x, &x));
    DONE(clSetKernelArg(rows, 1, sizeof y, &y));
    DONE(clSetKernelArg(rows, 2, 128, 0));
    DONE(clSetKernelArg(rows, 3, sizeof width, &width));
    DONE(clEnqueueNDRangeKernel(queue, rows, 2, 0, global, local, 0, 0, 0));
}

static void run_objects(void)
{
    int e;
    object other = MADE(clCreateKernel(program, "scale", &e));
    DONE(clReleaseKernel(scale));
    /* The address of a kernel that is gone may come back; its arguments must not. */
    scale = MADE(clCreateKernel(program, "scale", &e));
    run_scale(scale, 64, 64, 1);
    DONE(clReleaseMemObject(x));
    x = MADE(clCreateBuffer(context, 1, 25600, 0, &e));
    run_scale(other, 64, 64, 1);
    size_t region[2] = {128, 256};
    object whole = x;
    x = MADE(clCreateSubBuffer(whole, 1, 0x1220, region, &e));
    run_scale(other, 64, 64, 1);
    object null = 0;
    size_t one = 64, at = 64;
    DONE(clSetKernelArg(other, 0, sizeof null, &null));
    DONE(clEnqueueNDRangeKernel(queue, other, 1, &at, &one, &one, 0, 0, 0));
    float *shared = MADE(clSVMAlloc(context, 1, 1024, 0));
    DONE(clSetKernelArgSVMPointer(other, 0, shared + 64));
    DONE(clEnqueueTask(queue, other, 0, 0, 0));
    unsigned format[2] = {0x10B5, 0x10DE};
    object pick = MADE(clCreateKernel(program, "pick", &e));
    object image = MADE(clCreateImage2D(context, 1, format, 16, 8, 0, 0, &e));
    object sampler = MADE(clCreateSampler(context, 0, 0x1131, 0x1140, &e));
    DONE(clSetKernelArg(pick, 0, sizeof image, &image));
    DONE(clSetKernelArg(pick, 1, sizeof sampler, &sampler));
    DONE(clSetKernelArg(pick, 2, sizeof whole, &whole));
    DONE(clEnqueueTask(queue, pick, 0, 0, 0));
}

static void run_clone(void)
{
    int e, n = 2;
    size_t items = 64;
    DONE(clSetKernelArg(scale, 0, sizeof x, &x));
    DONE(clSetKernelArg(scale, 2, sizeof n, &n));
    object copy = clCloneKernel(scale, &e);
    if (!copy)
        return;
    DONE(clEnqueueNDRangeKernel(queue, copy, 1, 0, &items, &items, 0, 0, 0));
    n = 3;
    DONE(clSetKernelArg(copy, 2, sizeof n, &n));
    DONE(clEnqueueNDRangeKernel(queue, copy, 1, 0, &items, &items, 0, 0, 0));
    DONE(clEnqueueNDRangeKernel(queue, scale, 1, 0, &items, &items, 0, 0, 0));
}

static void run_linked(void)
{
    int e;
    const char *parts[2] = {"float f(float a) { return a + OF; }\n",
                            "float f(float a);\n"
                            "kernel void g(global float *x) { x[get_global_id(0)] = f(1); }\n"};
    object objects[2];
    for (int i = 0; i < 2; i++) {
        objects[i] = MADE(clCreateProgramWithSource(context, 1, &parts[i], 0, &e));
        DONE(clCompileProgram(objects[i], 1, &device, i ? "-DPART" : "-DOF=2", 0, 0, 0, 0, 0));
    }
    object whole = MADE(clLinkProgram(context, 1, &device, 0, 2, objects, 0, 0, &e));
    object g = MADE(clCreateKernel(whole, "g", &e));
    size_t items = 16;
    DONE(clSetKernelArg(g, 0, sizeof x, &x));
    DONE(clEnqueueNDRangeKernel(queue, g, 1, 0, &items, 0, 0, 0, 0));
}

/* The child of a process that has launched something. The platform's threads are not in it, so that
   nothing may reach them: PoCL could wait for one forever. */
static void run_forked(void)
{
    int e;
    DONE(clFinish(queue));
    gate = MADE(clCreateUserEvent(context, &e));
    int child = fork();
    if (!child) {
        for (int i = 0; i < 2; i++)
            run_scale(scale, 64, 64, 5);
        _exit(0);
    }
    waitpid(child, 0, 0);
    gate = 0;
}

static void run_binary(void)
{
    size_t size;
    int e;
    DONE(clGetProgramInfo(program, 0x1165, sizeof size, &size, 0));
    unsigned char *bytes = malloc(size);
    DONE(clGetProgramInfo(program, 0x1166, sizeof bytes, &bytes, 0));
    const unsigned char *binary = bytes;
    object p = MADE(clCreateProgramWithBinary(context, 1, &device, &size, &binary, 0, &e));
    DONE(clBuildProgram(p, 1, &device, 0, 0, 0));
    object kernels[3];
    unsigned made;
    DONE(clCreateKernelsInProgram(p, 3, kernels, &made));
    size_t items = 8;
    object k = MADE(clCreateKernel(p, "scale", &e));
    run_scale(k, items, 0, 8);
}

static void step(const char *what)
{
    if (!strcmp(what, "scale"))
        for (int i = 0; i < 3; i++)
            run_scale(scale, 3328, i ? 64 : 0, 3200);
    else if (!strcmp(what, "rows"))
        run_rows();
    else if (!strcmp(what, "many"))
        for (int i = 0; i < 37; i++)
            run_scale(scale, 64, 64, i % 2);
    else if (!strcmp(what, "different"))
        for (int i = 0; i < 10003; i++)
            run_scale(scale, 64, 64, i);
    else if (!strcmp(what, "objects"))
        run_objects();
    else if (!strcmp(what, "linked"))
        run_linked();
    else if (!strcmp(what, "binary"))
        run_binary();
    else if (!strcmp(what, "clone"))
        run_clone();
    else if (!strcmp(what, "remove"))
        DONE(unlink("gone/process0/capture.jsonl") || rmdir("gone/process0"));
    else if (!strcmp(what, "fork-later"))
        run_forked();
    else if (!strcmp(what, "elsewhere"))
        DONE(chdir("/"));
    else if (!strcmp(what, "killed"))
        raise(SIGKILL);
    else if (!strcmp(what, "wait"))
        pause();
    else
        exit(8);
}

int main(int count, char **arguments)
{
    float first;
    int child = count > 1 && !strcmp(arguments[1], "fork") ? fork() : -1;
    begin();
    for (int i = child < 0 ? 1 : 2; i < count; i++)
        step(arguments[i]);
    DONE(clEnqueueReadBuffer(queue, x, 1, 0, sizeof first, &first, 0, 0, 0));
    DONE(clFinish(queue));
    if (child > 0)
        wait(0);
    printf("done\n");
    return 7;
}
