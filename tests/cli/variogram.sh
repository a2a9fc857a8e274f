#!/usr/bin/env bash
# `tesela variogram` as a user types it: beside gstat's numbers and beside its definition in Python.
#   variogram.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse.csv" --coords x,y --value log_zinc)

# variogram(log(zinc) ~ 1, meuse) of gstat's own tests.
expect 0 "variogram for people" "$tesela" variogram "${meuse[@]}"
holds "variogram for people" out "variogram of 155 observations of log_zinc, classical, trend constant"
holds "variogram for people" out "299     163.9737    0.2162185"
expect 0 "variogram" "$tesela" variogram "${meuse[@]}" --json
json variogram "[p['np'] for p in d['variogram']] == [57,299,419,457,547,533,574,564,589,543,500,477,452,457,415]"
json variogram "abs(d['variogram'][0]['dist'] - 79.29244) < 5e-6 and abs(d['variogram'][14]['gamma'] - 0.5748227) < 5e-8"

# The definition with plain loops: robust, with directions, with the residuals of a plane.
cat >definition.py <<'PY'
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
x, y, z = ([float(r[c]) for r in rows] for c in ("x", "y", "log_zinc"))
mean = lambda values: math.fsum(values) / len(values)
dot = lambda a, b: math.fsum(p * q for p, q in zip(a, b))
# Gram and Schmidt: z less its projections on 1, x and what is left of y.
u, v, w = ([a - mean(column) for a in column] for column in (x, y, z))
v = [b - dot(u, v) / dot(u, u) * a for a, b in zip(u, v)]
z = [c - dot(u, w) / dot(u, u) * a - dot(v, w) / dot(v, v) * b for a, b, c in zip(u, v, w)]
cutoff, width, tolerance = 1500, 130, 22.5
expected = []
for direction in (0, 45, 90, 135):
    axis = math.sin(math.radians(direction)), math.cos(math.radians(direction))
    bins = {}
    for i in range(len(x)):
        for j in range(i):
            dx, dy = x[i] - x[j], y[i] - y[j]
            d = math.sqrt(dx * dx + dy * dy)
            if d > cutoff or abs(dx * axis[0] + dy * axis[1]) / d < math.cos(math.radians(tolerance)):
                continue
            bins.setdefault(math.ceil(d / width) - 1, []).append((d, math.sqrt(abs(z[i] - z[j]))))
    for k in sorted(bins):
        n = len(bins[k])
        mean = sum(v for _, v in bins[k]) / n
        expected.append((n, sum(d for d, _ in bins[k]) / n, 0.5 * mean**4 / (0.457 + 0.494 / n), direction))
got = [tuple(map(float, line.split(","))) for line in open(sys.argv[2]).readlines()[1:]]
assert len(got) == len(expected) and len(got) > 40
for g, e in zip(got, expected):
    assert g[0] == e[0] and g[3] == e[3] and abs(g[1] - e[1]) < 1e-10 * e[1] and abs(g[2] - e[2]) < 1e-10 * e[2], (g, e)
PY
options=(--trend linear --robust --cutoff 1500 --width 130 --directions 0,45,90,135 --tolerance 22.5)
expect 0 "robust, directional, of residuals" "$tesela" variogram "${meuse[@]}" "${options[@]}" --out v.csv
check "robust, directional, of residuals" [ "$(head -1 v.csv)" = "np,dist,gamma,dir" ]
check "the definition" python3 definition.py "$data/meuse.csv" v.csv
for workers in 1 3; do
    expect 0 "$workers threads" "$tesela" variogram "${meuse[@]}" "${options[@]}" -o "v$workers.csv" --workers $workers
    check "$workers threads give the same digits" cmp v.csv "v$workers.csv"
done
expect 0 "gstat's tolerance" "$tesela" variogram "${meuse[@]}" "${options[@]:0:7}" --directions 0,45,90,135 -o - --quiet
check "gstat's tolerance" cmp out v.csv

# gstat itself, where it is installed.
cat >gstat.R <<'R'
suppressMessages(library(gstat))
d <- read.csv(commandArgs(TRUE)[1])
write <- function(v, file) write.csv(format(v[, c("np", "dist", "gamma", "dir.hor")], digits = 17), file, row.names = FALSE, quote = FALSE)
write(variogram(log_zinc ~ 1, ~x+y, d), "gstat0.csv")
write(variogram(log_zinc ~ 1, ~x+y, d, cressie = TRUE), "gstat1.csv")
write(variogram(log_zinc ~ x+y, ~x+y, d, alpha = c(0, 45, 90, 135)), "gstat2.csv")
write(variogram(log_zinc ~ x+y, ~x+y, d, cutoff = 3000, width = 70, cressie = TRUE, alpha = c(10, 100), tol.hor = 30), "gstat3.csv")
d$h <- d$zinc / 10
# Its cutoff for three coordinates does not know the largest of the third one (2.1.0), so it is told.
write(variogram(log_zinc ~ 1, ~x+y+h, d, cutoff = 1500, width = 100, alpha = c(0, 90)), "gstat4.csv")
R
if Rscript gstat.R "$data/meuse.csv" >/dev/null 2>&1; then
    awk -F, 'NR == 1 { print "x,y,h,log_zinc" } NR > 1 { printf "%s,%s,%.17g,%s\n", $1, $2, $3 / 10, $4 }' "$data/meuse.csv" >solid.csv
    expect 0 "gstat 0" "$tesela" variogram "${meuse[@]}" -o ours0.csv
    expect 0 "gstat 1" "$tesela" variogram "${meuse[@]}" --robust -o ours1.csv
    expect 0 "gstat 2" "$tesela" variogram "${meuse[@]}" --trend linear --directions 0,45,90,135 -o ours2.csv
    expect 0 "gstat 3" "$tesela" variogram "${meuse[@]}" --trend linear --robust --cutoff 3000 --width 70 --directions 10,100 --tolerance 30 -o ours3.csv
    expect 0 "gstat 4" "$tesela" variogram solid.csv --coords x,y,h --value log_zinc --cutoff 1500 --width 100 --directions 0,90 -o ours4.csv
    for k in 0 1 2 3 4; do
        check "gstat $k" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('gstat$k.csv', 'ours$k.csv'))
