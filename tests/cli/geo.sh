#!/usr/bin/env bash
# Gaussian processes as a user types them: fit, loglik, predict, sample; bad input; several nodes.
#   geo.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse.csv" --coords x,y --value log_zinc)

# What the reference says (R 4.2: nlme, gstat).
expect 0 loglik "$tesela" loglik "${meuse[@]}" --theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --center mean --json
json loglik "abs(d['loglik'] + 110.3180188026) < 1e-9 * 110 and d['theta']['range'] == 180"
# The same with semicolons and decimal commas.
sed 's/,/;/g; s/\./,/g' "$data/meuse.csv" >semicolons.csv
expect 0 "loglik of semicolons" "$tesela" loglik semicolons.csv "${meuse[@]:1}" --theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --center mean --json
json "loglik of semicolons" "abs(d['loglik'] + 110.3180188026) < 1e-9 * 110"
expect 0 fit "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 -o model.json --json
json fit "abs(d['loglik'] + 99.12877762) < 1e-5 and abs(d['theta']['range'] / 2144.92 - 1) < 0.01"
json fit "d['stop_reason'] == 'converged' and d['evaluations'] > 10 and d['seconds'] < 2 and d['trend']['kind'] == 'constant'"
expect 0 "fit for people" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 -o model.json
holds "fit for people" out "range        2144.9"
holds "fit for people" out "(log_zinc)²"
sed 's/,/;/g; s/\./,/g' "$data/meuse_grid.csv" >grid_semicolons.csv
expect 0 "predict at semicolons" "$tesela" predict model.json grid_semicolons.csv -o from_semicolons.csv
expect 0 predict "$tesela" predict model.json "$data/meuse_grid.csv" -o predictions.csv --map map.svg
check "places of semicolons are written as others are" cmp predictions.csv from_semicolons.csv
check predict [ "$(head -1 predictions.csv)" = "x,y,mean,variance,sd,lower,upper" ]
check predict [ "$(wc -l <predictions.csv)" = 3104 ]
check "the map" grep -q "</svg>" map.svg
# Squared exponentials of a long range leave few digits: every command that factors such a matrix says so.
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 60; ++i) { x = i * 0.7548776662 % 1; y = i * 0.5698402910 % 1; print x "," y "," x + y } }' >smooth.csv
smooth=(smooth.csv --coords x,y --value z --family squared_exponential --theta)
expect 0 "loglik with few digits" "$tesela" loglik "${smooth[@]}" sigma2=1,range=0.7
check "loglik with few digits" grep -q "warning: the covariance matrix is nearly singular" err
expect 0 "loglik with enough digits" "$tesela" loglik "${smooth[@]}" sigma2=1,range=0.1
check "loglik with enough digits" bash -c '! grep -q warning err'
cat >kriging.py <<'PY'
import json
m = json.load(open("model.json"))
for name, value in {"sigma2": 0.55, "range": 250, "smoothness": 0.5, "nugget": 0.05}.items():
    m["theta"][name] = value
json.dump(m, open("known.json", "w"))
PY
python3 kriging.py
expect 0 "predict as gstat" "$tesela" predict known.json "$data/meuse_grid.csv" -o gstat.csv
check "predict as gstat" python3 -c "
rows = [list(map(float, line.split(','))) for line in open('gstat.csv').readlines()[1:4]]
mean, variance = [6.353014824, 6.492734048, 6.39134395], [0.450965329, 0.376215721, 0.4038648316]
assert all(abs(r[2] - m) < 1e-7 and abs(r[3] - v) < 1e-7 for r, m, v in zip(rows, mean, variance))"
expect 0 "dry run" "$tesela" fit "${meuse[@]}" --dry-run --json -o dry.json
json "dry run" "d['flops'] > 0 and d['bytes_per_node'][0] > 0 and d['seconds_per_evaluation'] > 0"
check "dry run writes nothing" [ ! -e dry.json ]
expect 0 help "$tesela" fit --help
holds help out "K_ν(r/β)"

