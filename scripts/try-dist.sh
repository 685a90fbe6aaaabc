#!/usr/bin/env bash
# Tries what scripts/dist.sh has made, without this checkout:
#
#   scripts/try-dist.sh TARBALL [WHEEL]
#
# The tarball in a root folder that holds the C library's files and nothing else; the wheel in a new virtual environment that
# reaches no package index. What is for another processor runs under QEMU (scripts/emulator.sh), whose one file the root folder
# has besides. Its wheel is installed as pip does there, and its module runs in this machine's Python: it is Python alone.
set -euo pipefail

[ $# -ge 1 ] || {
    echo "usage: try-dist.sh TARBALL [WHEEL]" >&2
    exit 2
}
tarball=$(realpath "$1")
wheel=${2:+$(realpath "$2")}
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { echo "try-dist: $*" >&2; }
die() {
    say "$*"
    exit 1
}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# --- the C library alone -------------------------------------------------------

name=$(basename "$tarball" .tar.gz)
mkdir -p "$root/opt" "$root/work" "$root/bin" "$root/tmp"
tar -xzf "$tarball" -C "$root/opt"
[ -x "$root/opt/$name/bin/tickbound" ] || die "$tarball holds no $name/bin/tickbound"
processor=${name%-linux}
processor=${processor##*-}
mapfile -t emulator < <(bash "$scripts/emulator.sh" "$processor")
[ ${#emulator[@]} -eq 2 ] || [ "$processor" = "$(uname -m)" ] || die "$name does not run here"
# The interpreter that the program names, and the libraries of the same C library: where they are here, and there.
loader=$(readelf -l "$root/opt/$name/bin/tickbound" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
prefix=${emulator[1]:-}
if [ -n "$prefix" ]; then
    libraries=/lib
    cp -L "${emulator[0]}" "$root/bin/qemu"
else
    libraries=$(dirname "$(ldd "$(command -v bash)" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')")
fi
[ -e "$prefix$loader" ] || die "this machine has no $prefix$loader"
mkdir -p "$root$(dirname "$loader")" "$root$libraries"
cp -L "$prefix$loader" "$root$loader"
for library in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0; do
    if [ -e "$prefix$libraries/$library" ]; then cp -L "$prefix$libraries/$library" "$root$libraries/"; fi
done
ln -s "../opt/$name/bin/tickbound" "$root/bin/tickbound"
cp "$root/opt/$name/share/tickbound/examples/problems/matmul.json" "$root/work/mine.json"

# By their paths: the environment is empty, too.
PATH=$PATH:/usr/sbin:/sbin
chroot=$(command -v chroot)
if [ "$(id -u)" -eq 0 ]; then
    enter=("$chroot" "$root")
else
    enter=("$(command -v unshare)" --user --map-root-user "$chroot" "$root")
fi
if [ -n "$prefix" ]; then enter+=(/bin/qemu); fi

# expect STATUS TEXT ARGUMENT...: the program in the root folder ends with the status, and says the text.
expect() {
    local status=0 said
    said=$(env -i "${enter[@]}" "${@:3}" 2>&1) || status=$?
    if [ "$status" != "$1" ] || ! grep -qF -- "$2" <<<"$said"; then
        die "${*:3}: exit status $status, expected $1 and \`$2\`; it says: $said"
    fi
}

installed=/opt/$name/bin/tickbound
share=/opt/$name/share/tickbound
expect 0 "tickbound " "$installed" --version
expect 0 "533,248 ticks" "$installed" tune "$share/examples/problems/abstract.json" --input size=1024
expect 0 "proved:     the simulator has run all 231 configurations" "$installed" tune "$share/examples/problems/matmul.json"
expect 0 "proved:     Z3 finds nothing within 155 ticks" "$installed" tune "$share/examples/problems/abstract.json" --strategy bisect --encoding summary
expect 0 "32 states" "$installed" reo compose "$share/examples/connectors/alternator.treo" --set n=6
expect 0 "global_access" "$installed" platforms h200
expect 2 "there is no such file" "$installed" tune nothing.json
expect 2 "fix the platform file" "$installed" tune "$share/examples/problems/matmul.json" --platform "$share/examples/connectors/alternator.treo"
[ -s "$root/opt/$name/share/man/man1/tickbound-tune.1" ] || die "$tarball holds no manual pages"
[ -s "$root/opt/$name/lib/tickbound/libtickbound_capture.so" ] || die "$tarball holds no layer for \`capture\`"
expect 0 "complete -F" "$installed" completions bash
# By a link, and in a folder of one's own.
expect 0 "least time: 6,174,656 ticks" /bin/tickbound tune /work/mine.json
# What reading a kernel needs is missing here: an error, and no crash.
expect 2 "tickbound: " "$installed" tune "$share/examples/kernels/minimum.json"
say "$name runs with the C library alone"

# --- the wheel -----------------------------------------------------------------

[ -n "$wheel" ] || exit 0
python3 -m venv "$root/python"
install=("$root/python/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps)
if [ -n "$prefix" ]; then
    "${install[@]}" --target "$root/wheel" --only-binary=:all: --platform "manylinux_2_17_$processor" "$wheel"
    bash "$scripts/emulator.sh" "$processor" "$root/wheel/bin/tickbound" >"$root/tickbound"
    chmod 755 "$root/tickbound"
    program=$root/tickbound
    variables=("TICKBOUND=$program" "PYTHONPATH=$root/wheel")
    with="this machine's Python"
else
    "${install[@]}" "$wheel"
    program=$root/python/bin/tickbound
    variables=(-u TICKBOUND -u PYTHONPATH)
    with="a virtual environment"
fi
cd "$root/work"
env "${variables[@]}" "$root/python/bin/python" - "$program" <<'PY'
import doctest, sys, tickbound

result = tickbound.tune("mine.json", top=3)
assert (result.time, result.proved) == (6174656, True) and len(result.ranking) >= 3, result
assert doctest.testmod(tickbound) == (0, 5), "the examples of the module"
assert tickbound._program.program() == sys.argv[1], tickbound._program.program()
try:
    tickbound.tune("nothing.json")
except tickbound.TickboundError as error:
    assert "nothing.json" in str(error), error
else:
    raise SystemExit("no error for a file that is not there")
PY
"$program" --version >/dev/null
say "$(basename "$wheel") works in $with"