assert len(a) == len(b) > 10 and all(abs(x - y) <= 1e-10 * abs(x) for r, s in zip(a, b) for x, y in zip(r, s))"
    done
else
    echo "not compared with gstat itself, which is not installed"
fi

# Beside a model: nugget + sigma2 - C(h), in the table and as a curve.
expect 0 "a model" "$tesela" fit "${meuse[@]}" --family exponential --fix sigma2=0.6,range=300,nugget=0.05 -o model.json
expect 0 "beside a model" "$tesela" variogram "$data/meuse.csv" --model model.json --plot v.svg --json
json "beside a model" "all(abs(p['model'] - (0.65 - 0.6 * __import__('math').exp(-p['dist'] / 300))) < 1e-10 for p in d['variogram'])"
check "the picture" [ "$(grep -c '<circle' v.svg)" = 17 ]
check "the picture names the model" grep -q "exponential (model.json)" v.svg
check "the picture is XML" python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('v.svg')"
expect 0 "for people, beside a model" "$tesela" variogram "$data/meuse.csv" --model model.json
holds "for people, beside a model" out "model"
expect 0 "on two nodes one writes" "${mpirun[@]}" -n 2 "$tesela" variogram "${meuse[@]}" -o two.csv
check "on two nodes one prints" [ "$(grep -c "variogram of" out)" = 1 ]

# On the Earth: two places a degree apart on the equator.
printf 'lon,lat,t\n179.5,0,3\n-179.5,0,5\n179.5,2,4\n' >earth.csv
expect 0 "on the Earth" "$tesela" variogram earth.csv --coords lon,lat --value t --metric great_circle --cutoff 150 --json
json "on the Earth" "len(d['variogram']) == 1 and abs(d['variogram'][0]['dist'] - 111.19508) < 1e-4 and d['variogram'][0]['gamma'] == 2"

# 20000 points in seconds.
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 20000; ++i) { x = i * 0.7548776662 % 1; y = i * 0.5698402910 % 1; print x "," y "," sin(7 * x) + y } }' >many.csv
TIMEFORMAT=%U
{ time expect 0 "20000 points" "$tesela" variogram many.csv --coords x,y --value z --json; } 2>cpu
check "20000 points in seconds of one core: $(cat cpu)" awk 'END { exit !($1 < 10) }' cpu
json "20000 points" "sum(p['np'] for p in d['variogram']) > 3e7"

# Bad input.
printf 'x,t\n0,1\n1,2\n2,4\n' >line.csv
bad "no coordinates" "--coords x,y" "$tesela" variogram "$data/meuse.csv" --value zinc
bad "no value" "--value" "$tesela" variogram "$data/meuse.csv" --coords x,y
bad "negative cutoff" "--cutoff: -1 is not a number above 0" "$tesela" variogram "${meuse[@]}" --cutoff -1
bad "no width" "--width: 0 is not a number above 0" "$tesela" variogram "${meuse[@]}" --width 0
bad "one direction" "needs a --tolerance" "$tesela" variogram "${meuse[@]}" --directions 45
bad "tolerance alone" "--tolerance requires --directions" "$tesela" variogram "${meuse[@]}" --tolerance 20
bad "directions on a line" "two coordinates" "$tesela" variogram line.csv --coords x --value t --directions 0,90
bad "nothing near" "larger cutoff" "$tesela" variogram "${meuse[@]}" --cutoff 1
bad "another metric" "--metric chordal is not that of model.json" "$tesela" variogram "$data/meuse.csv" --model model.json --metric chordal
bad "no such directory" "nowhere/v.csv" "$tesela" variogram "${meuse[@]}" -o nowhere/v.csv
bad "a picture that is none" "v.png" "$tesela" variogram "${meuse[@]}" --plot v.png
bad "unknown trend" "constant" "$tesela" variogram "${meuse[@]}" --trend cubic
expect 1 "a full disk for the results" bash -c "'$tesela' variogram '$data/meuse.csv' --coords x,y --value zinc >/dev/full"

finish
