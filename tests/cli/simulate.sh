#!/usr/bin/env bash
# Simulations as a user types them: every operation, both networks, traces, and what goes wrong.
#   simulate.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

python3 - <<'PLATFORM'
import json
def kernels(scale, gpu):
    rates = {"dpotrf": 18, "dgetrf": 18, "dtrsm": 27, "dsyrk": 28, "dgemm": 30}
    list = [{"kernel": k, "flops": f"{r * scale} GFLOP/s", "source": "derived"} for k, r in rates.items()]
    for k in ("dgemv", "dgeadd", "dlaset", "dgenerate", "ddot", "dlogdet"):
        list.append({"kernel": k, "bytes": "6 GB/s", "source": "derived"} if not gpu else {"kernel": k, "unavailable": True})
    list.append({"kernel": "dcmg", "elements": "3 Melement/s", "source": "derived"} if not gpu else {"kernel": "dcmg", "unavailable": True})
    return list
def node(name, count, gpus, net):
    workers = [{"name": "cores", "processor": "cpu", "count": 6, "kernels": kernels(1, False)}]
    if gpus:
        workers.append({"name": "gpus", "processor": "gpu", "count": gpus, "streams": 3, "memory": "8 GiB", "memory_bandwidth": "300 GB/s",
                        "host_bandwidth": "12 GB/s", "kernels": kernels(20, True)})
    return {"name": name, "count": count, "memory": "64 GiB", "memory_bandwidth": "40 GB/s", "subnet": name,
            "nic": {"bandwidth": net, "latency": "20 us"}, "workers": workers}
subnet = lambda name: {"name": name, "uplink": {"bandwidth": "50 Gb/s", "latency": "1 us"}}
json.dump({"format": "tesela-platform", "version": 1, "name": "small", "node_types": [node("slow", 4, 0, "10 Gb/s"), node("fast", 2, 2, "25 Gb/s")],
           "topology": {"kind": "subnets", "subnets": [subnet("slow"), subnet("fast")]}}, open("p.json", "w"))
PLATFORM

keys="{'makespan', 'lower_bound', 'area_bound', 'critical_path', 'tasks', 'transfers', 'bytes', 'utilisation', 'memory_peak', 'wall_seconds'}"
for operation in cholesky lu gemm geo; do
    expect 0 "$operation" "$tesela" simulate $operation --platform p.json --tiles 12 --tile 480 --json
    json "$operation" "$keys <= set(d) and d['makespan'] >= d['lower_bound'] >= max(d['area_bound'], d['critical_path']) > 0"
    json "$operation" "d['nodes'] == 6 and d['dist'] == '$([[ $operation == @(cholesky|geo) ]] && echo 1d1d_triangle || echo 1d1d)' and 0 < d['utilisation'] <= 1 and d['transfers'] > 0 and not d['warnings']"
done
expect 0 "for people" "$tesela" simulate cholesky --platform p.json --nodes 3slow --tiles 10
holds "for people" out "makespan"
holds "for people" out "distribution block_cyclic"
expect 0 "tasks of a factorisation" "$tesela" simulate cholesky --platform p.json --nodes 2slow+1fast --tiles 20 --dist block_cyclic:1x3 --json
json "tasks of a factorisation" "d['tasks'] == 20 + 20 * 19 + 20 * 19 * 18 // 6 and d['nodes'] == 3"

expect 0 "a limit of a kernel" "$tesela" simulate geo --platform p.json --tiles 12 --tile 480 --limit dcmg=1 --limit dsyrk=6 --json
check "a limit of a kernel" python3 -c "
import json, subprocess
limited = json.load(open('out'))
free = json.loads(subprocess.run(['$tesela', 'simulate', 'geo', '--platform', 'p.json', '--tiles', '12', '--tile', '480', '--json'],
                                 capture_output=True, check=True).stdout)
assert limited['makespan'] > 1.5 * free['makespan'] and limited['tasks'] == free['tasks']"

