#!/usr/bin/env bash
# Calibration as a user types it, the file it writes, and the ready-made platforms.
#   calibrate.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
platforms=$(realpath "$2/../platforms")
here=$(dirname "$(realpath "$0")")
# shellcheck source=support.sh
source "$here/support.sh"

quick=(--tile-sizes 32,64 --seconds 0.002)
expect 0 "calibrate" "$tesela" calibrate "${quick[@]}"
for text in dgemm dcmg alone busy spread GFLOP/s "copy in memory" machine.json; do holds "the table" out "$text"; done
check "the file" python3 -c "
import json
d = json.load(open('$work/machine.json'))
node = d['node_types'][0]
assert d['format'] == 'tesela-platform' and len(d['node_types']) == 1 and node['count'] == 1
assert node['nic']['source'] == 'derived' and 'placeholder' in d['description']
kernels = {k['kernel']: k for k in node['workers'][0]['kernels']}
assert set(kernels) >= {'dpotrf', 'dtrsm', 'dsyrk', 'dgemm', 'dgemv', 'dgetrf', 'dtrtri', 'dlauum', 'dtrmm', 'dgeadd', 'dlaset', 'ddot', 'dlogdet', 'dgenerate', 'dcmg', 'dcolsq'}
for k in kernels.values():
    assert k['source'] == 'measured' and [p['tile'] for p in k['seconds']] == [32, 64]
    assert all(float(p['value'].removesuffix(' s')) > 0 and p['work'] > 0 for p in k['seconds'] + k.get('narrow', []))
assert all('narrow' in kernels[k] for k in ('dtrsm', 'dgemm', 'dsyrk'))"
expect 0 "the file is a platform" "$tesela" dist make 1d1d --tiles 6 --platform machine.json --tile 64
expect 0 "some kernels" "$tesela" calibrate "${quick[@]}" --kernels sgemm,spotrf --alone --workers 1 --out some.json --json
json "some kernels" "d['load'] == 'alone' and d['network'] is None and {s['kernel'] for s in d['samples']} == {'sgemm', 'spotrf'}"
json "some kernels" "all(s['alone']['best'] <= min(s['alone']['mean'], s['alone']['slow']) for s in d['samples'])"
expect 0 "single precision to standard output" "$tesela" calibrate --precision single --tile-sizes 48 --seconds 0.001 --out - --name mine
json "single precision to standard output" "d['name'] == 'mine' and all(k['kernel'][0] == 's' for k in d['node_types'][0]['workers'][0]['kernels'])"
expect 0 "two nodes" "${mpirun[@]}" -n 2 "$tesela" calibrate --kernels dgemm,dtrsm "${quick[@]}" --out two.json --json
json "two nodes" "d['network']['latency'] > 0 and d['network']['bandwidth'] > 1e6 and d['network']['bidirectional_bandwidth'] > 1e6"
json "two nodes" "[p['bytes'] for p in d['network']['points']] == sorted(p['bytes'] for p in d['network']['points'])"
check "the file of two nodes" python3 -c "
import json
d = json.load(open('$work/two.json'))
assert sum(t['count'] for t in d['node_types']) == 2  # one type, unless one of them was disturbed
assert all(t['nic']['source'] == 'measured' for t in d['node_types'])"

# Durations are merged into a file, which otherwise stays as it is; a program does so with those of its own kernel.
cp machine.json before.json
expect 0 "merge" "$tesela" calibrate --kernels dgemm --tile-sizes 48 --seconds 0.002 --merge machine.json
holds "merge" out "merged          1 kernels of"
expect 0 "a kernel of one's own" "$(dirname "$tesela")/examples/example_own_kernel" machine.json
holds "a kernel of one's own" out "ms run: done"
expect 0 "a platform with a kernel of one's own" "$tesela" dist make 1d1d --tiles 6 --platform machine.json --tile 64
check "a kernel of one's own is not warned of" [ ! -s "$work/err" ]
check "what was merged" python3 -c "
import json
before, after = (json.load(open('$work/' + name)) for name in ('before.json', 'machine.json'))
old, new = ({k['kernel']: k for k in d['node_types'][0]['workers'][0].pop('kernels')} for d in (before, after))
assert before == after and list(before) == list(after)  # but for kernels
assert [p['tile'] for p in new['dgemm']['seconds']] == [48] and new['dgemm']['source'] == 'measured'
assert [p['tile'] for p in new['assemble']['seconds']] == [75, 150] and float(new['assemble']['seconds'][0]['value'].removesuffix(' s')) > 0
assert all(new[name] == old[name] for name in old if name != 'dgemm') and set(new) == set(old) | {'assemble'}"
cp "$platforms/grid5000-lille.json" lille.json
expect 0 "merge into a type that is named" "$tesela" calibrate --kernels dpotrf --tile-sizes 48 --seconds 0.002 --merge lille.json --type chi --json
json "merge into a type that is named" "d['out'] == 'lille.json' and {s['kernel'] for s in d['samples']} == {'dpotrf'}"
check "the type that was named" python3 -c "
import json
before, after = (json.load(open(name))['node_types'] for name in ('$platforms/grid5000-lille.json', '$work/lille.json'))
assert [b['name'] for a, b in zip(after, before) if a != b] == ['chi']"
bad "merge into no type" 'does not have 1 nodes "nowhere"; it has' "$tesela" calibrate --kernels dpotrf --tile-sizes 48 --seconds 0.002 --merge lille.json --type nowhere
bad "merge into a ready-made platform" "and merge into the copy" "$tesela" calibrate --merge grid5000-lille
bad "merge into no file" "no platform file nofile.json" "$tesela" calibrate --merge nofile.json

