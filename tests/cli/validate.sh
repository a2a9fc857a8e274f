#!/usr/bin/env bash
# `tesela validate` and `tesela compare` as a user types them: beside gstat's numbers, and beside predictions without a fold.
#   validate.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse.csv" --coords x,y --value log_zinc)
# table NAME FILE EXPRESSION: a Python expression over the rows of a CSV file is true.
table() { check "$1: $3" python3 -c "import csv,sys; rows=list(csv.DictReader(open('$2'))); sys.exit(0 if ($3) else 1)"; }

expect 0 "a model" "$tesela" fit "${meuse[@]}" --family exponential --fix sigma2=0.55,range=250,nugget=0.05 -o model.json

# krige.cv(log_zinc ~ 1, meuse, vgm(0.55, "Exp", 250, nugget = 0.05), nfold = 155) of gstat 2.1.0.
expect 0 "leave-one-out" "$tesela" validate model.json --json --residuals loo.csv --plot loo.svg --map map.svg
json "leave-one-out" "abs(d['rmse'] - 0.409415393531) < 1e-10 and abs(d['mae'] - 0.311657154448) < 1e-10"
json "leave-one-out" "abs(d['mean_error'] + 0.000637755006778) < 1e-10 and abs(d['mean_standardised_square'] - 0.547758785453) < 1e-10"
json "leave-one-out" "d['method'] == 'leave_one_out' and d['n'] == d['folds'] == 155 and d['level'] == 0.95"
check "columns" [ "$(head -1 loo.csv)" = "x,y,observed,predicted,sd,error,standardised,fold" ]
table "residuals" loo.csv "len(rows) == 155 and abs(float(rows[0]['predicted']) - 6.68685892098) < 1e-10 and abs(float(rows[0]['sd']) ** 2 - 0.277967466496) < 1e-10"
table "coverage" loo.csv "sum(abs(float(r['standardised'])) <= 1.959963984540054 for r in rows) / 155 == $(python3 -c "import json; print(json.load(open('out'))['coverage'])")"
check "a dot per observation, twice" [ "$(grep -c '<circle' loo.svg)" = 310 ]
for picture in loo.svg map.svg; do check "$picture is XML" python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('$picture')"; done
expect 0 "for people" "$tesela" validate model.json --level 0.5
holds "for people" out "leave-one-out of 155 observations of log_zinc, covariance exponential, trend constant"
holds "for people" out "rmse          0.409415"
holds "for people" out "of intervals that should hold 0.5"

# A fold held out is the others fitted with the same parameters, and predicted from.
expect 0 "folds" "$tesela" validate model.json --folds 5 --seed 3 --residuals folds.csv --json
json "folds" "d['folds'] == 5 and d['seed'] == 3"
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("folds.csv")))
for name, keep in (("kept.csv", lambda f: f != "2"), ("held.csv", lambda f: f == "2")):
    with open(name, "w") as file:
        file.write("x,y,log_zinc\n")
        for r in rows:
            if keep(r["fold"]):
                file.write(f"{r['x']},{r['y']},{r['observed']}\n")
PY
check "a fifth is held out" [ "$(wc -l <held.csv)" = 32 ]
expect 0 "the rest" "$tesela" fit kept.csv --coords x,y --value log_zinc --family exponential --fix sigma2=0.55,range=250,nugget=0.05 -o rest.json
expect 0 "predict" "$tesela" predict rest.json held.csv -o predicted.csv
table "folds" predicted.csv "all(abs(float(r['mean']) - float(f['predicted'])) < 1e-10 and abs(float(r['sd']) - float(f['sd'])) < 1e-10 for r, f in zip(rows, [g for g in csv.DictReader(open('folds.csv')) if g['fold'] == '2']))"
expect 0 "other folds" "$tesela" validate model.json --folds 5 --seed 4 --residuals other.csv
check "another seed, other folds" bash -c "! cmp -s folds.csv other.csv"
expect 0 "held-out file" "$tesela" validate rest.json --holdout held.csv --residuals hold.csv --json
json "held-out file" "d['method'] == 'holdout' and d['n'] == 31 and 'folds' not in d"
check "held-out file: no note" bash -c '! grep -q "was fitted to" err'
tail -n 5 kept.csv >some.csv && cat held.csv some.csv >mixed.csv
expect 0 "held out in part" "$tesela" validate rest.json --holdout mixed.csv
holds "held out in part" err "the model was fitted to 5 of the 36 observations of mixed.csv, which it predicts too well"
head -n 50 kept.csv >part.csv
bad "not held out" "part.csv holds what the model was fitted to" "$tesela" validate rest.json --holdout part.csv
table "held-out file" hold.csv "all(abs(float(r['predicted']) - float(f['mean'])) < 1e-12 for r, f in zip(rows, csv.DictReader(open('predicted.csv'))))"

expect 0 "blocks" "$tesela" validate model.json --blocks 4x4 --residuals blocks.csv
holds "blocks" out "blocks of 4x4 of 155 observations"
table "blocks are far from each other" blocks.csv "sum(float(r['error']) ** 2 for r in rows) > sum(float(r['error']) ** 2 for r in csv.DictReader(open('loo.csv')))"
table "blocks are cells" blocks.csv "len({(int((float(r['x']) - 178605) / (181390 - 178605) * 3.999999), int((float(r['y']) - 329714) / (333611 - 329714) * 3.999999)) for r in rows}) == len({r['fold'] for r in rows})"

