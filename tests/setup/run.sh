#!/usr/bin/env bash
# Which StarPU `./dev` takes, on made-up machines: nothing is installed, fetched or built.
#   run.sh SOURCE_DIR
set -uo pipefail
unset CC CUDA_HOME XDG_CACHE_HOME # what the machine of whoever runs this has
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# A checkout with what ./dev needs, and a machine: commands of its own in front of the real ones.
mkdir -p "$work/checkout/cmake" "$work/bin" "$work/include/starpu/1.3"
cp "$source/dev" "$source/packages.txt" "$work/checkout/"
cp -r "$source/cmake/starpu" "$work/checkout/cmake/"
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
# Which of the commands below were called.
calls() { [ ! -f "$work/calls" ] || sort -u "$work/calls" | tr '\n' ' '; }
for command in apt-get apt-helper sudo curl make; do fake "$command" "echo $command >>'$work/calls'; exit 1"; done
fake cmake "echo \"\$*\" >>'$work/cmake-arguments'"
fake gcc "echo gcc 99"
fake dpkg-query "echo installed" # all packages are there

# system NAME VERSION: what it is to /etc/os-release
system() { printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$work/os-release"; }
system debian 12

# machine CORES PACKAGE_CORES [nvcc]: sets up a machine with an empty cache
machine() {
    fake nproc "echo $1"
    rm -rf "$work/bin/nvcc" "$work/cache" "$work/home" "$work/calls" "$work/cmake-arguments" "$work/checkout/.starpu" \
        "$work/checkout/.cache" "$work/checkout/build"
    [ "${3:-}" != nvcc ] || fake nvcc "echo Cuda compilation tools, release 12.4, V12.4.131"
    printf 'prefix=%s\nincludedir=${prefix}/include\nName: starpu\nDescription: fake\nVersion: 1.3.10\n' "$work" >"$work/starpu-1.3.pc"
    printf '#define STARPU_MAXCPUS %s\n' "$2" >"$work/include/starpu/1.3/starpu_config.h"
}
# What another recipe of the build is to the script: one that succeeds at once.
builds_succeed() {
    cat >"$work/checkout/cmake/starpu/build.sh" <<'RECIPE'
echo "cores $3, nvcc ${4:-none}" && mkdir "$2" && echo "cores $3, nvcc ${4:-none}, $CC" >"$2/built-for-tesela"
RECIPE
}
builds_fail() { echo 'echo this is why; exit 1' >"$work/checkout/cmake/starpu/build.sh"; }
builds_with_cuda_fail() {
    builds_succeed
    sed -i '1i [ -z "${4:-}" ] || exit 1' "$work/checkout/cmake/starpu/build.sh"
}
# The source is there already: a small file whose checksum is pinned in this checkout.
source_is_pinned() {
    echo source >"$work/starpu.tar.gz"
    echo "1.3.10 12 starpu.tar.gz $(sha256sum <"$work/starpu.tar.gz" | cut -d' ' -f1)" >"$work/checkout/cmake/starpu/sources.txt"
    echo "1.4.7 13 other.tar.gz 0000" >>"$work/checkout/cmake/starpu/sources.txt"
}
source_is_fetched() {
    mkdir -p "$work/cache/tesela/starpu/downloads"
    cp "$work/starpu.tar.gz" "$work/cache/tesela/starpu/downloads/"
}

in_checkout() {
    (cd "$work/checkout" && env PATH="$work/bin:/usr/bin:/bin" CUDA_HOME=/nonexistent PKG_CONFIG_LIBDIR="$work" PKG_CONFIG_PATH= \
        XDG_CACHE_HOME="$work/cache" HOME="$work/home" TESELA_OS_RELEASE="$work/os-release" "$@")
}
select_starpu() { in_checkout cmake/starpu/select.sh "$@" 2>"$work/err"; }
# is WHAT ACTUAL PATTERN: a line of the actual text matches, or all of it is empty where the pattern is
is() {
    if [ "$2" = "$3" ] || { [ -n "$3" ] && grep -qE -- "$3" <<<"$2"; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "${3:-nothing}"
    fi
}

source_is_pinned
builds_succeed

machine 2 4
is "2 cores, a package for 4" "$(select_starpu auto)" ""
is "that asks nobody" "$(calls)" ""
machine 16 4
source_is_fetched
is "16 cores, a package for 4" "$(select_starpu auto)" "/cache/tesela/starpu/1.3.10-64cores-[0-9a-f]{8}$"
is "it says what it does" "$(cat "$work/err")" "^building StarPU 1.3.10 for up to 64 cores, once"
is "the second time it is there" "$(select_starpu auto && cat "$work/err")" "64cores-[0-9a-f]{8}$"
is "also where nothing may be built" "$(select_starpu --no-build auto)" "64cores-[0-9a-f]{8}$"
is "another compiler, another build" "$(fake gcc 'echo gcc 100'; select_starpu --no-build auto)" ""
fake gcc "echo gcc 99"
machine 48 32
source_is_fetched
is "48 cores" "$(select_starpu auto)" "1.3.10-128cores-"
fake nproc "echo 16"
is "a build for more cores serves fewer" "$(select_starpu --no-build source)" "1.3.10-128cores-"
machine 2 4 nvcc
source_is_fetched
is "nvcc" "$(select_starpu auto)" "1.3.10-64cores-cuda12.4-"
is "nvcc, but the package is wanted" "$(select_starpu package)" ""
machine 2 4 nvcc
source_is_fetched
builds_succeed
is "ThreadSanitizer wants a build of its own" "$(select_starpu --sanitize thread auto)" "1.3.10-64cores-thread-sanitizer-[0-9a-f]{8}$"
is "whose compiler it is told to" "$(cat "$work"/cache/tesela/starpu/*thread*/built-for-tesela)" "nvcc none, gcc -fsanitize=thread$"
is "which no other takes" "$(select_starpu --no-build source; echo "code $?")" "^code 1$"
is "a package that is asked for is taken as it is" "$(select_starpu --sanitize thread package)" ""
machine 2 4
source_is_fetched
is "2 cores, from source" "$(select_starpu source)" "1.3.10-64cores-"
is "2 cores, a version" "$(select_starpu 1.3.10)" "1.3.10-64cores-"
is "an unknown word" "$(select_starpu sauce; echo "code $?"; cat "$work/err")" "--starpu sauce is neither"

system debian 13
is "Debian 13" "$(select_starpu source; cat "$work/err")" "StarPU 1.4.7 "
system ubuntu 24.04
is "another system" "$(select_starpu source)" "1.3.10-64cores-"
system debian 12

# What cannot be had: auto says so in one line and takes the package, a wish fails.
machine 16 4
is "no network" "$(select_starpu auto; echo "code $?")" "^code 0$"
is "no network, said" "$(cat "$work/err")" "could not be fetched .*failed.log.*using the package, .* up to 4 cores"
is "no network, in one line" "$(wc -l <"$work/err")" "^1$"
is "no network, from source" "$(select_starpu --again source; echo "code $?")" "^code 1$"
is "no network, asked again only on request" "$(rm "$work/calls"; select_starpu auto; calls; cat "$work/err")" "could not be built before"
builds_fail
machine 16 4
source_is_fetched
is "a failing build" "$(select_starpu auto; echo "code $?"; cat "$work/err")" "could not be built \(see .*failed.log\); using the package"
is "its log is kept" "$(cat "$work"/cache/tesela/starpu/*.failed.log)" "this is why"
echo 'exit 130' >"$work/checkout/cmake/starpu/build.sh"
machine 16 4 nvcc
source_is_fetched
is "an interrupted build" "$(select_starpu auto; echo "code $?")" "^code 130$"
is "has not failed" "$(ls "$work/cache/tesela/starpu")" "^downloads$"
builds_with_cuda_fail
machine 16 4 nvcc
source_is_fetched
is "a build with CUDA fails, one without does not" "$(select_starpu auto)" "1.3.10-64cores-[0-9a-f]{8}$"
machine 2 4 nvcc
source_is_fetched
is "that one is not worth it where the package has the cores" "$(select_starpu auto)" ""
builds_succeed

# A file: known by its checksum.
machine 2 4
is "a given file" "$(in_checkout ./dev setup --starpu "$work/starpu.tar.gz" 2>&1; cat "$work/checkout/.starpu")" "^1.3.10$"
is "a given file needs nobody" "$(calls)" ""
is "a given file is what is used from then on" "$(select_starpu --no-build 1.3.10)" "1.3.10-64cores-"
echo changed >"$work/changed.tar.gz"
machine 2 4
is "another checksum is refused" "$(in_checkout ./dev setup --starpu "$work/changed.tar.gz" 2>&1; echo "code $?")" "none of the sources of StarPU that Tesela knows"
is "and not remembered" "$(cat "$work/checkout/.starpu" 2>&1)" "No such file"
is "a file that is not there" "$(in_checkout ./dev setup --starpu nowhere.tar.gz 2>&1)" "there is no .*nowhere.tar.gz"
is "nothing after --starpu" "$(in_checkout ./dev setup --starpu 2>&1; echo "code $?")" "^--starpu wants auto"
mkdir -p "$work/mine/lib/pkgconfig"
is "a folder without StarPU" "$(in_checkout ./dev setup --starpu "$work/mine" 2>&1)" "holds no StarPU"
touch "$work/mine/lib/pkgconfig/starpu-1.3.pc"
is "a folder" "$(in_checkout ./dev setup --starpu ../mine 2>&1)" "StarPU: $work/mine"

# --no-setup calls nobody, and CMake hears of the choice.
fake dpkg-query "exit 1" # no package is there
machine 16 4 nvcc
is "--no-setup build" "$(in_checkout ./dev --no-setup build >"$work/out" 2>&1; calls)" ""
is "--no-setup says what it does without" "$(cat "$work/out")" "has not been built; using the package, .* up to 4 cores"
is "--no-setup and a wish that is not there" "$(in_checkout ./dev --no-setup setup --starpu source 2>&1; echo "code $?")" "has not been built: ./dev setup without"
is "--no-setup takes the package" "$(cat "$work/cmake-arguments")" "--preset release -DTESELA_STARPU_ROOT= -DTESELA_TESTS=ON"
is "with setup, packages are asked for" "$(in_checkout ./dev build >"$work/out" 2>&1; calls)" "apt-get|sudo"
fake dpkg-query "echo installed"
machine 16 4
source_is_fetched
in_checkout ./dev setup --starpu source >"$work/out" 2>&1
in_checkout ./dev --no-setup build >"$work/out" 2>&1
is "a build that is there is used without setup" "$(cat "$work/cmake-arguments")" "TESELA_STARPU_ROOT=.*/1.3.10-64cores-"
in_checkout env PRESET=tsan ./dev build >"$work/out" 2>&1
is "PRESET=tsan has its own" "$(cat "$work/cmake-arguments")" "--preset tsan -DTESELA_STARPU_ROOT=.*/1.3.10-64cores-thread-sanitizer-"
rm "$work/cmake-arguments"
in_checkout ./dev bench >"$work/out" 2>&1
is "programs alone" "$(cat "$work/cmake-arguments")" "-DTESELA_TESTS=OFF"
is "programs alone are built" "$(cat "$work/cmake-arguments")" "--target tesela tesela-bench"

# A home that cannot be written: the checkout's own folder, which git ignores.
machine 16 4
mkdir -p "$work/checkout/.cache/starpu/downloads"
cp "$work/starpu.tar.gz" "$work/checkout/.cache/starpu/downloads/"
touch "$work/cache"
is "a home that cannot be written" "$(select_starpu auto)" "/checkout/.cache/starpu/1.3.10-64cores-"

# What is pinned in truth.
is "every pinned source has a checksum" "$(grep -v '^#' "$source/cmake/starpu/sources.txt" | grep -vcE '^[0-9.]+ +[0-9]+ [^ ]+ [0-9a-f]{64}$')" "^0$"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
