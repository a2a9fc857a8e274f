#!/usr/bin/env bash
# Which StarPU this machine gets: prints the folder of one built from source, or nothing, which means the one that
# pkg-config finds (the package). `./dev` calls it; what is built is kept in ~/.cache/tesela/starpu and used again.
#   select.sh [--no-build] [--again] [--name] [--sanitize SANITIZER] CHOICE
# CHOICE: auto     the package if it can use all cores and there is no CUDA here; else from source, else the package
#         package  the package
#         source   from source, the version of sources.txt that fits this Debian
#         VERSION  from source, that version
#         /FILE    from source, this file: one of those in sources.txt
#         /FOLDER  a StarPU that was installed there, with MPI
# --no-build  neither fetches nor builds: a build that is there already, else the package
# --again     tries once more what failed before
# --name      prints only what to remember of the choice: of a file its version
# --sanitize  one that is compiled with -fsanitize=SANITIZER, from source and without CUDA; a package or folder is taken as it is
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
sources=$here/sources.txt

say() { printf '%s\n' "$*" >&2; }
give_up() {
    say "$*"
    exit 1
}

# pinned KEY COLUMN WANTED: from the first row of sources.txt whose column KEY is that
pinned() { awk -v key="$1" -v column="$2" -v wanted="$3" '!/^#/ && $key == wanted {print $column; exit}' "$sources"; }

version_for_this_system() {
    local release
    local system=${TESELA_OS_RELEASE:-/etc/os-release} # another in tests
    release=$( ([ -r "$system" ] && . "$system" && [ "${ID:-}" = debian ] && echo "${VERSION_ID:-}") || true)
    local version
    version=$(pinned 2 1 "$release")
    echo "${version:-$(awk '!/^#/ {print $1; exit}' "$sources")}"
}

# How many cores the StarPU that pkg-config finds can use; 0 when there is none.
package_cores() {
    local series include cores
    for series in 1.4 1.3; do
        include=$(pkg-config --variable=includedir "starpu-$series" 2>/dev/null) || continue
        cores=$(sed -n 's/^#define STARPU_MAXCPUS //p' "$include/starpu/$series/starpu_config.h" 2>/dev/null) || continue
        echo "${cores:-0}"
        return
    done
    echo 0
}

find_nvcc() { command -v nvcc || { [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] && echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; } || true; }

# The cores that a build is made for: twice what is here, so that one build serves machines of several sizes.
cores_to_build_for() {
    local cores=64
    while [ "$cores" -lt $((2 * machine_cores)) ]; do cores=$((2 * cores)); done
    echo "$cores"
}

cache_folder() {
    local folder=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}/tesela/starpu
    if [[ $folder = /*/tesela/starpu ]] && mkdir -p "$folder/downloads" 2>/dev/null && [ -w "$folder/downloads" ]; then
        echo "$folder"
    else # a home that cannot be written
        folder=$(readlink -f "$here/../..")/.cache/starpu
        mkdir -p "$folder/downloads"
        echo "$folder"
    fi
}

is_pinned() { echo "$(pinned 1 4 "$1")  $2" | sha256sum --check --status 2>/dev/null; }

# The mirrors of Debian in this machine's own apt sources, then Debian's.
mirrors() {
    {
        sed -n 's/^URIs:[[:space:]]*//p' /etc/apt/sources.list.d/*.sources 2>/dev/null || true
        sed -nE 's/^deb(-src)?[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]].*/\3/p' \
            /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true
        echo http://deb.debian.org/debian
        echo http://snapshot.debian.org/archive/debian/20251001T000000Z # for when a mirror has newer ones only
    } | tr ' ' '\n' | sed 's|/*$||' | grep debian | grep -v security | awk '!seen[$0]++'
}

# download URL FILE SHA256: apt's own downloader needs neither root nor a deb-src line, and knows proxies and mirrors.
download() {
    local helper
    helper=$(command -v apt-helper || echo /usr/lib/apt/apt-helper)
    if [ -x "$helper" ]; then
        "$helper" -o APT::Sandbox::User=root -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
            -o Acquire::Retries=1 download-file "$1" "$2" "SHA256:$3"
    else
        curl -fsSL --connect-timeout 20 --retry 1 -o "$2" "$1"
    fi
}

# fetch VERSION: leaves its source in the cache; what went wrong goes to stdout.
fetch() {
    local file to mirror
    file=$(pinned 1 3 "$1")
    to=$cache/downloads/$file
    is_pinned "$1" "$to" && return 0
    for mirror in $(mirrors); do
        download "$mirror/pool/main/s/starpu/${file//+/%2b}" "$to.$$" "$(pinned 1 4 "$1")" 2>&1 || true
        if is_pinned "$1" "$to.$$"; then
            mv "$to.$$" "$to"
            return 0
        fi
    done
    rm -f "$to.$$" "$to.$$.FAILED"
    return 1
}

# What a build depends on beside its source; another compiler, MPI or recipe makes another build.
fingerprint() {
    {
        "${CC:-gcc}" --version 2>/dev/null | head -1
        pkg-config --modversion ompi-c hwloc 2>/dev/null
        uname -m
        cat "$here/build.sh"
    } | sha256sum | cut -c1-8
}

