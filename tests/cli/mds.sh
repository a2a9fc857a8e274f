#!/usr/bin/env bash
# `tesela mds`, `pca` and `ca` as a user types them: beside R's numbers, on several nodes, with files that are wrong.
#   mds.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

# close WANTED GOT: to 1e-8, as Python.
near='near = lambda got, wanted, tolerance=1e-8: len(got) >= len(wanted) and all(abs(g - w) <= tolerance * abs(w) for g, w in zip(got, wanted))'
# numbers NAME EXPRESSION: like json, with near().
numbers() { check "$1: $2" python3 -c "import json, sys; d = json.load(open('$work/out')); $near; sys.exit(0 if ($2) else 1)"; }
# table NAME FILE EXPRESSION: a Python expression over the rows r of a CSV file is true.
table() { check "$1: $3" python3 -c "import csv, sys; r = list(csv.DictReader(open('$2'))); sys.exit(0 if ($3) else 1)"; }

# cmdscale(eurodist), R 4.2.
expect 0 "mds for people" "$tesela" mds "$data/eurodist.csv" --dim 2
holds "mds for people" out "multidimensional scaling of 21 points, eurodist.csv, by LAPACK"
holds "mds for people" out "19538377.09"
holds "mds for people" out "0.7537543 of the sum of |eigenvalues|, 0.8679134 of the positive ones"
holds "mds for people" out "negative eigenvalues: 9 of 21, the smallest -2251844.332"
expect 0 mds "$tesela" mds "$data/eurodist.csv" --dim 2 -o coords.csv --plot map.svg --scree scree.svg --json
numbers mds "near(d['eigenvalues'], [19538377.0895428, 11856555.3340011, 1528844.46798737], 1e-12)"
numbers mds "near([d['eigenvalues'][20]], [-2251844.33173616], 1e-12)"
numbers mds "near(d['goodness_of_fit'], [0.753754315507984, 0.867913429647823], 1e-12) and d['goodness_of_fit_is'] == 'exact'"
numbers mds "d['passes'] == 1 and d['error_estimate'] == 0 and d['seconds'] > 0 and d['read_seconds'] >= 0"
table "Athens" coords.csv "r[0]['label'] == 'Athens' and abs(float(r[0]['dim1']) - 2290.27467963145) < 1e-7 and abs(abs(float(r[0]['dim2'])) - 1798.80292808528) < 1e-7 and len(r) == 21"
check "a dot per town" [ "$(grep -c '<circle' map.svg)" = 21 ]
check "towns are named" grep -q ">Hook of Holland<" map.svg
check "the pictures are XML" python3 -c "import xml.dom.minidom as m; m.parse('map.svg'); m.parse('scree.svg')"
cp coords.csv one.csv
for nodes in 2 4; do
    expect 0 "$nodes nodes" "${mpirun[@]}" -n $nodes "$tesela" mds "$data/eurodist.csv" --dim 2 -o coords.csv --workers 1 --json
    numbers "$nodes nodes" "near(d['goodness_of_fit'], [0.753754315507984, 0.867913429647823], 1e-12)"
    check "$nodes nodes write the same digits" cmp coords.csv one.csv
done

# One dimension is drawn along one axis: asked for, enough to explain, all that is above 0, or not even that.
# drawn NAME CIRCLES COMMAND…: of the first kind a circle per point, and one for a legend.
drawn() {
    local name=$1 marks=$2
    shift 2
    expect 0 "$name" "$@" -o line.csv --plot line.svg --quiet
    check "$name: a mark per point" [ "$(grep -c '<circle' line.svg)" = "$marks" ]
    check "$name: one axis" python3 -c "
import xml.dom.minidom as m
words = [t.firstChild.data for t in m.parse('line.svg').getElementsByTagName('text')]
assert any(w.startswith(('dimension 1 (', 'PC 1 (')) for w in words) and not any(w.startswith(('dimension 2', 'PC 2')) for w in words), words"
}
printf ',a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n' >on_a_line.csv
printf ',a,b,c\na,0,0,0\nb,0,0,0\nc,0,0,0\n' >one_place.csv
printf ',x,y\na,1,5\nb,2,3\nc,4,1\n' >two_columns.csv
drawn "one dimension" 21 "$tesela" mds "$data/eurodist.csv" --dim 1
drawn "points on a line" 3 "$tesela" mds on_a_line.csv
check "the others are named" grep -q ">b<" line.svg
bad "all at one place" "one_place.csv: all distances are 0: the points are at one place" "$tesela" mds one_place.csv -o place.csv
printf 'x,y\n0.1,0.7\n0.1,0.7\n0.1,0.7\n' >one_point.csv
for algorithm in exact krylov; do
    bad "points at one place, $algorithm" "all distances are 0: the points are at one place" "$tesela" mds --from-points one_point.csv --algorithm $algorithm --dim 1 -o place.csv
