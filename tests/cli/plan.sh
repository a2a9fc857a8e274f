#!/usr/bin/env bash
# tesela plan, and runs by its plans.
#   plan.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

paper=(--platform sdumont-gsl --nodes 2sdc+2sdg --tiles 20)
expect 0 "a plan" "$tesela" plan geo "${paper[@]}" --budget 5 -o plan.json --svg pictures --json
json "a plan" "[s['strategy'] for s in d['strategies']] == ['bc_all', 'bc_fast', '1d1d', '1d1d_triangle', 'lp', 'lp_triangle', 'lp_constrained', 'chosen']"
json "a plan: the chosen is the best" "d['makespan'] == min(s['makespan'] for s in d['strategies']) and d['makespan'] >= d['lower_bound']"
json "a plan: gains are over bc_fast" "all(abs(s['gain'] - (1 - s['makespan'] / d['strategies'][1]['makespan'])) < 1e-12 for s in d['strategies'])"
check "pictures" grep -q "First phase of geo" pictures/first.svg
check "pictures" grep -q "Second phase of geo" pictures/second.svg
check "a plan says who owns what, and how tasks are ranked" python3 -c "
import json
plan = json.load(open('plan.json'))
for phase in ('first', 'second'):
    owners = set(o for i, row in enumerate(plan['phases'][phase]['owners']) for o in row[:i + 1])
    assert plan['nodes_used'][phase] == sorted(owners), (plan['nodes_used'], owners)
assert plan['priorities'] == 'critical_path'"
expect 0 "the same plan again" "$tesela" plan geo "${paper[@]}" --budget 0 -o first.json
expect 0 "the same plan again" "$tesela" plan geo "${paper[@]}" --budget 0 -o second.json
check "plans do not depend on the moment" cmp first.json second.json
expect 0 "to standard output" "$tesela" plan lu "${paper[@]}" --budget 0 -o -
check "to standard output" python3 -c "import json; assert json.load(open('out'))['application'] == 'lu'"
expect 1 "a full disk" "$tesela" plan cholesky "${paper[@]}" --budget 0 -o /dev/full
mds=(--platform grid5000-lille-gsl --nodes 2cle+1cho --tiles 12 --tile 640)
expect 0 "multidimensional scaling" "$tesela" plan mds "${mds[@]}" --columns 500 --budget 2 -o mds.json --svg mds --json
json "multidimensional scaling" "[s['strategy'] for s in d['strategies']] == ['bc_all', 'bc_fast', '1d', 'lp', 'lp_constrained', 'chosen'] and d['application'] == 'mds'"
json "multidimensional scaling: the chosen is the best" "d['makespan'] == min(s['makespan'] for s in d['strategies']) and d['makespan'] >= d['lower_bound']"
check "pictures of mds" grep -q "First phase of mds" mds/first.svg
check "the plan of mds" python3 -c "import json; p = json.load(open('mds.json')); assert p['application'] == 'mds' and len(p['phases']['first']['owners']) == 12"
expect 0 "more columns take longer" "$tesela" plan mds "${mds[@]}" --columns 500 --budget 0 -o - ; cp out few.json
expect 0 "more columns take longer" "$tesela" plan mds "${mds[@]}" --columns 2000 --budget 0 -o -
check "more columns take longer" python3 -c "import json; assert json.load(open('few.json'))['makespan'] < json.load(open('out'))['makespan']"
bad "columns of another application" "--columns is not an option" "$tesela" plan geo "${paper[@]}" --columns 5 -o bad.json
bad "no columns" "--columns" "$tesela" plan mds "${mds[@]}" --columns 0 -o bad.json
bad "a platform without reading" "dread" "$tesela" plan mds --platform nacl --tiles 4 -o bad.json
bad "no size" "say how large the matrix is: --tiles N, or --n N" "$tesela" plan geo --platform sdumont-gsl -o bad.json
bad "more tasks than can be simulated" "choose larger tiles" "$tesela" plan geo --platform sdumont-gsl --tiles 5000 -o bad.json
bad "more tasks than can be simulated" "choose larger tiles" "$tesela" plan lu --platform sdumont-gsl --n 100000000 --tile auto -o bad.json
bad "an unknown platform" "nowhere" "$tesela" plan geo --platform nowhere --tiles 5 -o bad.json
bad "an unwritable file" "there is no directory" "$tesela" plan geo "${paper[@]}" -o nowhere/plan.json
expect 2 "pictures where no folder can be" "$tesela" plan geo "${paper[@]}" -o bad.json --svg /dev/null/x
holds "pictures where no folder can be" err "the folder /dev/null/x cannot be made: Not a directory"
expect 0 "under mpirun one node plans" "${mpirun[@]}" -n 2 "$tesela" plan geo "${paper[@]}" --budget 0 -o first.json
check "under mpirun one node plans" [ "$(grep -c '^bc_all' out)" = 1 ]
expect 2 "another application" "$tesela" plan qr "${paper[@]}"

