#!/usr/bin/env bash
# Traces as a user types them: record, summary, tables, diff, export, a run that is killed, and what goes wrong.
#   trace.sh BUILD_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
here=$(dirname "$(realpath "$0")")
corpus=$here/../fuzz/corpus/trace
# shellcheck source=support.sh
source "$here/support.sh"

# refused NAME TEXT COMMAND…: exit code 2 and one line on stderr that holds the text.
refused() {
    local name=$1 text=$2
    shift 2
    expect 2 "$name" "$@"
    holds "$name" err "$text"
    check "$name: more than one line" [ "$(wc -l <err)" = 1 ]
    check "$name: prints results" [ ! -s out ]
}

# A trace that was written before: 4 tile rows of Cholesky, so 4 + 6 + 6 + 4 tasks, with invented times.
expect 0 summary "$tesela" trace summary "$corpus/cholesky" --json
json summary "all(k in d for k in ('makespan', 'tasks', 'utilisation', 'critical_path', 'area_of_this_schedule', 'bytes'))"
json summary "d['tasks'] == 20 and d['complete'] and d['unfinished'] == 0"
expect 0 "summary for people" "$tesela" trace summary "$corpus/cholesky"
holds "summary for people" out "critical path"
for table in tasks comms memory waits workers edges counters utilisation kernels phases kernel_phase delays critical_path \
    occupancy load communication steps ranks idle rank_seen; do
    expect 0 "table $table" "$tesela" trace table "$table" "$corpus/cholesky"
    check "table $table has no header" [ "$(wc -l <out)" -ge 1 ]
done

# Ranks: those of a traced evaluation are those that it reports.
expect 0 "a field" "$tesela" sample --n 1500 --theta sigma2=1,range=0.1,nugget=0.1 --family exponential --seed 3 -o field.csv --quiet
compressed=(loglik field.csv --coords x,y --value z --family exponential --theta sigma2=1,range=0.1,nugget=0.1 --method tlr --accuracy 1e-4 --tile 200 --json)
expect 0 "a traced evaluation" "$tesela" "${compressed[@]}" --trace ranks.trace
expect 0 "the same evaluation, with a report" "$tesela" "${compressed[@]}"
cp out evaluated
expect 0 "ranks" "$tesela" trace ranks ranks.trace -o ranks.csv --svg ranks.svg --json
json "ranks" "(d['matrix'], d['tile_rows'], d['tile_cols'], d['tile']) == ('Sigma', 8, 8, 200) and d['initial']['tiles'] == 36"
check "ranks are those of the evaluation" python3 -c "
import csv, json
run, ranks = json.load(open('evaluated'))['compression'], json.load(open('out'))['final']
assert (run['rank_mean'], run['rank_max'], run['bytes'], run['dense_bytes']) == (ranks['mean'], ranks['max'], ranks['bytes'], ranks['dense_bytes']), (run, ranks)
rows = list(csv.DictReader(open('ranks.csv')))
low = [int(r['final']) for r in rows if r['final'] != '-1']
assert len(rows) == 36 and max(low) == ranks['max'] and abs(sum(low) / len(low) - ranks['mean']) < 1e-9
assert all(int(r['change']) == int(r['final']) - int(r['initial']) for r in rows)"
expect 0 "a traced evaluation in single precision" "$tesela" "${compressed[@]}" --single --trace singles.trace
expect 0 "the same in single precision, with a report" "$tesela" "${compressed[@]}" --single
cp out evaluated
expect 0 "ranks in single precision" "$tesela" trace ranks singles.trace --json
check "bytes of columns in single precision are those of the evaluation" python3 -c "
import json
run, ranks = json.load(open('evaluated'))['compression'], json.load(open('out'))['final']
assert run['bytes'] == ranks['bytes'] < 0.95 * json.load(open('out'))['final']['dense_bytes'], (run, ranks)"
for text in "as generated" "as factored" "difference" "tile row" "stored whole" "</svg>"; do
    check "picture of ranks: $text" grep -q "$text" ranks.svg
done
expect 0 "a picture of a run" "$tesela" trace picture ranks.trace -o run.svg
check "tasks without a phase have a name in the legend" grep -q ">no phase<" run.svg
check "nothing in the legend is without a name" [ "$(grep -c 'font-size="11"[^>]*></text>' run.svg)" = 0 ]
expect 0 "ranks for people" "$tesela" trace ranks ranks.trace --matrix Sigma
holds "ranks for people" out "8 x 8 tiles of 200, on and below the diagonal"
refused "ranks of another matrix" 'no ranks of a matrix "B"; it has those of Sigma' "$tesela" trace ranks ranks.trace --matrix B
refused "ranks of a trace of before" "does not say how large the tiles of A are" "$tesela" trace ranks "$corpus/all_kinds"
# A trace that does not have all tiles is not taken for one of tiles that are stored whole.
expect 0 "a traced evaluation on two nodes" "${mpirun[@]}" -n 2 "$tesela" "${compressed[@]}" --workers 1 --trace two.trace
expect 0 "ranks of two nodes" "$tesela" trace ranks two.trace --json
json "ranks of two nodes" "d['initial']['tiles'] == 36"
other=$(ls two.trace?*)
mv "$other" away
for command in "trace ranks two.trace" "simulate geo --platform sdumont-gsl --nodes 2sdc --tiles 8 --ranks two.trace" "plan geo --platform sdumont-gsl --nodes 2sdc --tiles 8 --ranks two.trace --budget 1 -o plan.json" "dist make bce --tiles 8 --count 2 --ranks two.trace -o owners.json"; do
    # shellcheck disable=SC2086 # words
    expect 2 "tiles that a trace does not have: $command" "$tesela" $command
    check "tiles that a trace does not have are counted: $command" grep -qE "[0-9]+ of the 36 tiles of Sigma are not in two.trace. $other: the trace of node 1 is missing" err