bad "unknown kernel" 'no kernel "dfoo"' "$tesela" calibrate --kernels dfoo
bad "tile of zero" "tiles of 0 rows" "$tesela" calibrate --tile-sizes 0
bad "no time" "must be above 0" "$tesela" calibrate --seconds 0
bad "an unwritable folder" "nowhere" "$tesela" calibrate "${quick[@]}" --out nowhere/m.json
bad "two things on standard output" "standard output" "$tesela" calibrate --out - --json
expect 2 "busy and alone" "$tesela" calibrate --busy --alone

for file in "$platforms"/*.json; do
    [ "$(basename "$file")" = schema.json ] && continue
    expect 0 "$(basename "$file")" "$tesela" dist make 1d --tiles 4 --platform "$file"
done
expect 0 "a choice of nodes" "$tesela" dist make 1d1d_constrained --tiles 20 --platform "$platforms/grid5000-lille.json" --nodes 6che+6chi+2cho
json "a choice of nodes" "d['nodes'] == 14"
bad_platform() { # NAME TEXT PYTHON
    python3 -c "
import json
d = json.load(open('$platforms/grid5000-lille.json'))
$3
json.dump(d, open('$work/bad.json', 'w'))"
    expect 2 "$1" "$tesela" dist make 1d --tiles 4 --platform bad.json
    holds "$1" err "$2"
}
bad_platform "zero bandwidth" "node_types[2].nic.bandwidth must be at least a byte per second" "d['node_types'][2]['nic']['bandwidth'] = '0 GB/s'"
bad_platform "no unit" 'node_types[2].nic.bandwidth must be text with a unit, as "12 GB/s"' "d['node_types'][2]['nic']['bandwidth'] = 10"
bad_platform "unknown unit" 'node_types[0].memory: "256 GiBi" has the unknown unit "GiBi"' "d['node_types'][0]['memory'] = '256 GiBi'"
bad_platform "a cycle of subnets" "topology.subnets[0].parent goes round in a circle" "d['topology']['subnets'][0]['parent'] = 'B'; d['topology']['subnets'][1]['parent'] = 'A'"
python3 -c "
import json
d = json.load(open('$platforms/grid5000-lille.json'))
d['node_types'][0]['workers'][0]['kernels'].append({'kernel': 'dgem', 'flops': '1 GFLOP/s', 'source': 'derived'})
json.dump(d, open('$work/odd.json', 'w'))"
expect 0 "a kernel that nothing uses" "$tesela" dist make 1d --tiles 4 --platform odd.json
holds "a kernel that nothing uses" err 'warning: odd.json: no operation of Tesela uses the kernel "dgem"; did you mean dgemm?'
bad_platform "a kernel that nothing runs" 'no worker of the platform can run the kernel "dcmg"' "
for t in d['node_types']:
    for g in t['workers']:
        for k in g['kernels']:
            if k['kernel'] == 'dcmg': k.clear(); k.update(kernel='dcmg', unavailable=True)"

# What was measured predicts runs, on several nodes too; a table holds one run of each number of nodes.
prediction=("$tesela" bench prediction --n 400 --geo 300 --redistribution 200 --workers 1 --passes 1 --repetitions 1 --seconds 0.001 --table predictions.csv --json)
expect 0 "predictions on two nodes" "${mpirun[@]}" -n 2 "${prediction[@]}"
json "predictions on two nodes" "[r['nodes'] for r in d['rows']] == [2, 2, 2] and all(r['predicted'] > 0 and r['measured'] > 0 and r['network_gbytes_per_second'] > 0 for r in d['rows'])"
expect 0 "predictions on one" "${prediction[@]}"
json "predictions on one" "[r['operation'] for r in d['rows']] == ['cholesky', 'geo', 'redistribution'] and d['worst_error'] >= d['median_error']"
check "predictions of both" [ "$(grep -v '^#' predictions.csv | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')" = " 3 1 3 2 1 nodes " ]
expect 2 "several numbers of workers under mpirun" "${mpirun[@]}" -n 2 "$tesela" bench prediction --workers 1,2
holds "several numbers of workers under mpirun" err "under mpirun give one number of workers, not 2"

# By the schema too, with Debian's Python and its package.
/usr/bin/python3 "$here/platform_schema.py" "$platforms/schema.json" $(ls "$platforms"/*.json | grep -v schema.json) "$work/machine.json" "$work/two.json" >"$work/out" 2>"$work/err"
code=$?
check "the schema: $(cat "$work/out")" [ "$code" = 0 ]
finish