expect 0 "a tile size" "$tesela" plan cholesky --platform sdumont-gsl --nodes 2sdc+2sdg --n 19200 --tile auto --budget 4 -o tile.json --json
json "a tile size: the best of those tried" "d['tile'] == min(d['tiles_tried'], key=lambda t: t['makespan'])['tile'] and len(d['tiles_tried']) > 2"
check "a tile size: that of the plan" python3 -c "
import json
plan = json.load(open('tile.json'))
assert plan['tile'] == json.load(open('out'))['tile'] and plan['phases']['second']['cols'] == -(-19200 // plan['tile'])"
expect 0 "a tile size for people" "$tesela" plan cholesky --platform sdumont-gsl --nodes 2sdc+2sdg --n 19200 --tile auto --budget 1 -o tile.json
check "a tile size for people: seconds of all" grep -qE '^planned in      [0-9.]+ m?s, [0-9.]+ m?s of them for tile sizes$' out
bad "a tile size of tiles" "--tile auto needs the size of the matrix in rows" "$tesela" plan geo "${paper[@]}" --tile auto -o bad.json
bad "no tile size" "--tile some is neither a size of at least 1 nor auto" "$tesela" plan geo "${paper[@]}" --tile some -o bad.json

# What does not fit into memory is refused before it is recorded or simulated, and what fits says what it needs.
python3 - <<'EOF'
import json
rates = [{"kernel": k, "flops": "30 GFLOP/s", "source": "derived"} for k in ("dgemm", "dsyrk", "dtrsm", "dpotrf")]
def node(name, count, memory):
    return {"name": name, "count": count, **memory, "memory_bandwidth": "100 GB/s", "nic": {"bandwidth": "100 Gb/s", "latency": "2 us", "source": "derived"},
            "workers": [{"name": "cores", "processor": "cpu", "count": 8, "kernels": rates}]}
def write(name, *nodes):
    json.dump({"format": "tesela-platform", "version": 1, "name": name, "node_types": nodes, "topology": {"kind": "flat"}}, open(name + ".json", "w"))
write("four", node("large", 4, {"memory": "64 GiB"}))
write("little", node("small", 2, {"memory": "2 GiB"}), node("middle", 2, {"memory": "4 GiB"}))
write("unequal", node("small", 2, {"memory": "2 GiB"}), node("large", 1, {"memory": "32 GiB"}))
write("unknown", node("large", 4, {}))
EOF
bad "590 GB on four nodes of 64 GiB" "node 0 (large) needs 138 GiB for its tiles and has 64.0 GiB" "$tesela" plan cholesky --platform four.json --tiles 400 -o bad.json
bad "60 tiles on nodes of 2 and 4 GiB" "node 0 (small) needs 2.09 GiB for its tiles and has 2.00 GiB" "$tesela" plan cholesky --platform little.json --tiles 60 -o bad.json
expect 0 "nodes of unequal memory" "$tesela" plan cholesky --platform unequal.json --tiles 40 --budget 1 -o unequal_plan.json --json
json "nodes of unequal memory" "all(max(m['first'], m['second'], m['peak']) <= m['memory'] for m in d['memory']) and len(d['memory']) == 3"
json "nodes of unequal memory: equal shares do not fit" "any(n.startswith('no bc_all: node ') for n in d['notes'])"
expect 0 "memory for people" "$tesela" plan cholesky --platform unequal.json --tiles 40 --budget 0 -o unequal_plan.json
check "memory for people" grep -qE '^small +2 +2.00 GiB +[0-9.]+ .iB +[0-9.]+ .iB +[0-9.]+ .iB$' out
expect 0 "memory that is not known" "$tesela" plan cholesky --platform unknown.json --tiles 10 --budget 0 -o unknown_plan.json
check "memory that is not known is said once" [ "$(grep -c 'unknown gives no memory of large' err)" = 1 ]
expect 0 "one node of four" "$tesela" plan cholesky --platform unknown.json --tiles 2 --budget 2 -o one.json
holds "one node of four" out "use             1 large, of 4 nodes"
holds "one node of four: the words are of the nodes that own tiles" out ", all on 1 large"
expect 0 "a single node" "$tesela" plan cholesky --platform four.json --nodes 1large --tiles 5 --budget 0 -o one.json
holds "a single node" out "on 1 node of four"
holds "a single node: one row" out "bc_all, bc_fast, 1d1d, 1d1d_triangle, lp, lp_triangle, lp_constrained, chosen"

# Two nodes of one worker each.
python3 - "$(dirname "$data")/platforms" <<'EOF'
import copy, json, sys
platform = json.load(open(sys.argv[1] + "/sdumont-gsl.json"))
sdc = next(t for t in platform["node_types"] if t["name"] == "sdc")
for group in sdc["workers"]:
    group["count"] = 1
sdc["count"] = 1
slow = copy.deepcopy(sdc)
slow["name"] = "slow"
platform.update(name="pair", node_types=[sdc, slow])
json.dump(platform, open("pair.json", "w"))
EOF
loud=(fit "$data/meuse.csv" --coords x,y --value log_zinc --family exponential --workers 1)
fit=("${loud[@]}" --quiet)
expect 0 "a plan for a pair" "$tesela" plan geo --platform pair.json --n 155 --tile 16 --budget 2 -o pair_plan.json
expect 0 "a fit without a plan" "$tesela" "${fit[@]}" -o alone.json
expect 0 "a fit by the plan" "${mpirun[@]}" -n 2 "$tesela" "${fit[@]}" --plan pair_plan.json -o planned.json
check "a fit by the plan" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('alone.json', 'planned.json'))
assert abs(a['loglik'] - b['loglik']) < 1e-7 and b['configuration']['tile'] == 16, (a['loglik'], b['loglik'])"
# Compressed matrices: the ranks of an evaluation, a plan for them, and evaluations by it.
tlr=(loglik "$data/meuse.csv" --coords x,y --value log_zinc --family exponential --theta sigma2=0.6,range=400,nugget=0.1 --workers 1 --method tlr --accuracy 1e-6)
expect 0 "ranks of an evaluation" "$tesela" "${tlr[@]}" --tile 16 --trace ranks.trace --json
cp out compressed
expect 0 "a plan for ranks" "$tesela" plan geo --platform pair.json --n 155 --ranks ranks.trace --budget 2 -o ranked.json --json
json "a plan for ranks" "d['tile'] == 16 and d['tiles'] == 10 and d['makespan'] >= d['lower_bound']"
cp out ranked
expect 0 "the same without ranks" "$tesela" plan geo --platform pair.json --n 155 --tile 16 --budget 2 -o unranked.json --json
check "a plan for ranks takes less" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('ranked', 'out'))
assert a['lower_bound'] < b['lower_bound'] and a['strategies'][0]['makespan'] < b['strategies'][0]['makespan'] and a['lp_ideal'] != b['lp_ideal'], (a, b)"
expect 0 "an evaluation by a plan for ranks" "${mpirun[@]}" -n 2 "$tesela" "${tlr[@]}" --plan ranked.json --json
check "an evaluation by a plan for ranks" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('compressed', 'out'))
assert abs(a['loglik'] - b['loglik']) < 1e-5 and b['compression']['bytes'] < b['compression']['dense_bytes'], (a, b)"
for application in cholesky lu; do
    expect 0 "ranks of $application" "$tesela" simulate $application --platform pair.json --tiles 8 --tile 200 --density synthetic:40 --trace $application.trace
    expect 0 "a plan of $application for ranks" "$tesela" plan $application --platform pair.json --tiles 8 --ranks $application.trace --budget 0 -o $application.json
