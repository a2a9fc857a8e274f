#!/usr/bin/env bash
# Experiments of tesela-papers, small: that they run, what they leave, and what they refuse.
#   experiments.sh PATH_TO_TESELA_PAPERS
papers=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
. "$here/../cli/support.sh"

# Paper 000's steps; nothing in the table depends on the machine or on chance but where and when it was made.
for run in one two; do
    mkdir -p $run
    expect 0 "paper 000" "$papers" paper000 --tiles 8 --scaling-tiles 8 --folder $run --json
    grep -v '^#' $run/paper000_figure7.csv >$run.csv
done
check "the same table twice" cmp one.csv two.csv
check "seven steps of four machines" [ "$(wc -l <one.csv)" = 29 ]
check "seven steps of scaling on two machines, for two widths" [ "$(grep -vc '^#' one/paper000_figure9.csv)" = 29 ]
for figure in 5 7 8 9 10; do
    check "a picture of figure $figure" test -s one/paper000_figure$figure.svg
    check "the same picture of figure $figure twice" cmp one/paper000_figure$figure.svg two/paper000_figure$figure.svg
done
expect 2 "a figure that cannot be made" "$papers" paper000 --figures 6 --folder one
holds "a figure that cannot be made" err "figures 5, 7, 8, 9, 10 can be made, not 6"

# Redistributions of paper 002.
mkdir tables
for nodes in 1 2; do
    start=()
    [ $nodes -gt 1 ] && start=("${mpirun[@]}" -n $nodes)
    expect 0 "tables on $nodes" "${start[@]}" "$papers" paper002 --quick --repetitions 1 --folder tables --only switches,overlap,compressed --json --quiet
done
json "tables" "d['nodes'] == 2 and len(d['files']) == 6"
check "tables of both runs" [ "$(grep -v '^#' tables/redistribution_switches.csv | cut -d, -f1 | sort -u | tr '\n' ' ')" = "1 2 nodes " ]
check "pictures" grep -q "</svg>" tables/redistribution_switches.svg
check "two nodes overlap, one does not" [ "$(grep -v '^#' tables/redistribution_overlap.csv | cut -d, -f1 | sort -u | tr '\n' ' ')" = "2 nodes " ]
bad "unknown experiment" "there is no experiment \"none\"" "$papers" paper002 --only none --folder tables
bad "a missing folder" "there is no folder nowhere" "$papers" paper002 --folder nowhere

# Paper 004's diagonal tiles in parts; the other figures need ranks, whose tables are made again by the test of tables.
expect 0 "paper 004" "$papers" paper004 --figures 4a --folder one --json
json "paper 004" "len(d['checks']) == 2 and all(c['met'] for c in d['checks'])"
check "a table and a picture" test -s one/paper004_figure4a.csv -a -s one/paper004_figure4a.svg
expect 2 "paper 004 without ranks" "$papers" paper004 --figures 3 --folder one
holds "paper 004 without ranks" err "one/paper004_ranks.csv"
expect 2 "a figure that there is not" "$papers" paper004 --figures 9 --folder one
holds "a figure that there is not" err "there is no figure"

mkdir figures
expect 0 "figure 2 of paper 004" "$papers" tlr-ranks --n 800 --tile 100 --accuracy 1e-5 --folder figures --json
json "figure 2 of paper 004" "[r['case'] for r in d['rows']] == ['syn-2D', 'st-2D-sqexp', 'st-3D-sqexp'] and all(r['mean_final'] > 0 for r in d['rows'])"
check "figure 2 of paper 004" [ "$(ls figures | wc -l)" = 4 ]
expect 2 "another case" "$papers" tlr-ranks --cases st-4D --folder figures
holds "another case" err "--cases has st-4D; it takes some of syn-2D, st-2D-sqexp, st-3D-sqexp"

expect 0 "compressed matrices under distributions" "${mpirun[@]}" -n 2 "$papers" tlr-distributions --n 480 --tile 40 --rounds 1 --workers 1 --table t.csv --json
json "compressed matrices under distributions" "{r['kernel'] for r in d['rows']} == {'cholesky', 'lu'} and all(r['messages'] == r['transfers'] > 0 for r in d['rows'] if r['nodes_per_column'] > 1)"
json "compressed matrices under distributions: weights balance what they weigh" "all(min(r['flops_load'] for r in d['rows'] if r['kernel'] == k and r['weights'] == 'flops') <= 1.1 for k in ('cholesky', 'lu'))"
check "a table of distributions" grep -q "^2,lu,480,40," t.csv
expect 0 "columns in single precision under distributions" "${mpirun[@]}" -n 2 "$papers" tlr-distributions --n 480 --tile 40 --rounds 1 --workers 1 --kernel cholesky --families block_cyclic --accuracy 1e-4 --single --json
json "columns in single precision under distributions" "d['checks'][0]['met']"
expect 2 "an unknown family" "${mpirun[@]}" -n 2 "$papers" tlr-distributions --n 80 --tile 40 --rounds 1 --workers 1 --families hexagonal
holds "an unknown family" err "hexagonal"
expect 1 "a table that cannot be written" "${mpirun[@]}" -n 2 "$papers" tlr-distributions --n 80 --tile 40 --rounds 1 --workers 1 --kernel cholesky --families block_cyclic --table /dev/full
holds "a table that cannot be written" err "cannot write '/dev/full'"
expect 0 "LU whose ranks change" "${mpirun[@]}" -n 2 "$papers" tlr-distributions --n 480 --tile 40 --rounds 1 --workers 1 --kernel lu --tile-norm 0.02 --json
json "LU whose ranks change" "all(c['met'] for c in d['checks']) and all(r['bytes'] == r['counted_bytes'] and 1e-6 < r['residual'] < 1 for r in d['rows'])"
expect 2 "one node has no distribution" "$papers" tlr-distributions --n 480 --tile 40
holds "one node has no distribution" err "start it with mpirun"
expect 0 "switches of a compressed Cholesky" "${mpirun[@]}" -n 2 "$papers" tlr-switches --n 600 --tile 100 --repetitions 1 --workers 1 --accuracy 1e-5 --diagonal-tile 50 --json
json "switches of a compressed Cholesky" "all(c['met'] for c in d['checks']) and len(d['checks']) == 1 and [r['switch'] for r in d['rows']] == ['none', 'band', 'lookahead', 'diagonal in parts', 'all']"
finish
