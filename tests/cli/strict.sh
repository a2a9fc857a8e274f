#!/usr/bin/env bash
# What a user says is what is done, or it is refused and said why: results that are lost, options and files that make no sense.
#   strict.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse.csv" --coords x,y --value log_zinc)
theta=sigma2=0.6,range=200,smoothness=0.5,nugget=0.05
quick=(--fix "smoothness=0.5,range=500")
expect 0 "a model" "$tesela" fit "${meuse[@]}" "${quick[@]}" -o model.json
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 60; ++i) { x = i * 0.7548776662 % 1; y = i * 0.5698402910 % 1; print x "," y "," x + y } }' >smooth.csv
python3 -c "
print('x,y,z')
for i in range(60): print(i * 0.37 % 1, i * 0.61 % 1, 3 + i * 0.37 % 1 - 2 * (i * 0.61 % 1), sep=',')" >plane.csv
printf 'x1,y\n178605,330000\n178700,330100\n' >x1.csv
printf 'x,y\n178605,330000\n178700,330100\n' >points.csv

# Results that cannot be written are exit code 1 and one line, in every command, whether a device is full or stdout closed.
expect 0 "a distribution" "$tesela" dist make block_cyclic --count 4 --tiles 8 -o dist.json
expect 0 "a traced run" "$tesela" loglik "${meuse[@]}" --theta $theta --trace run.trace
lost() { # NAME COMMAND…
    local name=$1 full closed
    shift
    "$@" --quiet >/dev/full 2>err
    full=$?
    : >out
    check "$name > /dev/full: exit $full instead of 1" [ $full = 1 ]
    holds "$name > /dev/full" err "standard output"
    check "$name > /dev/full: more than one line" [ "$(wc -l <err)" = 1 ]
    "$@" --quiet >&- 2>err
    closed=$?
    check "$name >&-: exit $closed instead of 1" [ $closed = 1 ]
    holds "$name >&-" err "standard output"
}
for json in "" --json; do
    lost "fit $json" "$tesela" fit "${meuse[@]}" "${quick[@]}" -o lost.json $json
    lost "fit --dry-run $json" "$tesela" fit "${meuse[@]}" --dry-run $json
    lost "loglik $json" "$tesela" loglik "${meuse[@]}" --theta $theta $json
    lost "predict $json" "$tesela" predict model.json points.csv -o lost.csv $json
    lost "sample $json" "$tesela" sample --n 20 --theta $theta -o lost.csv $json
    lost "validate $json" "$tesela" validate model.json $json
    lost "compare $json" "$tesela" compare model.json model.json $json
    lost "info $json" "$tesela" info $json
    lost "bench overhead $json" "$tesela" bench overhead --tasks 500 --repetitions 1 $json
done
lost "fit -o -" "$tesela" fit "${meuse[@]}" "${quick[@]}" -o -
lost "predict -o -" "$tesela" predict model.json "$data/meuse_grid.csv" -o -
lost "validate --residuals -" "$tesela" validate model.json --residuals -
lost_without_quiet() {
    local name=$1
    shift
    expect 1 "$name > /dev/full" bash -c '"$@" >/dev/full' _ "$@"
    holds "$name > /dev/full" err "standard output"
    expect 1 "$name >&-" bash -c '"$@" >&-' _ "$@"
}
lost_without_quiet "variogram" "$tesela" variogram "${meuse[@]}"
lost_without_quiet "variogram --json" "$tesela" variogram "${meuse[@]}" --json
lost "sample -o -" "$tesela" sample --n 2000 --theta sigma2=1,range=0.01,smoothness=0.5 -o -
for json in "" --json; do
    lost_without_quiet "dist compare $json" "$tesela" dist compare --count 4 --tiles 8 $json
    lost_without_quiet "dist moves $json" "$tesela" dist moves dist.json dist.json $json
    lost_without_quiet "simulate $json" "$tesela" simulate cholesky --tiles 6 --tile 480 --platform a100-node $json
    lost_without_quiet "trace summary $json" "$tesela" trace summary run.trace $json
