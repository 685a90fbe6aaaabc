#!/usr/bin/env bash
# Prints what runs programs for another processor here: QEMU's user mode, and the folder of that processor's C library below
# which programs find `lib`, a line each; nothing where PROCESSOR is this machine's.
#
#   scripts/emulator.sh PROCESSOR
#
# For aarch64 Debian and Ubuntu have them in the packages qemu-user-static and libc6-arm64-cross. QEMU_LD_PREFIX names
# another folder.
set -euo pipefail

processor=$1
[ "$processor" != "$(uname -m)" ] || exit 0
prefix=${QEMU_LD_PREFIX:-/usr/$processor-linux-gnu}
if ! emulator=$(command -v "qemu-$processor-static"); then
    echo "emulator: there is no qemu-$processor-static here" >&2
    exit 1
fi
if ! [ -e "$prefix/lib/libc.so.6" ]; then
    echo "emulator: $prefix/lib has no C library for $processor; QEMU_LD_PREFIX names another folder" >&2
    exit 1
fi
printf '%s\n' "$emulator" "$prefix"
