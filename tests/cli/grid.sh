#!/usr/bin/env bash
# Where `tesela predict` and `sample` compute, and what they write: grids, polygons, columns of the points, intervals, several draws.
#   grid.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
expect 0 "a model" "$tesela" fit "$data/meuse.csv" --coords x,y --value log_zinc --family exponential --fix sigma2=0.55,range=250,nugget=0.05 -o model.json
predict=("$tesela" predict model.json)
# table NAME FILE EXPRESSION: true for the rows (dictionaries of text) of a CSV file.
table() { check "$1: $3" python3 -c "import csv,math,sys; rows=list(csv.DictReader(open('$2'))); sys.exit(0 if ($3) else 1)"; }

# Grids: centres of cells over the observations' box, a box, a polygon.
expect 0 "a grid" "${predict[@]}" --grid 30x20 -o grid.csv --map grid.svg
check "a grid" [ "$(head -1 grid.csv)" = "x,y,mean,variance,sd,lower,upper" ]
# The samples are at 178605 to 181390 and 329714 to 333611.
table "a grid" grid.csv "len(rows) == 600 and abs(float(rows[0]['x']) - (178605 + 2785 / 60)) < 1e-6 and abs(float(rows[0]['y']) - (329714 + 3897 / 40)) < 1e-6"
table "x is fastest" grid.csv "rows[0]['y'] == rows[29]['y'] != rows[30]['y'] and rows[0]['x'] == rows[30]['x']"
check "its map" grep -q "</svg>" grid.svg
expect 0 "a box" "${predict[@]}" --grid 2x2 --box 180000,330000,181000,331000 -o box.csv
table "a box" box.csv "[(float(r['x']), float(r['y'])) for r in rows] == [(180250, 330250), (180750, 330250), (180250, 330750), (180750, 330750)]"
awk -F, 'NR > 1 { print $1 "," $2 }' box.csv | sed '1i x,y' >same.csv
expect 0 "the same points of a file" "${predict[@]}" same.csv -o same_predicted.csv
check "a grid and a file give the same" cmp box.csv same_predicted.csv
printf 'x,y\n180000,330000\n181000,330000\n181000,331000\n180000,331000\n\n180400,330400\n180600,330400\n180600,330600\n180400,330600\n' >border.csv
expect 0 "a polygon with a hole" "${predict[@]}" --grid 5x5 --polygon border.csv -o ring.csv
table "a polygon with a hole" ring.csv "len(rows) == 24 and (180500, 330500) not in [(float(r['x']), float(r['y'])) for r in rows]"
expect 0 "a grid on two nodes" "${mpirun[@]}" -n 2 "${predict[@]}" --grid 30x20 -o two.csv --tile 30
check "nodes agree" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('grid.csv', 'two.csv'))
assert len(a) == len(b) == 600 and all(abs(x - y) < 1e-9 * (1 + abs(x)) for r, s in zip(a, b) for x, y in zip(r, s))"

# One and three dimensions, and the Earth across 180 degrees.
awk 'BEGIN { print "t,z"; for (i = 0; i < 30; ++i) print i * i / 30 "," sin(i / 3) }' >line.csv
expect 0 "a model of a line" "$tesela" fit line.csv --coords t --value z --family exponential --fix sigma2=1,range=3,nugget=0.01 -o line.json
expect 0 "a grid of a line" "$tesela" predict line.json --grid 100 -o line_grid.csv
table "a grid of a line" line_grid.csv "len(rows) == 100 and abs(float(rows[0]['t']) - 0.5 * 841 / 30 / 100) < 1e-5"
awk 'BEGIN { print "x,y,depth,z"; for (i = 0; i < 60; ++i) print i * 0.7548776662 % 1 "," i * 0.5698402910 % 1 "," i % 7 "," i % 5 }' >solid.csv
expect 0 "a model of a solid" "$tesela" fit solid.csv --coords x,y,depth --value z --family exponential --fix sigma2=1,range=1,nugget=0.1 -o solid.json
expect 0 "a grid of a solid" "$tesela" predict solid.json --grid 4x3x2 -o solid_grid.csv
table "a grid of a solid" solid_grid.csv "len(rows) == 24 and {float(r['depth']) for r in rows} == {1.5, 4.5}"
printf 'lon,lat,t\n178,10,3\n-179,11,4\n-178,12,4.5\n179,9,2\n177,13,1\n' >earth.csv
expect 0 "a model of the Earth" "$tesela" fit earth.csv --coords lon,lat --value t --metric chordal --family exponential --fix sigma2=1,range=300,nugget=0.1 -o earth.json
expect 0 "a grid across 180 degrees" "$tesela" predict earth.json --grid 5x2 -o across.csv
table "a grid across 180 degrees" across.csv "[float(r['lon']) for r in rows[:5]] == [177.5, 178.5, 179.5, 180.5, 181.5]"
expect 0 "a box across 180 degrees" "$tesela" predict earth.json --grid 2x1 --box 170,0,-170,10 -o -
holds "a box across 180 degrees" out "175,5,"
holds "a box across 180 degrees" out "185,5,"