sed 's/"8 GiB"/"40 MiB"/' p.json >small_gpus.json
expect 0 "tiles that stay on GPUs" "$tesela" simulate cholesky --platform p.json --nodes 1fast --tiles 12 --tile 480 --json
json "tiles that stay on GPUs" "d['gpus']['to_gpus'] > 0 and d['gpus']['evicted'] == 0"
cp out roomy
expect 0 "tiles that are evicted" "$tesela" simulate cholesky --platform small_gpus.json --nodes 1fast --tiles 12 --tile 480 --json
check "tiles that are evicted" python3 -c "
import json
roomy, d = (json.load(open(f)) for f in ('roomy', 'out'))
assert d['gpus']['evicted'] > 0 and d['gpus']['to_gpus'] > roomy['gpus']['to_gpus'], d['gpus']
assert d['makespan'] > roomy['makespan'] and d['gpus'] == d['per_node'][0]['gpus']"
sed 's/"8 GiB"/"5 MiB"/' p.json >tiny_gpus.json
expect 0 "GPUs without room" "$tesela" simulate cholesky --platform tiny_gpus.json --nodes 1fast --tiles 4 --tile 480
holds "GPUs without room" err "the GPUs of fast have 5.00 MiB each, too little for a product of three tiles, 5.27 MiB: cores compute those"
expect 0 "tiles that are evicted, for people" "$tesela" simulate cholesky --platform small_gpus.json --nodes 1fast --tiles 12 --tile 480
check "tiles that are evicted, for people" grep -qE '^GPUs +[0-9.]+ .iB to them, [0-9.]+ .iB back, [0-9.]+ .iB evicted for room$' out
sed 's/"64 GiB"/"40 MiB"/' p.json >small_nodes.json
expect 2 "nodes without memory for it" "$tesela" simulate cholesky --platform small_nodes.json --nodes 2slow --tiles 12 --tile 480
check "nodes without memory for it" grep -qE '^tesela simulate cholesky: node [01] \(slow\) needs [0-9.]+ MiB for its tiles and copies of other nodes'\'' tiles and has 40.0 MiB' err
check "nodes without memory for it: one line" [ "$(wc -l <err)" = 1 ]
sed 's/"memory": "64 GiB", //' p.json >unbounded.json
expect 0 "nodes whose memory is not known" "$tesela" simulate cholesky --platform unbounded.json --nodes 2slow --tiles 12 --tile 480 --json

expect 0 "a distribution from a file" "$tesela" dist make rs --tiles 16 --count 6 -o d.json
expect 0 "a distribution from a file" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --json
cp out once
expect 0 "the same again" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --json
check "the same again" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('once', 'out'))
a.pop('wall_seconds'), b.pop('wall_seconds')
assert a == b"
cp out plain
expect 0 "noise" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --noise 0.1 --seed 3 --json
check "noise" python3 -c "
import json
a, b = (json.load(open(f))['makespan'] for f in ('plain', 'out'))
assert a != b and 0.7 < a / b < 1.4"
expect 0 "low ranks" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --density synthetic:8 --json
check "low ranks" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('plain', 'out'))
assert b['bytes'] < a['bytes']"
cp out low
expect 0 "lower ranks" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --density synthetic:40 --json
check "lower ranks" python3 -c "
import json
a, b, c = (json.load(open(f)) for f in ('plain', 'low', 'out'))
assert c['bytes'] < b['bytes'] and c['makespan'] < a['makespan']"
cp low out
expect 0 "messages of one size" "$tesela" simulate cholesky --platform p.json --tiles 16 --dist d.json --density synthetic:8 --sent-rank 480 --json
check "messages of one size" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('low', 'out'))
assert b['bytes'] > 1.02 * a['bytes'] and b['transfers'] == a['transfers']"
expect 0 "diagonal tiles in parts" "$tesela" simulate cholesky --platform p.json --tiles 1 --tile 960 --nodes 1slow --json
cp out whole
expect 0 "diagonal tiles in parts" "$tesela" simulate cholesky --platform p.json --tiles 1 --tile 960 --nodes 1slow --diagonal-tile 160 --json
check "diagonal tiles in parts" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('whole', 'out'))
assert a['tasks'] == 1 and b['tasks'] == 56 + 2 * 21 + 2 and b['makespan'] < 0.8 * a['makespan']"
expect 0 "overlap" "$tesela" simulate geo --platform p.json --tiles 12 --tile 480 --overlap sync --json
cp out synchronous
expect 0 "overlap" "$tesela" simulate geo --platform p.json --tiles 12 --tile 480 --overlap order --json
check "overlap is worth something" python3 -c "
import json
a, b = (json.load(open(f))['makespan'] for f in ('synchronous', 'out'))
assert a > b"

