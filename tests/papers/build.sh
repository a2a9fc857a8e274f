#!/usr/bin/env bash
# Builds tesela-papers as a stranger would: from what Tesela installs, its headers among it.
#   build.sh SOURCE_DIR BUILD_DIR FOLDER      the program is FOLDER/build/tesela-papers
set -euo pipefail
source=$1 build=$2 folder=$3
rm -rf "$folder/prefix"
cmake --install "$build" --prefix "$folder/prefix" >/dev/null
cmake -G Ninja -S "$source/papers" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
    -DCMAKE_PREFIX_PATH="$folder/prefix"
cmake --build "$folder/build" --target tesela-papers