done
drawn "one component explains enough" 151 "$tesela" pca "$data/iris.csv" --explained 0.5
drawn "one dimension of a table" 4 "$tesela" ca two_columns.csv
drawn "new points on a line" 4 "$tesela" mds on_a_line.csv --new on_a_line.csv --new-output line_new.csv

# All formats are one matrix.
python3 - "$data" <<'PY'
import csv, struct, sys
def npy(path, rows):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows: f.write(struct.pack("<%dd" % len(row), *row))
rows = list(csv.reader(open(sys.argv[1] + "/eurodist.csv")))
distances = [list(map(float, row[1:])) for row in rows[1:]]
npy("D.npy", distances)
npy("smoke.npy", [list(map(float, row[1:])) for row in list(csv.reader(open(sys.argv[1] + "/smoke.csv")))[1:]])
npy("usa.npy", [list(map(float, row[1:])) for row in list(csv.reader(open(sys.argv[1] + "/usarrests.csv")))[1:]])
def write(path, change):
    with open(path, "w") as f:
        changed = [row[:] for row in rows]
        change(changed)
        csv.writer(f).writerows(changed)
def put(i, j, text): return lambda r: r[i].__setitem__(j, text)
write("skewed.csv", put(3, 1, "3000"))
write("negative.csv", put(2, 4, "-5"))
write("diagonal.csv", put(5, 5, "1"))
write("text.csv", put(5, 4, "far"))
write("nan.csv", put(5, 4, "NaN"))
write("flat.csv", lambda r: r.pop())
def mean(r): r[3][1] = r[1][3] = "2981.5"
write("mean.csv", mean)
with open("truncated.npy", "wb") as f: f.write(open("D.npy", "rb").read()[:2000])
with open("new.csv", "w") as f:
    csv.writer(f).writerows([rows[0]] + [["again " + row[0]] + row[1:] for row in rows[1:4]])
PY
expect 0 "NumPy" "$tesela" mds D.npy -o npy.csv --json
numbers "NumPy" "near(d['goodness_of_fit'], [0.753754315507984, 0.867913429647823], 1e-12)"
table "no labels" npy.csv "list(r[0]) == ['dim1', 'dim2'] and abs(float(r[0]['dim1']) - 2290.27467963145) < 1e-7"
# Through an HDF5 file that was written here: what is read back gives the same.
expect 0 "into HDF5" "$tesela" mds "$data/eurodist.csv" --dim 20 -o coords.h5:/places
if [ ! -s err ] || ! grep -q "no HDF5" err; then
    expect 0 "HDF5, pca" "$tesela" pca coords.h5:/places --dim 2 --json
    numbers "HDF5, pca" "near([v * v for v in d['singular_values'][:2]], [19538377.0895428, 11856555.3340011], 1e-10)"
    expect 0 "HDF5, from points" "$tesela" mds --from-points coords.h5 --dim 2 --json
    numbers "HDF5, from points" "near(d['eigenvalues'], [19538377.0895428, 11856555.3340011], 1e-10)"
    expect 0 "HDF5, distances" "$tesela" sample-distances --n 60 --dim 3 --seed 4 -o D.h5:/distance
    expect 0 "HDF5, mds" "$tesela" mds D.h5:/distance --dim 3 --json
    numbers "HDF5, mds" "d['n'] == 60 and d['dimensions'] == 3"
    expect 0 "HDF5, ca" "$tesela" ca D.h5:/distance --json
    bad "a data set that is missing" "/nothing" "$tesela" mds D.h5:/nothing
    bad "a data set of text" "rownames" "$tesela" mds coords.h5:/rownames
