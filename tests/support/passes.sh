#!/usr/bin/env bash
# Whether a command ends as it should and says what it should: what it prints holds the regular expression TEXT, in which "."
# is any character, and it succeeds or, with --fails, does not.
#   passes.sh [--fails] TEXT COMMAND…
set -uo pipefail
fails=no
[ "$1" != --fails ] || { fails=yes && shift; }
text=$1
shift
code=0
said=$("$@" 2>&1) || code=$?
printf '%s\n' "$said"
if [ "$fails" = "$([ "$code" = 0 ] && echo yes || echo no)" ]; then
    echo "passes.sh: it ended with $code"
    exit 1
fi
grep -qzE -- "$text" <<<"$said" || { echo "passes.sh: it did not say \"$text\"" && exit 1; }
