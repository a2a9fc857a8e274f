#!/usr/bin/env bash
# Trends by a formula: `tesela fit`, `loglik`, `predict`, `sample` and `variogram` with columns beside the coordinates.
#   trend.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
meuse=("$data/meuse_covariates.csv" --coords x,y --value log_zinc)
grid=$data/meuse_grid_covariates.csv
theta=(--family exponential --theta sigma2=0.2,range=300,nugget=0.05)
fixed=(--family exponential --fix sigma2=0.2,range=300,nugget=0.05)
# near A B: they differ by less than 1e-8 of the first.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= 1e-8 * (a < 0 ? -a : a)) }'; }

# A fit: what is printed and what is written. The log-likelihood is that of nlme::gls (tests/unit/geo/trend_reference.R).
expect 0 "a fit" "$tesela" fit "${meuse[@]}" --family exponential --trend '~ sqrt(dist) + factor(soil)' -o free.json
holds "a fit" out "155 observations of log_zinc, covariance exponential, trend ~ sqrt(dist) + factor(soil)"
holds "a fit" out "  sqrt(dist)    -2.39014     ± 0.254"
expect 0 "a fit as JSON" "$tesela" fit "${meuse[@]}" --family exponential --trend 'log_zinc ~ sqrt(dist) + factor(soil)' --json -o free.json
json "not below gls" "d['loglik'] >= -73.415819390083669 - 1e-6 and d['loglik'] < -73.4158"
json "its trend" "d['trend']['kind'] == 'formula' and d['trend']['formula'].startswith('log_zinc ~') and list(d['trend']['coefficients']) == ['intercept', 'sqrt(dist)', 'factor(soil)2', 'factor(soil)3']"
json "its levels" "d['trend']['levels'] == {'factor(soil)': ['1', '2', '3']}"
check "the model has the covariates" python3 -c "
import json
m = json.load(open('free.json'))
assert m['version'] == 1 and sorted(m['observations']['covariates']) == ['dist', 'soil'] and len(m['observations']['covariates']['dist']) == 155"

# A likelihood at given parameters, by every way to write the same trend; text is a factor.
loglik() { "$tesela" loglik "$@" "${theta[@]}" --json 2>/dev/null | python3 -c "import json,sys; print(json.load(sys.stdin)['loglik'])"; }
awk -F, -v OFS=, 'NR == 1 { $8 = "soil type" } NR > 1 { $8 = "s" $8 } { print }' "$data/meuse_covariates.csv" >text.csv
awk -F, -v OFS=, 'NR == 1 { $5 = "soil type" } NR > 1 { $5 = "s" $5 } { print }' "$grid" >text_grid.csv
whole=$(loglik "${meuse[@]}" --trend '~ dist + factor(soil)')
for same in 'log_zinc~factor(soil)+dist' '~ 0 + factor(soil) + dist' '~ factor(soil)*dist - factor(soil):dist' '~ I(2 * dist) + factor(soil)'; do
    check "the same trend: $same" near "$whole" "$(loglik "${meuse[@]}" --trend "$same")"
done
check "text is a factor" near "$whole" "$(loglik text.csv --coords x,y --value log_zinc --trend '~ dist + `soil type`')"
check "linear is a formula" near "$(loglik "${meuse[@]}" --trend linear)" "$(loglik "${meuse[@]}" --trend '~ x + y')"
check "a power" near "$(loglik "${meuse[@]}" --trend '~ dist^2')" "$(loglik "${meuse[@]}" --trend '~ I(dist*dist)')"
check "constant is a formula" near "$(loglik "${meuse[@]}" --trend constant)" "$(loglik "${meuse[@]}" --trend '~ 1')"
expect 0 "names in backticks" "$tesela" loglik text.csv --coords x,y --value log_zinc --trend '~ dist:`soil type`' "${theta[@]}"
holds "names in backticks" out 'dist:`soil type`s2'
expect 0 "on two nodes" "${mpirun[@]}" -n 2 "$tesela" loglik "${meuse[@]}" --trend '~ dist + factor(soil)' "${theta[@]}" --tile 40 --json
check "on two nodes" near "$whole" "$(python3 -c "import json; print(json.load(open('out'))['loglik'])")"

# Predictions: with the columns of the places, by number and by text; the same on two nodes.
expect 0 "a model" "$tesela" fit "${meuse[@]}" "${fixed[@]}" --trend '~ sqrt(dist) + factor(soil)' -o model.json
expect 0 "a model of text" "$tesela" fit text.csv --coords x,y --value log_zinc "${fixed[@]}" --trend '~ sqrt(dist) + `soil type`' -o text.json
expect 0 "predictions" "$tesela" predict model.json "$grid" -o kriged.csv
check "columns are kept" [ "$(head -1 kriged.csv)" = "x,y,dist,ffreq,soil,mean,variance,sd,lower,upper" ]
expect 0 "predictions by text" "$tesela" predict text.json text_grid.csv -o text_kriged.csv
expect 0 "predictions on two nodes" "${mpirun[@]}" -n 2 "$tesela" predict model.json "$grid" -o two.csv --tile 40
for other in text_kriged.csv two.csv; do
    check "the same predictions: $other" python3 -c "