done
bad "ranks of other tiles" "are of 8 x 8 tiles, and 9 x 9 are asked for" "$tesela" plan cholesky --platform pair.json --tiles 9 --ranks cholesky.trace -o bad.json
bad "ranks of half a matrix" "the lower triangle of A alone" "$tesela" plan lu --platform pair.json --tiles 8 --ranks cholesky.trace -o bad.json
bad "ranks of tiles of another size" "are of tiles of 200 rows, and --tile is 100" "$tesela" plan lu --platform pair.json --tiles 8 --tile 100 --ranks lu.trace -o bad.json
bad "ranks for many sizes" "--ranks are of tiles of one size" "$tesela" plan lu --platform pair.json --n 1600 --tile auto --ranks lu.trace -o bad.json
bad "ranks of distances" "--ranks is not an option" "$tesela" plan mds "${mds[@]}" --ranks lu.trace -o bad.json
expect 2 "a plan for more nodes" "$tesela" "${fit[@]}" --plan pair_plan.json -o bad.json
holds "a plan for more nodes" err "pair_plan.json is a plan for 2 nodes of pair, and this run has 1: plan for these"
expect 0 "a plan for another matrix" "$tesela" plan geo --platform pair.json --n 150 --tile 10 --budget 0 -o other.json
expect 2 "a plan for another matrix" "${mpirun[@]}" -n 2 "$tesela" "${fit[@]}" --plan other.json -o bad.json
holds "a plan for another matrix" err "15 x 15 tiles of 10, and this matrix has 16 x 16"
expect 0 "a plan for something else" "$tesela" plan cholesky --platform pair.json --n 155 --tile 16 --budget 0 -o something.json
expect 2 "a plan for something else" "${mpirun[@]}" -n 2 "$tesela" "${fit[@]}" --plan something.json -o bad.json
holds "a plan for something else" err "something.json is a plan for cholesky, and this is geo"
expect 2 "a plan for other nodes" "${mpirun[@]}" -n 4 "$tesela" "${fit[@]}" --plan plan.json -o bad.json
expect 2 "not a plan" "$tesela" "${fit[@]}" --plan pair.json -o bad.json
holds "not a plan" err "pair.json is not a plan that tesela plan wrote"
expect 2 "a plan and a tile size" "$tesela" "${fit[@]}" --plan pair_plan.json --tile 32 -o bad.json
python3 -c "
import json
plan = json.load(open('pair_plan.json'))
plan['version'] = 1.5
json.dump(plan, open('half.json', 'w'))"
expect 2 "half a version" "${mpirun[@]}" -n 2 "$tesela" "${fit[@]}" --plan half.json -o bad.json
holds "half a version" err "the field version has 1.5, which is not a whole number"
check "nothing was written" [ ! -e bad.json ]

