#!/usr/bin/env bash
# Makes sure that an OpenCL device is here, for the tests that use one: PoCL, which runs OpenCL on the
# processors, the loader, and the headers that a host program in C includes.
#
# Installs what is missing where that is possible without a question. Where it is not, CI fails; on
# anybody else's machine a message says what to install, and the tests that need it are skipped.
set -euo pipefail

# A loader, and a driver that it knows: a file in the vendors' folder names its library.
here() {
    [ -n "${OPENCL_DYLIB_PATH:-}" ] && return 0
    local ldconfig vendors
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
    { "$ldconfig" -p 2>/dev/null || true; } | grep -q 'libOpenCL\.so\.1' &&
        compgen -G "$vendors/*.icd" >/dev/null
}

if [ ! -e /usr/include/CL/cl.h ]; then
    bash "$(dirname "${BASH_SOURCE[0]}")/install-packages.sh" opencl-c-headers || true
fi
here && exit 0
bash "$(dirname "${BASH_SOURCE[0]}")/install-packages.sh" pocl-opencl-icd ocl-icd-libopencl1 || true
here && exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-opencl: an OpenCL driver and its loader are needed in CI" >&2
    exit 1
fi
echo "setup-opencl: the tests that use OpenCL are skipped; to run them, install a driver, such as PoCL (pocl-opencl-icd), and the loader (ocl-icd-libopencl1)" >&2