fi
expect 0 "into NumPy" "$tesela" pca "$data/usarrests.csv" --dim 4 -o scores.npy
expect 0 "from NumPy" "$tesela" pca scores.npy --dim 4 --json
numbers "from NumPy" "near(d['standard_deviations'], [83.73240024640162, 14.21240184918135, 6.48942607287723, 2.48279000001273], 1e-12)"
expect 0 "NumPy, ca" "$tesela" ca smoke.npy --json
numbers "NumPy, ca" "near(d['singular_values'], [0.2734211146, 0.1000858657, 0.0203365208], 3e-9)"

# As spreadsheets write it where the comma is decimal, with a header and without.
python3 - "$data" <<'PY'
import csv, sys
rows = list(csv.reader(open(sys.argv[1] + "/eurodist.csv")))
comma = [rows[0]] + [[row[0]] + [str(float(x) / 8).replace(".", ",") for x in row[1:]] for row in rows[1:]]
for name, table in (("semicolons.csv", comma), ("no_header.csv", comma[1:])):
    csv.writer(open(name, "w"), delimiter=";").writerows(table)
point = [row[:] for row in comma]
point[2][1] = point[1][2] = "413.625"
csv.writer(open("point_and_comma.csv", "w"), delimiter=";").writerows(point)
csv.writer(open("tabs_and_commas.csv", "w"), delimiter="\t").writerows(comma)
PY
for file in semicolons no_header; do
    expect 0 "$file" "$tesela" mds $file.csv --json
    numbers "$file" "near([64 * v for v in d['eigenvalues']], [19538377.0895428, 11856555.3340011, 1528844.46798737], 1e-12)"
done
bad "a point among commas" "line 3, column 'Athens': '413.625' has a decimal point, and '0,0' in line 2, column 'Athens' a decimal comma" "$tesela" mds point_and_comma.csv
bad "commas between tabs" "'0,0' has a decimal comma; write 0.0, or separate the fields by semicolons" "$tesela" mds tabs_and_commas.csv

# A first column of numbers that names the rows is labels to all three, and said; what may do so is said too.
numbered() { awk -F, -v OFS=, -v name="$1" '{ $1 = NR == 1 ? name : 18 + NR * 17 % 101; print }' "$2"; }
plots() { awk -F, -v OFS=, -v name="$1" '{ print NR == 1 ? name : 3000 - NR, $0 }' "$data/iris.csv"; }
for name in site "plot nr" id; do
    for command in pca ca "mds --from-points"; do
        case $command in
            pca) numbered "$name" "$data/usarrests.csv" >sites.csv && cut -d, -f2- "$data/usarrests.csv" >bare.csv ;;
            ca) numbered "$name" "$data/smoke.csv" >sites.csv && cut -d, -f2- "$data/smoke.csv" >bare.csv ;;
            *) plots "$name" >sites.csv && cp "$data/iris.csv" bare.csv ;;
        esac
        # shellcheck disable=SC2086
        expect 0 "$command without $name" "$tesela" $command bare.csv
        tail -n +2 out >plain
        # shellcheck disable=SC2086
        expect 0 "$command with $name" "$tesela" $command sites.csv -o labelled.csv
        check "$command with $name: the same values" cmp plain <(tail -n +2 out)
        holds "$command with $name" err "note: 'sites.csv': column '$name' is taken for labels; --columns takes it for numbers"
        check "$command with $name: labels" cmp <(cut -d, -f1 sites.csv | tail -n +2) <(cut -d, -f1 labelled.csv | tail -n +2)
    done
done
plots quadrat >sites.csv
expect 0 "what may name rows" "$tesela" pca sites.csv
holds "what may name rows" out "of 5 columns"
holds "what may name rows" err "column 'quadrat' is taken for a variable; if it names the rows, give --labels 'quadrat'"
expect 0 "what names rows" "$tesela" pca sites.csv --labels quadrat
holds "what names rows" out "of 4 columns"
check "what names rows: no note" [ "$(grep -c quadrat err)" = 0 ]
# Names keep their commas, where numbers have points for theirs.
printf ';1,1;1,2;2,1\n1,1;0;0,5;1\n1,2;0,5;0;0,75\n2,1;1;0,75;0\n' >names.csv
expect 0 "names with commas" "$tesela" mds names.csv -o labelled.csv
table "names with commas" labelled.csv "[p['label'] for p in r] == ['1,1', '1,2', '2,1']"

