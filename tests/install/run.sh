#!/usr/bin/env bash
# Installs into a fresh prefix, moves it, and uses it as a stranger would: through CMake, through pkg-config, and the
# command. All three must load one StarPU, the one that Tesela was built with.
#   run.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
"$work/prefix/bin/tesela" --version
"$work/prefix/bin/tesela" bench --help >/dev/null

built_with=$(sed -n 's/^TESELA_STARPU_ROOT:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -f "$built_with/built-for-tesela" ]; then
    expected=$(find "$work/prefix" -path '*/tesela/starpu/lib')
elif [ -n "$built_with" ]; then
    expected=$(echo "$built_with"/lib*)
else
    series=$(sed -n 's/^Requires:.* starpu-\(1\.[0-9]\).*/\1/p' "$build/tesela.pc")
    expected=$(pkg-config --variable=libdir "starpu-$series")
fi

# loads_one_starpu PROGRAM: one libstarpu, in the expected folder
loads_one_starpu() {
    local loaded
    loaded=$(ldd "$1" | sed -n 's/.*libstarpu-1.* => \([^ ]*\).*/\1/p')
    if [ "$(echo "$loaded" | wc -l)" != 1 ] || [ "$(realpath "$(dirname "$loaded")")" != "$(realpath "$expected")" ]; then
        echo "$1 loads StarPU from: ${loaded:-nowhere}; expected in $expected" >&2
        return 1
    fi
}
loads_one_starpu "$work/prefix/bin/tesela"
loads_one_starpu "$work/prefix/bin/tesela-bench"

# The headers that docs/api.md lists and no others; nothing that a user builds needs CLI11.
python3 "$source/tests/structure/check_api.py" "$source" "$work/prefix"
if grep -ri cli11 "$work/prefix/lib"*/cmake "$work/prefix/lib"*/*/cmake 2>/dev/null; then
    echo "the installed package asks for CLI11" >&2
    exit 1
fi
test -s "$work/prefix/share/tesela/python/tesela_trace.py"

# The docs, in which no link is broken, and their examples, of which one is built that needs more than the libraries.
docs=$work/prefix/share/doc/tesela
python3 "$source/tests/structure/check_links.py" "$docs"
diff <(cd "$source" && ls docs/*.md examples/*.cpp) <(cd "$docs" && ls docs/*.md examples/*.cpp)
cmake -G Ninja -S "$docs/examples" -B "$work/examples" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/examples" --target example_cholesky >/dev/null
"$work/examples/examples/example_cholesky" 500

# The example of the README is the one that is built here.
example=$work/example.cpp
awk '/^```cpp/{on=1; next} /^```/{on=0} on' "$source/README.md" > "$example"
diff "$example" "$source/examples/solve.cpp"

cmake -G Ninja -S "$source/tests/install" -B "$work/cmake" -DEXAMPLE="$example" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/user"
loads_one_starpu "$work/cmake/user"

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name tesela.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
g++ -O1 "$example" $(pkg-config --cflags --libs tesela) -o "$work/by_pkgconfig"
"$work/by_pkgconfig"
loads_one_starpu "$work/by_pkgconfig"

# What the README says of a matrix that is not positive definite.
sed 's/? 0.1 :/? -1.5 :/' "$example" >"$work/indefinite.cpp"
# shellcheck disable=SC2046
g++ -O1 "$work/indefinite.cpp" $(pkg-config --cflags --libs tesela) -o "$work/indefinite"
status=0
"$work/indefinite" >"$work/said" || status=$?
if [ $status != 1 ] || ! grep -q "not positive definite: pivot 0" "$work/said"; then
    echo "an indefinite matrix: exit $status, $(cat "$work/said")" >&2
    exit 1
fi
echo "1 passed, 0 failed"