done
lost_without_quiet "trace table" "$tesela" trace table tasks run.trace
lost_without_quiet "dist show" "$tesela" dist show dist.json
lost_without_quiet help "$tesela" --help
lost_without_quiet "help of fit" "$tesela" fit --help
lost_without_quiet version "$tesela" --version
expect 1 "a full disk" "$tesela" fit "${meuse[@]}" "${quick[@]}" -o /dev/full
holds "a full disk" err "cannot write '/dev/full': No space left on device"
expect 1 "a full disk of predictions" "$tesela" predict model.json points.csv -o /dev/full
check "a reader who has seen enough" bash -c "'$tesela' predict model.json '$data/meuse_grid.csv' --quiet | head -1 | grep -q mean"

# Words that are near.
expect 2 "exchanged letters" "$tesela" fti
holds "exchanged letters" err "tesela: fti is not a command; did you mean fit? See tesela --help"

# Files that are no CSV say what they are.
cp "$data/meuse.csv" packed.csv && gzip packed.csv
bad "a packed file" "'packed.csv.gz' is compressed by gzip: unpack it first" "$tesela" fit packed.csv.gz --coords x,y --value log_zinc -o bad.json
printf 'x y z\n1 2 3\n2 3 5\n4 4 4\n' >spaces.txt
bad "fields separated by spaces" "'spaces.txt', line 1: no column 'x'; the fields seem to be separated by spaces" "$tesela" fit spaces.txt --coords x,y --value z -o bad.json

# Columns.
bad "a column as its own coordinate" "--value x is also a coordinate" "$tesela" fit "$data/meuse.csv" --coords x,y --value x -o bad.json
bad "the same column twice" "--coords names the column y twice" "$tesela" loglik "$data/meuse.csv" --coords x,y,y --value log_zinc --theta $theta
bad "the same column twice of points" "--coords names the column x twice" "$tesela" predict model.json points.csv --coords x,x -o bad.csv
(echo '"east, m",north,"log ""zinc"", mg"' && tail -n +2 "$data/meuse.csv" | cut -d, -f1,2,4) >commas.csv
expect 0 "meuse as it was" "$tesela" loglik "${meuse[@]}" --theta $theta
cp out plain
expect 0 "columns with commas" "$tesela" loglik commas.csv --coords '"east, m",north' --value 'log "zinc", mg' --theta $theta
check "columns with commas" [ "$(head -1 plain | sed 's/.*: //')" = "$(head -1 out | sed 's/.*: //')" ]
expect 0 "columns one by one" "$tesela" loglik commas.csv --coords '"east, m"' --coords north --value 'log "zinc", mg' --theta $theta
expect 0 "a model with commas" "$tesela" fit commas.csv --coords '"east, m",north' --value 'log "zinc", mg' "${quick[@]}" -o commas.json
expect 0 "predictions with commas" "$tesela" predict commas.json commas.csv
holds "predictions with commas" out '"east, m",north,"log ""zinc"", mg",mean'
expect 2 "a quote that is not closed" "$tesela" loglik commas.csv --coords '"east, m,north' --value z --theta $theta
holds "a quote that is not closed" err "--coords: '--coords', line 1: a quoted field begins here and never ends"

