#!/usr/bin/env bash
# Distributions as a user types them: make, compare, moves, show, and what goes wrong.
#   dist.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

for family in block_cyclic block_cyclic:2x3 block_cyclic:rule bce bce:2 rs rs:3 hybrid best 1d 1d1d 1d1d_triangle band band:2 sbc random:7; do
    expect 0 "make $family" "$tesela" dist make "$family" --tiles 12 --count 6 -o "d.json"
    check "make $family" python3 -c "
import json
d = json.load(open('$work/d.json'))
assert d['format'] == 'tesela-distribution' and d['rows'] == d['cols'] == 12 and d['nodes'] == 6
assert all(0 <= owner < 6 for row in d['owners'] for owner in row)"
done
expect 0 "a distribution made is one that runs" "${mpirun[@]}" -n 2 "$tesela" bench cholesky --n 240 --tile 20 --dist rs --check --repetitions 1 --json
json "a distribution made is one that runs" "d['correct'] and d['nodes'] == 2"

expect 0 compare "$tesela" dist compare --tiles 60 --count 30 --alpha 2 --kernel cholesky --density synthetic:8 --seed 3 --json
json compare "{r['family'] for r in d} >= {'block_cyclic', 'bce', 'rs', 'hybrid', '1d1d', '1d1d_triangle', 'band', 'random'}"
json compare "all(k in r for r in d for k in ('family', 'max_load', 'dispersion', 'max_nodes_per_row', 'max_nodes_per_column', 'transfers', 'seconds_to_make'))"
json compare "all(r['max_load'] >= 1 - 1e-12 and r['transfers'] > 0 for r in d)"
json compare "all(r['steps'] >= r['max_load'] - 1e-12 and r['step_imbalance'] >= r['max_load'] - 1e-12 for r in d)"
json compare "all(r['max_nodes_per_row'] <= 11 for r in d if r['family'] in ('bce', 'rs', 'hybrid'))"
expect 0 "compare for people" "$tesela" dist compare --tiles 20 --count 6 --kernel gemm
holds "compare for people" out "max_load"

expect 0 "powers" "$tesela" dist make 1d1d --tiles 50 --powers 60,60,565,590 -o a.json
expect 0 "grid" "$tesela" dist make block_cyclic:2x2 --tiles 50 --count 4 -o b.json
expect 0 moves "$tesela" dist moves a.json b.json --json
json moves "d['moved'] >= d['minimum'] > 0"
expect 0 "moves to itself" "$tesela" dist moves a.json a.json --json
json "moves to itself" "d['moved'] == d['minimum'] == 0"
expect 0 "show in the terminal" "$tesela" dist show a.json
check "show in the terminal" [ -s "$work/out" ]
expect 0 "show as a picture" "$tesela" dist show a.json -o a.svg
check "show as a picture" grep -q "</svg>" a.svg

bad_dist() { # NAME TEXT ARGUMENTS…
    local name=$1 text=$2
    shift 2
    expect 2 "$name" "$tesela" dist "$@"
    holds "$name" err "$text"
}
bad_dist "unknown family" "hexagonal" make hexagonal --tiles 4 --count 2
bad_dist "no nodes" "--count" make bce --tiles 4 --count 0
bad_dist "a grid of other nodes" "6 nodes" make block_cyclic:2x3 --tiles 4 --count 4
bad_dist "sbc on 7 nodes" "7" make sbc --tiles 4 --count 7
bad_dist "negative power" "power" make 1d1d --tiles 4 --powers 1,-1
bad_dist "a missing file" "none.json" show none.json
echo "[]" > empty.json
bad_dist "another format" "format" show empty.json
bad_dist "different grids" "tiles" moves a.json d.json
bad_dist "an unwritable folder" "nowhere" make bce --tiles 4 --count 2 -o nowhere/d.json

