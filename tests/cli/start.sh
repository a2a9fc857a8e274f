#!/usr/bin/env bash
# How the command starts: several at once, where disks are full, and beside others that it does not know of.
#   start.sh BUILD_DIR         TESELA_STARTS=200 for more first starts than 6
set -uo pipefail
tesela=$(realpath "$1/tesela")
crashing_papi=$(realpath "$1/tests/crashing_papi.so")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
unset STARPU_HOME STARPU_PERF_MODEL_DIR

# First starts: nothing has been measured, and nothing is left but what is kept for later ones.
export HOME=$work/home XDG_CACHE_HOME=$work/home/.cache
first() { rm -rf "$HOME" && mkdir "$HOME"; }
for run in $(seq "${TESELA_STARTS:-6}"); do
    first
    expect 0 "first start on four nodes, $run" "${mpirun[@]}" -n 4 "$tesela" info
done
check "one file is kept" [ "$(find "$HOME" -name '.openmpi' -prune -o -type f -printf '%P ' | grep -c '^.cache/tesela/starpu-bus/[^ ]*.json $')" = 1 ]
for run in $(seq "${TESELA_STARTS:-6}"); do
    first
    "$tesela" info --quiet >other 2>&1 &
    expect 0 "one of two first starts, $run" "$tesela" info --quiet
    check "the other of two first starts, $run" wait $!
done
echo damaged >"$(find "$HOME" -name '*.json')"
expect 0 "a damaged file" "$tesela" info
check "is made again" grep -q digest "$(find "$HOME" -name '*.json')"
mkdir unwritable && touch unwritable/home
HOME=$work/unwritable/home XDG_CACHE_HOME=$work/unwritable/home expect 0 "a home that is a file" "$tesela" info
(unset HOME XDG_CACHE_HOME && expect 0 "no home" "$tesela" info && [ "$failed" = 0 ]) || failed=$((failed + 1))

# A full disk, which is then freed. It needs a disk of its own, and so a system that lets its users have one.
cat >on_full_disk.sh <<'SH'
mount -t tmpfs -o size=256k none disk || exit 99
dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
"$tesela" info --quiet || exit 1
rm disk/fill
"$tesela" info --quiet && ls disk/tesela/starpu-bus/*.json
SH
mkdir disk
if unshare --map-root-user --mount true 2>/dev/null; then
    expect 0 "a disk that is full and then is not" env HOME="$work/disk" XDG_CACHE_HOME="$work/disk" TMPDIR="$work/disk" \
        tesela="$tesela" unshare --map-root-user --mount bash on_full_disk.sh
else
    echo "left out: a full disk, since no disk can be mounted here"
fi
expect 2 "no room anywhere" bash -c "(ulimit -f 0; exec '$tesela' info --quiet) 2>&1 | cat >&2; exit \${PIPESTATUS[0]}"
holds "no room anywhere" err "StarPU needs 256 KiB for files while it starts, and has them nowhere: /dev/shm (File too large)"

# StarPU does not start PAPI with itself, which may not come through it.
if ldd "$tesela" | grep -q libpapi; then
    LD_PRELOAD=$crashing_papi expect 0 "a PAPI that ends programs" "$tesela" info
else
    echo "left out: a PAPI that ends programs, since StarPU is built without one here"
fi
STARPU_PROF_PAPI_EVENTS=PAPI_TOT_CYC expect 0 "StarPU with counters, where it has them" "$tesela" info

# Processes that were started together and do not know of each other.
in_step() { env SLURM_JOB_ID=7 SLURM_NTASKS=4 "$@"; }
bad "four tasks of a step of Slurm" "Slurm started 4 tasks, and each would do the whole work: start them by srun --mpi=" \
    in_step SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 "$tesela" info
expect 0 "one task of a step" in_step SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 "$tesela" info --quiet
expect 0 "a script of sbatch" in_step "$tesela" info --quiet
for batch in -5 4294967291; do
    expect 0 "a script of sbatch that was given from a step" in_step SLURM_STEP_ID=$batch SLURM_STEP_NUM_TASKS=4 "$tesela" info --quiet
done
expect 0 "a shell of srun --pty" in_step SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PTY_PORT=4242 "$tesela" info --quiet
expect 0 "tasks that know of each other" in_step SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 "${mpirun[@]}" -n 2 "$tesela" info --quiet
expect 0 "mpirun of one in a larger step" in_step SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 "${mpirun[@]}" -n 1 "$tesela" info --quiet
case ${mpirun[*]} in # what the launcher of another MPI says
    *--oversubscribe*) other=(PMI_RANK=0 PMI_SIZE=4) ;;
    *) other=(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4) ;;
esac
bad "the launcher of another MPI" "4 processes were started together, but to MPI this one is alone" env "${other[@]}" "$tesela" info

finish