done
head -c $(($(stat -c %s away) / 2)) away >"$other"
expect 2 "a trace that was cut short" "$tesela" trace ranks two.trace
check "a trace that was cut short is named" grep -qE "of the 36 tiles of Sigma are not in two.trace. $other: the run did not end properly" err
exact=(loglik field.csv --coords x,y --value z --family exponential --theta sigma2=1,range=0.1,nugget=0.1)
expect 0 "an exact evaluation" "$tesela" "${exact[@]}" --trace exact.trace
refused "ranks of dense tiles" "exact.trace has no ranks" "$tesela" trace ranks exact.trace

expect 0 diff "$tesela" trace diff "$corpus/cholesky" "$corpus/all_kinds" --json
json diff "{r['group'] for r in d} == {'run', 'bound', 'kernel', 'phase', 'idle'}"

refused "empty" "empty" "$tesela" trace summary "$corpus/empty"
refused "foreign" "not a trace" "$tesela" trace summary "$corpus/foreign"
refused "cut in the header" "within its header" "$tesela" trace summary "$corpus/cut_in_header"
refused "no such file" "cannot read" "$tesela" trace summary nothing
refused "no such table" "critical_path" "$tesela" trace table nothing "$corpus/cholesky"
refused "no such format" "perfetto" "$tesela" trace export "$corpus/cholesky" --format nothing
refused "nowhere to write" "nonexistent" "$tesela" trace export "$corpus/cholesky" --format dot -o /nonexistent/x
expect 0 "cut short" "$tesela" trace summary "$corpus/cut_short" --json
holds "cut short" err "did not end properly"
json "cut short" "not d['complete']"

cp "$corpus/cholesky" small.trace
expect 0 "export beside the trace" "$tesela" trace export small.trace --format perfetto
check "export beside the trace" [ -s small.trace.json ]
# The Python that has the readers, which may be the system's.
python=python3
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import h5py, pandas, tables' 2>/dev/null && python=$candidate && break
done
for format in hdf5 perfetto paje; do
    "$python" "$here/trace_readers.py" "$format" "$tesela" "$corpus/cholesky" >out 2>err
    code=$?
    [ "$code" = 77 ] && cat out
    check "readers of $format" [ "$code" = 0 -o "$code" = 77 ]
done

# Runs of our own, on one node and on several.
bench=(bench cholesky --n 300 --tile 50 --repetitions 1 --no-compare --json)
expect 0 "traced run" "$tesela" "${bench[@]}" --trace run.trace
expect 0 "its summary" "$tesela" trace summary run.trace --json
json "its summary" "d['complete'] and d['tasks'] >= 56 and d['unfinished'] == 0 and d['flops'] > 0"
json "its area" "0 < d['area_of_this_schedule'] <= d['makespan'] * (1 + 1e-9) and 'lower_bound' not in d"
expect 0 "its bound on a machine" "$tesela" trace summary run.trace --json --platform grid5000-lille
json "its bound on a machine" "d['lower_bound'] == max(d['lower_bound_area'], d['lower_bound_critical_path']) > 0"
expect 0 "traced run on 2 nodes" "${mpirun[@]}" -n 2 "$tesela" "${bench[@]}" --trace two.trace
expect 0 "summary of 2 nodes" "$tesela" trace summary two.trace --json
json "summary of 2 nodes" "d['nodes'] == 2 and d['messages'] > 0 and d['bytes'] > 0"
expect 0 "chosen modules" "$tesela" "${exact[@]}" --trace memory.trace --engine trace-modules=memory
expect 0 "its tasks" "$tesela" trace summary memory.trace --json
json "its tasks" "d['tasks'] == 0 and d['peak_memory'] > 0"
refused "unknown module" "papi" "$tesela" "${exact[@]}" --quiet --trace x.trace --engine trace-modules=everything
refused "trace that cannot be written" "nonexistent" "$tesela" "${bench[@]}" --quiet --trace /nonexistent/x

# A run that is killed.
"$tesela" bench cholesky --n 6000 --tile 100 --repetitions 50 --no-compare --trace killed.trace >out 2>err &
pid=$!
for _ in $(seq 100); do
    [ "$(stat -c %s killed.trace 2>/dev/null || echo 0)" -gt 100000 ] && break
    sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
expect 0 "killed run" "$tesela" trace summary killed.trace --json
holds "killed run" err "did not end properly"
json "killed run" "not d['complete'] and d['tasks'] > 100"

finish
