#!/usr/bin/env bash
# BLAS kernels that fit the processor: the command starts itself once more where OpenBLAS took its oldest ones.
#   blas.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
old_blas=$(realpath "$1/tests/old_blas.so")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
unset OPENBLAS_CORETYPE TESELA_BLAS_CORE_BEFORE
export OLD_BLAS_STARTS=$work/starts

# What fits, as the kernel lists the processor: the command asks the processor itself.
flags=" $(sed -n 's/^\(flags\|Features\)[^:]*: *//p' /proc/cpuinfo | head -1) "
has() { for flag in "$@"; do [[ $flags == *" $flag "* ]] || return 1; done; }
oldest=Prescott
if [ "$(uname -m)" = aarch64 ]; then
    oldest=armv8
    fits=$(has crc32 atomics asimdrdm asimddp && echo neoversen1)
elif has avx avx2 fma avx512f avx512cd avx512bw avx512dq avx512vl; then fits=SkylakeX
elif has avx avx2 fma; then fits=Haswell
elif has avx; then fits=Sandybridge
else fits=; fi

# starts NAME COUNT: so many programs were started since the last time.
starts() {
    check "$1: not $2 starts" [ "$(wc -l <"$work/starts")" = "$2" ]
    rm -f "$work/starts"
}
unrecognised=(env "LD_PRELOAD=$old_blas")

# This machine as it is: either OpenBLAS takes what fits, or the command chooses it.
expect 0 "as it is" "$tesela" info --json
json "as it is" "d['blas_core'] and (d['blas_core'] in d['blas'] or 'DYNAMIC_ARCH' not in d['blas'])"
if [ -n "$fits" ]; then json "as it is, not the oldest" "d['blas_core'].lower() != '${oldest,,}' and not any('BLAS' in w for w in d['warnings'])"; fi
expect 0 "line" "$tesela" bench cholesky --n 20 --repetitions 1 --no-compare
holds "line" err "BLAS kernels for "

# The user's choice stands, with a warning.
expect 0 "user's choice" env OPENBLAS_CORETYPE=$oldest "$tesela" info --json
json "user's choice" "d['blas_core'].lower() == '${oldest,,}' and d['blas_core_replaced'] == ''"
if [ -z "$fits" ]; then
    finish
    exit
fi
json "user's choice" "any('as OPENBLAS_CORETYPE=$oldest says' in w for w in d['warnings'])"

# An OpenBLAS that does not recognise the processor.
expect 0 "restart" "${unrecognised[@]}" "$tesela" info --json
json "restart" "d['blas_core'].lower() == '${fits,,}' and d['blas_core_replaced'] == '$oldest' and not any('BLAS' in w for w in d['warnings'])"
check "restart: noise" [ ! -s "$work/err" ]
starts "restart" 2
expect 0 "restart of the benchmarks" "${unrecognised[@]}" "$tesela" bench cholesky --n 40 --repetitions 1 --check --json --trace "a run.trace"
json "restart of the benchmarks" "d['correct']"
check "restart of the benchmarks: arguments" [ -s "a run.trace" ]
check "restart of the benchmarks: line" grep -qi "BLAS kernels for $fits (chosen since OpenBLAS took $oldest), 1 BLAS thread" err
starts "restart of the benchmarks" 3 # tesela, tesela-bench and once more
expect 0 "restart of calibrate" "${unrecognised[@]}" "$tesela" calibrate --kernels dgemm --tile-sizes 32 --seconds 0.01 -o m.json
check "restart of calibrate: $(grep description m.json)" grep -qi "DYNAMIC_ARCH .*$fits" m.json
rm -f starts
expect 0 "two nodes" "${mpirun[@]}" -n 2 "${unrecognised[@]}" "$tesela" bench cholesky --n 200 --repetitions 1 --check --json
json "two nodes" "d['correct'] and d['nodes'] == 2"
check "two nodes: lines" [ "$(grep -ci "kernels for $fits (chosen since OpenBLAS took $oldest)" err)" = 2 ]
starts "two nodes" 6
expect 0 "user's choice of another" "${unrecognised[@]}" env OPENBLAS_CORETYPE="$fits" "$tesela" info --json
json "user's choice of another" "d['blas_core'].lower() == '${fits,,}' and d['blas_core_replaced'] == '' and not any('BLAS' in w for w in d['warnings'])"
rm -f starts