# Samples do not depend on tiles and nodes.
theta=sigma2=2,range=0.1,smoothness=1.2,nugget=0.1
expect 0 sample "$tesela" sample --n 300 --theta $theta --seed 5 -o a.csv --tile 300
expect 0 "sample on four nodes" "${mpirun[@]}" -n 4 "$tesela" sample --n 300 --theta $theta --seed 5 -o b.csv --tile 40
check "samples agree" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('a.csv', 'b.csv'))
assert len(a) == len(b) == 300 and all(abs(x - y) < 1e-12 for r, s in zip(a, b) for x, y in zip(r, s))"
expect 0 "sample at points" "$tesela" sample --points a.csv --coords x,y --theta $theta -o -
holds "sample at points" out "x,y,z"

# Compressed matrices.
at=(--theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --center mean --tile 16)
expect 0 "compressed loglik" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --json
json "compressed loglik" "abs(d['loglik'] + 110.3180188026) < 1e-6 * 110 and d['method'] == 'tlr'"
json "compressed loglik" "d['compression']['accuracy'] == 1e-9 and d['compression']['reached'] < 1e-7 and d['compression']['bytes'] < d['compression']['dense_bytes']"
expect 0 "compressed loglik on three nodes" "${mpirun[@]}" -n 3 "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --json
json "compressed loglik on three nodes" "d['compression']['tile'] == d['tile'] == 16 and d['compression']['band'] >= 1 and d['sample_seconds'] > 0"
json "compressed loglik on three nodes" "abs(d['loglik'] + 110.3180188026) < 1e-6 * 110"
expect 0 "few observations are not compressed" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method auto --json
json "few observations are not compressed" "d['method'] == 'exact' and d['compression'] is None"
expect 0 "compressed fit" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 --tile 16 --method tlr -o tlr.json --json
json "compressed fit" "abs(d['loglik'] + 99.12877762) < 1e-5 and abs(d['theta']['range'] / 2144.92 - 1) < 0.01"
holds "compressed fit" err "compressed matrices have no slopes yet"
check "compressed fit says what it reached" python3 -c "
import json
assert 0 < json.load(open('tlr.json'))['configuration']['compression']['reached'] < 1e-7"
check "compressed fit says how the matrix was cut" python3 -c "
import json
c = json.load(open('tlr.json'))['configuration']
assert c['method'] == 'tlr' and c['tile'] == 16 and c['sample_seconds'] > 0
assert c['compression']['tile'] == 16 and c['compression']['band'] >= 1"
# Predictions of more than two seconds (here: by one core) say what they will take, and how far they are, where standard error is a file too.
python3 -c "
import random
random.seed(3)
print('x,y,z')
for _ in range(3000): print(f'{random.random()},{random.random()},{random.gauss(0, 1)}')" >many.csv
long=(predict many.csv --grid 160x160 --coords x,y --value z --family exponential --theta sigma2=1,range=0.1,nugget=0.1 --workers 1 -o long.csv)
expect 0 "a long prediction" "$tesela" "${long[@]}"
check "a long prediction" grep -qE '^expected: about [0-9.]+ m?s for the factor, then [0-9.]+ (s|min) for 25600 points$' err
check "a long prediction" grep -qE '^[0-9]+ of 25600 points, [0-9.]+ s, about [0-9.]+ m?s left$' err
expect 0 "a long prediction without a word" "$tesela" "${long[@]}" --quiet
check "a long prediction without a word" [ ! -s err ]
expect 0 "compressed predictions" "$tesela" predict model.json "$data/meuse_grid.csv" -o tlr.csv --tile 30 --method tlr
holds "compressed predictions" out "compressed: tiles of 30, to 1e-09 of sigma2"
check "compressed predictions" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('predictions.csv', 'tlr.csv'))
assert len(a) == len(b) and all(abs(x - y) < 1e-6 * (1 + abs(x)) for r, s in zip(a, b) for x, y in zip(r, s))"
expect 0 "a refined loglik" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --accuracy 1e-3 --refine 1e-10 --single --json
json "a refined loglik" "d['compression']['refinement']['converged'] and d['compression']['refinement']['residual'] <= 1e-10"
expect 0 "a checkpoint" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 --tile 16 --band 1 --method tlr --accuracy 1e-9 --max-evaluations 5 --checkpoint tlr.log -o ck.json
holds "a checkpoint" out "compressed: tiles of 16, to 1e-09 of sigma2, the diagonal whole"
expect 2 "a checkpoint of another accuracy" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 --tile 16 --band 1 --method tlr --accuracy 1e-2 --max-evaluations 5 --checkpoint tlr.log -o ck.json
holds "a checkpoint of another accuracy" err "tlr.log is the checkpoint of another fit: accuracy is 1e-09 in it and 0.01 here"
expect 0 "a fit that goes on as it was begun" "$tesela" fit "${meuse[@]}" --fix smoothness=0.5 --method auto --max-evaluations 5 --checkpoint tlr.log -o on.json --workers 1
holds "a fit that goes on as it was begun" out "compressed: tiles of 16, to 1e-09 of sigma2, the diagonal whole"
check "goes on to the same digits" python3 -c "
import json
a, b = (json.load(open(f)) for f in ('ck.json', 'on.json'))
assert a['theta'] == b['theta'] and a['loglik'] == b['loglik']"
expect 2 "a checkpoint of an earlier version" bash -c "echo 'tesela-evaluations 1 0123456789abcdef' >old.log; exec '$tesela' fit ${meuse[*]} --checkpoint old.log -o ck.json"
holds "a checkpoint of an earlier version" err "old.log cannot be gone on from: old.log is not a checkpoint of a fit by this version"