# Numbers that make no sense.
refused() { # NAME TEXT COMMAND…
    local name=$1 text=$2
    shift 2
    expect 2 "$name" "$@"
    holds "$name" err "$text"
    check "$name: more than one line" [ "$(wc -l <err)" = 1 ]
}
fit=("$tesela" fit "${meuse[@]}" "${quick[@]}" -o bad.json)
refused "a negative tolerance" "--tolerance: -1e-4 is not a number above 0" "${fit[@]}" --tolerance -1e-4
refused "a tolerance that is no number" "--tolerance: nan is not a number above 0" "${fit[@]}" --tolerance nan
refused "a negative time" "--max-seconds: -1 is not a number of at least 0" "${fit[@]}" --max-seconds -1
refused "no evaluations" "--max-evaluations: 0 is not a whole number of at least 2" "${fit[@]}" --max-evaluations 0
refused "a negative jitter" "--jitter: -0.1 is not a number of at least 0" "${fit[@]}" --jitter -0.1
refused "a negative block" "--block: -5 is not a whole number of at least 0" "$tesela" predict model.json points.csv --block -5
refused "a negative seed" "--seed: -1 is not a whole number of at least 0" "$tesela" sample --n 10 --theta $theta --seed -1
refused "a negative number of points" "--n: -10 is not a whole number of at least 1" "$tesela" sample --n -10 --theta $theta
refused "a negative idle time" "--idle: -1 is not a number of at least 0" "$tesela" info --idle -1
refused "a negative seed of a simulation" "--seed: -1 is not" "$tesela" simulate cholesky --tiles 6 --tile 480 --platform a100-node --seed -1
refused "a parameter twice" "--theta gives range twice, 1 and 2" "$tesela" loglik "${meuse[@]}" --theta sigma2=1,range=1,range=2,smoothness=0.5
refused "a fixed parameter twice" "--fix gives nugget twice, 0 and 1" "$tesela" fit "${meuse[@]}" --fix nugget=0 --fix nugget=1 -o bad.json
for bound in start lower upper; do
    refused "a $bound twice" "--$bound gives range twice, 100 and 200" "$tesela" fit "${meuse[@]}" --$bound range=100,range=200 -o bad.json
done
check "nothing was written" [ ! -e bad.json ]

# Longitude and latitude.
printf 'lat,lon,t\n-20.1,146.2,3\n-20.4,146.9,4\n-21.0,145.8,4.5\n-20.2,147.3,6\n' >australia.csv
sphere=(--value t --theta sigma2=1,range=30,smoothness=0.5)
bad "latitude first" "'australia.csv', line 2, column 'lon': 146.2 is not a latitude, which is in [-90, 90]; longitude comes first: --coords lon,lat" "$tesela" loglik australia.csv --coords lat,lon "${sphere[@]}" --metric chordal
bad "latitude first in a fit" "longitude comes first: --coords lon,lat" "$tesela" fit australia.csv --coords lat,lon --value t --metric great_circle --family exponential -o bad.json
sed 's/14//' australia.csv >small.csv
bad "latitude first by name" "'lat' and 'lon' are in the wrong order for chordal distances" "$tesela" loglik small.csv --coords lat,lon "${sphere[@]}" --metric chordal
expect 0 "longitude first" "$tesela" fit australia.csv --coords lon,lat --value t --metric chordal --family exponential --fix range=30,nugget=0.1 -o earth.json
check "no note" bash -c '! grep -q "look like degrees" err'
bad "points with latitude first" "line 2, column 'lon': 146.2 is not a latitude" "$tesela" predict earth.json australia.csv --coords lat,lon -o bad.csv
bad "a sample with latitude first" "line 2, column 'lon': 146.2 is not a latitude" "$tesela" sample --points australia.csv --coords lat,lon --theta sigma2=1,range=30,smoothness=0.5 --metric chordal -o bad.csv
expect 0 "degrees as lengths" "$tesela" loglik australia.csv --coords lon,lat "${sphere[@]}"
holds "degrees as lengths" err "note: lon and lat look like degrees, but distances are euclidean"
expect 0 "help on metrics" "$tesela" fit --help
holds "help on metrics" out "6371.0088 km"