# provide VERSION NVCC: prints the folder of a build, with CUDA unless NVCC is empty, and makes it if that is allowed;
# otherwise `problem` says why not.
provide() {
    local version=$1 nvcc=$2 cuda="" cores more root log made_with
    cores=$(cores_to_build_for)
    [ -z "$nvcc" ] || cuda=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    made_with=${sanitizer:+$sanitizer-sanitizer-}${nvcc:+cuda$cuda-}$(fingerprint)
    for more in 1 2 4 8 16; do # one made for more cores is as good
        root=$cache/$version-$((more * cores))cores-$made_with
        [ ! -f "$root/built-for-tesela" ] || { echo "$root" && return 0; }
    done
    root=$cache/$version-${cores}cores-$made_with
    local what="StarPU $version for up to $cores cores${nvcc:+ with CUDA $cuda}${sanitizer:+ with the $sanitizer sanitizer}"
    problem="$what has not been built"
    [ "$may_build" = yes ] || return 1
    log=$root.failed.log
    if [ -f "$log" ] && [ "$again" = no ]; then
        problem="$what could not be built before (see $log; ./dev setup tries again)"
        return 1
    fi
    # A log of its own until it is over: others may build the same, and one that is interrupted has not failed.
    running=$root.$$.log
    trap 'rm -f "$running"' EXIT
    if ! fetch "$version" >"$running"; then
        problem="the source of $what could not be fetched (see $log; ./dev setup --starpu FILE needs no network)"
    else
        say "building $what, once: a minute or two"
        local code=0
        CC="${CC:-gcc}${sanitizer:+ -fsanitize=$sanitizer}" bash "$here/build.sh" "$cache/downloads/$(pinned 1 3 "$version")" "$root" "$cores" "$nvcc" "$cuda" 3>&2 >"$running" 2>&1 || code=$?
        case $code in
            0)
                rm -f "$log"
                echo "$root"
                return 0
                ;;
            130) exit 130 ;; # interrupted
        esac
        problem="$what could not be built (see $log)"
    fi
    mv "$running" "$log"
    return 1
}

may_build=yes again=no name_only=no sanitizer=""
while [ $# -gt 1 ]; do
    case $1 in
        --no-build) may_build=no ;;
        --again) again=yes ;;
        --name) name_only=yes ;;
        --sanitize)
            sanitizer=$2
            shift
            ;;
        *) give_up "select.sh: $1?" ;;
    esac
    shift
done
choice=${1:?auto, package, source, a version, a file or a folder}
machine_cores=$(nproc --all)
nvcc=$([ -n "$sanitizer" ] || find_nvcc)
cache=$(cache_folder)

case $choice in
    /*)
        if [ -d "$choice" ]; then
            compgen -G "$choice/lib*/pkgconfig/starpu-1.[34].pc" >/dev/null || give_up "$choice holds no StarPU 1.3 or 1.4"
        elif [ -f "$choice" ]; then
            sum=$(sha256sum <"$choice" | cut -d' ' -f1)
            version=$(pinned 4 1 "$sum")
            [ -n "$version" ] || give_up "$choice is none of the sources of StarPU that Tesela knows ($sources); its SHA-256 is $sum"
            file=$cache/downloads/$(pinned 1 3 "$version")
            is_pinned "$version" "$file" || { cp "$choice" "$file.$$" && mv "$file.$$" "$file"; }
            choice=$version
        else
            give_up "--starpu wants auto, package, source, a version of $sources, a file or a folder; there is no $choice"
        fi
        ;;
esac
if [ "$name_only" = yes ]; then
    echo "$choice"
    exit 0
fi

version=$choice
tries=() # the compilers of CUDA to build with, in turn; an empty one is a build without CUDA
[ -z "$nvcc" ] || tries+=("$nvcc")
case $choice in
    package) exit 0 ;;
    /*)
        echo "$choice"
        exit 0
        ;;
    auto)
        version=$(version_for_this_system)
        # A build without CUDA is worth its time only where the package cannot use all cores.
        [ -z "$sanitizer" ] && [ "$(package_cores)" -ge "$machine_cores" ] || tries+=("")
        ;;
    source)
        version=$(version_for_this_system)
        tries+=("")
        ;;
    *)
        [ -n "$(pinned 1 1 "$choice")" ] || give_up "--starpu $choice is neither auto, package, source, a version in $sources, nor a path"
        tries+=("")
        ;;
esac
[ ${#tries[@]} -gt 0 ] || exit 0
problems=""
for with in "${tries[@]}"; do
    provide "$version" "$with" && exit 0
    problems+="$problem; "
done
if [ "$choice" != auto ]; then
    [ "$may_build" = yes ] || give_up "${problems%; }: ./dev setup without --no-setup builds it"
    give_up "${problems%; }"
fi
if [ "$may_build" = no ]; then
    say "${problems}using the package, which was built for up to $(package_cores) cores; ./dev setup builds the other"
    exit 0
fi
say "${problems}using the package, which was built for up to $(package_cores) cores"
