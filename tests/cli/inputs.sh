#!/usr/bin/env bash
# Odd tables and places for results: every command reads a table rightly or refuses it, by the same words, and writes to pipes too.
#   inputs.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

# The same five rows, as programs write them. Of the coordinates of mds the distances are compared, of loglik the value.
of_points() { "$tesela" mds --from-points "$1" --dim 3 --json "${@:2}"; }
of_values() { "$tesela" loglik "$1" --coords x,y --value "${value:-z}" --theta sigma2=2,range=3,smoothness=0.5 --json "${@:2}"; }
result() { python3 -c "import json, sys; d = json.load(sys.stdin); print(d.get('eigenvalues') or d['loglik'])"; }
printf 'x,y,z\n0,0.5,1\n1,2.5,3\n3,1,2\n2,4,7.5\n8,2.25,-1\n' >plain.csv
of_points plain.csv 2>err | result >points.txt
of_values plain.csv 2>err | result >values.txt
check "the plain table" [ -s points.txt -a -s values.txt ]
# read_as NAME: odd.csv is the plain table to both.
read_as() {
    check "$1: mds reads something else" cmp points.txt <(of_points odd.csv 2>"$work/err" | result)
    check "$1: loglik reads something else" cmp values.txt <(of_values odd.csv 2>"$work/err" | result)
}
commas() { sed 's/,/;/g; s/\./,/g' plain.csv; }
row_names() { awk -v q="$1" -v OFS="$2" -F, 'NR == 1 { print q $1 q, q $2 q, q $3 q } NR > 1 { print q substr("abcde", NR - 1, 1) q, $1, $2, $3 }' plain.csv; }
read_table() { # NAME COMMAND…
    "${@:2}" >odd.csv
    read_as "$1"
}
read_table "a byte order mark" sed $'1s/^/\xef\xbb\xbf/' plain.csv
read_table "lines of Windows" sed 's/$/\r/' plain.csv
read_table "lines of an old Mac" tr '\n' '\r' <plain.csv
read_table "blank lines" sed 'G;G' plain.csv
read_table "blanks" sed 's/,/ ,  /g' plain.csv
read_table "quotes" sed 's/[^,]*/"&"/g' plain.csv
read_table "tabs" tr ',' '\t' <plain.csv
read_table "decimal commas" commas
read_table "Excel's first line" bash -c "echo 'sep=;'; sed 's/,/;/g; s/\./,/g' plain.csv"
read_table "Excel's first line in quotes" bash -c $'printf \'"sep=\\t"\\r\\n\'; tr , "\t" <plain.csv'
read_table "R's row names" row_names '"' $'\t'
read_table "R's row names without quotes" row_names '' $'\t'
read_table "R's row names between commas" row_names '"' ,
read_table "R's row names with a corner" bash -c 'awk -F, '\''NR == 1 { print "\"\"," $0 } NR > 1 { print "\"" NR - 1 "\"," $0 }'\'' plain.csv'

# What both refuse, by the same words: NAME, WORDS, TEXT.
while IFS='|' read -r name words text; do
    printf "$text" >odd.csv
    bad "mds: $name" "$words" of_points odd.csv
    bad "mds, columns: $name" "$words" of_points odd.csv --columns x,y,z
    bad "loglik: $name" "$words" of_values odd.csv