# By itself every kind of node decides whether it keeps a core for critical tasks.
sed 's/"name": "cores", "processor": "cpu", "count": 6/&4/2' p.json >fat.json
expect 0 "overlap auto" "$tesela" simulate geo --platform fat.json --tiles 12 --tile 480
holds "overlap auto" out "overlap         order (slow), oversubscribe (fast)"
expect 0 "overlap auto in a plan" "$tesela" plan geo --platform fat.json --tiles 12 --tile 480 --budget 0 -o fat_plan.json --json
cp out planned
expect 0 "simulate what was planned" "$tesela" simulate geo --platform fat.json --tiles 12 --tile 480 --engine scheduler=earliest_finish --dist block_cyclic --json
check "a plan and a simulation have the same critical workers" python3 -c "
import json
row = next(s for s in json.load(open('planned'))['strategies'] if s['strategy'] == 'bc_all')
assert abs(row['makespan'] - json.load(open('out'))['makespan']) < 1e-9, row"

# QR, on the platform that has its rates.
expect 0 "QR" "$tesela" simulate qr --platform shaheen2 --nodes 4haswell --tiles 16 --tile 320 --dist block_cyclic:2x2 --json
json "QR" "$keys <= set(d) and d['makespan'] >= d['lower_bound'] > 0 and d['transfers'] > 0"
cp out qr
expect 0 "LU of the same tiles" "$tesela" simulate lu --platform shaheen2 --nodes 4haswell --tiles 16 --tile 320 --dist block_cyclic:2x2 --json
check "QR takes about twice as long as LU" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('qr', 'out'))
assert 1.5 < a['area_bound'] / b['area_bound'] < 4, (a['area_bound'], b['area_bound'])"

# Multidimensional scaling as a stream, on the paper's machines.
lille=(--platform grid5000-lille --nodes 4chi --tiles 24 --tile 640 --json)
expect 0 "mds, all at once" "$tesela" simulate mds "${lille[@]}"
json "mds, all at once" "$keys <= set(d) and d['dist'] == '1d' and d['overlap'] == 'priorities' and (d['columns'], d['readers'], d['panel']) == (1000, 5, 0)"
cp out streamed
expect 0 "mds, phase by phase" "$tesela" simulate mds "${lille[@]}" --overlap sync
check "mds, phase by phase" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('out', 'streamed'))
assert a['overlap'] == 'sync' and a['makespan'] > 1.1 * b['makespan']"
expect 0 "mds, read by panels" "$tesela" simulate mds "${lille[@]}" --panel 6 --trace mds.trace
check "mds, read by panels" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('out', 'streamed'))
assert a['tasks'] == b['tasks'] + 24 * 4 and a['panel'] == 6"  # as many tiles are taken as were read
expect 0 "mds, fewer readers" "$tesela" simulate mds "${lille[@]}" --readers 1 --columns 640
check "mds, fewer readers" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('out', 'streamed'))
assert a['makespan'] > 3 * b['makespan'] and a['tasks'] < b['tasks']"
expect 0 "mds in a trace" "$tesela" trace table phases mds.trace
for phase in read gram product centre; do holds "mds in a trace" out "$phase"; done

expect 0 "trace" "$tesela" simulate cholesky --platform p.json --tiles 12 --trace t --json
cp out traced
expect 0 "trace summary" "$tesela" trace summary t --json
check "the trace is of the run" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('traced', 'out'))
assert a['tasks'] == b['tasks'] and a['transfers'] == b['messages'] and abs(a['makespan'] - b['makespan']) < 1e-3 and not b['warnings']"
cp out summed
expect 0 "trace table" "$tesela" trace table utilisation t
check "a card is one worker, in the simulation as in its trace" python3 -c "
import csv, json
simulated, summed = (json.load(open(f)) for f in ('traced', 'summed'))
rows = list(csv.DictReader(open('out')))
of = lambda level: [float(row['utilisation']) for row in rows if row['level'] == level]
assert summed['workers'] == 6 * 6 + 2 * 2 == len(of('worker'))
for a, b in zip([simulated['utilisation']] * 2 + [node['utilisation'] for node in simulated['per_node']], [summed['utilisation']] + of('run') + of('node'), strict=True):
    assert 0 < a < 1 and abs(a - b) <= 1e-9, (a, b)"
