#!/usr/bin/env bash
# Prints what runs programs for another processor here: QEMU's user mode, and the folder of that processor's C library below
# which programs find `lib`, a line each; nothing where PROCESSOR is this machine's.
#
#   scripts/emulator.sh PROCESSOR
#   scripts/emulator.sh PROCESSOR PROGRAM    prints a shell script that runs PROGRAM so, or as it is
#
# For aarch64 Debian and Ubuntu have them in the packages qemu-user-static and libc6-arm64-cross. QEMU_LD_PREFIX names
# another folder.
set -euo pipefail

processor=$1
program=${2:-}
if [ "$processor" = "$(uname -m)" ]; then
    [ -z "$program" ] || printf '#!/bin/sh\nexec "%s" "$@"\n' "$program"
    exit 0
fi
prefix=${QEMU_LD_PREFIX:-/usr/$processor-linux-gnu}
if ! emulator=$(command -v "qemu-$processor-static"); then
    echo "emulator: there is no qemu-$processor-static here" >&2
    exit 1
fi
if ! [ -e "$prefix/lib/libc.so.6" ]; then
    echo "emulator: $prefix/lib has no C library for $processor; QEMU_LD_PREFIX names another folder" >&2
    exit 1
fi
if [ -n "$program" ]; then
    printf '#!/bin/sh\nexec "%s" -L "%s" "%s" "$@"\n' "$emulator" "$prefix" "$program"
else
    printf '%s\n' "$emulator" "$prefix"
fi
