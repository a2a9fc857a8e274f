#!/usr/bin/env bash
# divergence.sh PROGRAM: two nodes do different things, a kernel throws, or nobody hears of a failure. The run must end soon, not
# with 0, and a line must say what has happened: in which step nodes differ, and what each of them did.
set -u
program=$1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0

# told CASE TEXT: what follows "tesela: ", and there "node N: ", in the only line of that kind.
told() {
    local case=$1 text=$2 said code
    said=$(timeout --kill-after=5 25 ${TESELA_MPIRUN:-mpirun --oversubscribe --bind-to none} -n 2 "$program" "$case" 2>&1)
    code=$?
    if [ $code != 0 ] && [ $code != 124 ] && [ $code != 137 ] &&
        [ "$(grep -a "^tesela: " <<<"$said" | sed 's/^tesela: \(node [01]: \)\?//')" = "$text" ] &&
        ! grep -aq "finalize" <<<"$said"; then
        return
    fi
    failed=1
    printf 'FAILED %s: exit code %s\n%s\n' "$case" "$code" "$said"
}

rule="all nodes must do the same, in the same order; the job ends"
matrix="makes matrix A of 64 x 64 doubles in"
told arguments "step 2 of stream s: node 0 submits dlaset on A(0, 0) for node 0, node 1 does so with other arguments, views or modes of access: $rule"
told kernels "step 6 of stream s: node 0 submits add_one on A(1, 1) for node 1, node 1 submits add_two on A(1, 1) for node 1: $rule"
told tiles "step 1 of stream s: node 0 $matrix 2 x 2 tiles, node 1 $matrix 4 x 4 tiles: $rule"
told larger_tiles "step 1 of stream s: node 0 $matrix 4 x 4 tiles, node 1 $matrix 2 x 2 tiles: $rule"
told small_tiles "step 1 of stream s: node 0 $matrix 16 x 16 tiles, node 1 $matrix 32 x 32 tiles: $rule"
told owners "step 1 of stream s: node 0 $matrix 2 x 2 tiles, node 1 does so with other cuts or owners: $rule"
told throws "the kernel thrower, writing A(1, 0): it threw an exception (a mistake), where kernels say fail(\"why\")"
told unheard "stream t failed, and nobody waited for it to hear so: no (at 3)"
told long_ago "node 0 waits for stream s after 20005 steps, and node 1 after as many others: ${rule%;*}. The first step that differs is one of the first 3877 of stream s, which are not remembered; the job ends"

# On one node: a program that ends by exit() while tasks are pending, and one whose engine ends after main.
said=$("$program" exits 2>&1)
code=$?
if [ $code != 1 ] || ! grep -Eqx "tesela: the program ends while [0-9]+ of its tasks and messages are pending: wait for the stream first" <<<"$said"; then
    failed=1
    printf 'FAILED exits: exit code %s\n%s\n' $code "$said"
fi
said=$("$program" static 2>&1)
code=$?
if [ $code != 0 ] || [ -n "$said" ]; then
    failed=1
    printf 'FAILED static: exit code %s\n%s\n' $code "$said"
fi
exit $failed
