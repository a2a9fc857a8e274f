#!/usr/bin/env bash
# Redistributions as a user types them, every element checked, on several nodes; and what goes wrong.
#   redistribute.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
here=$(dirname "$(realpath "$0")")
# shellcheck source=support.sh
source "$here/support.sh"

# moves NODES NAME OPTIONS…: the redistribution is right.
moves() {
    local nodes=$1 name="$2 on $1 nodes"
    shift 2
    expect 0 "$name" "${mpirun[@]}" -n "$nodes" "$tesela" bench redistribute --check --repetitions 1 --json --quiet "$@"
    json "$name" "d['wrong_elements'] == 0 and d['checks'][0]['met'] and d['nodes'] == $nodes and d['seconds'] > 0"
}

# The tests in tests/mpi draw hundreds of redistributions; here the options are tried, a start of mpirun each.
ragged=(--n 101 --tile-from 30 --tile-to 17,23)
moves 3 "random" "${ragged[@]}" --from random:5 --to random:6 --batch 1 --message-bytes 4000
moves 4 "offsets" "${ragged[@]}" --rows 40 --cols 50 --offset-from 13,29 --offset-to 58,1
moves 3 "transposed triangle, 1d to rs" "${ragged[@]}" --lower --transpose --from 1d --to rs
moves 4 "single elements" --n 9 --tile-from 1 --tile-to 2
moves 2 "nothing" "${ragged[@]}" --rows 0 --batch 0
moves 4 "nodes without a tile" --n 50 --tile-from 50 --tile-to 20
moves 3 "band to unequal nodes" "${ragged[@]}" --from band:2 --to 1d1d:1,2,5
same=(--n 101 --tile-from 17 --tile-to 17 --from random:5 --to band:2)
moves 4 "whole tiles alone" "${same[@]}" --whole-tile-bytes 1
moves 4 "in place" "${same[@]}" --in-place
bad "in place with other tiles" "both tile sizes must be the same" "$tesela" bench redistribute "${ragged[@]}" --in-place

expect 0 "one node" "$tesela" bench redistribute "${ragged[@]}" --check --repetitions 1 --json
json "one node" "d['wrong_elements'] == 0 and d['remote_bytes'] == 0 and d['bytes'] == 8 * 101 * 101 and d['scalapack_seconds'] is None"
moves 2 "counts" --n 100 --tile-from 50 --tile-to 50 --from block_cyclic:1x2 --to block_cyclic:2x1
# Of four tiles, two change their owner.
json "counts" "d['segments'] == 4 and d['bytes'] == 80000 and d['remote_bytes'] == 40000 and d['ratio'] > 0 and d['bound'] > 0"
moves 2 "a submatrix counts for itself" "${ragged[@]}" --lower --no-compare
json "a submatrix counts for itself" "d['bytes'] == 8 * 101 * 102 / 2 and d['ratio'] is None"

one=("$tesela" bench redistribute "${ragged[@]}")
bad "more rows than there are" "a submatrix of 102 x 101 elements at (0, 0) is not inside A, which has 101 x 101" "${one[@]}" --rows 102
bad "outside the source" "not inside A" "${one[@]}" --rows 50 --offset-from 52
bad "outside the target" "not inside B" "${one[@]}" --offset-to 0,1
bad "before the matrix" "not inside A" "${one[@]}" --offset-from -1
bad "no order" "--n must be at least 1; it is 0" "$tesela" bench redistribute --n 0
bad "no tiles" "a tile size must be at least 1; it is 0" "$tesela" bench redistribute --tile-to 20,0
bad "negative batch" "--batch must be at least 0; it is -1" "${one[@]}" --batch -1
bad "empty messages" "--message-bytes must be at least 1; it is 0" "${one[@]}" --message-bytes 0
bad "no repetitions" "--repetitions must be at least 1; it is 0" "${one[@]}" --repetitions 0
bad "unknown distribution" "hexagonal" "${one[@]}" --from hexagonal
bad "distribution for other nodes" "is for 6 nodes; the number of nodes is 1" "${one[@]}" --to block_cyclic:2x3
expect 2 "outside, on two nodes" "${mpirun[@]}" -n 2 "$tesela" bench redistribute "${ragged[@]}" --rows 102 --quiet
holds "outside, on two nodes" err "is not inside A"
check "outside, on two nodes: prints results" [ ! -s "$work/out" ]

# Nodes joined by links, where this user may make them.
cluster=$here/../../bench/cluster/run.sh
bad "nodes that are no number" 'NODES is a number from 1 to 250, not "two"' "$cluster" two 1 true
bad "bandwidth that is no number" 'GBITS is a number, not "fast"' "$cluster" 2 fast true
if [ "$(id -u)" = 0 ] && command -v ip tc unshare taskset >/dev/null && unshare --net tc qdisc add dev lo root tbf rate 1gbit burst 256kb latency 1s 2>/dev/null; then
    expect 0 "over a link" "$cluster" 2 1 "$tesela" bench redistribute --n 1000 --tile-from 250 --tile-to 100 --from block_cyclic:1x2 --to block_cyclic:2x1 --check --no-compare --repetitions 3 --json --quiet
    # 1 Gb/s are 0.125 GB/s; shared memory would be ten times as fast.
    json "over a link" "d['wrong_elements'] == 0 and d['nodes'] == 2 and d['network_gbytes_per_second'] < 0.14"
    check "over a link: leaves nothing" [ "$(ip netns list | grep -c node)" = 0 ]
else
    echo "skipped nodes joined by links: they cannot be made here"
fi
finish