# What is wrong, and where.
bad "not square" "flat.csv is not square: 20 x 21" "$tesela" mds flat.csv
printf 'a,b,c\n0,1,2\n1,0,far\n2,1,0\n' >cell.csv
printf 'a,b,c\n0,1,2\nfar,0,1\n2,1,0\n' >first.csv
for command in mds "mds --from-points" pca ca; do
    # shellcheck disable=SC2086
    bad "one cell, $command" "'cell.csv', line 3, column 'c': 'far' is not a number; --columns names the columns to take" "$tesela" $command cell.csv -o cells.csv
    # shellcheck disable=SC2086
    bad "a cell of the first column, $command" "'first.csv', line 3, column 'a': 'far' is not a number; if the column names the rows, give --labels 'a'" "$tesela" $command first.csv -o cells.csv
done
printf 'a,b,c\n0,1,x\n1,0,y\n2,1,z\n' >text_column.csv
bad "a column of text" "text_column.csv is not square: 3 x 2, where distances between all points are needed; 'text_column.csv': column 'c' left out, which is not of numbers" "$tesela" mds text_column.csv
bad "not symmetric" "skewed.csv is not symmetric: row 3 (Brussels), column 1 (Athens) is 3000 and row 1 (Athens), column 3 (Brussels) is 2963" "$tesela" mds skewed.csv
python3 - "$data" <<'PY'
import csv, sys
rows = list(csv.reader(open(sys.argv[1] + "/eurodist.csv")))
swapped = rows[:2] + [rows[3], rows[2]] + rows[4:]
other = [row[:] for row in rows]
other[3][0] = "Bruxelles"
numbered = [["point"] + [str(100 + k) for k in range(21)]] + [[str(100 + k)] + row[1:] for k, row in enumerate(rows[1:])]
for name, table in (("swapped.csv", swapped), ("other.csv", other), ("numbered.csv", numbered)):
    csv.writer(open(name, "w")).writerows(table)
PY
bad "rows in another order" "swapped.csv: row 2 is called Brussels and column 2 is called Barcelona, but must be the same point: rows and columns have the same names in different orders" "$tesela" mds swapped.csv
bad "rows of another name" "other.csv: row 3 is called Bruxelles and column 3 is called Brussels, but must be the same point" "$tesela" mds other.csv
expect 0 "points with numbers for names" "$tesela" mds numbered.csv -o numbered_coords.csv --json
numbers "points with numbers for names" "near(d['eigenvalues'], [19538377.0895428, 11856555.3340011], 1e-12)"
table "points with numbers for names" numbered_coords.csv "r[0]['label'] == '100' and len(r) == 21"
bad "negative" "negative.csv, row 2 (Barcelona), column 4 (Calais): -5 is negative" "$tesela" mds negative.csv
bad "not 0 on the diagonal" "diagonal.csv, row 5 (Cherbourg), column 5 (Cherbourg): 1 is on the diagonal" "$tesela" mds diagonal.csv
bad "text" "'text.csv', line 6, column 'Calais': 'far' is not a number, in the row of 'Cherbourg'" "$tesela" mds text.csv
bad "missing" "nan.csv" "$tesela" mds nan.csv
bad "cut short" "truncated.npy" "$tesela" mds truncated.npy
bad "no such file" "nowhere.csv" "$tesela" mds nowhere.csv
bad "too many dimensions" "eurodist.csv is 21 x 21 and has 1 to 20 dimensions, not 21" "$tesela" mds "$data/eurodist.csv" --dim 21
bad "negative counts" "negative.csv, row 2 (Barcelona), column 4 (Calais): -5 is negative" "$tesela" ca negative.csv
bad "no file" "one of the two" "$tesela" mds
bad "a picture that is none" "SVG" "$tesela" mds "$data/eurodist.csv" --plot map.png
bad "new points without a place to go" "--new-output" "$tesela" mds "$data/eurodist.csv" --new new.csv
bad "new points of other columns" "smoke.csv" "$tesela" mds D.npy --new "$data/smoke.csv" --new-output new_coords.csv
printf 'w\n1\n2\n3\n4\n' >four.csv
bad "weights of another number" "there are 4 weights for the 21 rows" "$tesela" mds "$data/eurodist.csv" --weights four.csv
bad "weights that are nowhere" "neither a column of" "$tesela" mds "$data/eurodist.csv" --weights Atlantis
bad "columns of no CSV file" "--columns chooses columns of a CSV file" "$tesela" pca usa.npy --columns a,b
expect 0 "symmetrised" "$tesela" mds skewed.csv --symmetrise -o symmetrised.csv
expect 0 "their mean" "$tesela" mds mean.csv -o mean_coords.csv
check "symmetrised is their mean" cmp symmetrised.csv mean_coords.csv
expect 2 "an error on two nodes" "${mpirun[@]}" -n 2 "$tesela" mds skewed.csv --quiet
check "is said" grep -q "is not symmetric" err

