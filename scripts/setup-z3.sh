#!/usr/bin/env bash
# Finds or fetches the Z3 that tickbound links with, and says which it took:
#
#   1. the system's libz3, if pkg-config finds one that is new enough;
#   2. else libz3 and its headers out of the Python wheel z3-solver, whose version and SHA-256 sums are in
#      scripts/wheels/z3-solver.txt (`cargo xtask run wheels` renews it); a wheel with another sum is not taken;
#   3. else the cargo feature vendored-z3, which builds Z3 from source that cargo has checked.
#
# The choice is kept in .deps/z3 and costs nothing the second time:
#
#   .deps/z3/pkgconfig/z3.pc   what pkg-config reads (see .cargo/config.toml)
#   .deps/z3/cargo-flags       flags for cargo; empty but for the third choice
#   .deps/z3/stamp             the choice, in words
#
# What `cargo install` installs is the program alone. For it a wheel's libz3 is also put into the user's folder for data
# (~/.local/share/tickbound, or below XDG_DATA_HOME), and z3.pc says where. The folder may be removed with the program.
#
# scripts/pkg-config.sh runs this for a cargo that finds no Z3; then nothing is installed into the system.
#
# TICKBOUND_Z3=system|wheel|vendored leaves only that choice.
# `rm -rf .deps` forgets the choice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

oldest=4.13.3
list=scripts/wheels/z3-solver.txt
wheel=$(sed -n 's/^z3-solver==\([^ ]*\).*/\1/p' "$list")
revision=1 # of what this script writes; a new one makes it run again
deps=.deps/z3
stamp=$deps/stamp
only=${TICKBOUND_Z3:-}

say() { echo "setup-z3: $*" >&2; }
die() {
    say "$*"
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

case $only in
'' | system | wheel | vendored) ;;
*) die "TICKBOUND_Z3 is '$only'; it can be system, wheel or vendored" ;;
esac

# --- done before? -----------------------------------------------------------

usable() {
    [ -f "$stamp" ] && [ -f "$deps/cargo-flags" ] || return 1
    local line kind was library
    line=$(sed -n 1p "$stamp")
    read -r was kind library <<<"$line"
    [ "$was" = "revision-$revision" ] || return 1
    [ -z "$only" ] || [ "$only" = "$kind" ] || return 1
    case $kind in
    wheel) [ -e "$deps/lib/libz3.so" ] && [ -f "$deps/pkgconfig/z3.pc" ] ;;
    system) [ -e "$library" ] && [ -f "$deps/pkgconfig/z3.pc" ] ;;
    vendored) true ;;
    *) false ;;
    esac
}

# --- a compiler, a linker, pkg-config ----------------------------------------

# A build script of cargo has started this.
within_cargo() { [ -n "${OUT_DIR:-}" ]; }