done <<'TABLE'
a stray quote|line 1: the name 'y"' has a quote inside; put it in quotes, and write that quote twice|x,y",z\n0,1,2\n3,4,5\n
an odd quote|has a quote inside|x";y;z\n0;1;2\n3;4;5\n
a quote that is not closed|line 3: a quoted field begins here and never ends|x,y,z\n0,1,2\n"3,4,5\n
text after a quote|line 2: '1' after a closing quote|x,y,z\n0,"1"1,2\n
no text|'odd.csv' is empty|
blank lines|'odd.csv' is empty|\xef\xbb\xbf\n\r\n
a header alone|'odd.csv' has a header but no data rows|x,y,z\n
a NUL byte|line 3: a NUL byte, so not a text file|x,y,z\n0,1,2\n3,\x00,5\n
UTF-16|UTF-16: save it as UTF-8|\xff\xfex\x00,\x00
infinity|line 3, column 'y': 'Inf' is not finite|x,y,z\n0,1,2\n3,Inf,5\n
no number|line 3, column 'y': the value is missing|x,y,z\n0,1,2\n3,NaN,5\n
one cell of text|line 3, column 'y': 'far' is not a number|x,y,z\n0,1,2\n3,far,5\n
a decimal comma|line 3, column 'y': '4,5' has a decimal comma; write 4.5|x,y,z\n0,1,2\n3,"4,5",6\n
decimal commas alone|line 2, column 'y': '1,5' has a decimal comma|x\ty\tz\n0\t1,5\t2\n3\t4,5\t6\n
thousands or a decimal comma|line 2, column 'y': '1,234' has a comma that is a decimal one or one of thousands|x,y,z\n0,"1,234",2\n3,"4,567",6\n
thousands|line 2, column 'y': '1,234.5' is not a number; write it without separators of thousands|x,y,z\n0,"1,234.5",2\n3,"4,567.8",6\n
commas and points|has a decimal point, and '1,5' in line 2, column 'y' a decimal comma|x;y;z\n0;1,5;2\n3;4.5;6\n
a short row|line 3: 2 fields where the header has 3; column 'z' has none|x,y,z\n0,1,2\n3,4\n
a long row|line 3: 4 fields where the header has 3; the first after column 'z' is '6'|x,y,z\n0,1,2\n3,4,5,6\n
a name that the header lacks|line 2: 4 fields where the header has 3|x,y,z\n0,1,2,3\n3,4,5,6\n
separators at the end|line 2: 4 fields where the header has 3|x,y,z\n0,1,2,\n3,4,5,\n
spaces|the fields seem to be separated by spaces|x y z\n0 1 2\n3 4 5\n
spaces and quotes|line 1: the fields seem to be separated by spaces|"x" "y" "z"\n"1" 0 1 2\n
another separator|line 1: 'sep=:' says that ':' separates the fields|sep=:\nx:y:z\n0:1:2\n
TABLE
printf 'x,y,y\n0,1,2\n3,4,5\n' >odd.csv
bad "mds: a name twice" "line 1: more than one column is called 'y'" of_points odd.csv --columns x,y
bad "loglik: a name twice" "line 1: more than one column is called 'y'" of_values odd.csv
bad "mds: an unknown column" "line 1: no column 'zinc'; the columns are 'x', 'y', 'z'" of_points plain.csv --columns x,zinc
bad "mds: an unknown column of labels" "line 1: no column 'zinc'; the columns are 'x', 'y', 'z'" of_points plain.csv --labels zinc
value=zinc bad "loglik: an unknown column" "line 1: no column 'zinc'; the columns are 'x', 'y', 'z'" of_values plain.csv

# Results go to a pipe, to standard output by any of its names and to nowhere as they go to a file.
mkfifo pipe
written() { # NAME COMMAND…
    local name=$1
    shift
    expect 0 "$name, to a file" "$@" -o file
    timeout 60 cat pipe >from_pipe &
    expect 0 "$name, to a pipe" timeout 60 "$@" -o pipe
    wait $!
    check "$name, to a pipe" cmp file from_pipe
    for stdout in - /dev/stdout /dev/fd/1; do
        expect 0 "$name, to $stdout" "$@" -o $stdout
        check "$name, to $stdout" cmp file out
    done
    expect 0 "$name, to nowhere" "$@" -o /dev/null
}
expect 0 "a model" "$tesela" fit "$data/meuse.csv" --coords x,y --value log_zinc --fix smoothness=0.5,range=500 -o model.json
written sample "$tesela" sample --n 30 --theta sigma2=1,range=0.1,smoothness=0.5
written predict "$tesela" predict model.json "$data/meuse_grid.csv"
written variogram "$tesela" variogram "$data/meuse.csv" --coords x,y --value log_zinc
written mds "$tesela" mds "$data/eurodist.csv"
written pca "$tesela" pca "$data/usarrests.csv"
written ca "$tesela" ca "$data/smoke.csv"
written sample-distances "$tesela" sample-distances --n 60
written "dist make" "$tesela" dist make block_cyclic --count 4 --tiles 8
timeout 60 cat pipe >from_pipe &
expect 0 "fit, to a pipe" timeout 60 "$tesela" fit "$data/meuse.csv" --coords x,y --value log_zinc --fix smoothness=0.5,range=500 -o pipe
wait $!
expect 0 "the model of a pipe" "$tesela" predict from_pipe "$data/meuse_grid.csv" -o file
expect 0 "mds, packed on the way" timeout 60 "$tesela" mds "$data/eurodist.csv" --plot >(gzip >map.svg.gz) -o >(gzip >coords.csv.gz)
for _ in $(seq 100); do gzip -t map.svg.gz coords.csv.gz 2>/dev/null && break || sleep 0.1; done
check "mds, packed on the way" bash -c 'zcat coords.csv.gz | grep -q Athens && zcat map.svg.gz | grep -q "</svg>"'

