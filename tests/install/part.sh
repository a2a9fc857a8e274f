#!/usr/bin/env bash
# Tesela as a part of another project, which gets the libraries alone.
#   part.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
starpu=$(sed -n 's/^TESELA_STARPU_ROOT:[A-Z]*=//p' "$build/CMakeCache.txt")
for by in FetchContent add_subdirectory; do
    cmake -G Ninja -S "$source/tests/install/part" -B "$work/$by" -DBY=$by -DTESELA_SOURCE="$source" \
        -DTESELA_STARPU_ROOT="$starpu" >/dev/null
done
cmake --build "$work/FetchContent" --target user >/dev/null
"$work/FetchContent/user"
cmake --install "$work/FetchContent" --prefix "$work/prefix" >/dev/null
if [ -d "$work/prefix" ] && [ -n "$(find "$work/prefix" -type f)" ]; then
    echo "it installs Tesela, though nobody asked for it:" >&2
    find "$work/prefix" -type f >&2
    exit 1
fi
