#!/usr/bin/env bash
# Installs into a fresh prefix and uses it as a stranger would: through CMake, through pkg-config, and the command.
#   run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/tesela" --version
"$work/prefix/bin/tesela" bench --help >/dev/null

# The example of the README is the one that is built here.
example=$work/example.cpp
awk '/^```cpp/{on=1; next} /^```/{on=0} on' "$source/README.md" > "$example"
diff "$example" "$source/examples/solve.cpp"

cmake -G Ninja -S "$source/tests/install" -B "$work/cmake" -DEXAMPLE="$example" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/user"

libdir=$(dirname "$(find "$work/prefix" -name tesela.pc)")
export PKG_CONFIG_PATH=$libdir
# shellcheck disable=SC2046
sed "s|^prefix=.*|prefix=$work/prefix|" -i "$libdir/tesela.pc"
g++ -O1 "$example" $(pkg-config --cflags --libs tesela) -o "$work/by_pkgconfig"
"$work/by_pkgconfig"
echo "1 passed, 0 failed"
