#!/usr/bin/env bash
# Time to the optimum of two builds of the command on the same sampled field, in turn (best of N).
#   bench/fits/against_other.sh OLD_TESELA NEW_TESELA [N_OBSERVATIONS [ROUNDS [OPTION…]]]   (default: 4000 3; smoothness free)
# Exit code 1 if the new one takes more than half of the time of the old, standard errors not counted, or ends below it.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2") n=${3:-4000} rounds=${4:-3}
shift $(($# < 4 ? $# : 4))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$new" sample --n "$n" --theta sigma2=1,range=0.05,smoothness=1.2,nugget=0.1 --seed 5 -o field.csv >/dev/null 2>&1
best_old="" best_new=""
# run COMMAND FILE OPTION…: seconds of a fit
run() {
    local command=$1 file=$2
    shift 2
    "$command" fit field.csv --coords x,y --value z --trend none --quiet -o "$file" "$@" >/dev/null 2>&1
    python3 -c "import json; print(json.load(open('$file'))['seconds'])"
}
least() { python3 -c "import sys; print(min(float(x) for x in sys.argv[1:]))" "$@"; }
for ((k = 0; k < rounds; ++k)); do
    best_old=$(least $best_old "$(run "$old" old.json "$@")")
    best_new=$(least $best_new "$(run "$new" new.json "$@")")
done
python3 - "$best_old" "$best_new" <<'PY'
import json, sys
old, new = map(float, sys.argv[1:])
a, b = (json.load(open(f)) for f in ("old.json", "new.json"))
print(f"old {old:.2f} s, {a['evaluations']} evaluations, loglik {a['loglik']:.6f}")
print(f"new {new:.2f} s, {b['evaluations']} evaluations with {b.get('gradients', 0)} slopes, loglik {b['loglik']:.6f}")
met = new <= old / 2 and b["loglik"] >= a["loglik"] - 1e-3
print(f"{'met' if met else 'MISSED'}: {new / old:.2f} of the time (limit 0.5)")
sys.exit(0 if met else 1)
PY