# Columns of the points are kept as they were written.
printf 'id,y,x,use,sd\n007,330250.00,1.8025e5,"a, b",9\n008,NA,180750,c,9\n009,330750,180250,,9\n' >places.csv
expect 0 "kept columns" "${predict[@]}" places.csv --na drop -o kept.csv
check "kept columns" [ "$(head -1 kept.csv)" = "id,y,x,use,mean,variance,sd,lower,upper" ]
check "kept as written" grep -q '^007,330250.00,1.8025e5,"a, b",' kept.csv
check "kept rows" grep -q '^009,330750,180250,,' kept.csv
holds "a name that is taken" err "note: the column sd of places.csv is left out"
check "the values are those of the grid" python3 -c "
import csv
kept, box = (list(csv.DictReader(open(f))) for f in ('kept.csv', 'box.csv'))
assert len(kept) == 2 and abs(float(kept[0]['mean']) - float(box[0]['mean'])) < 1e-12 and abs(float(kept[1]['mean']) - float(box[2]['mean'])) < 1e-12"
expect 0 "one kept column" "${predict[@]}" places.csv --na drop --keep id -o -
holds "one kept column" out "id,y,x,mean,variance,sd,lower,upper"
expect 0 "no kept column" "${predict[@]}" places.csv --na drop --keep none -o -
holds "no kept column" out "y,x,mean,variance,sd,lower,upper"
sed '1s/x,y/east,north/' same.csv >renamed.csv
expect 0 "coordinates by their own names" "${predict[@]}" renamed.csv --coords east,north -o -
holds "coordinates by their own names" out "east,north,mean"

# Deviations, intervals, and back from logarithms.
table "intervals" box.csv "all(abs(float(r['sd']) ** 2 - float(r['variance'])) < 1e-12 and abs(float(r['upper']) - float(r['mean']) - 1.959963984540054 * float(r['sd'])) < 1e-12 for r in rows)"
expect 0 "another level" "${predict[@]}" same.csv --level 0.5 -o half.csv
table "another level" half.csv "all(abs(float(r['mean']) - float(r['lower']) - 0.6744897501960817 * float(r['sd'])) < 1e-12 for r in rows)"
expect 0 "back from logarithms" "${predict[@]}" same.csv --back-transform log -o zinc.csv --map zinc.svg
check "back from logarithms" [ "$(head -1 zinc.csv)" = "x,y,mean,variance,sd,median,lower,upper" ]
check "the lognormal mean" python3 -c "
import csv, math
logs, zinc = (list(csv.DictReader(open(f))) for f in ('box.csv', 'zinc.csv'))
for a, b in zip(logs, zinc):
    m, v = float(a['mean']), float(a['variance'])
    assert abs(float(b['mean']) / math.exp(m + v / 2) - 1) < 1e-12 and abs(float(b['median']) / math.exp(m) - 1) < 1e-12
    assert abs(float(b['upper']) / math.exp(float(a['upper'])) - 1) < 1e-12
    assert abs(float(b['variance']) / ((math.exp(v) - 1) * math.exp(2 * m + v)) - 1) < 1e-12"
check "the map is in the same unit" grep -q "exp(log_zinc)" zinc.svg

