#!/usr/bin/env bash
# The command as a user types it: what it prints, how it fails, and on several nodes.
#   core.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
soak_program=$(realpath "$1/tests/soak_program")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

expect 0 version "$tesela" --version
holds version out "tesela 0."
expect 0 help "$tesela" --help
holds help out "info"
expect 2 "no command" "$tesela"
expect 2 "unknown command" "$tesela" frobnicate
expect 2 "unknown option" "$tesela" info --frobnicate
expect 0 info "$tesela" info --json
json info "d['workers'] >= 1 and d['nodes'] == 1 and d['blas_threads'] == 1"
json info "d['starpu'].startswith('1.') and d['starpu_cores'] >= d['workers']"
expect 0 "more workers than can be" "$tesela" info --workers 1000 --json
json "more workers than can be" "any('this StarPU was built for at most' in w and './dev setup --starpu source' in w for w in d['warnings']) and (d['workers'] <= d['cores'] or any('oversubscribed' in w for w in d['warnings']))"
expect 2 "negative workers" "$tesela" info --workers -1
expect 0 idle "$tesela" info --idle 1 --json
json idle "d['idle_core_percent'] > 0 and d['start_latency_median_us'] > 0"
expect 0 "bench cholesky" "$tesela" bench cholesky --n 300 --repetitions 2 --check --product-seconds 0.02 --json
json "bench cholesky" "all(k in d for k in ('gflops','lapack_gflops','gemm_gflops','gemm_settled','ratio_lapack','ratio_gemm','tile','residual')) and d['gemm_order'] >= 512 and d['residual'] < 8 and d['difference_from_lapack'] < 8"
expect 0 "bench single" "$tesela" bench cholesky --n 257 --tile 50 --precision single --check --repetitions 1 --product-seconds 0.02 --json
json "bench single" "d['correct'] and d['tile'] == 50"
expect 0 "bench lu" "$tesela" bench lu --n 300 --repetitions 2 --product-seconds 0.02 --json
json "bench lu" "d['correct']"
expect 0 "bench overhead" "$tesela" bench overhead --tasks 2000 --repetitions 1 --json
json "bench overhead" "d['microseconds_per_task'] > 0"
expect 2 "soak with nothing to do" "$soak_program" soak --likelihoods 0
holds "soak with nothing to do" err "need mpirun with at least 2 nodes"
expect 0 "bench qr" "$tesela" bench qr --n 300 --repetitions 2 --check --product-seconds 0.02 --json
json "bench qr" "d['correct'] and d['rows'] == 300 and d['difference_from_lapack'] < 8 and d['ratio_lapack'] > 0"
expect 0 "bench qr, tall" "$tesela" bench qr --rows 5000 --n 12 --precision single --repetitions 1 --check --no-compare --json
json "bench qr, tall" "d['correct'] and d['tile_columns'] == 12 and d['tile'] > 12"
expect 0 "bench qr, wide" "$tesela" bench qr --rows 50 --n 120 --tile 20 --repetitions 1 --check --no-compare --json
expect 2 "bench qr of no rows" "$tesela" bench qr --rows 0 --n 12
expect 0 "one element" "$tesela" bench cholesky --n 1 --check --product-seconds 0.02 --json
json "one element" "d['correct']"
expect 0 "tile larger than the matrix" "$tesela" bench cholesky --n 20 --tile 1000 --check --product-seconds 0.02 --json
expect 2 "tile that is no number" "$tesela" bench cholesky --n 20 --tile big
holds "tile that is no number" err "--tile"
expect 2 "tile below zero" "$tesela" bench cholesky --n 20 --tile -1
holds "tile below zero" err "--tile"
expect 2 "unknown distribution" "$tesela" bench cholesky --n 20 --dist hexagonal
holds "unknown distribution" err "hexagonal"
expect 2 "distribution for other nodes" "$tesela" bench cholesky --n 20 --dist block_cyclic:2x3
holds "distribution for other nodes" err "is for 6 nodes; the number of nodes is 1"
expect 2 "distribution file that is missing" "$tesela" bench cholesky --n 20 --dist "$work/none.json"
STARPU_SCHED=dmda expect 0 "a scheduler by durations" "$tesela" bench cholesky --n 300 --tile 100 --no-compare --check --json
json "a scheduler by durations" "d['correct']"
expect 2 "a matrix larger than memory" "$tesela" bench cholesky --n 10000000 --tile 100000 --no-compare
holds "a matrix larger than memory" err "does not fit: node 0 needs"
printf '{"format": "tesela-distribution", "version": 1, "rows": 2, "cols": 2, "nodes": 2, "owners": [[0, 1], [1, 0]]}' > "$work/d.json"
expect 2 "a file for more nodes" "$tesela" bench cholesky --n 20 --tile 10 --dist "$work/d.json"
expect 0 "a file on two nodes" "${mpirun[@]}" -n 2 "$tesela" bench cholesky --n 20 --tile 10 --dist "$work/d.json" --check --json --repetitions 1
json "a file on two nodes" "d['correct'] and d['nodes'] == 2"
expect 0 "four nodes" "${mpirun[@]}" -n 4 "$tesela" bench cholesky --n 500 --check --json --repetitions 2
json "four nodes" "d['correct'] and d['nodes'] == 4"
json "four nodes" "d['scalapack_gflops'] > 0 and d['scalapack_grid'] in ('2x2', '1x4') and d['scalapack_block'] in (64, 128)"
holds "four nodes" err "node 3 of 4"
expect 0 "four nodes, random" "${mpirun[@]}" -n 4 "$tesela" bench lu --n 300 --tile 40 --dist random:3 --json --repetitions 1
json "four nodes, random" "d['correct']"
expect 0 "soak of a few messages" "${mpirun[@]}" -n 3 "$soak_program" soak --messages 5000 --streams 20 --likelihoods 13 --points 200 --json
json "soak of a few messages" "d['messages'] >= 5000 and d['streams'] == 20 and d['likelihoods'] == 13 and d['messages_per_second'] > 0 and all(c['met'] for c in d['checks'])"
expect 0 "info on two nodes" "${mpirun[@]}" -n 2 "$tesela" info
holds "info on two nodes" out "node 1 of 2"