# Numbers that are too large are not blamed on the covariance; large ones are computed with.
scaled() { awk -F, -v v="$1" -v x="$2" 'NR == 1 { print "x,y,z"; next } { printf "%.17g,%.17g,%.17g\n", $1 * x, $2 * x, $4 * v }' "$data/meuse.csv" >scaled.csv; }
scaled 1e200 1
bad "values that are too large" "the value of z at line 2 of scaled.csv is 6.92951677" "$tesela" fit scaled.csv --coords x,y --value z -o bad.json
holds "values that are too large" err ": numbers beyond 1e+100 are too large to compute with; use another unit"
scaled 1 1e300
bad "coordinates that are too large" "the coordinate x at line 2 of scaled.csv is 1.81" "$tesela" fit scaled.csv --coords x,y --value z -o bad.json
holds "coordinates that are too large" err ": numbers beyond 1e+100 are too large to compute with; use another unit"
printf 'x,y\n1e200,0\n' >far.csv
bad "points that are too far away" "numbers beyond 1e+100 are too large" "$tesela" predict model.json far.csv -o bad.csv
expect 0 "values as they are" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 -o bad.json --json
cp out plain
for unit in "1e90 1e-90" "1e-90 1e90"; do
    read -r value length <<<"$unit"
    scaled "$value" "$length"
    expect 0 "values in units of $value" "$tesela" fit scaled.csv --coords x,y --value z --fix smoothness=0.5 -o bad.json --json
    json "values in units of $value" "(lambda p: abs(d['theta']['range'] / p['theta']['range'] / $length - 1) < 0.02 and abs(d['loglik'] + 155 * __import__('math').log($value) - p['loglik']) < 0.01)(json.load(open('plain')))"
done
rm bad.json

# Stopping at a limit is a warning.
expect 0 "a limit of evaluations" "$tesela" fit "${meuse[@]}" --max-evaluations 12 -o limited.json --json
json "a limit of evaluations" "d['stop_reason'] == 'max_evaluations' and any('--max-evaluations' in w for w in d['warnings'])"
holds "a limit of evaluations" err "before it came to a maximum: give more (--max-evaluations)"
expect 0 "a limit of time" "$tesela" fit "${meuse[@]}" --max-seconds 1e-6 -o limited.json
holds "a limit of time" err "before it came to a maximum: give more time (--max-seconds)"

# A checkpoint that cannot be kept does not end the fit: the result is that of a fit without one.
bad "a checkpoint on a device" "/dev/full is not a regular file, and a checkpoint must be one" "$tesela" fit "${meuse[@]}" "${quick[@]}" --checkpoint /dev/full -o bad.json
expect 0 "a fit without a checkpoint" "$tesela" fit "${meuse[@]}" -o plain.json --json
cp out plain
mkdir -p disk
if unshare --map-root-user --mount true 2>/dev/null; then # a disk of its own, which it fills
    expect 0 "a checkpoint on a full disk" unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=16k none disk && "$@"; code=$?; cp disk/short.log .; exit $code' _ \
        "$tesela" fit "${meuse[@]}" --checkpoint disk/short.log -o full.json --json
    holds "a checkpoint on a full disk" err "short.log could not be written any more after"
    json "a checkpoint on a full disk" "d['theta'] == json.load(open('plain'))['theta']"
    expect 0 "going on from what was kept" "$tesela" fit "${meuse[@]}" --checkpoint short.log -o full.json --json
    json "going on from what was kept" "d['theta'] == json.load(open('plain'))['theta']"
else
    echo "left out: a checkpoint on a full disk, since no disk can be mounted here"
fi

# Ctrl-C gives the best point so far, or the profiles so far, and an exit code that says so.
expect 0 "a larger field" "$tesela" sample --n 3000 --theta sigma2=1,range=0.1,smoothness=1,nugget=0.1 -o field.csv
stopped() { # NAME CONDITION OPTIONS…: a fit that is interrupted when the shell's condition is true
    local name=$1 condition=$2 pid code
    rm -f field.log
    "$tesela" fit field.csv --coords x,y --value z --checkpoint field.log -o stopped.json --json "${@:3}" >out 2>err &
    pid=$!
    for _ in $(seq 600); do
        [ -f field.log ] && eval "$condition" && break
        sleep 0.1
    done
    kill -INT $pid
    wait $pid
    code=$?
    check "$name: exit $code instead of 130" [ $code = 130 ]
    check "$name: no model" [ -s stopped.json ]
}
stopped "Ctrl-C" '[ "$(wc -l <field.log)" -gt 4 ]'
json "Ctrl-C" "d['stop_reason'] == 'interrupted' and any('best point so far' in w for w in d['warnings'])"
stopped "Ctrl-C in a profile" '[ "$(find field.log -newermt "3 seconds ago")" = "" ]' --fix smoothness=1,nugget=0.1 --errors none --profile range
json "Ctrl-C in a profile" "d['stop_reason'] == 'converged' and any('no more profiles: the profile of range was interrupted' in w for w in d['warnings'])"

