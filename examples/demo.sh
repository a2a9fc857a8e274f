#!/usr/bin/env bash
# What `./dev demo` shows: Gaussian processes from a CSV file to a map.   demo.sh BUILD_FOLDER [OUTPUT_FOLDER]
set -euo pipefail
build=$(readlink -f "$1")
tesela=$build/tesela
here=$(dirname "$(readlink -f "$0")")
out=${2:-$here/../build/demo}
mkdir -p "$out"
cd "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
    printf '$ tesela %s\n' "$*"
    "$tesela" "$@"
}

say "1. Zinc in the soil of a flood plain of the Meuse: 155 places. Fit a Matérn covariance with a constant mean."
cp "$here/../data/meuse.csv" "$here/../data/meuse_grid.csv" .
run fit meuse.csv --coords x,y --value log_zinc --fix smoothness=0.5 -o meuse.json
echo "   (an independent fit, nlme::gls in R: sigma2 1.84992, range 2144.92, nugget 0.0346556, mean 6.6364, loglik -99.12878)"

say "2. Predict the whole plain, 3103 cells of 40 m, and draw mean and standard deviation."
run predict meuse.json meuse_grid.csv -o meuse_kriged.csv --map meuse.svg --quiet

say "3. A field whose truth is known: sample 1600 points, then estimate all four parameters from them."
truth="sigma2=1,range=0.1,smoothness=1,nugget=0.05"
run sample --n 1600 --theta "$truth" --seed 7 -o field.csv --quiet
run fit field.csv --coords x,y --value z --trend none -o field.json --quiet
echo "   the truth: $truth"

say "4. The machine under it: Cholesky by tiles beside LAPACK with all threads (examples/cholesky.cpp)."
"$build/examples/example_cholesky" 2000

say "5. The same factorisation, twenty thousand times the work, on fourteen nodes that are not here: predicted from a description."
run simulate cholesky --platform grid5000-lille --nodes 6che+6chi+2cho --tiles 60

say "The map is $out/meuse.svg: open it in a browser."