check_tools() {
    have cargo || die "cargo is missing; install Rust >= 1.88 (https://rustup.rs) and run this again"
    local need=()
    have pkg-config || need+=(pkg-config)
    # Linking is what Rust needs; libz3 also wants the C++ library.
    links || need+=(gcc g++ libc6-dev)
    [ ${#need[@]} -eq 0 ] && return
    ! within_cargo || die "these are missing: ${need[*]}; run \`make setup\`, which installs them, and run this again"
    bash scripts/install-packages.sh "${need[@]}" ||
        die "a C compiler with the C++ library and pkg-config are needed; install them and run this again"
    have pkg-config || die "pkg-config is still missing; install it and run this again"
    links || die "cc still cannot link a program with -lstdc++; install gcc and g++ and run this again"
}

links() {
    have cc || return 1
    local out
    out=$(mktemp) || return 1
    local status=0
    echo 'int main(void) { return 0; }' | cc -x c -o "$out" - -lstdc++ >/dev/null 2>&1 || status=1
    rm -f "$out"
    return $status
}

# --- the three choices -------------------------------------------------------

work= # a folder for half-done things, removed on the way out
cleanup() { [ -z "$work" ] || rm -rf "$work"; }
trap cleanup EXIT

why_not_system=
why_not_wheel=

take_system() {
    local version libdir library
    if ! version=$(pkg-config --modversion z3 2>/dev/null); then
        why_not_system="pkg-config knows no z3"
        return 1
    fi
    if ! at_least "$version" "$oldest"; then
        why_not_system="the system's libz3 $version is older than $oldest"
        return 1
    fi
    libdir=$(pkg-config --variable=libdir z3)
    library=$libdir/libz3.so
    [ -e "$library" ] || library=$libdir/libz3.a
    [ -e "$library" ] || library=$libdir/libz3.dylib
    if [ ! -e "$library" ]; then
        why_not_system="z3.pc speaks of version $version but its library is not in '$libdir'"
        return 1
    fi
    # Repeated in a file of our own, so that it is found without the
    # PKG_CONFIG_PATH that may be set just now.
    mkdir -p "$work/z3/pkgconfig"
    {
        echo "libdir=$libdir"
        echo "Name: z3"
        echo "Description: the system's Z3"
        echo "Version: $version"
        echo "Libs: $(pkg-config --libs z3)"
        echo "Cflags: $(pkg-config --cflags z3)"
    } >"$work/z3/pkgconfig/z3.pc"
    : >"$work/z3/cargo-flags"
    finish system "$library" "the system's libz3 $version"
}

# Sets `python` to an interpreter that has pip.
find_pip() {
    python=
    local candidate
    for candidate in python3 python; do
        if have "$candidate" && "$candidate" -m pip --version >/dev/null 2>&1; then
            python=$candidate
            return 0
        fi
    done
    # Python without pip: a virtual environment may bring one along.
    if have python3 && python3 -m venv "$work/venv" >/dev/null 2>&1 &&
        "$work/venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$work/venv/bin/python
        return 0
    fi
    if ! within_cargo && bash scripts/install-packages.sh python3 python3-pip && python3 -m pip --version >/dev/null 2>&1; then
        python=python3
        return 0
    fi
    return 1
}

take_wheel() {
    local python
    if ! find_pip; then
        why_not_wheel="pip is missing (on Debian and Ubuntu: sudo apt-get install python3-pip)"
        return 1
    fi
    # `pip download` installs nothing, so it also works where Debian forbids
    # `pip install` (externally managed environments).
    say "fetching the wheel z3-solver $wheel"
    if ! "$python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
        --only-binary=:all: --require-hashes --dest "$work/wheel" --requirement "$list" </dev/null >&2; then
        why_not_wheel="pip could not fetch z3-solver $wheel (no network, no wheel for this machine, or a sum that is not in $list; see above)"
        return 1
    fi
    if ! "$python" - "$work/wheel" "$work/z3" <<'PY'; then
import os, pathlib, shutil, sys, zipfile

source, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = source.glob("*.whl")
for name in ("lib", "include", "bin"):
    (target / name).mkdir(parents=True)
with zipfile.ZipFile(wheel) as archive:
    for member in archive.namelist():
        folder, _, name = member.rpartition("/")
        place = {"z3/lib": "lib", "z3/include": "include"}.get(folder)
        if folder.endswith(".data/data/bin"):
            place = "bin"
        if place and name:
            with archive.open(member) as data, open(target / place / name, "wb") as out:
                shutil.copyfileobj(data, out)
for program in (target / "bin").iterdir():
    program.chmod(0o755)
# A wheel holds no links: libz3.so and libz3.so.5.3 are two copies there.
lib = target / "lib"
numbered = sorted(lib.glob("libz3.so.*"))
plain = lib / "libz3.so"
if numbered and plain.exists():
    plain.unlink()
    plain.symlink_to(numbered[0].name)
if not any(lib.glob("libz3.*")) or not (target / "include" / "z3.h").exists():
    sys.exit("no libz3 or no z3.h inside " + wheel.name)
PY
        why_not_wheel="the wheel z3-solver $wheel could not be unpacked"
        return 1
    fi
    mkdir -p "$work/z3/pkgconfig"
    cat >"$work/z3/pkgconfig/z3.pc" <<PC
prefix=\${pcfiledir}/..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: z3
Description: Z3 out of the Python wheel z3-solver $wheel
Version: ${wheel%.*}
Libs: -L\${libdir} -lz3
Cflags: -I\${includedir}
PC
    : >"$work/z3/cargo-flags"
    finish wheel "$deps/lib/libz3.so" "libz3 ${wheel%.*} out of the wheel z3-solver $wheel ($why_not_system)"
}

take_vendored() {
    local cmake gcc
    cmake=$(cmake --version 2>/dev/null | sed -n '1s/.* //p') || cmake=
    gcc=$(c++ -dumpfullversion 2>/dev/null || echo 0)
    if ! at_least "${cmake:-0}" 3.26; then
        die "no Z3: $why_not_system; $why_not_wheel; and a build from source needs cmake >= 3.26 (found: ${cmake:-none}). Fix one of the three and run this again"
    fi
    # A compiler that is not GCC (clang) reports no such version; let it try.
    if [ "$gcc" != 0 ] && c++ --version | grep -qi 'free software' && ! at_least "$gcc" 13; then
        die "no Z3: $why_not_system; $why_not_wheel; and a build from source needs GCC >= 13 (found: $gcc). Fix one of the three and run this again"
    fi
    mkdir -p "$work/z3"
    echo "--features vendored-z3" >"$work/z3/cargo-flags"
    finish vendored - "Z3 built from source, which takes a while ($why_not_system; $why_not_wheel). Use make, or give cargo --features vendored-z3"
}

# finish KIND LIBRARY WORDS: puts the new folder in place and says so.
finish() {
    printf 'revision-%s %s %s\n%s\n' "$revision" "$1" "$2" "$3" >"$work/z3/stamp"
    rm -rf "$deps"
    mv "$work/z3" "$deps"
    # Cargo does not notice that a .pc file has changed. (A cargo that waits for this has built nothing with it.)
    if ! within_cargo && [ -d "${CARGO_TARGET_DIR:-target}" ]; then
        cargo clean --quiet -p z3-sys >/dev/null 2>&1 </dev/null || true
        cargo clean --quiet --release -p z3-sys >/dev/null 2>&1 </dev/null || true
    fi
    keep_for_installed
    say "taking $3"
}

# Puts a wheel's libz3 where an installed program finds it without this checkout: whole or not at all.
keep_for_installed() {
    local data=${XDG_DATA_HOME:-${HOME:+$HOME/.local/share}} pc=$deps/pkgconfig/z3.pc library folder
    [ -e "$deps/lib/libz3.so" ] || return 0
    library=$(readlink -f "$deps/lib/libz3.so")
    case $data in
    /*) folder=$data/tickbound/z3-$wheel ;;
    *) return 0 ;; # no home
    esac
    if ! cmp --quiet "$library" "$folder/${library##*/}"; then
        if ! mkdir -p "$folder" 2>/dev/null || ! cp "$library" "$folder/new.$$" || ! mv "$folder/new.$$" "$folder/${library##*/}"; then
            say "$folder cannot be written: what \`cargo install\` installs from here will not find libz3"
            return 0
        fi
    fi
    grep -qx "installed=$folder" "$pc" && return
    { grep -v '^installed=' "$pc"; echo "installed=$folder"; } >"$pc.new"
    mv "$pc.new" "$pc"
    touch "$stamp"
}

if usable; then
    keep_for_installed
    say "$(sed -n 2p "$stamp") - already set up"
    exit 0
fi

check_tools
mkdir -p .deps
work=$(mktemp -d "$PWD/.deps/setup.XXXXXX")

why_not_system="not asked for, TICKBOUND_Z3=$only"
why_not_wheel="the wheel was not asked for, TICKBOUND_Z3=$only"
if [ -z "$only" ] || [ "$only" = system ]; then
    if take_system; then exit 0; fi
    [ -z "$only" ] || die "no Z3: $why_not_system"
fi
if [ -z "$only" ] || [ "$only" = wheel ]; then
    if take_wheel; then exit 0; fi
    [ -z "$only" ] || die "no Z3: $why_not_wheel"
fi
take_vendored