# What a file says is what is used, or it is refused.
edited() { # NAME TEXT PYTHON: the model with a change
    python3 -c "
import json
m = json.load(open('model.json'))
$3
json.dump(m, open('edited.json', 'w'))"
    bad "$1" "$2" "$tesela" predict edited.json points.csv -o bad.csv
}
edited "another convention" "the field convention is \"other\", but the family" "m['convention'] = 'other'"
edited "one coordinate twice" "the field columns.coordinates has x twice" "m['columns']['coordinates'] = ['x', 'x']"
sed 's/"center"/"loglik": 1, "center"/' model.json >edited.json
bad "a key twice" "has the key \"loglik\" twice in one object" "$tesela" predict edited.json points.csv -o bad.csv
sed 's/"loglik": [-0-9.e]*/"loglik": 12345/' model.json >edited.json
expect 0 "comparing with an edited likelihood" "$tesela" compare model.json edited.json --json
holds "comparing with an edited likelihood" err "edited.json says that its log-likelihood is 12345; at its parameters it is -"
json "comparing with an edited likelihood" "d['models'][0]['loglik'] == d['models'][1]['loglik']"
bad "a sample in a column of coordinates" "the values would be in a second column x; give another --name" "$tesela" sample --n 20 --theta $theta --name x -o bad.csv
bad "a sample in a column of coordinates, by number" "the values would be in a second column x1" "$tesela" sample --points x1.csv --coords x1,y --theta $theta --name x --draws 2 -o bad.csv
bad "values on the trend" "the trend linear passes through every value of z: nothing is left for a covariance" "$tesela" fit plane.csv --coords x,y --value z --trend linear -o bad.json

# A warning advises nothing that is then refused.
smooth=(smooth.csv --coords x,y --value z)
for lower in 0.03 0.05 1; do
    expect 0 "a lower bound $lower" "$tesela" fit "${smooth[@]}" --family powered_exponential --lower smoothness=$lower -o smooth.json --json
    json "a lower bound $lower" "not any('raise the bound' in w and 'smoothness' in w for w in d['warnings']) and d['parameters']['smoothness']['upper'] == 2"
done
expect 0 "a nearly singular model" "$tesela" fit "${smooth[@]}" --family squared_exponential --fix sigma2=1,range=0.7,nugget=0 --trend none -o singular.json
holds "a nearly singular model" err "or give --jitter"
expect 0 "predicting from it" "$tesela" predict singular.json smooth.csv
holds "predicting from it" err "to tesela fit, and predict from the new model"

# Files in the wrong order.
bad "model and points exchanged" "model.json is the model and comes first: tesela predict model.json points.csv" "$tesela" predict points.csv model.json -o bad.csv
bad "no model at all" "points.csv is not a model that tesela fit wrote" "$tesela" predict points.csv points.csv -o bad.csv