expect 0 "utilisation for people" "$tesela" simulate cholesky --platform p.json --tiles 12
printed=$(grep '^utilisation' out)
expect 0 "utilisation of the trace for people" "$tesela" trace summary t
holds "utilisation of the trace for people" out "$printed, first 95 %"
expect 0 "pictures of traces" "$tesela" trace picture mds.trace t --by kernel --steps dread,dgemm --titles first,second -o runs.svg
for text in '>dread<' '>dtake<' '>dgemm<' '>other<' '>first: ' '>second: ' '>node 0 GPUs<' 'main memory in use'; do
    check "pictures of traces: $text" grep -q "$text" runs.svg
done
expect 0 "pictures by phases" "$tesela" trace picture mds.trace -o -
for phase in read gram product centre; do holds "pictures by phases" out ">$phase<"; done
expect 2 "steps of nothing" "$tesela" trace picture t --steps potrf -o runs.svg
holds "steps of nothing" err 'steps of "potrf" cannot be drawn; the picture has cholesky'
expect 2 "fewer titles than runs" "$tesela" trace picture mds.trace t --titles one -o runs.svg
holds "fewer titles than runs" err "1 of them for 2 traces"
expect 0 "a simulation with ranks" "$tesela" simulate cholesky --platform p.json --tiles 12 --density synthetic:40 --trace low --json
cp out ranked
expect 0 "ranks of a trace" "$tesela" simulate cholesky --platform p.json --tiles 12 --ranks low --json
check "ranks of a trace are those of the run" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('ranked', 'out'))
assert (a['makespan'], a['bytes'], a['tile']) == (b['makespan'], b['bytes'], b['tile']) and a['makespan'] < json.load(open('traced'))['makespan']"
expect 0 "ranks of a trace, in an evaluation" "$tesela" simulate geo --platform p.json --tiles 12 --ranks low --json
for arguments in "cholesky --tiles 12 --ranks t=has no ranks" "gemm --tiles 12 --ranks t=has no ranks" \
    "cholesky --tiles 13 --ranks low=are of 12 x 12 tiles, and 13 x 13 are asked for" \
    "cholesky --tiles 12 --tile 500 --ranks low=are of tiles of 960 rows, and --tile is 500" \
    "cholesky --tiles 12 --ranks low:B=no ranks of a matrix \"B\"; it has those of A" \
    "lu --tiles 12 --ranks low=the lower triangle of A alone, and lu works on all tiles"; do
    read -ra words <<<"${arguments%%=*}"
    expect 2 "ranks: $arguments" "$tesela" simulate "${words[@]}" --platform p.json
    holds "ranks: $arguments" err "${arguments#*=}"
done

if "$tesela" simulate cholesky --platform p.json --tiles 2 --network simgrid --json >out 2>err; then
    expect 0 "simgrid" "$tesela" simulate cholesky --platform p.json --tiles 24 --tile 480 --dist block_cyclic:2x3 --network simgrid --json
    cp out simgrid
    expect 0 "ports" "$tesela" simulate cholesky --platform p.json --tiles 24 --tile 480 --dist block_cyclic:2x3 --json
    check "networks agree" python3 -c "
import json
a, b = (json.load(open(f))['makespan'] for f in ('simgrid', 'out'))
assert abs(a / b - 1) < 0.02"
else
    check "without SimGrid it says so" grep -q "no SimGrid" err
fi

mkdir -p ready && cp p.json ready/mine.json
expect 0 "a ready-made platform" env TESELA_PLATFORMS="$work/ready" "$tesela" simulate lu --platform mine --tiles 3 --json

