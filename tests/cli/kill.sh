#!/usr/bin/env bash
# A fit with a checkpoint that is killed (SIGKILL) at random moments and started again ends with the digits of one that was not.
#   kill.sh BUILD_DIR DATA_DIR; TESELA_SEED chooses the moments
set -uo pipefail
tesela=$(realpath "$1/tesela") data=$(realpath "$2")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
RANDOM=${TESELA_SEED:-$$}
echo "TESELA_SEED=${TESELA_SEED:-$$}"
fit=("$tesela" fit "$data/meuse.csv" --coords x,y --value log_zinc --quiet)
# What does not depend on when the work was done.
result() { python3 -c "
import json, sys
m = json.load(open('$1'))
print({k: m[k] for k in ('theta', 'trend', 'loglik', 'evaluations', 'gradients', 'stop_reason', 'warnings', 'slope', 'uncertainty')})"; }

began=$(date +%s%3N)
expect 0 "a fit that nobody disturbs" "${fit[@]}" -o whole.json
span=$(($(date +%s%3N) - began))
result whole.json >whole
before_the_end=0
for attempt in $(seq 20); do
    rm -f log again.json
    for kill in $(seq $((attempt % 3 + 1))); do # some of them more than once
        "${fit[@]}" --checkpoint log -o again.json >/dev/null 2>&1 &
        pid=$!
        moment=$((RANDOM % span))
        sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        [ $? = 137 ] && [ -s log ] && before_the_end=$((before_the_end + 1)) # killed, and not at its end
    done
    expect 0 "started again ($attempt)" "${fit[@]}" --checkpoint log -o again.json
    result again.json >again
    check "attempt $attempt ended with other digits" diff whole again
done
# Most moments are while the fit is under way; otherwise nothing was tested.
check "only $before_the_end fits were killed on the way" [ "$before_the_end" -ge 5 ]
finish