# Completion: the scripts ask the command.
complete() { # NAME EXPECTED WORDS…
    local name=$1 expected=$2
    shift 2
    expect 0 "completion: $name" "$tesela" complete-words "$@"
    check "completion: $name gives $(tr '\n' ' ' <out), not $expected" [ "$(tr '\n' ' ' <out)" = "$expected" ]
}
complete "a command" "fit " fi
complete "an option" "--network " simulate cholesky --netw
complete "a choice" "ports simgrid " simulate cholesky --network ""
complete "a choice begun" "simgrid " simulate cholesky --network s
complete "a subcommand" "compare " dist co
complete "a file" "" fit --coords x,y ""
expect 0 "a script for bash" "$tesela" completion bash
check "a script for bash" bash -n out
check "it completes" bash -c "PATH=$(dirname "$tesela"):\$PATH; source '$work/out'; COMP_WORDS=(tesela sim); COMP_CWORD=1; _tesela tesela; [ \"\${COMPREPLY[*]}\" = simulate ]"
for shell in zsh fish; do expect 0 "a script for $shell" "$tesela" completion $shell; holds "a script for $shell" out complete-words; done
expect 2 "a shell that is not known" "$tesela" completion tcsh

# Options that are rarely used are not in the way, and there.
expect 0 "help in two lengths" python3 "$(dirname "$(realpath "$0")")/help.py" "$tesela"
expect 0 "help of what is rarely used" "$tesela" info --help-all
holds "help of what is rarely used" out "critical-worker=shared: "
complete "an option that is rarely used" "--engine " info --eng
expect 2 "a rarely used option, misspelt" "$tesela" info --engin scheduler=lws
holds "a rarely used option, misspelt" err "--engin is not an option; did you mean --engine?"
expect 0 "a scheduler of StarPU's" "$tesela" info --engine scheduler=lws --json
json "a scheduler of StarPU's" "d['scheduler'] == 'lws'"
expect 2 "a key of the engine that is not known" "$tesela" info --engine schedular=lws
holds "a key of the engine that is not known" err '--engine: "schedular" is not a key; there are scheduler, critical-worker, trace-modules, trace-counters; did you mean scheduler?'
expect 2 "a key for a trace without one" "$tesela" info --engine trace-counters=PAPI_TOT_CYC
holds "a key for a trace without one" err "say what --trace records"

# What cannot be written is noticed; what is closed stays closed.
expect 1 "a full standard output" bash -c "'$tesela' completion bash >/dev/full"
holds "a full standard output" err "cannot write standard output"
expect 1 "a closed standard output" bash -c "'$tesela' completion bash >&-"
holds "a closed standard output" err "cannot write standard output: it is closed"
expect 1 "a closed standard output and a file that is to go there" bash -c "'$tesela' sample-distances --n 3 -o - >&-"
holds "a closed standard output and a file that is to go there" err "cannot write standard output: it is closed"
expect 0 "a closed standard error" bash -c "'$tesela' info >'$work/said' 2>&-"
expect 2 "a word that is not known" "$tesela" fitt
holds "a word that is not known" err "tesela: fitt is not a command; did you mean fit? See tesela --help"
expect 2 "an option that is not known" "$tesela" simulate cholesky --netwrk ports
holds "an option that is not known" err "tesela simulate cholesky: --netwrk is not an option; did you mean --network?"

finish