# Loops of Tesela's own: every level of vector instructions gives the same digits where BLAS's kernels are the same.
if [ "$(uname -m)" = x86_64 ]; then
    echo "x,y,z" >field.csv
    for i in $(seq 1 120); do echo "$((i * 37 % 101)).$i,$((i * 53 % 89)).$i,$((i * 29 % 17))" >>field.csv; done
    levels="x86-64"
    if has avx2 fma; then levels+=" x86-64-v3"; fi
    if has avx2 fma avx512f avx512cd avx512bw avx512dq avx512vl; then levels+=" x86-64-v4"; fi
    for family in matern exponential squared_exponential powered_exponential; do
        smoothness=
        case $family in matern | powered_exponential) smoothness=,smoothness=0.8 ;; esac
        for method in exact tlr; do
            for level in $levels; do
                expect 0 "$family $method, $level" env TESELA_VECTORS=$level "$tesela" loglik field.csv --coords x,y --value z --family $family --theta sigma2=20,range=3,nugget=0.5$smoothness --trend constant --method $method --json
                python3 -c "import json; print(json.load(open('out'))['loglik'])" >"digits-$level"
                check "$family $method, $level: other digits" cmp digits-x86-64 "digits-$level"
            done
            check "$family $method: no digits" grep -q "[0-9]" digits-x86-64
        done
    done
    # Nodes of one run may have different processors.
    of_nodes=(loglik field.csv --coords x,y --value z --family matern --theta sigma2=20,range=3,nugget=0.5,smoothness=0.8 --trend constant --json)
    expect 0 "two nodes at the lowest level" "${mpirun[@]}" -n 2 env TESELA_VECTORS=x86-64 "$tesela" "${of_nodes[@]}"
    python3 -c "import json; print(json.load(open('out'))['loglik'])" >digits-of-nodes
    # Not by "mpirun … : …", which ends by a segmentation fault in Debian 13's Open MPI whatever the programs are.
    # shellcheck disable=SC2016 # each node's own
    first_at='[ "${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-$PMI_RANK}}" = 0 ] && export TESELA_VECTORS=$0; exec "$@"'
    expect 0 "two nodes at two levels" "${mpirun[@]}" -n 2 bash -c "$first_at" x86-64 "$tesela" "${of_nodes[@]}"
    json "two nodes at two levels" "str(d['loglik']) == open('digits-of-nodes').read().strip() and d['nodes'] == 2"
    expect 2 "one node with no such level" timeout 60 "${mpirun[@]}" -n 2 bash -c "$first_at" avx "$tesela" "${of_nodes[@]}"
    holds "one node with no such level" err '"avx" is not a level'
    expect 0 "a level in the line" env TESELA_VECTORS=x86-64 "$tesela" info
    holds "a level in the line" out ", loops for x86-64, "
    bad "no such level" '"avx" is not a level of vector instructions for TESELA_VECTORS; there are x86-64' env TESELA_VECTORS=avx "$tesela" info
fi

# No second restart, none that cannot help, and none where nothing is computed.
expect 0 "told not to" env TESELA_BLAS_CORE_BEFORE=$oldest "${unrecognised[@]}" "$tesela" info --json
json "told not to" "d['blas_core'] == '$oldest' and d['blas_core_replaced'] == '' and any('openblas_coretype=${fits,,}, set before' in w.lower() for w in d['warnings'])"
starts "told not to" 1
expect 0 "in vain" "${unrecognised[@]}" OLD_BLAS=deaf "$tesela" info --json
json "in vain" "d['blas_core'] == '$oldest' and d['blas_core_replaced'] == '' and any('was chosen for this processor' in w for w in d['warnings'])"
starts "in vain" 2
expect 0 "one kind of kernels" "${unrecognised[@]}" OLD_BLAS=single "$tesela" info --json
json "one kind of kernels" "d['blas_core'] == '$oldest' and any('DYNAMIC_ARCH' in w for w in d['warnings'])"
starts "one kind of kernels" 1
expect 0 "version" "${unrecognised[@]}" "$tesela" --version
starts "version" 1
expect 0 "help" "${unrecognised[@]}" "$tesela" info --help
starts "help" 1
expect 0 "distributions" "${unrecognised[@]}" "$tesela" dist make block_cyclic --tiles 4 --count 2
starts "distributions" 1

finish
