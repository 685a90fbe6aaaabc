#!/usr/bin/env bash
# Makes what is given away: target/dist/tickbound-VERSION-PROCESSOR-linux.tar.gz and a Python wheel.
#
#   scripts/dist.sh [PROCESSOR]     x86_64 or aarch64; this machine's if absent
#
# One program with all it needs but the C library: Z3 is built from source that cargo has checked (the feature
# vendored-z3) and linked statically, as is the C++ library. The compiler is Zig's, out of a Python wheel: it is new enough for
# Z3, links against a C library as old as the one below, and builds for the other processor too. Maturin puts the program
# into a wheel; the tarball takes it from there. The first run builds Z3, which takes an hour of a processor.
#
# What was made is tried at once (scripts/try-dist.sh), that for the other processor where QEMU can run it
# (scripts/emulator.sh). RUSTC names a compiler that has the other processor's standard library, where rustup has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The oldest glibc that Rust's standard library works with.
glibc=2.17

say() { echo "dist: $*" >&2; }
die() {
    say "$*"
    exit 1
}

processor=${1:-$(uname -m)}
case $processor in
x86_64 | aarch64) ;;
*) die "$processor: give x86_64 or aarch64" ;;
esac
target=$processor-unknown-linux-gnu

# --- the tools ---------------------------------------------------------------

# Folders of the tools, found or fetched.
path=
for package in ziglang cmake maturin; do
    python=$(bash scripts/setup-python.sh "$package" "$package")
    "$python" -c 'import importlib.metadata as m, sys; m.version(sys.argv[1])' "$package" 2>/dev/null ||
        die "the Python package $package is needed; see above"
    if [ "$package" = ziglang ]; then zig=$(realpath --no-symlinks "$(command -v "$python")"); fi
    path+=$(cd "$(dirname "$(command -v "$python")")" && pwd):
done
export PATH=$path$PATH
command -v make >/dev/null || die "make is needed to build Z3"
if ! [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/$target" ]; then
    rustup target add "$target" >&2 || die "Rust has no standard library for $target here; try \`rustup target add $target\`"
fi

# --- the wheel ---------------------------------------------------------------

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
out=$PWD/target/dist
wheel=$out/tickbound-$version-py3-none-manylinux2014_$processor.manylinux_${glibc/./_}_$processor.whl
# The same source gives the same files: times are those of the last commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 315532800)
export SOURCE_DATE_EPOCH

say "building for $target; the first time Z3 too"
mkdir -p "$out"
tools=$(mktemp -d "$out/tools.XXXXXX")
rm -f "$wheel"
licences=python/tickbound/THIRD-PARTY.txt
# Maturin puts what is in this folder beside the module: data/lib into the environment's lib.
data=python/tickbound.data
trap 'rm -rf "$licences" "$data" "$tools"' EXIT
"$zig" scripts/third-party.py "$target" >"$licences"

# The layer of `tickbound capture`, which other programs load: it needs the C library alone.
printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.%s "$@"\n' "$zig" "$processor" "$glibc" >"$tools/cc"
chmod 755 "$tools/cc"
name=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_LINKER
env "$name=$tools/cc" cargo build --release --locked --target "$target" -p tickbound-capture >&2
layer=${CARGO_TARGET_DIR:-target}/$target/release/libtickbound_capture.so
install -D -m 644 -t "$data/data/lib/tickbound" "$layer"

(cd python && maturin build --release --zig --target "$target" --compatibility manylinux2014 --locked --features vendored-z3 --out "$out") >&2
[ -f "$wheel" ] || die "maturin has not written $wheel; it says above what it wrote"
python3 -m zipfile --list "$wheel" | grep -q "data/lib/tickbound/${layer##*/}" || die "$wheel lacks ${layer##*/}"

# --- the tarball -------------------------------------------------------------

name=tickbound-$version-$processor-linux
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work" "$licences" "$data" "$tools"' EXIT
folder=$work/$name
share=$folder/share/tickbound
mkdir -p "$folder/bin" "$share"
python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
    "$wheel" "tickbound-$version.data/scripts/tickbound" >"$folder/bin/tickbound"
chmod 755 "$folder/bin/tickbound"
cp -R examples crates/model/platforms "$share"
cp -R docs/reference "$share/schema"
mkdir -p "$folder/lib/tickbound"
cp "$layer" "$folder/lib/tickbound"
cp docs/install.md "$folder/INSTALL.md"
cp LICENSE-APACHE LICENSE-MIT "$folder"
cp "$licences" "$folder"
runs=1
if bash scripts/emulator.sh "$processor" "$folder/bin/tickbound" >"$work/started"; then
    chmod 755 "$work/started"
    bash scripts/man-pages.sh "$work/started" "$folder/share"
else
    runs=
    say "no manual pages and no completions: the program for $processor does not run here"
fi

# Nothing of this machine may be asked for when it runs.
needed=$(readelf -d "$folder/bin/tickbound" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if strange=$(grep -vE '^(libc|libm|libdl|librt|libpthread)\.so\.[0-9]+$|^ld-linux' <<<"$needed"); then
    die "the program needs libraries beside the C library's: $strange"
fi
if readelf -d "$folder/bin/tickbound" | grep -E '\((RPATH|RUNPATH)\)' >&2; then
    die "the program has a run path"
fi
newest=$(readelf --version-info "$folder/bin/tickbound" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
[ "$(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -n 1)" = "GLIBC_$glibc" ] || die "the program needs $newest, which is newer than $glibc"

tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+w,go-w --directory "$work" "$name" |
    gzip --no-name --best >"$work/tarball"
mv "$work/tarball" "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" "${wheel##*/}" >"$name.sha256")

# --- tried -------------------------------------------------------------------

if [ -n "$runs" ]; then
    bash scripts/try-dist.sh "$out/$name.tar.gz" "$wheel"
else
    say "made for $processor and not tried: this machine is $(uname -m); scripts/try-dist.sh tries it there"
fi
say "needs Linux on $processor and glibc ${newest#GLIBC_}"
ls -l "$out/$name.tar.gz" "$wheel" >&2
