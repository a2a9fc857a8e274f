#!/usr/bin/env bash
# Fuzzes a reader of files until it has seen so many inputs, and says how many it saw:
#   tests/fuzz/run.sh BUILD NAME [INPUTS [FOLDER]]     a million inputs; FOLDER keeps what was new to it, for the next time
# The fuzzer is built first (clang). An input that ends it, or takes longer than 30 s, is left in FOLDER as crash-… or timeout-…: mend
# the reader and add the input to tests/fuzz/corpus/NAME, which ctest replays.
set -euo pipefail
build=$1 name=$2 inputs=${3:-1000000}
here=$(dirname "$(realpath "$0")")
folder=${4:-$build/fuzz/$name}
# Longer inputs are slower and find no more: a file of each kind that has everything in it fits.
case $name in
    csv | distribution) longest=512 ;;
    formula) longest=128 ;;
    model | platform) longest=1536 ;;
    trace) longest=4608 ;;
    *) echo "there is no fuzz target $name" >&2 && exit 2 ;;
esac
cmake --build "$build" --target "fuzz_$name"
mkdir -p "$folder/found"
# Half of the time would go into remembering where each piece of memory came from and was given back.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}
exec "$build/tests/fuzz_$name" -runs="$inputs" -max_len="$longest" -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/found" "$here/corpus/$name"
