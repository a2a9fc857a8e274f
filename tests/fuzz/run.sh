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
    csv | distribution | npy) longest=512 ;;
    formula) longest=128 ;;
    model | platform | plan) longest=1536 ;;
    trace | checkpoint) longest=4608 ;;
    hdf5) longest=6656 ;;
    *) echo "there is no fuzz target $name" >&2 && exit 2 ;;
esac
cmake --build "$build" --target "fuzz_$name"
mkdir -p "$folder/found"
# Half of the time would go into remembering where each piece of memory came from and was given back.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}
extra=()
# Readers that take a path are given files, which need no disk.
export TMPDIR=/dev/shm
if [ "$name" = hdf5 ]; then
    # HDF5 itself (1.10) leaks, asks for any memory and crashes on damaged files: what ends in it is passed over, and what is left in
    # FOLDER is ours only if the trace says so.
    extra=(-fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 -detect_leaks=0)
    ASAN_OPTIONS+=:allocator_may_return_null=1
fi
exec "$build/tests/fuzz_$name" "${extra[@]}" -runs="$inputs" -max_len="$longest" -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/found" "$here/corpus/$name"