# Predictions are with the matrix that the model was fitted with.
expect 0 "predictions as fitted" "$tesela" predict ck.json "$data/meuse_grid.csv" -o as_fitted.csv --json
json "predictions as fitted" "d['method'] == 'tlr' and d['tile'] == 16 and d['compression']['band'] == 1 and d['compression']['accuracy'] == 1e-9"
holds "predictions as fitted" err "the matrix is compressed to 1e-09, as ck.json was fitted; --method exact uses the exact one"
expect 0 "exact predictions" "$tesela" predict ck.json "$data/meuse_grid.csv" -o exact.csv --method exact --json
json "exact predictions" "d['method'] == 'exact' and d['compression'] is None"
expect 0 "predictions as fitted, in other tiles" "$tesela" predict ck.json "$data/meuse_grid.csv" -o tiles.csv --tile 20 --accuracy 1e-7 --json
json "predictions as fitted, in other tiles" "d['tile'] == 20 and d['compression']['accuracy'] == 1e-7"
expect 2 "a damaged model" bash -c "sed 's/\"band\": 1,/\"band\": 0,/' ck.json >damaged.json; exec '$tesela' predict damaged.json '$data/meuse_grid.csv'"
holds "a damaged model" err "the field band must be a whole number above 0"

# Speeds are measured only where that is asked for.
expect 0 "a tuned loglik" "$tesela" loglik "${meuse[@]}" --theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --center mean --method tlr --tune --json
cp out tuned
holds "a tuned loglik" err "note: tuned to this machine; for the same digits again: --tile "
cut=$(grep -o -- '--tile [0-9]* --band [0-9]*' err)
# shellcheck disable=SC2086
expect 0 "the same again" "$tesela" loglik "${meuse[@]}" --theta sigma2=0.6,range=180,smoothness=0.9,nugget=0.05 --center mean --method tlr $cut --json
json "the same again" "d['loglik'] == json.load(open('tuned'))['loglik']"
bad "nothing to tune" "--tune chooses tile and band, and both are given" "$tesela" loglik "${meuse[@]}" "${at[@]}" --band 1 --method tlr --tune
bad "tuned exact matrices" "--tune is of compressed matrices" "$tesela" loglik "${meuse[@]}" "${at[@]}" --tune
expect 0 "what a compressed fit would take" "$tesela" fit "${meuse[@]}" --tile 16 --method tlr --dry-run --json
expect 0 "method auto of few observations" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method auto --json
holds "method auto of few observations" err "exact, since there are fewer than"
expect 2 "a band of exact matrices" "$tesela" loglik "${meuse[@]}" "${at[@]}" --band 2
expect 2 "accuracy of exact matrices" "$tesela" loglik "${meuse[@]}" "${at[@]}" --accuracy 1e-3
holds "accuracy of exact matrices" err "give --method tlr"
expect 0 "an accuracy near the nugget" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --accuracy 1e-2
holds "an accuracy near the nugget" err "warning: tiles are accurate to 1e-02 times sigma2"
check "one warning" [ "$(grep -c warning err)" = 1 ]
expect 0 "an accuracy well below it" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --accuracy 1e-5
check "no warning" bash -c '! grep -q warning err'
for sigma2 in 1e-200 1e300 0; do
    bad "sigma2 of $sigma2" "compressed matrices take 1e-130 to 1e+130" "$tesela" loglik "${meuse[@]}" --theta sigma2=$sigma2,range=180,smoothness=0.9,nugget=0.05 --tile 16 --band 1 --method tlr