import csv
a, b = (list(csv.DictReader(open(f))) for f in ('kriged.csv', '$other'))
assert len(a) == len(b) == 3103 and all(abs(float(r[c]) - float(s[c])) < 1e-9 for r, s in zip(a, b) for c in ('mean', 'variance'))"
done
# gstat's first place (tests/unit/geo/trend_reference.hpp).
expect 0 "as gstat" "$tesela" predict model.json "$grid" -o kriged.csv
check "as gstat" python3 -c "
import csv, re
reference = open('$(dirname "$data")/tests/unit/geo/trend_reference.hpp').read().split('reference_universal()')[1]
mean, variance = ([float(v) for v in m.split(',')] for m in re.findall(r'[{]([-0-9.e, ]+)[}]', reference)[:2])
rows = list(csv.DictReader(open('kriged.csv')))
for k, row in enumerate((0, 499, 1499, 2499, 3102)):
    assert abs(float(rows[row]['mean']) - mean[k]) < 1e-8 * mean[k] and abs(float(rows[row]['variance']) - variance[k]) < 1e-8 * variance[k]"
expect 0 "coordinates only" "$tesela" fit "${meuse[@]}" "${fixed[@]}" --trend '~ x*y' -o plane.json
expect 0 "a grid where coordinates suffice" "$tesela" predict plane.json --grid 5x5 -o plane.csv
expect 0 "other names of coordinates" bash -c "sed '1s/x,y/east,north/' '$grid' >east.csv; '$tesela' predict plane.json east.csv --coords east,north -o east_out.csv; '$tesela' predict plane.json '$grid' -o xy_out.csv; tail -n +2 east_out.csv | cmp - <(tail -n +2 xy_out.csv)"

# Samples: at places with the columns, and at the observations.
expect 0 "a sample" "$tesela" sample --model model.json --points "$grid" --draws 2 -o drawn.csv
check "a sample" [ "$(wc -l <drawn.csv)" = 3104 ]
expect 0 "a sample at the observations" "$tesela" sample --model model.json --draws 200 -o many.csv
check "the trend is in it" python3 -c "
import csv, json, math
m = json.load(open('model.json')); b = m['trend']['coefficients']
rows = list(csv.reader(open('many.csv')))[1:]
dist, soil = m['observations']['covariates']['dist'], m['observations']['covariates']['soil']
for i in (0, 3, 100):
    mean = b['intercept'] + b['sqrt(dist)'] * math.sqrt(dist[i]) + b.get('factor(soil)%g' % soil[i], 0)
    drawn = sum(map(float, rows[i][2:])) / 200
    assert abs(drawn - mean) < 5 * math.sqrt(0.25 / 200), (i, drawn, mean)"

# Variograms of residuals, and gstat's where it is installed.
expect 0 "a variogram" "$tesela" variogram "${meuse[@]}" --trend '~ sqrt(dist) + factor(soil)' -o residuals.csv
holds "a variogram" out "trend ~ sqrt(dist) + factor(soil)"
expect 0 "a variogram with the model's trend" "$tesela" variogram "$data/meuse_covariates.csv" --model model.json --json
json "the model's trend" "d['trend'] == '~ sqrt(dist) + factor(soil)'"
cat >gstat.R <<'R'
suppressMessages(library(gstat))
v <- variogram(log_zinc ~ sqrt(dist) + factor(soil), ~x+y, read.csv(commandArgs(TRUE)[1]))
write.csv(format(v[, c("np", "dist", "gamma")], digits = 17), "gstat.csv", row.names = FALSE, quote = FALSE)
R
if Rscript gstat.R "$data/meuse_covariates.csv" >/dev/null 2>&1; then
    check "gstat's residuals" python3 -c "
a, b = ([list(map(float, line.split(',')[:3])) for line in open(f).readlines()[1:]] for f in ('gstat.csv', 'residuals.csv'))
assert len(a) == len(b) > 10 and all(abs(x - y) <= 1e-9 * abs(x) for r, s in zip(a, b) for x, y in zip(r, s))"
else
    echo "residuals not compared with gstat itself, which is not installed"
fi

# A checkpoint is of one trend.
expect 0 "a checkpoint" "$tesela" fit "${meuse[@]}" --family exponential --trend '~ dist' --checkpoint c.log -o c.json
bad "of another trend" "c.log" "$tesela" fit "${meuse[@]}" --family exponential --trend '~ elev' --checkpoint c.log -o d.json

# Missing values.
expect 0 "missing values are dropped" "$tesela" loglik "${meuse[@]}" --trend '~ landuse' --na drop "${theta[@]}" --json
json "missing values are dropped" "d['n'] == 154 and 'landuseAg' in d['trend']['coefficients']"
holds "a note of it" err "1 of 155 rows dropped for missing values (1 in landuse)"
bad "missing text" "column 'landuse': the value is missing; --na drop" "$tesela" fit "${meuse[@]}" --trend '~ landuse' -o m.json
sed '5s/,[^,]*,1,1$/,NA,1,1/' "$grid" >hole.csv
bad "missing where to predict" "line 5, column 'dist': the value is missing" "$tesela" predict model.json hole.csv -o h.csv
expect 0 "dropped where to predict" "$tesela" predict model.json hole.csv --na drop -o h.csv
check "dropped where to predict" [ "$(wc -l <h.csv)" = 3103 ]