# Samples of a model.
expect 0 "draws of a model" "$tesela" sample --model model.json --draws 3 --seed 4 -o draws.csv --json
json "draws of a model" "d['points'] == 155 and d['draws'] == 3 and d['theta']['range'] == 250"
check "draws of a model" [ "$(head -1 draws.csv)" = "x,y,z1,z2,z3" ]
expect 0 "one draw" "$tesela" sample --model model.json --seed 4 -o one.csv --name zinc
check "the first is the one drawn alone" python3 -c "
import csv
many, one = (list(csv.DictReader(open(f))) for f in ('draws.csv', 'one.csv'))
assert all(abs(float(a['z1']) - float(b['zinc'])) < 1e-12 for a, b in zip(many, one)) and any(a['z1'] != a['z2'] for a in many)"
expect 0 "the trend is in it" "$tesela" sample --model model.json --draws 400 --grid 1x1 -o mean.csv
check "the trend is in it" python3 -c "
import json
values = list(map(float, open('mean.csv').readlines()[1].split(',')[2:]))
mean = json.load(open('model.json'))['trend']['coefficients']['intercept']
assert len(values) == 400 and abs(sum(values) / 400 - mean) < 5 * (0.6 / 400) ** 0.5 and 0.4 < sum((v - mean) ** 2 for v in values) / 400 < 0.8"
expect 0 "points of the model's box" "$tesela" sample --model model.json --n 50 -o random.csv
table "points of the model's box" random.csv "len(rows) == 50 and all(178605 <= float(r['x']) <= 181390 and 329714 <= float(r['y']) <= 333611 for r in rows)"
expect 0 "draws on two nodes" "${mpirun[@]}" -n 2 "$tesela" sample --model model.json --draws 3 --seed 4 -o two.csv --tile 40
check "draws do not depend on nodes" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('draws.csv', 'two.csv'))
assert len(a) == len(b) == 155 and all(abs(x - y) < 1e-10 for r, s in zip(a, b) for x, y in zip(r, s))"

# Bad input.
bad "two numbers for a line" "--grid 10x10 has 2 numbers, but the model has 1 coordinate (t): write 100" "$tesela" predict line.json --grid 10x10 -o bad.csv
bad "one number for a plane" "write 100x100" "${predict[@]}" --grid 100 -o bad.csv
bad "a grid that is none" "as 100x100" "${predict[@]}" --grid 10by10 -o bad.csv
bad "too many cells" "at most" "${predict[@]}" --grid 100000x100000 -o bad.csv
bad "too few numbers of a box" "--box takes 4 numbers" "${predict[@]}" --grid 2x2 --box 1,2,3 -o bad.csv
bad "a box the wrong way round" "first must be the smaller" "${predict[@]}" --grid 2x2 --box 5,0,1,1 -o bad.csv
bad "a box without a grid" "--box requires --grid" "${predict[@]}" same.csv --box 0,0,1,1 -o bad.csv
bad "a polygon for a line" "--polygon needs two coordinates" "$tesela" predict line.json --grid 10 --polygon border.csv -o bad.csv
printf 'x,y\n1,1\n2,2\n3,1\n' >away.csv
bad "a polygon elsewhere" "no cell" "${predict[@]}" --grid 2x2 --box 180000,330000,181000,331000 --polygon away.csv -o bad.csv
printf 'x,y\n1,1\n2,2\n' >two_corners.csv
bad "a polygon of two corners" "at least three" "${predict[@]}" --grid 2x2 --polygon two_corners.csv -o bad.csv
bad "a file and a grid" "one of them" "${predict[@]}" same.csv --grid 2x2 -o bad.csv
bad "neither file nor grid" "one of them" "${predict[@]}" -o bad.csv
bad "columns of no file" "--grid excludes --keep" "${predict[@]}" --grid 2x2 --keep id -o bad.csv
bad "a column that is not there" "no column 'idd'; did you mean 'id'" "${predict[@]}" places.csv --na drop --keep idd -o bad.csv
bad "the wrong order" "model.json is the model and comes first: tesela predict model.json same.csv" "$tesela" predict same.csv model.json -o bad.csv
bad "JSON for points" "line.json looks like JSON" "${predict[@]}" line.json -o bad.csv
bad "a level in percent" "a probability between 0 and 1" "${predict[@]}" same.csv --level 95 -o bad.csv
bad "parameters of both" "excludes" "$tesela" sample --model model.json --theta sigma2=1,range=1 -o bad.csv
bad "of no field" "--theta or --model" "$tesela" sample --n 5 -o bad.csv
bad "a grid over nothing" "--grid needs --model" "$tesela" sample --grid 5x5 --theta sigma2=1,range=1,smoothness=0.5 -o bad.csv
bad "points twice" "one of them" "$tesela" sample --model model.json --n 5 --points same.csv -o bad.csv
bad "no draws" "--draws: 0 is not a whole number of at least 1" "$tesela" sample --model model.json --draws 0 -o bad.csv
bad "random points of the Earth" "give --points or --grid" "$tesela" sample --model earth.json --n 5 -o bad.csv

finish