# Ranks of a run, as they come in a trace.
low=(--platform sdumont-gsl --nodes 2sdc --density synthetic:40 --tiles 16 --tile 400)
expect 0 "a trace with ranks" "$tesela" simulate cholesky "${low[@]}" --trace low.trace
expect 0 "a trace with ranks of all tiles" "$tesela" simulate lu "${low[@]}" --trace all.trace
expect 0 "a distribution for ranks" "$tesela" dist make bce --tiles 16 --count 4 --ranks low.trace -o ranked.json
expect 0 "a distribution for dense tiles" "$tesela" dist make bce --tiles 16 --count 4 -o dense.json
expect 0 "families by ranks" "$tesela" dist compare --tiles 16 --count 4 --ranks low.trace --families bce,ranked.json,dense.json --json
json "families by ranks: what is made for them is better" "d[0]['max_load'] == d[1]['max_load'] < d[2]['max_load'] and d[0]['bytes'] == d[1]['bytes']"
cp out ranked.out
expect 0 "bytes by ranks" "$tesela" dist compare --tiles 16 --count 4 --tile 400 --families ranked.json --json
check "bytes by ranks are fewer" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('ranked.out', 'out'))
assert a[1]['transfers'] == b[0]['transfers'] and a[1]['bytes'] < 0.7 * b[0]['bytes'], (a, b)"
expect 0 "ranks of all tiles" "$tesela" dist make hybrid --tiles 16 --count 5 --kernel lu --ranks all.trace:A -o lu.json
bad_dist "ranks of other tiles" "are of 16 x 16 tiles, and 20 x 20 are asked for" make bce --tiles 20 --count 4 --ranks low.trace
bad_dist "ranks of tiles of another size" "are of tiles of 400 rows, and --tile is 960" make bce --tiles 16 --count 4 --tile 960 --ranks low.trace
bad_dist "ranks of another matrix" 'no ranks of a matrix "B"; it has those of A' make bce --tiles 16 --count 4 --ranks low.trace:B
bad_dist "ranks of half a matrix" "the lower triangle of A alone, and lu works on all tiles" make bce --tiles 16 --count 4 --kernel lu --ranks low.trace
bad_dist "ranks and a density" "excludes" make bce --tiles 16 --count 4 --density dense --ranks low.trace
bad_dist "ranks of no trace" "is not a trace" make bce --tiles 16 --count 4 --ranks dense.json
bad_dist "ranks of no file" "cannot read" make bce --tiles 16 --count 4 --ranks nothing.trace
cp low.trace part.trace
expect 2 "ranks of a part of a trace" "$tesela" dist make bce --tiles 16 --count 4 --ranks part.trace -o part.json
holds "ranks of a part of a trace" err "64 of the 136 tiles of A are not in part.trace. part.trace.1: the trace of node 1 is missing"
expect 0 "a trace without ranks" "$tesela" simulate cholesky --platform sdumont-gsl --nodes 2sdc --tiles 16 --trace dense.trace
bad_dist "ranks of dense tiles" "has no ranks: it is the trace of a run in which no tile was compressed" make bce --tiles 16 --count 4 --ranks dense.trace

for wrong in "--refine -1" "--accuracy inf" "--accuracy -1" "--band -1" "--band 0"; do
    # shellcheck disable=SC2086 # two words
    expect 2 "$wrong" "$tesela" bench tlr --n 600 --tile 100 --dense-n 300 $wrong
    holds "$wrong" err "${wrong%% *}"
done
# Not by "mpirun … : …", which ends by a segmentation fault in Debian 13's Open MPI whatever the programs are.
# shellcheck disable=SC2016 # each node's own
expect 2 "nodes with different options" "${mpirun[@]}" -n 2 bash -c '"$0" bench tlr --n 600 --tile 100 --band 1 --accuracy 1e-$((5 - ${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-$PMI_RANK}})) --workers 1' "$tesela"
holds "nodes with different options" err "options of the matrix and its tiles"
expect 0 "families with numbers" "$tesela" dist compare --count 3 --tiles 9 --families 1d1d:1,2,5,block_cyclic,1d:1,1,3 --json
json "families with numbers" "[f['family'] for f in (d if isinstance(d, list) else d['families'])] == ['1d1d:1,2,5', 'block_cyclic', '1d:1,1,3']"
finish