bad_simulation() { # NAME TEXT ARGUMENTS…
    local name=$1 text=$2
    shift 2
    expect 2 "$name" "$tesela" simulate "$@"
    holds "$name" err "$text"
}
bad_simulation "unknown operation" "svd" svd --platform p.json --tiles 3
bad_simulation "a limit of nothing" 'the run has no kernel or resource "dpotrf"; it has dgemm, dgetrf, dtrsm' lu --platform p.json --tiles 4 --limit dpotrf=2
for wrong in dgemm dgemm=0 dgemm=x =3 dgemm=2x; do
    bad_simulation "--limit $wrong" "as dgemm=3" lu --platform p.json --tiles 4 --limit "$wrong"
done
bad_simulation "a limit given twice" "names dgemm twice" lu --platform p.json --tiles 4 --limit dgemm=2 --limit dgemm=3
bad_simulation "parts of LU's diagonal" "--diagonal-tile is not an option" lu --platform p.json --tiles 4 --diagonal-tile 100
bad_simulation "ranks of messages where tiles have none" "give --density or --ranks" cholesky --platform p.json --tiles 4 --sent-rank 9
bad_simulation "messages of more columns than a tile" "at most 480, with which messages are as long as a whole tile of 960; it is 481" cholesky --platform p.json --tiles 4 --density synthetic:8 --sent-rank 481
bad_simulation "messages of fewer columns than none" "--sent-rank" cholesky --platform p.json --tiles 4 --density synthetic:8 --sent-rank -1
bad_simulation "overlap without phases" "--overlap is not an option" cholesky --platform p.json --tiles 4 --overlap sync
bad_simulation "a step of the other" "\"solve\" is not one of sync, async, allocation" mds "${lille[@]}" --overlap solve
bad_simulation "columns of another operation" "--columns is not an option" lu --platform p.json --tiles 4 --columns 9
bad_simulation "ranks of distances" "--density is not an option" mds "${lille[@]}" --density synthetic:8
bad_simulation "a platform without reading" "dread" mds --platform p.json --tiles 4
bad_simulation "a platform without QR" "dgeqrt" qr --platform p.json --tiles 4
bad_simulation "a scheduler that is none" "there are earliest_finish, priority" lu --platform p.json --tiles 4 --engine scheduler=lws
bad_simulation "too few pending tasks" "max-pending must be at least 1; it is 0" lu --platform p.json --tiles 4 --engine max-pending=0
bad_simulation "a key that is not known" '"max-pendng" is not a key; there are scheduler, max-pending, trace-modules; did you mean max-pending?' lu --platform p.json --tiles 4 --engine max-pendng=3
bad_simulation "a key without a value" "max-pending takes a value, as max-pending=N" lu --platform p.json --tiles 4 --engine max-pending
bad_simulation "noise below none" "--noise" lu --platform p.json --tiles 4 --noise -1
bad_simulation "no platform" "none.json" cholesky --platform none.json --tiles 3
TESELA_PLATFORMS="$work/ready" bad_simulation "known platforms are listed" "mine" cholesky --platform nowhere --tiles 3
bad_simulation "unknown nodes" "huge" cholesky --platform p.json --nodes 2huge --tiles 3
bad_simulation "no tiles" "--tiles" cholesky --platform p.json --tiles 0
bad_simulation "a distribution of other nodes" "nodes" cholesky --platform p.json --nodes 2slow --tiles 16 --dist d.json
bad_simulation "unknown overlap" "never" geo --platform p.json --tiles 3 --overlap never
bad_simulation "unwritable trace" "nowhere" cholesky --platform p.json --tiles 3 --trace nowhere/t
sed 's/"count": 6/"count": -6/' p.json > broken.json
bad_simulation "a broken platform" "count" cholesky --platform broken.json --tiles 3
sed 's/"kernel": "dtrsm"/"kernel": "other"/g' p.json > lacking.json
bad_simulation "a kernel without a duration" "dtrsm" cholesky --platform lacking.json --tiles 3

# The platform that the docs show can do all.
awk '/^```json/{on=1; next} /^```/{on=0} on' "$(dirname "$(realpath "$0")")/../../docs/platforms.md" >shown.json
for operation in cholesky lu gemm geo; do
    expect 0 "the docs' platform: $operation" "$tesela" simulate $operation --platform shown.json --tiles 4 --json
    check "the docs' platform: $operation, without a warning" [ ! -s err ]
done
finish
