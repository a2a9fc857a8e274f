#!/usr/bin/env bash
# Makes docs/tables/redistribution_*: all experiments of paper 002 on 2 and 4 nodes of this machine, and on 1 what one
# node can show and what is simulated. As root also what overlapping saves, and how whole tiles travel, on two nodes
# joined by a link (bench/cluster). Exit code 1 if a bar was missed.
#   papers/paper002/run.sh [PATH_TO_TESELA_PAPERS [OPTIONS OF tesela-papers paper002 …]]
set -euo pipefail
root=$(realpath "$(dirname "$0")/../..")
papers=$(realpath "${1:-$root/build/release/tesela-papers}")
[ $# -gt 0 ] && shift
# Open MPI refuses to run as root unless told so; containers often are root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
experiments=("$papers" paper002 --folder "$root/docs/tables")
failed=0 # 1 if a bar is missed: the other tables are made all the same
for nodes in 1 2 4; do
    mpirun --oversubscribe --bind-to none -n "$nodes" "${experiments[@]}" "$@" || failed=1
done
[ "$(id -u)" = 0 ] || exit $failed
for gbits in 1 10; do
    "$root/bench/cluster/run.sh" 2 "$gbits" "${experiments[@]}" "$@" --only overlap,whole_tiles \
        --suffix "_${gbits}gbit" || failed=1
done
exit $failed
