#!/usr/bin/env bash
# Runs that get little memory from the system (ulimit -v): they end, with results or with a line that says so.
#   memory.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

launch=()  # mpirun, for several nodes
# limited KIB COMMAND…: with so much address space on each node, and a time limit.
limited() { timeout --kill-after=5 40 "${launch[@]}" bash -c 'ulimit -v "$0"; exec "$@"' "$@"; }
small=("$tesela" loglik "$data/meuse.csv" --coords x,y --value log_zinc --theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --quiet)
# find_least KIB: from there on, the least with which a small problem can be done, to 7 MB: much more would be enough for
# the problems that are to have too little. The more cores a machine has, the more it is.
find_least() {
    local too_little=$1 middle
    least=$1
    until limited "$least" "${small[@]}" >out 2>err; do
        too_little=$least
        least=$((least + least / 2))
        if [ "$least" -gt 100000000 ]; then check "a small problem cannot be done in 100 GB" false; finish; exit 1; fi
    done
    while [ $((least - too_little)) -gt 7000 ]; do
        middle=$(((least + too_little) / 2))
        if limited "$middle" "${small[@]}" >out 2>err; then least=$middle; else too_little=$middle; fi
    done
}
find_least 100000

expect 0 "points" "$tesela" sample --n 3000 --theta sigma2=1,range=0.1,nugget=0.05 --family exponential --seed 3 -o field.csv --quiet
expect 0 "more points" "$tesela" sample --n 6000 --theta sigma2=1,range=0.1,nugget=0.05 --family exponential --seed 3 -o large.csv --quiet
field=(field.csv --coords x,y --value z --family exponential --quiet)
large=(large.csv "${field[@]:1}")
at=(--theta sigma2=1,range=0.1,nugget=0.05)
says_memory="memory|does not fit"
ends=0 without=0
# tight NAME COMMAND…: under growing limits each run succeeds or says that there is no memory.
tight() {
    local name=$1 more code
    shift
    for more in 0 20 40 60 90 130; do
        limited $((least + 1000 * more)) "$@" >out 2>err
        code=$?
        # StarPU ends the program itself where there is no memory for its own records.
        if [ "$code" = 134 ] && grep -q "libstarpu\|starpu" err; then continue; fi
        check "$name with $more MB more does not end or is killed: $code" [ "$code" -lt 124 ]
        ends=$((ends + 1))
        if [ "$code" = 0 ]; then continue; fi
        without=$((without + 1))
        check "$name with $more MB more does not name memory" grep -qE "$says_memory" err
        check "$name with $more MB more blames the matrix" bash -c '! grep -q "positive definite" err'
    done
}
tight "compressed loglik" "$tesela" loglik "${field[@]}" "${at[@]}" --method tlr --tile 1000 --band 1
tight "compressed loglik of small tiles" "$tesela" loglik "${field[@]}" "${at[@]}" --method tlr --tile 200 --band 1 --accuracy 1e-12
tight "exact loglik" "$tesela" loglik "${field[@]}" "${at[@]}"
tight "fit" "$tesela" fit "${field[@]}" --max-evaluations 2 -o model.json
tight "sample" "$tesela" sample --n 3000 "${at[@]}" --family exponential -o sampled.csv --quiet
launch=("${mpirun[@]}" -n 2)
find_least $((least + 200000))  # with less MPI itself may never start
tight "compressed loglik on two nodes" "$tesela" loglik "${large[@]}" "${at[@]}" --method tlr --tile 1000 --band 1
echo "$without of $ends runs had too little, from $((least / 1000)) MB on"
check "some runs had too little" [ "$without" -ge 5 ]
check "some runs had enough" [ "$without" -lt "$ends" ]
finish