done
expect 2 "a negative accuracy" "$tesela" loglik "${meuse[@]}" "${at[@]}" --method tlr --accuracy -1
for slopes in "--optimizer lbfgs" "--errors observed" "--profile all"; do
    expect 2 "$slopes of a compressed matrix" "$tesela" fit "${meuse[@]}" --method tlr $slopes -o bad.json
    holds "$slopes of a compressed matrix" err "needs slopes, which compressed matrices do not have yet"
done
expect 0 "method auto with slopes" "$tesela" fit "${meuse[@]}" --method auto --errors observed --dry-run --json
json "method auto with slopes" "d['method'] == 'exact'"
holds "method auto with slopes" err "exact, since --errors observed needs slopes"
expect 2 "a plan of a compressed matrix" "$tesela" fit "${meuse[@]}" --method tlr --plan auto -o bad.json
holds "a plan of a compressed matrix" err "--plan auto is for exact matrices: give a file of tesela plan geo --ranks"

# Four nodes.
expect 0 "fit on four nodes" "${mpirun[@]}" -n 4 "$tesela" fit "${meuse[@]}" --fix smoothness=1.5 --tile 16 -o four.json --json
json "fit on four nodes" "abs(d['loglik'] + 97.37727068) < 1e-5 and abs(d['theta']['sigma2'] / 1.413927 - 1) < 0.01"
expect 0 "predict on four nodes" "${mpirun[@]}" -n 4 "$tesela" predict model.json "$data/meuse_grid.csv" -o four.csv --tile 30
check "predictions agree" python3 -c "
a, b = ([list(map(float, line.split(','))) for line in open(f).readlines()[1:]] for f in ('predictions.csv', 'four.csv'))
assert len(a) == len(b) == 3103 and all(abs(x - y) < 1e-9 for r, s in zip(a, b) for x, y in zip(r, s))"
# With two workers there is none to spare for submission.
expect 0 "phases overlap" "$tesela" loglik "${meuse[@]}" --theta sigma2=0.6,range=200,smoothness=0.5 --center mean --tile 16 --workers 2 --json
json "phases overlap" "abs(d['loglik'] + 117.9845698762) < 1e-9 * 117 and d['overlap'] == 'order'"
expect 0 "a worker for critical tasks" "$tesela" loglik "${meuse[@]}" --theta sigma2=0.6,range=200,smoothness=0.5 --center mean --tile 16 --engine critical-worker=shared --json
json "a worker for critical tasks" "abs(d['loglik'] + 117.9845698762) < 1e-9 * 117 and d['overlap'] == 'oversubscribe'"

# Missing values, duplicates.
printf 'lon,lat,t\n5.1,52.0,3\n5.2,52.1,4\n5.3,,4.5\n5.4,52.3,NA\n5.5,52.2,6\n' >missing.csv
sphere=(--coords lon,lat --value t --metric chordal --theta sigma2=1,range=30,smoothness=0.5)
expect 0 "rows dropped" "$tesela" loglik missing.csv "${sphere[@]}" --na drop --json
json "rows dropped" "d['n'] == 3"
holds "rows dropped" err "2 of 5 rows dropped for missing values (1 in lat, 1 in t)"
bad "missing value" "'missing.csv', line 4, column 'lat'" "$tesela" loglik missing.csv "${sphere[@]}"
printf 'x,y,z\n0,0,1\n1,0,2\n0,0,3\n1,1,4\n' >twins.csv
twins=(twins.csv --coords x,y --value z --family exponential)
bad "duplicates without noise" "1 of 4 points lie on another one, at 1 place; the first is line 4 of twins.csv, on line 2" "$tesela" fit "${twins[@]}" --fix nugget=0 -o twins.json
expect 0 "duplicates with noise" "$tesela" fit "${twins[@]}" --fix range=1,nugget=0.5 -o twins.json
holds "duplicates with noise" err "note: 1 of 4 points"
expect 1 "not positive definite" "$tesela" loglik twins.csv --coords x,y --value z --theta sigma2=1,range=1,smoothness=1.5
holds "not positive definite" err "not positive definite at sigma2 1, range 1, smoothness 1.5, nugget 0"
holds "not positive definite" err "line 2 of twins.csv and line 4 of twins.csv"
expect 1 "not positive definite, compressed" "$tesela" loglik twins.csv --coords x,y --value z --theta sigma2=1,range=1,smoothness=1.5 --method tlr --tile 2
check "no accuracy is advised where the exact matrix fails too" grep -qE "not for want of accuracy, the exact matrix is not either: use a larger nugget, .* or --jitter" err
expect 0 "jitter" "$tesela" loglik twins.csv --coords x,y --value z --theta sigma2=1,range=1,smoothness=1.5 --jitter 1e-6

