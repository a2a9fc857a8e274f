# What the tests of the command share; sourced, after $tesela is set. Works in a fresh folder, $work.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
touch out err
passed=0 failed=0
read -ra mpirun <<<"${TESELA_MPIRUN:-mpirun --oversubscribe --bind-to none}"

# expect CODE NAME COMMAND…: runs it, keeps stdout in $work/out and stderr in $work/err, checks the exit code.
expect() {
    local code=$1 name=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    local got=$?
    check "$name: exit $got instead of $code" [ "$got" = "$code" ]
}
# check NAME COMMAND…: the command succeeds.
check() {
    local name=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $name"
        head -5 "$work/out" "$work/err"
    fi
}
# holds NAME FILE TEXT: the file holds the text.
holds() { check "$1: no '$3' in $2" grep -qF -- "$3" "$work/$2"; }
# json NAME EXPRESSION: a Python expression over the JSON in stdout is true.
json() { check "$1: $2" python3 -c "import json,sys; d=json.load(open('$work/out')); sys.exit(0 if ($2) else 1)"; }
# bad NAME TEXT COMMAND…: exit code 2, one line on stderr that holds the text, nothing on stdout, no new file.
bad() {
    local name=$1 text=$2 before
    shift 2
    before=$(ls -A "$work" | sort)
    expect 2 "$name" "$@" --quiet
    holds "$name" err "$text"
    check "$name: more than one line" [ "$(wc -l <"$work/err")" = 1 ]
    check "$name: prints results" [ ! -s "$work/out" ]
    check "$name: leaves files" [ "$(ls -A "$work" | sort)" = "$before" ]
}
# Ends the script: counts, and fails if anything did.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
