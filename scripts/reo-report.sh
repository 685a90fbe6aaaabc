#!/usr/bin/env bash
# Measures the products of connectors and writes docs/results/reo.md with its plot, and docs/results/streams.md.
#
#   scripts/reo-report.sh PROGRAM FOLDER
#
# On an idle machine: other work on it shows in the figures.
set -euo pipefail
program=$1 folder=$2
page=$folder/reo.md

cargo xtask reo-bench --plot "$folder/reo-bench.svg" --json >"$folder/reo-bench.json"
{
    echo "# Products of connectors, measured"
    echo
    echo "Written by \`cargo xtask run reo\` on $(date -u +%Y-%m-%d)."
    echo
    echo "## The experiment of the thesis"
    echo
    echo "\`cargo xtask reo-bench\`: products of the two 4-state FIFO1 squares, and the dense product beside a"
    echo "plain fill of as many bytes."
    echo
    cargo xtask reo-bench
    echo
    echo "![Milliseconds over the number of products](reo-bench.svg)"
    echo
    echo "## Known connectors"
    echo
    echo '```console'
    for line in \
        "examples/connectors/alternator.treo --set n=6" \
        "examples/connectors/alternator.treo --set n=64 --hide-inner --minimize weak" \
        "examples/connectors/sequencer.treo --set n=64 --set start=0 --hide-inner --minimize weak" \
        "examples/connectors/alternator.treo --set n=64 --mode implicit"; do
        echo "\$ tickbound reo compose $line"
        # shellcheck disable=SC2086
        "$program" reo compose $line
    done
    echo '```'
    echo
    echo "## The reachable product"
    echo
    echo "\`cargo bench -p tickbound-reo --bench reachable\`:"
    echo
    echo '```text'
    cargo bench -q -p tickbound-reo --bench reachable 2>/dev/null
    echo '```'
    echo
    echo 'What is compared with a bar, in seconds of all processors and in turns, medians of 9 (`-- "many steps" 9` and `-- least 9` behind the'
    echo 'command above). A part with 36 steps, of which 18 buffers take one each, beside a chain of 18'
    echo 'buffers: at most 3 times as long a step. Minimising where no two states do the same beside composing: not longer, in at most twice the memory.'
    echo
    echo '```text'
    for bar in "many steps" least; do
        cargo bench -q -p tickbound-reo --bench reachable -- "$bar" 9 2>/dev/null | grep "^$bar"
    done
    echo '```'
} >"$page.new"
mv "$page.new" "$page"
echo "wrote $page" >&2
python3 "$(dirname "${BASH_SOURCE[0]}")/streams-report.py" "$program" "$folder/streams.md" --date "$(date -u +%Y-%m-%d)"