# Bad input: one line that says where, exit code 2, no file.
bad "missing column" "no column 'zink'; did you mean 'zinc'" "$tesela" fit "$data/meuse.csv" --coords x,y --value zink -o bad.json
printf 'x,y,z\n0,0,1\n1,zero,2\n2,1,4\n' >text.csv
bad "text in a number" "'text.csv', line 3, column 'y'" "$tesela" fit text.csv --coords x,y --value z -o bad.json
printf 'x,y,z\n0,0,1\n1,nan,2\n2,1,4\n' >nan.csv
bad "not a number" "'nan.csv', line 3, column 'y'" "$tesela" fit nan.csv --coords x,y --value z -o bad.json
printf 'x,y,z\n0,0,1\n' >one.csv
bad "one point" "one.csv: 1 observation: at least two" "$tesela" fit one.csv --coords x,y --value z -o bad.json
printf 'x,y,z\n5,5,1\n5,5,2\n5,5,4\n' >equal.csv
bad "all points equal" "equal.csv: all 3 points are equal" "$tesela" fit equal.csv --coords x,y --value z -o bad.json
bad "negative parameter" "sigma2 is -1" "$tesela" loglik "${meuse[@]}" --theta sigma2=-1,range=200,smoothness=0.5
bad "negative fixed parameter" "fixed value of range is -3" "$tesela" fit "${meuse[@]}" --fix range=-3 -o bad.json
bad "parameter that does not exist" '"rang" is not a parameter' "$tesela" fit "${meuse[@]}" --fix rang=3 -o bad.json
bad "theta that is no number" "--theta takes NAME=NUMBER" "$tesela" loglik "${meuse[@]}" --theta sigma2=one,range=2
bad "theta without range" "--theta lacks range" "$tesela" loglik "${meuse[@]}" --theta sigma2=1,smoothness=0.5
bad "missing file" "none.csv" "$tesela" fit none.csv --coords x,y --value z -o bad.json
bad "a directory" "$work" "$tesela" fit "$work" --coords x,y --value z -o bad.json
bad "output in no directory" "nowhere/m.json" "$tesela" fit "${meuse[@]}" -o nowhere/m.json
bad "smooth great circles" "use chordal distances" "$tesela" loglik twins.csv --coords x,y --value z --metric great_circle --theta sigma2=1,range=30,smoothness=1
bad "a model that is none" "twins.csv" "$tesela" predict twins.csv "$data/meuse_grid.csv" -o bad.csv
echo '{"format": "tesela-model", "version": 1}' >empty.json
bad "a model without fields" "empty.json is not a model that tesela fit wrote: the field program is missing" "$tesela" predict empty.json "$data/meuse_grid.csv" -o bad.csv
bad "neither points nor number" "--n N or --points FILE" "$tesela" sample --theta $theta -o bad.csv
expect 0 "a smooth field" "$tesela" sample --n 150 --family squared_exponential --theta sigma2=1,range=0.2,nugget=0.001 --seed 3 -o smooth.csv
expect 0 "a bound that is the family's limit" "$tesela" fit smooth.csv --coords x,y --value z --family powered_exponential -o smooth.json
holds "a bound that is the family's limit" err "upper bound 2: more is not valid"
expect 2 "standard input on two nodes" "${mpirun[@]}" -n 2 "$tesela" loglik - --coords x,y --value log_zinc --theta sigma2=1,range=100,smoothness=0.5
holds "standard input on two nodes" err "give the name of a file"
expect 2 "bad input on four nodes" "${mpirun[@]}" -n 4 "$tesela" fit none.csv --coords x,y --value z -o bad.json

finish