# Bad formulas and columns.
fit=("$tesela" fit "${meuse[@]}" -o m.json --trend)
bad "a word" "\"cubic\" is not a trend; there are none, constant, linear, and formulas" "${fit[@]}" cubic
bad "no end" "a ) is missing for the ( of character 7 at its end" "${fit[@]}" '~ sqrt(dist'
bad "a function" "there is no function sin" "${fit[@]}" '~ sin(dist)'
bad "unknown column" "no column 'distance'" "${fit[@]}" '~ distance'
bad "unknown column lists them" "'elev', 'dist'" "${fit[@]}" '~ distance'
bad "a left side" "is of zinc, but the values are those of log_zinc (--value)" "${fit[@]}" 'zinc ~ dist'
bad "a transformed left side" "the left side is transformed" "${fit[@]}" 'log(zinc) ~ dist'
bad "the value itself" "uses log_zinc, whose values it is to explain" "${fit[@]}" '~ log_zinc'
bad "dependent columns" "I(2 * dist) follows from the intercept, dist; leave one of them out" "${fit[@]}" '~ dist + I(2 * dist)'
bad "a factor twice" "follows from" "${fit[@]}" '~ factor(soil) + I(soil) + I(soil^2) + dist'
bad "a constant" "I(0 * dist) is the same everywhere" "${fit[@]}" '~ I(0 * dist)'
bad "no logarithm" "log(x - 181072) cannot be computed at line 2 of $data/meuse_covariates.csv: x is 181072" "${fit[@]}" '~ log(x - 181072)'
bad "text in a function" "log(landuse) cannot be computed: the column landuse is text" "${fit[@]}" '~ log(landuse)' --na drop
bad "a mean beside it" "needs a model without a trend (--trend none); this one has the trend ~ dist" "${fit[@]}" '~ dist' --center mean
bad "too many" "which 155 observations do not determine" "${fit[@]}" '~ factor(elev) + factor(soil):factor(ffreq)'
bad "far too many" "has more than 10000 coefficients" "${fit[@]}" '~ factor(dist):factor(elev)'
sed '7s/^\([^,]*,[^,]*,[^,]*,[^,]*,[^,]*\),[^,]*/\1,far/' "$data/meuse_covariates.csv" >mixed.csv
bad "numbers and text" "line 7, column 'dist': 'far' is not a number; if dist is a factor, write factor(dist) in the trend" "$tesela" fit mixed.csv --coords x,y --value log_zinc --trend '~ dist' -o m.json
bad "one level" "the factor use has one level, a, in all observations" "$tesela" fit <(awk -F, '{ print $0 (NR == 1 ? ",use" : ",a") }' "$data/meuse_covariates.csv") --coords x,y --value log_zinc --trend '~ use' -o m.json

# Bad places.
bad "a grid" "the trend ~ sqrt(dist) + factor(soil) needs dist, soil at every place, which --grid does not give; give a CSV file with the columns x, y, dist, soil" "$tesela" predict model.json --grid 10x10 -o g.csv
bad "a grid of samples" "which --grid does not give" "$tesela" sample --model model.json --grid 10x10 -o g.csv
bad "random places" "which --n does not give" "$tesela" sample --model model.json --n 10 -o g.csv
bad "no such column there" "no column 'dist'" "$tesela" predict model.json "$data/meuse_grid.csv" -o g.csv
sed '9s/s1$/s4/' text_grid.csv >level.csv
bad "an unknown level" "line 9 of level.csv, column soil type: no observation has the level s4 of \`soil type\`; they have s1, s2, s3" "$tesela" predict text.json level.csv -o g.csv
sed '9s/,1$/,4/' "$grid" >number.csv
bad "an unknown number" "line 9 of number.csv, column soil: no observation has the level 4 of factor(soil); they have 1, 2, 3" "$tesela" predict model.json number.csv -o g.csv
bad "a sample at an unknown level" "line 9 of number.csv, column soil: no observation has the level 4" "$tesela" sample --model model.json --points number.csv -o g.csv
bad "text for numbers" "column 'soil': 's1' is not a number" "$tesela" predict model.json <(sed '1s/soil type/soil/' text_grid.csv) -o g.csv
sed '3s/,0,1,1$/,-1,1,1/' "$grid" >negative.csv
bad "no root there" "sqrt(dist) cannot be computed at line 3 of negative.csv: dist is -1" "$tesela" predict model.json negative.csv -o g.csv
sed 's/"2"/"9"/' model.json >wrong.json
bad "a model that contradicts itself" "wrong.json is not a model that tesela fit wrote: the field trend.levels.factor(soil)" "$tesela" predict wrong.json "$grid" -o g.csv

finish