# No file that is read, and no other result, is written over.
cp "$data/meuse.csv" me.csv
cp "$data/meuse_grid.csv" gr.csv
cp "$data/eurodist.csv" eu.csv
cp model.json m.json
printf '0,0\n1,0\n1,1\n' >p.csv
md5sum me.csv gr.csv eu.csv m.json p.csv >before
fit=(fit me.csv --coords x,y --value log_zinc --fix smoothness=0.5,range=500)
over() { # NAME WORDS…
    expect 2 "$1" "$tesela" "${@:2}"
    holds "$1" err "would be written over: it is also"
    check "$1: is lost" md5sum --quiet -c before
}
over "a trace over the data" "${fit[@]}" --trace ./me.csv
over "a model over the data" "${fit[@]}" -o me.csv
over "a trace over distances" mds eu.csv --trace eu.csv
over "a trace over a table" pca eu.csv --trace eu.csv
over "coordinates over distances" mds eu.csv -o eu.csv
over "a trace over a model" predict m.json gr.csv --trace m.json
over "predictions over places" predict m.json gr.csv -o gr.csv
over "predictions over a polygon" predict m.json --grid 10x10 --polygon p.csv -o p.csv
over "residuals over a model" validate m.json --residuals m.json
over "a variogram over the data" variogram me.csv --coords x,y --value log_zinc -o me.csv
over "a variogram over a model" variogram me.csv --coords x,y --value log_zinc --model m.json -o m.json
over "a sample over its places" sample --model m.json --points gr.csv -o gr.csv
over "a link" mds eu.csv -o "$(ln -s eu.csv link.csv && echo link.csv)"
over "rows over columns" ca "$data/smoke.csv" -o a.csv --column-output ./a.csv
over "loadings over scores" pca eu.csv -o a.csv --loadings a.csv
over "a map over predictions" predict m.json gr.csv -o g.svg --map g.svg
over "points over distances" sample-distances --n 5 -o q.csv --points q.csv
over "a trace over results" mds eu.csv -o t.x --trace t.x
over "a checkpoint over a model" "${fit[@]}" -o f.json --checkpoint f.json
check "no new files" [ ! -e a.csv -a ! -e g.svg -a ! -e q.csv -a ! -e t.x -a ! -e f.json ]
expect 0 "two results to nowhere" "$tesela" predict m.json gr.csv -o /dev/null --trace /dev/null

# Numbers that cannot be multiplied are refused.
for size in 1e155 1e-170; do
    printf ',a,b,c\na,0,%s,4e-200\nb,%s,0,5e-200\nc,4e-200,5e-200,0\n' $size $size >odd.csv
    for command in ca pca; do
        expect 2 "$command of $size" "$tesela" $command odd.csv
        holds "$command of $size" err "to be multiplied"
    done
done

# Two nodes that were given different things are told so by both, and do not wait for each other.
expect 0 "a checkpoint" "$tesela" "${fit[@]}" -o f.json --checkpoint ck
expect 2 "a checkpoint of one node" timeout 60 "${mpirun[@]}" -n 2 "$tesela" "${fit[@]}" -o f.json --checkpoint ck
check "a checkpoint of one node: told by both" [ "$(grep -c "ck is the checkpoint of another fit: nodes is 1 in it and 2 here" err)" = 2 ]
# shellcheck disable=SC2016 # each node's own
expect 2 "a trace on one node" timeout 60 "${mpirun[@]}" -n 2 bash -c '[ "${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-$PMI_RANK}}" = 0 ] && set -- "$@" --trace t.tr; exec "$0" "$@"' "$tesela" "${fit[@]}" -o f.json
holds "a trace on one node" err "--trace on node 1 are not those of node 0"
finish