# A map that cannot be drawn is refused before anything is computed.
awk 'BEGIN { print "x,y,h,z"; for (i = 0; i < 30; ++i) { x = i * 0.7548776662 % 1; y = i * 0.5698402910 % 1; print x "," y "," (i % 7) "," sin(9 * x) + y } }' >boxes.csv
few=(--fix range=0.3,smoothness=0.5,nugget=0.1)
expect 0 "a model of a line" "$tesela" fit boxes.csv --coords x --value z "${few[@]}" -o line.json
expect 0 "a model in space" "$tesela" fit boxes.csv --coords x,y,h --value z "${few[@]}" -o space.json
bad "a map of a line" "a map needs two coordinates; these points have 1" "$tesela" predict line.json boxes.csv -o bad.csv --map bad.svg
bad "a map of space" "a map needs two coordinates; these points have 3" "$tesela" predict space.json boxes.csv -o bad.csv --map bad.svg
bad "a map of a line of no file" "a map needs two coordinates" "$tesela" predict line.json nowhere.csv -o bad.csv --map bad.svg
bad "a map that is no SVG" "--map writes SVG pictures, and m.png ends in .png: write m.svg and convert it, as with rsvg-convert m.svg -o m.png" "$tesela" predict model.json points.csv -o bad.csv --map m.png
bad "limits in the wrong order" "--map-limits takes two numbers, the lower one first, as 4,8; it was given 8,4" "$tesela" predict model.json points.csv -o bad.csv --map m.svg --map-limits 8,4
bad "one limit" "--map-deviation-limits takes two numbers" "$tesela" predict model.json points.csv -o bad.csv --map m.svg --map-deviation-limits 8
refused "an unknown palette" '--map-palette: "rainbow" is not one of viridis, magma, greys, blue_red' "$tesela" predict model.json points.csv --map m.svg --map-palette rainbow
refused "a title without a map" "--map-title requires --map" "$tesela" predict model.json points.csv --map-title Zinc
expect 0 "a map as asked" "$tesela" predict model.json "$data/meuse_grid.csv" -o grid.csv --map m.svg --map-title "Zinc in soil" --map-palette greys,blue_red --map-limits 4,8 --map-deviation-limits 0,1 --map-observations hide --variance signal
check "a map as asked: title" grep -q "Zinc in soil" m.svg
check "a map as asked: noise" grep -q "Standard deviation, without noise" m.svg
check "a map as asked: observations" bash -c "! grep -q observations m.svg"

# What the variance is at an observed place: of a second observation there, or without noise what gstat has with vgm(0.05, "Err", 0).
python3 -c "
import json
m = json.load(open('model.json'))
m['theta'].update(sigma2=0.55, range=250, smoothness=0.5, nugget=0.05)
json.dump(m, open('known.json', 'w'))"
printf 'x,y\n181072,333611\n181025,333558\n' >observed.csv
for noise in observation:0.05 signal:0; do
    expect 0 "an observed place, ${noise%:*}" "$tesela" predict known.json observed.csv --variance ${noise%:*}
    check "an observed place, ${noise%:*}" python3 -c "
import csv
rows = list(csv.DictReader(open('out')))
mean, variance = [6.88586816454, 6.97248729271], [0.0410061417204, 0.0410436263899]
assert len(rows) == 2 and all(abs(float(r['mean']) - m) < 1e-9 and abs(float(r['variance']) - v - ${noise#*:}) < 1e-9 for r, m, v in zip(rows, mean, variance))"
done

# Help in groups, with an example that works.
cp -r "$data" data
for command in fit loglik predict sample; do
    expect 0 "help of $command" "$tesela" $command --help
    headings="Data Model Output Machine"
    [ $command = fit ] && headings="Data Model Search Output Machine"
    check "help of $command: its headings are $(grep -oE '^(Data|Model|Search|Output|Machine|Options):' out | tr '\n' ' ')" [ "$(grep -oE '^(Data|Model|Search|Output|Machine):' out | tr -d : | paste -sd' ')" = "$headings" ]
    check "help of $command: -h alone stands under Options" [ "$(sed -n '/^Options:/,/^$/p' out | grep -c -- '^  -')" = 1 ]
done
examples() { for command in "$@"; do "$tesela" $command --help | grep -A1 '^Example:' | tail -1; done; }
examples fit loglik predict sample >examples.sh
check "four examples" [ "$(grep -c '^  tesela ' examples.sh)" = 4 ]
expect 0 "the examples" env PATH="$(dirname "$tesela"):$PATH" bash -e examples.sh
check "the examples' files" [ -s meuse.json ] && check "the examples' files" [ -s kriged.csv ] && check "the examples' files" [ -s field.csv ]

finish
