#!/usr/bin/env bash
# What tests/support/passes.sh lets pass, and what it does not.  check_passes.sh COMMAND…: how it is called
set -euo pipefail
wanted() { # CODE ARGUMENT…
    local code=0
    "${judge[@]}" "${@:2}" >/dev/null 2>&1 || code=$?
    [ "$code" = "$1" ] || { echo "passes.sh ${*:2} ended with $code instead of $1" && exit 1; }
}
judge=("$@")
wanted 0 'a.*done' sh -c 'echo a; echo all done'
wanted 1 done sh -c 'echo done; exit 3'
wanted 1 done sh -c 'echo done; kill -9 $$'
wanted 1 gone echo done
wanted 0 --fails done sh -c 'echo done; exit 3'
wanted 1 --fails done echo done
wanted 1 --fails gone sh -c 'echo done; exit 3'
