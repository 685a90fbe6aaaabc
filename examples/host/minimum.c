/* A host program with a rule for all its sizes: the minimum of an array.
 *
 * The header picks the configuration of examples/kernels/minimum.cl for a size:
 *
 *     tickbound tune examples/kernels/minimum.json --over size=65536..1048576:65536 --tree \
 *         --emit minimum.h
 *     cc -I. examples/host/minimum.c -lOpenCL -o minimum
 *     ./minimum examples/kernels/minimum.cl 65536 1048576
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "minimum.h"

static void check(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    fprintf(stderr, "%s: OpenCL error %d\n", what, status);
    exit(1);
  }
}

static char *contents(const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

/* The minimum by the kernel with these values of its macros. */
static int on_device(cl_context context, cl_device_id device, const char *source,
                     const minimum_variant *variant, const int *input, size_t size) {
  cl_int status;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, variant->options, NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "minimum", &status);
  check(status, "clCreateKernel");

  const size_t local = (size_t)variant->WG, groups = size / (local * (size_t)variant->TS);
  const size_t global = groups * local;
  int *minima = malloc(groups * sizeof *minima);
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                             size * sizeof *input, (void *)input, &status);
  check(status, "clCreateBuffer");
  cl_mem out =
      clCreateBuffer(context, CL_MEM_WRITE_ONLY, groups * sizeof *minima, NULL, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof in, &in), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof out, &out), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, local * sizeof(int), NULL), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, groups * sizeof *minima, minima, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  int least = INT_MAX;
  for (size_t g = 0; g < groups; g++) least = minima[g] < least ? minima[g] : least;
  free(minima);
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  return least;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s minimum.cl SIZE...\n", argv[0]);
    return 2;
  }
  const char *source = contents(argv[1]);
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  for (int i = 2; i < argc; i++) {
    const long size = atol(argv[i]);
    /* At other sizes the configuration that is picked may not even be valid. */
    const int picked = minimum_is_proved(size) ? minimum_pick(size) : -1;
    if (picked < 0) {
      printf("%ld: no size of the rule\n", size);
      continue;
    }
    int *input = malloc((size_t)size * sizeof *input), least = INT_MAX;
    for (long n = 0; n < size; n++) {
      input[n] = (int)((n * 7919 + 104729) % 1000003);
      least = input[n] < least ? input[n] : least;
    }
    const minimum_variant *variant = &minimum_variants[picked];
    const int found = on_device(context, device, source, variant, input, (size_t)size);
    printf("%ld: %s: %d, %s\n", size, variant->options, found, found == least ? "right" : "WRONG");
    free(input);
    if (found != least) return 1;
  }
  clReleaseContext(context);
  return 0;
}
