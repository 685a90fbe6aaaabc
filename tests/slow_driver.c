/* An OpenCL library whose compiler is slow, in front of the system's one.
 *
 * Each build from source takes SLOW_MS milliseconds longer; a build from a binary does not. With
 * SLOW_GPU set, all devices are graphics processors. Builds from source and launches are lines in
 * the file SLOW_LOG: `b` and `e` for the begin and end of a build, `r` for a launch, `f` for one
 * of `read_all`, the process, and the time in microseconds. Functions that are not here are found in the library behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAMS = 4096 };
static void *from_source[PROGRAMS];
static unsigned created;

static void note(char what)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *log = fopen(getenv("SLOW_LOG"), "a");
    if (!log)
        return;
    fprintf(log, "%c %d %ld\n", what, getpid(), now.tv_sec * 1000000L + now.tv_nsec / 1000);
    fclose(log);
}

static int *find(void *program)
{
    static int found;
    for (found = 0; found < PROGRAMS; found++)
        if (program && from_source[found] == program)
            return &found;
    return 0;
}

void *clCreateProgramWithSource(void *context, unsigned count, const char **strings,
                                const size_t *lengths, int *error)
{
    void *(*next)(void *, unsigned, const char **, const size_t *, int *) =
        dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    void *program = next(context, count, strings, lengths, error);
    from_source[created++ % PROGRAMS] = program;
    return program;
}

void *clCreateProgramWithBinary(void *context, unsigned count, void *devices,
                                const size_t *lengths, const unsigned char **binaries, int *status,
                                int *error)
{
    void *(*next)(void *, unsigned, void *, const size_t *, const unsigned char **, int *, int *) =
        dlsym(RTLD_NEXT, "clCreateProgramWithBinary");
    void *program = next(context, count, devices, lengths, binaries, status, error);
    for (int *old; (old = find(program));)
        from_source[*old] = 0;
    return program;
}

int clBuildProgram(void *program, unsigned count, void *devices, const char *options, void *done,
                   void *data)
{
    int (*next)(void *, unsigned, void *, const char *, void *, void *) =
        dlsym(RTLD_NEXT, "clBuildProgram");
    if (!find(program))
        return next(program, count, devices, options, done, data);
    note('b');
    usleep(1000 * atoi(getenv("SLOW_MS")));
    int error = next(program, count, devices, options, done, data);
    note('e');
    return error;
}

int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset,
                           const size_t *global, const size_t *local, unsigned count, void *wait,
                           void *event)
{
    int (*next)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
                void *, void *) = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    int (*ask)(void *, unsigned, size_t, void *, size_t *) = dlsym(RTLD_NEXT, "clGetKernelInfo");
    enum { CL_KERNEL_FUNCTION_NAME = 0x1190 };
    char name[64] = "";
    ask(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, 0);
    note(strcmp(name, "read_all") ? 'r' : 'f');
    return next(queue, kernel, dimensions, offset, global, local, count, wait, event);
}

int clGetDeviceInfo(void *device, unsigned what, size_t size, void *value, size_t *needed)
{
    int (*next)(void *, unsigned, size_t, void *, size_t *) = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    int error = next(device, what, size, value, needed);
    enum { CL_DEVICE_TYPE = 0x1000, CL_DEVICE_TYPE_GPU = 4 };
    if (what == CL_DEVICE_TYPE && value && getenv("SLOW_GPU"))
        *(unsigned long *)value = CL_DEVICE_TYPE_GPU;
    return error;
}
