#!/usr/bin/env bash
# run.sh PROGRAM CASE: starts it on 4 nodes, one of which gets no memory from the system. It must end soon, and every
# node must learn of it.
set -u
program=$1
case=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
said=$(timeout --kill-after=5 20 ${TESELA_MPIRUN:-mpirun --oversubscribe --bind-to none} -n 4 "$program" "$case" 2>&1)
code=$?
echo "$said"
if [ $code = 124 ] || [ $code = 137 ]; then
    echo "it does not end"
elif [ $code = 0 ] && [ "$(grep -cE '^node [0-3]: .*(status|error): ' <<<"$said")" = 4 ]; then
    exit 0
fi
echo "exit code $code"
exit 1
