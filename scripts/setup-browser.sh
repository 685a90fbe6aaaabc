#!/usr/bin/env bash
# Makes sure that a browser without a screen is here, for the test that opens the pages of --html.
#
# Installs what is missing where that is possible without a question. Where it is not, CI fails; on
# anybody else's machine a message says what to install, and the test is skipped.
set -euo pipefail

here() {
    [ -n "${TICKBOUND_BROWSER:-}" ] && return 0
    local name
    for name in chromium-headless-shell chromium google-chrome; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

here && exit 0
install=$(dirname "${BASH_SOURCE[0]}")/install-packages.sh
bash "$install" chromium-headless-shell || bash "$install" chromium || true
here && exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-browser: a browser is needed in CI, such as chromium-headless-shell" >&2
    exit 1
fi
echo "setup-browser: the test that opens pages is skipped; to run it, install chromium-headless-shell or chromium" >&2