bad "a pipe" "can be read only once" "$tesela" mds /dev/null
bad "two results on standard output" "both want the standard output" "$tesela" mds D.npy -o - --json
cp D.npy over.npy
bad "writing over the input" "over.npy would be written over: it is also file; --output needs another file" "$tesela" mds over.npy -o over.npy
check "the input is as it was" cmp D.npy over.npy
# Tiles that are far too many are refused before anything is computed, those that are many are told.
python3 -c "
import struct
header = \"{'descr': '<f8', 'fortran_order': False, 'shape': (3000, 3000), }\"
header += ' ' * (-(len(header) + 11) % 64) + chr(10)
with open('zeros.npy', 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
    f.truncate(10 + len(header) + 8 * 3000 * 3000)"
bad "too many tiles" "zeros.npy would be 4501500 tiles of size 1, and at most 4000000 are taken: give --tile 2 or more, or --tile auto" "$tesela" mds zeros.npy --tile 1
expect 124 "many tiles" timeout 5 "$tesela" mds zeros.npy --tile 3
holds "many tiles" err "note: 500500 tiles of size 3 take about 2.56 GiB besides their numbers; --tile auto would be"
expect 0 "LAPACK has no tiles" "$tesela" mds "$data/eurodist.csv" --tile 1
check "LAPACK has no tiles: no note" [ "$(grep -c tiles err)" = 0 ]
printf 'w\n1e300\n' >weights.csv; for _ in $(seq 20); do echo 1; done >>weights.csv
bad "weights that dwarf others" "weights go from 1 to 1e+300" "$tesela" mds "$data/eurodist.csv" --weights weights.csv
python3 -c "
import csv
rows = list(csv.reader(open('$data/eurodist.csv')))
for factor, name in ((1e-200, 'tiny.csv'), (1e200, 'huge.csv')):
    csv.writer(open(name, 'w')).writerows([rows[0]] + [[r[0]] + [float(x) * factor for x in r[1:]] for r in rows[1:]])"
bad "distances that vanish" "too small to be multiplied" "$tesela" mds tiny.csv
expect 2 "distances that overflow" "$tesela" mds huge.csv

# The streaming algorithms, on several nodes, from memory and reading again and again; half of the eigenvalues are negative.
expect 0 "krylov" "$tesela" mds "$data/eurodist.csv" --dim 3 --algorithm krylov --tolerance 1e-13 -o krylov.csv --json
numbers "krylov" "near(d['eigenvalues'], [19538377.0895428, 11856555.3340011, 1528844.46798737], 1e-11) and d['algorithm'] == 'krylov' and d['products'] > 0"
numbers "krylov" "(lambda g: (g if isinstance(g, list) else [g, g])[0] <= 0.9101785 and (g if isinstance(g, list) else [g, g])[1] >= 0.9101783)(d['goodness_of_fit'][1])"
for nodes in 1 2 4; do
    for more in "--memory 2kB --tile 5" "--readers 1 --tile 4"; do
        # shellcheck disable=SC2086
        expect 0 "krylov, $nodes nodes $more" "${mpirun[@]}" -n $nodes "$tesela" mds "$data/eurodist.csv" --dim 3 --algorithm krylov --tolerance 1e-13 --workers 1 -o nodes.csv --json $more
        numbers "krylov, $nodes nodes $more" "near(d['eigenvalues'], [19538377.0895428, 11856555.3340011, 1528844.46798737], 1e-9)"
        check "krylov, $nodes nodes $more: coordinates" python3 -c "
import csv
a, b = (list(csv.reader(open(f)))[1:] for f in ('krylov.csv', 'nodes.csv'))
assert len(a) == len(b) == 21 and all(abs(float(x) - float(y)) < 1e-5 * 2000 for r, s in zip(a, b) for x, y in zip(r[1:], s[1:]))"
    done
done
expect 0 "explained by LAPACK" "$tesela" mds "$data/eurodist.csv" --explained 0.6 --algorithm exact --json
numbers "explained by LAPACK" "d['dimensions'] == 2"
expect 0 "explained by krylov" "$tesela" mds "$data/eurodist.csv" --explained 0.6 --algorithm krylov --json
numbers "explained by krylov" "d['dimensions'] == 2"

# Beyond what LAPACK takes, what is not known is an interval that holds the truth.
expect 0 "not Euclidean" "$tesela" mds "$data/eurodist.csv" --dim 2 --algorithm power --oversampling 1 --json
numbers "not Euclidean" "d['negative_eigenvalues']['count'] is None and d['negative_eigenvalues']['part'][0] <= 0.131533 <= d['negative_eigenvalues']['part'][1]"
numbers "not Euclidean" "d['explained'][0][0] <= 0.540139 <= d['explained'][0][1]"

# Points in place of distances, and new ones.
expect 0 "from points" "$tesela" mds --from-points "$data/iris.csv" --dim 4 --json
numbers "from points" "near(d['eigenvalues'], [630.0080142, 36.15794144, 11.65321551, 3.551428853], 5e-10)"
numbers "from points" "abs(d['goodness_of_fit'][0] - 1) < 1e-9"
expect 0 "new points" "$tesela" mds "$data/eurodist.csv" --new new.csv --new-output new_coords.csv -o coords.csv --plot new.svg
check "old distances give old places" python3 -c "
import csv
old, new = (list(csv.reader(open(f))) for f in ('coords.csv', 'new_coords.csv'))
assert len(new) == 4 and new[1][0] == 'again Athens'
assert all(abs(float(a) - float(b)) < 1e-6 for o, n in zip(old[1:4], new[1:]) for a, b in zip(o[1:], n[1:]))"
check "new points are drawn" grep -q ">3 new<" new.svg
head -3 "$data/iris.csv" >two.csv
expect 0 "new points by coordinates" "$tesela" mds --from-points "$data/iris.csv" --dim 4 -o coords.csv --new two.csv --new-output new_coords.csv
check "coordinates give the same places" python3 -c "
old, new = ([[float(v) for v in line.split(',')] for line in open(f).readlines()[1:]] for f in ('coords.csv', 'new_coords.csv'))
assert len(new) == 2 and all(abs(a - b) < 1e-9 for o, n in zip(old, new) for a, b in zip(o, n))"

# As many dimensions as explain enough.
expect 0 "explained" "$tesela" pca "$data/iris.csv" --explained 0.97 --json
numbers "explained" "d['dimensions'] == 2 and d['goodness_of_fit'] >= 0.97"
expect 0 "explained, of distances" "$tesela" mds "$data/eurodist.csv" --explained 0.9 --json
numbers "explained, of distances" "d['dimensions'] == 3"
expect 0 "explained, but not by so few" "$tesela" mds "$data/eurodist.csv" --explained 0.9 --dim 2
holds "explained, but not by so few" err "2 dimensions explain 0.8679 of the variance, not 0.9"

# prcomp(USArrests, scale. = TRUE).
expect 0 "pca" "$tesela" pca "$data/usarrests.csv" --scale --dim 4 -o scores.csv --loadings loadings.csv --plot biplot.svg --json
numbers "pca" "near(d['standard_deviations'], [1.574878274391228, 0.994869414817765, 0.597129115502527, 0.416449381953960], 1e-12)"
numbers "pca" "abs(d['cumulative'][3] - 1) < 1e-12 and len(d['singular_values']) == 4"
table "scores" scores.csv "r[0]['label'] == 'Alabama' and abs(abs(float(r[0]['PC1'])) - 0.975660448333606) < 1e-9"
table "loadings" loadings.csv "r[0]['label'] == 'Murder' and abs(abs(float(r[0]['PC1'])) - 0.535899474938155) < 1e-9 and len(r) == 4"
check "columns are arrows" grep -q ">UrbanPop<" biplot.svg
expect 0 "pca for people" "$tesela" pca "$data/usarrests.csv" --scale --dim 4
for sd in 1.5748783 0.99486941 0.59712912 0.41644938; do holds "pca for people" out "$sd"; done
head -2 "$data/usarrests.csv" >alabama.csv
expect 0 "new rows" "$tesela" pca "$data/usarrests.csv" --scale --new alabama.csv --new-output - --quiet
table "new rows" out "abs(abs(float(r[0]['PC1'])) - 0.975660448333606) < 1e-9 and r[0]['label'] == 'Alabama'"
expect 0 "two nodes, pca" "${mpirun[@]}" -n 2 "$tesela" pca "$data/usarrests.csv" --scale --dim 4 --workers 1 --json
numbers "two nodes, pca" "near(d['standard_deviations'], [1.574878274391228, 0.994869414817765], 1e-12)"
# Weights: a column of the file, or a file: cov.wt's.
awk -F, 'NR == 1 { print $0 ",w" } NR > 1 { print $0 "," NR - 1 }' "$data/usarrests.csv" >weighted.csv
seq 1 50 >weights.csv
expect 0 "a column of weights" "$tesela" pca weighted.csv --weights w --dim 4 --json
numbers "a column of weights" "near(d['standard_deviations'], [79.91414969389963, 14.75574045956964, 5.83553557461840, 2.15186687721956], 1e-12) and d['columns'] == 4"
expect 0 "a file of weights" "$tesela" pca "$data/usarrests.csv" --weights weights.csv --dim 4 --json
numbers "a file of weights" "near(d['standard_deviations'], [79.91414969389963, 14.75574045956964], 1e-12)"
expect 0 "weights beside columns" "$tesela" pca weighted.csv --weights w --columns Murder,Rape --json
numbers "weights beside columns" "d['columns'] == 2 and abs(d['center'][0] - 7.26470588235294) < 1e-12"
seq 1 21 >weights21.csv
expect 0 "weighted mds" "$tesela" mds "$data/eurodist.csv" --weights weights21.csv --json
numbers "weighted mds" "near(d['eigenvalues'], [196790889.6022597, 95991418.5847680, 17145695.2247078], 1e-12)"
printf 'a,b\n1,3\n2,3\n4,3\n' >constant.csv
bad "a constant column" "constant.csv, column 2 (b): all values are 3" "$tesela" pca constant.csv --scale

# ca(smoke).
expect 0 "ca" "$tesela" ca "$data/smoke.csv" --dim 3 -o rows.csv --column-output columns.csv --plot smoke.svg --json
numbers "ca" "near(d['singular_values'], [0.2734211146, 0.1000858657, 0.0203365208], 3e-9) and len(d['singular_values']) == 3"
numbers "ca" "abs(d['chi_square'] - 16.44164) < 5e-6 and d['degrees_of_freedom'] == 12"
table "rows" rows.csv "[round(1000 * float(p['contribution1'])) for p in r] == [3, 84, 512, 331, 70] and [p['label'] for p in r] == ['SM', 'JM', 'SE', 'JE', 'SC']"
table "columns" columns.csv "[round(1000 * float(p['cos2_1'])) for p in r] == [994, 327, 982, 684]"
check "rows and columns are drawn" grep -q ">4 columns<" smoke.svg
expect 0 "ca for people" "$tesela" ca "$data/smoke.csv" --dim 3
for text in 0.2734211146 0.1000858657 0.0203365208 "chi-square 16.44164 with 12"; do holds "ca for people" out "$text"; done
expect 0 "supplementary rows" "$tesela" ca "$data/smoke.csv" --dim 3 --new "$data/smoke.csv" --new-output - --quiet
cp out supplementary.csv
check "the same rows are where they are" python3 -c "
import csv
rows, new = (list(csv.DictReader(open(f))) for f in ('rows.csv', 'supplementary.csv'))
assert len(new) == 5 and all(abs(float(a[d]) - float(b[d])) < 1e-12 for a, b in zip(rows, new) for d in ('dim1', 'dim2', 'dim3'))"
for nodes in 2 4; do
    expect 0 "$nodes nodes, ca" "${mpirun[@]}" -n $nodes "$tesela" ca "$data/smoke.csv" --dim 3 -o "rows$nodes.csv" --workers 1 --json
    numbers "$nodes nodes, ca" "near(d['singular_values'], [0.2734211146, 0.1000858657], 6e-10)"
    check "$nodes nodes, ca: the same table" python3 -c "
import csv
a, b = (list(csv.reader(open(f))) for f in ('rows.csv', 'rows$nodes.csv'))
assert a[0] == b[0] and all(abs(float(x) - float(y)) < 1e-12 for r, s in zip(a[1:], b[1:]) for x, y in zip(r[1:], s[1:]))"
done
# By a plan: coordinates are those without one.
python3 - "$(dirname "$data")/platforms" <<'PLATFORM'
import copy, json, sys
platform = json.load(open(sys.argv[1] + "/sdumont.json"))
sdc = next(t for t in platform["node_types"] if t["name"] == "sdc")
for group in sdc["workers"]:
    group["count"] = 1
types = []
for number in range(4):
    type = copy.deepcopy(sdc)
    type.update(name=f"n{number}", count=1)
    types.append(type)
for nodes in (1, 2, 4):
    platform.update(name=f"of{nodes}", node_types=types[:nodes])
    json.dump(platform, open(f"of{nodes}.json", "w"))
PLATFORM
expect 0 "distances of 300 points" "$tesela" sample-distances --n 300 --seed 3 -o S.npy --quiet
planned=(mds S.npy --dim 3 --algorithm krylov --tolerance 1e-10 --workers 1 --quiet)
expect 0 "without a plan" "$tesela" "${planned[@]}" -o free.csv
for nodes in 1 2 4; do
    expect 0 "a plan for $nodes nodes" "$tesela" plan mds --platform of$nodes.json --n 300 --tile 50 --columns 13 --budget 1 -o plan$nodes.json
    expect 0 "scaling by a plan, $nodes nodes" "${mpirun[@]}" -n $nodes "$tesela" "${planned[@]}" --plan plan$nodes.json -o planned$nodes.csv
    check "scaling by a plan, $nodes nodes: the same coordinates" python3 -c "
import csv
a, b = (list(csv.reader(open(f)))[1:] for f in ('free.csv', 'planned$nodes.csv'))
largest = max(abs(float(x)) for r in a for x in r[1:])
assert len(a) == len(b) == 300 and all(abs(float(x) - float(y)) < 1e-9 * largest for r, s in zip(a, b) for x, y in zip(r[1:], s[1:]))"
done
bad "a plan for other nodes" "plan2.json is a plan for 2 nodes of of2, and this run has 1" "$tesela" "${planned[@]}" --plan plan2.json
expect 0 "a plan for fewer points" "$tesela" plan mds --platform of1.json --n 200 --tile 50 --budget 0 -o fewer.json
bad "a plan for fewer points" "fewer.json is a plan for 4 x 4 tiles of 50, and this matrix has 6 x 6" "$tesela" "${planned[@]}" --plan fewer.json
expect 0 "a plan of something else" "$tesela" plan lu --platform of1.json --n 300 --tile 50 --budget 0 -o lu.json
bad "a plan of something else" "lu.json is a plan for lu, and this is mds" "$tesela" "${planned[@]}" --plan lu.json
bad "a plan for one that LAPACK decomposes" "LAPACK decomposes on one node" "$tesela" mds S.npy --workers 1 --plan plan1.json
bad "a plan and a tile size" "--tile" "$tesela" "${planned[@]}" --plan plan1.json --tile 50
bad "a plan that is none" "S.npy" "$tesela" "${planned[@]}" --plan S.npy
finish