# Plans that a fit makes itself.
export XDG_CACHE_HOME=$PWD/cache
expect 0 "a fit that plans" "${mpirun[@]}" -n 2 "$tesela" "${loud[@]}" --plan auto --plan-budget 1 -o auto.json
check "a fit that plans: three lines" [ "$(grep -c '^plan: ' err)" -ge 3 ]
holds "a fit that plans" err "an evaluation should take"
holds "a fit that plans" err "measured in"
check "a fit that plans" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('alone.json', 'auto.json'))
assert abs(a['loglik'] - b['loglik']) < 1e-7, (a['loglik'], b['loglik'])"
expect 0 "a plan in a trace" "${mpirun[@]}" -n 2 "$tesela" "${loud[@]}" --plan auto --plan-budget 0 -o auto.json --trace auto.trace
expect 0 "a plan in a trace" "$tesela" trace table plan auto.trace
check "a plan in a trace" python3 -c "
import csv
rows = list(csv.DictReader(open('out')))
assert rows and rows[0]['evaluations'] == '0' and rows[0]['outcome'] == '0' and float(rows[0]['expected_now']) > 0, rows"
expect 0 "nodes that are known" "${mpirun[@]}" -n 2 "$tesela" "${loud[@]}" --plan auto --plan-budget 0 -o auto.json
holds "nodes that are known" err "as measured before"
for file in cache/tesela/nodes/*.json; do echo '{"format": "tesela-nodes", "nodes_are": 3' >"$file"; done
expect 0 "a cache that is broken" "$tesela" "${loud[@]}" --plan auto --plan-budget 0 --dry-run
holds "a cache that is broken" err "measured in"
rm cache/tesela/nodes/*; expect 0 "a cache that is a pipe" "$tesela" "${loud[@]}" --plan auto --plan-budget 0 --dry-run
for file in cache/tesela/nodes/*.json; do rm "$file"; mkfifo "$file"; done
expect 0 "a cache that is a pipe" timeout 60 "$tesela" "${loud[@]}" --plan auto --plan-budget 0 --dry-run
holds "a cache that is a pipe" err "measured in"
expect 2 "a plan of its own and a checkpoint" "$tesela" "${fit[@]}" --plan auto --checkpoint c.json -o bad.json
holds "a plan of its own and a checkpoint" err "--plan auto may come to others"
expect 2 "an evaluation has no plan of its own" "$tesela" loglik "$data/meuse.csv" --coords x,y --value log_zinc --theta sigma2=1,range=200,smoothness=0.5,nugget=0.1 --plan auto
holds "an evaluation has no plan of its own" err "--plan auto is for tesela fit"
bad "the table and the plan" "both to standard output" "$tesela" plan geo "${paper[@]}" --budget 0 --json -o -
expect 2 "a budget without a plan" "$tesela" "${fit[@]}" --plan-budget 3 -o bad.json
ln -s loop loop
XDG_CACHE_HOME=/dev/null HOME=$PWD/loop expect 0 "no place for a cache" "$tesela" "${loud[@]}" --plan auto --plan-budget 0 --dry-run
holds "no place for a cache" err "an evaluation should take"
finish