# Other data, with the parameters of the model; other names of columns.
sed '1s/.*/east,north,zinc,z/' "$data/meuse.csv" | head -100 >other_names.csv
expect 0 "other data" "$tesela" validate model.json other_names.csv --coords east,north --value z --json
json "other data" "d['n'] == 99 and d['value'] == 'z'"

# On several nodes the same.
for n in 2 3; do
    for how in "" "--folds 3" "--blocks 4x4"; do
        # shellcheck disable=SC2086
        expect 0 "one node $how" "$tesela" validate model.json $how --residuals one.csv --tile 20
        # shellcheck disable=SC2086
        expect 0 "$n nodes $how" "${mpirun[@]}" -n "$n" "$tesela" validate model.json $how --residuals several.csv --tile 20 --workers 1
        check "$n nodes print once" [ "$(grep -c rmse out)" = 1 ]
        table "$n nodes $how" one.csv "all(abs(float(r[c]) - float(s[c])) < 1e-10 for r, s in zip(rows, csv.DictReader(open('several.csv'))) for c in r)"
    done
done

# Models beside each other.
expect 0 "another model" "$tesela" fit "${meuse[@]}" --trend linear -o linear.json
expect 0 "compare" "$tesela" compare model.json linear.json --json
json "compare" "[m['parameters'] for m in d['models']] == [1, 7]"
json "compare" "all(abs(m['aic'] - (2 * m['parameters'] - 2 * m['loglik'])) < 1e-9 for m in d['models'])"
json "compare" "all(abs(m['bic'] - (m['parameters'] * __import__('math').log(155) - 2 * m['loglik'])) < 1e-9 for m in d['models'])"
json "compare" "abs(sum(m['weight'] for m in d['models']) - 1) < 1e-12 and min(m['aic_difference'] for m in d['models']) == 0"
expect 0 "compare for people" "$tesela" compare model.json linear.json
holds "compare for people" out "2 models of 155 observations of log_zinc"
expect 0 "compare on two nodes" "${mpirun[@]}" -n 2 "$tesela" compare model.json linear.json
check "one node compares" [ "$(grep -c "2 models" out)" = 1 ]
expect 0 "loss" "$tesela" compare model.json linear.json model.json --loss "$data/meuse_grid.csv" --json
json "loss" "d['places'] == 3103 and 'mloe' not in d['models'][0] and d['models'][1]['mloe'] > 0 and abs(d['models'][2]['mloe']) < 1e-9 and abs(d['models'][2]['mmom']) < 1e-9"
cp out loss.json
expect 0 "loss on two nodes" "${mpirun[@]}" -n 2 "$tesela" compare model.json linear.json --loss "$data/meuse_grid.csv" --json --workers 1
json "loss on two nodes" "abs(d['models'][1]['mloe'] - json.load(open('loss.json'))['models'][1]['mloe']) < 1e-9"
expect 0 "loss on a grid" "$tesela" compare model.json linear.json --grid 20x20 --variance signal
holds "loss on a grid" out "if model.json is the truth, predictions at 400 places by"

# Bad input.
expect 0 "a model of zinc" "$tesela" fit "$data/meuse.csv" --coords x,y --value zinc --family exponential --fix range=250 -o zinc.json
bad "the wrong order" "model.json is the model and comes first: tesela validate model.json $data/meuse.csv" "$tesela" validate "$data/meuse.csv" model.json
bad "two models" "tesela compare" "$tesela" validate model.json linear.json
bad "no such column" "log_zinc" "$tesela" validate model.json other_names.csv --coords east,north
bad "one fold" "--folds: 1 is not a whole number of at least 2" "$tesela" validate model.json --folds 1
bad "too many folds" "2 to 155 folds" "$tesela" validate model.json --folds 156
bad "folds and blocks" "--folds excludes --blocks" "$tesela" validate model.json --folds 3 --blocks 2x2
bad "blocks of another kind" "--blocks takes numbers of cells" "$tesela" validate model.json --blocks many
bad "blocks of three" "3 coordinates" "$tesela" validate model.json --blocks 2x2x2
bad "one block" "all observations are in one block" "$tesela" validate model.json --blocks 1x1
bad "a seed of nothing" "--seed requires --folds" "$tesela" validate model.json --seed 3
bad "level" "probability" "$tesela" validate model.json --level 95
bad "a picture that is none" "r.png" "$tesela" validate model.json --plot r.png
bad "no such directory" "nowhere/r.csv" "$tesela" validate model.json --residuals nowhere/r.csv
python3 -c "import json; d = json.load(open('model.json')); del d['observations']; json.dump(d, open('bare.json', 'w'))"
bad "no observations" "the field observations is missing" "$tesela" validate bare.json
bad "one model" "two or more" "$tesela" compare model.json
bad "other values" "different values at the same places" "$tesela" compare model.json zinc.json
bad "other data" "different data" "$tesela" compare model.json rest.json
bad "data for a model" "--loss" "$tesela" compare model.json "$data/meuse.csv"
bad "file and grid" "one of them" "$tesela" compare model.json linear.json --loss "$data/meuse_grid.csv" --grid 3x3
expect 1 "a full disk for the results" bash -c "'$tesela' validate model.json --quiet >/dev/full"

finish
