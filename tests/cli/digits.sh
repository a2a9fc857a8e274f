#!/usr/bin/env bash
# The same command gives the same digits, whatever else the machine does: each command that computes runs five times, alone,
# beside few and many others of them, beside busy loops, and stopped and continued at random, on one to three nodes.
#   digits.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse.csv" --coords x,y --value log_zinc)
field=(--theta sigma2=1,range=0.1,nugget=0.05 --family exponential)
"$tesela" sample --n 600 "${field[@]}" --seed 3 -o field.csv --quiet >/dev/null
"$tesela" fit "${meuse[@]}" --fix smoothness=0.5 -o model.json --quiet >/dev/null
"$tesela" fit "${meuse[@]}" --fix smoothness=0.5 --method tlr --accuracy 1e-5 --tile auto -o tlr.json --quiet >/dev/null 2>&1

# What is computed: a name, and what is run in a folder of its own; results are files and standard output without times.
declare -A jobs=(
    [loglik]="loglik $work/field.csv --coords x,y --value z ${field[*]} --json"
    [compressed]="loglik $work/field.csv --coords x,y --value z ${field[*]} --method tlr --accuracy 1e-4 --json"
    [refined]="loglik $work/field.csv --coords x,y --value z ${field[*]} --method tlr --accuracy 1e-3 --refine 1e-10 --single --json"
    [fit]="fit ${meuse[*]} --max-evaluations 12 -o model.json --json"
    [compressed_fit]="fit ${meuse[*]} --fix smoothness=0.5 --method tlr --accuracy 1e-6 --max-evaluations 12 -o model.json --json"
    [predict]="predict $work/model.json $data/meuse_grid.csv -o predictions.csv"
    [compressed_predict]="predict $work/tlr.json $data/meuse_grid.csv -o predictions.csv"
    [validate]="validate $work/model.json --folds 10 --residuals residuals.csv --json"
    [compare]="compare $work/model.json $work/tlr.json --grid 10x10 --json"
    [variogram]="variogram ${meuse[*]} -o variogram.csv"
    [sample]="sample --n 500 ${field[*]} --seed 4 -o field.csv"
    [distances]="sample-distances --n 300 --dim 20 -o distances.npy"
    [exact_mds]="mds $data/eurodist.csv --algorithm exact --dim 3 -o points.csv --json"
    [mds]="mds --from-points $work/field.csv --columns x,y,z --algorithm krylov --dim 3 --tile 160 -o points.csv --json"
    [mds_power]="mds --from-points $work/field.csv --columns x,y,z --algorithm power --iterations 3 --tile 160 -o points.csv --json"
    [pca]="pca $work/field.csv --algorithm krylov --dim 2 --tile 160 -o scores.csv --json"
    [ca]="ca $work/counts.npy --algorithm krylov --dim 2 --tile 512 -o rows.csv --column-output columns.csv --json"
)
# Of several panels, whose sums are added by whoever has read one.
python3 - <<'PY'
import struct
rows, cols = 6000, 700
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, cols)
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open("counts.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    for i in range(rows):
        out.write(struct.pack("<%dd" % cols, *(1 + (i * 7 + j * j * 13 + i * j) % 23 for j in range(cols))))
PY

on_one_node=" refined variogram sample distances compare compressed_predict exact_mds mds_power " # as several nodes do what others do
mkdir jobs
for name in "${!jobs[@]}"; do echo "${jobs[$name]}" >"jobs/$name"; done
# run ROUND NODES JOB: its results without what tells time.
run() {
    mkdir -p "$work/$1/$2/$3" && cd "$work/$1/$2/$3" || return
    local launch="" own
    [ "$2" = 1 ] || launch="$launcher -n $2"
    own=$(mktemp -d) # Open MPI's folder of sessions: who ends last removes it, also where another is about to begin
    # shellcheck disable=SC2046,SC2086
    TMPDIR=$own $launch "$tesela" $(cat "$work/jobs/$3") --quiet >out 2>err || echo "exit $?: $(head -3 err)" >>out
    rm -rf "$own"
    sed -i '/seconds/d' ./out $(ls | grep json)
    rm err
}
export -f run
export tesela work launcher="${mpirun[*]}"
# all ROUND NODES HOW_MANY_AT_A_TIME
all() { printf '%s\n' "${names[@]}" | shuf --random-source=<(yes "$1$2") | xargs -P "$3" -I{} bash -c "run $1 $2 {}"; }
# Stops and continues processes of the command, so that nodes and threads come in other orders.
stutter() {
    while :; do
        pids=$(for pid in $(pgrep -f "^$tesela " | shuf); do [[ $(readlink "/proc/$pid/cwd") = "$work"/* ]] && echo "$pid"; done | head -2)
        # shellcheck disable=SC2086
        kill -STOP $pids 2>/dev/null; sleep 0.03
        # shellcheck disable=SC2086
        kill -CONT $pids 2>/dev/null; sleep 0.05
    done
}
busy() { while :; do :; done; }

for nodes in 1 2 3; do
    names=()
    for name in "${!jobs[@]}"; do [[ $nodes != 1 && "$on_one_node" = *" $name "* ]] || names+=("$name"); done
    all alone $nodes 1
    all together $nodes 4
    busy & one=$!
    busy & two=$!
    all busy $nodes 3
    kill $one $two && wait $one $two 2>/dev/null
    all crowded $nodes 8
    stutter & one=$!
    all stopped $nodes 2
    kill $one && wait $one 2>/dev/null
    for name in "${names[@]}"; do
        check "$name on $nodes nodes: $(grep -s '^exit' "alone/$nodes/$name/out")" test -s "alone/$nodes/$name/out" -a -z "$(grep '^exit' "alone/$nodes/$name/out")"
        for round in together busy crowded stopped; do
            check "$name on $nodes nodes, $round: other digits" diff -r "alone/$nodes/$name" "$round/$nodes/$name"
        done
    done
done
finish
