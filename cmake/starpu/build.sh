#!/usr/bin/env bash
# Builds StarPU from its source into a folder that appears whole or not at all and may be moved; without its MPI part,
# which Tesela does not use.
#   build.sh SOURCE.tar.gz FOLDER CORES [NVCC CUDA_VERSION]
set -euo pipefail
source=$1 folder=$2 cores=$3 nvcc=${4:-} cuda_version=${5:-}
jobs=$(nproc)
# What it is doing, for who watches: also to file descriptor 3 where there is one.
step() {
    echo "== $1"
    { echo "  $1" >&3; } 2>/dev/null || true
}

# Beside the folder, so that it can be renamed at the end; what a killed build left a day ago goes.
find "$(dirname "$folder")" -maxdepth 1 -name '*.building.*' -mmin +1440 -exec rm -rf {} +
work=$(mktemp -d "$folder.building.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
trap 'echo "cmake/starpu/build.sh: failed in line $LINENO"' ERR
mkdir "$work/source"
tar -xf "$source" -C "$work/source" --strip-components=1
cd "$work/source"

# CUDA 13 has neither cuBLAS's first interface nor the field computeMode. Who uses the second interface, as Tesela does,
# misses nothing: StarPU makes a handle of it for each worker.
adapt_to_cuda_13() {
    sed -i -E -e 's/props\[devid\]\.computeMode == cudaComputeModeExclusive/0/' \
        -e 's/#include <cublas\.h>/#include <cublas_v2.h>/' \
        -e 's/cublasStatus(_t)? cublasst = cublasInit\(\);/int cublasst = 0;/' \
        -e 's/cublasShutdown\(\);/;/' \
        -e 's/cublasSetKernelStream\(starpu_cuda_get_local_stream\(\)\);/;/' src/drivers/cuda/*.[ch]
    if grep -nE 'computeMode|<cublas\.h>|cublasInit|cublasShutdown|cublasSetKernelStream' src/drivers/cuda/*.[ch]; then
        echo "cmake/starpu/build.sh: these lines of StarPU are not for CUDA 13, and it does not know how to change them"
        exit 1
    fi
}

accelerators=(--disable-cuda --disable-opencl)
rpath=-Wl,-rpath,$folder/lib
if [ -n "$nvcc" ]; then
    [ "${cuda_version%%.*}" -lt 13 ] || adapt_to_cuda_13
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    accelerators=(--enable-cuda "--with-cuda-dir=$cuda" --enable-maxcudadev=8 --disable-opencl)
    [ ! -d "$cuda/lib64" ] || rpath+=:$cuda/lib64
fi

step configuring
./configure --prefix="$folder" --libdir="$folder/lib" --enable-maxcpus="$cores" "${accelerators[@]}" \
    --disable-mpi LDFLAGS="$rpath" \
    --disable-static --disable-build-doc --disable-build-tests --disable-build-examples --disable-fortran \
    --disable-starpufft --disable-starpupy --disable-socl --disable-glpk --disable-hdf5 --disable-full-gdb-information
if [ -n "$nvcc" ] && ! grep -q '^#define STARPU_USE_CUDA 1' include/starpu_config.h; then
    echo "cmake/starpu/build.sh: StarPU's configure did not accept CUDA in $cuda"
    exit 1
fi
step "compiling, $jobs files at a time"
make -j"$jobs"
make install DESTDIR="$work/installed"

# Libraries and pkg-config files that find each other wherever the folder goes. Older names of the modules go: they
# could be taken for another version.
built=$work/installed$folder
rm -rf "$built"/lib/*.la "$built"/share/doc
cp COPYING.LGPL "$built/"
series=$(basename "$built"/lib/libstarpu-1.?.so | sed 's/libstarpu-\(.*\)\.so/\1/')
find "$built/lib/pkgconfig" -name '*.pc' ! -name "starpu-$series.pc" -delete
sed -i "s|^prefix=.*|prefix=\${pcfiledir}/../..|; s|$folder|\${prefix}|g" "$built"/lib/pkgconfig/*.pc
sed -i "s| *-Wl,-rpath,[^ ]*||g" "$built"/lib/pkgconfig/*.pc
for library in "$built"/lib/*.so.*.*; do
    if [ -L "$library" ]; then continue; fi
    printf 'file(RPATH_SET FILE "%s" NEW_RPATH "%s")\n' "$library" "${rpath/#-Wl,-rpath,"$folder/lib"/\$ORIGIN}"
done >"$work/rpath.cmake"
cmake -P "$work/rpath.cmake"
echo "Built from $(basename "$source") for up to $cores cores${nvcc:+, with CUDA $cuda_version}." >"$built/built-for-tesela"

# Whoever comes second has built the same.
mv -T "$built" "$folder" 2>/dev/null || [ -f "$folder/built-for-tesela" ]
