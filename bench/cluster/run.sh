#!/usr/bin/env bash
# Runs an MPI program on a small cluster made of this one machine: each node is a network namespace of its own, joined
# to a switch by a link of the bandwidth you say, and has its share of the cores, so that messages take the time they
# take on a network (memory is still this machine's, and its cores also do the work of network cards). Needs root,
# iproute2 and Open MPI; nothing of it outlives the run.
#   bench/cluster/run.sh NODES GBITS PROGRAM [ARGUMENTS …]
#   bench/cluster/run.sh 2 10 build/release/tesela bench prediction
# Nodes that differ: with QUOTAS=60,60,20,20 each gets so many percent of its share's time, in periods of 5 ms. A program
# finds the file of its quota in $QUOTA_FILE, in microseconds of a period (version 2 of control groups: also the period).
#   QUOTAS=60,60,20,20 bench/cluster/run.sh 4 1 build/release/tesela-papers unequal
set -euo pipefail
if [ $# -lt 3 ]; then sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
fail() { echo "run.sh: $*" >&2; exit 2; }
[[ $1 =~ ^[1-9][0-9]*$ ]] && [ "$1" -le 250 ] || fail "NODES is a number from 1 to 250, not \"$1\""
[[ $2 =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "GBITS is a number, not \"$2\""
[ "$(id -u)" = 0 ] || fail "network namespaces can only be made by root"
for tool in ip tc unshare nsenter taskset mpirun; do command -v $tool >/dev/null || fail "$tool is not installed"; done

# Control groups with the quotas, which go away with the run.
groups=""
period=5000 # microseconds
if [ -n "${QUOTAS:-}" ]; then
    [[ $QUOTAS =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail "QUOTAS are percentages with commas between, not \"$QUOTAS\""
    IFS=, read -ra quotas <<<"$QUOTAS"
    [ ${#quotas[@]} = "$1" ] || fail "there are $1 nodes and ${#quotas[@]} QUOTAS"
    cores=$(nproc)
    share=$((cores > $1 ? cores / $1 : 1))
    version=2 top=/sys/fs/cgroup
    if [ -d /sys/fs/cgroup/cpu ]; then version=1 top=/sys/fs/cgroup/cpu; fi
    groups=$top/tesela-cluster-$$
    # Processes that a killed run has left behind keep a group from going away for a moment.
    trap 'for _ in 1 2 3 4 5; do rmdir $groups/node* $groups 2>/dev/null || true; [ -d $groups ] || break; sleep 0.2; done' EXIT
    mkdir "$groups" || fail "no control group can be made under $top"
    if [ $version = 2 ]; then echo +cpu >"$top/cgroup.subtree_control"; echo +cpu >"$groups/cgroup.subtree_control"; fi
    for ((node = 1; node <= $1; ++node)); do
        mkdir "$groups/node$node"
        quota=$((period * share * quotas[node - 1] / 100))
        [ $quota -ge 1000 ] || fail "a quota of ${quotas[node - 1]} % is less than the 1 ms of $period us that there must be"
        if [ $version = 2 ]; then
            echo "$quota $period" >"$groups/node$node/cpu.max"
        else
            echo $period >"$groups/node$node/cpu.cfs_period_us"
            echo $quota >"$groups/node$node/cpu.cfs_quota_us"
        fi
    done
fi

# cluster NODES GBITS PROGRAM…: in namespaces of its own, with which everything it makes goes away.
cluster() {
    local nodes=$1 gbits=$2 cores share node hosts="" agent
    shift 2
    # A mount of our own, so that `ip netns` names nothing outside.
    mkdir -p /run/netns && mount -t tmpfs none /run/netns
    hostname switch
    ip link set lo up
    ip link add switch type bridge
    ip address add 10.77.0.254/24 dev switch
    ip link set switch up
    for ((node = 1; node <= nodes; ++node)); do
        ip netns add "node$node"
        ip link add "port$node" type veth peer name eth0 netns "node$node"
        ip link set "port$node" master switch up
        ip -n "node$node" link set lo up
        ip -n "node$node" address add "10.77.0.$node/24" dev eth0
        ip -n "node$node" link set eth0 up
        # A port passes this many bits a second, each way.
        tc qdisc add dev "port$node" root tbf rate "${gbits}gbit" burst 256kb latency 1s
        tc -n "node$node" qdisc add dev eth0 root tbf rate "${gbits}gbit" burst 256kb latency 1s
        hosts+=${hosts:+,}10.77.0.$node:1
    done
    # What mpirun takes for ssh: enters the node of that address, on its share of the cores. Shared memory is not used
    # between nodes.
    cores=$(nproc)
    share=$((cores > nodes ? cores / nodes : 1))
    agent=$(mktemp)
    trap "rm -f $agent" EXIT
    cat >"$agent" <<AGENT
#!/usr/bin/env bash
number=\${1##*.}
shift
first=\$(( (number - 1) * $share % $cores ))
if [ -n "$groups" ]; then
    echo \$\$ >"$groups/node\$number/cgroup.procs"
    for file in cpu.cfs_quota_us cpu.max; do
        if [ -e "$groups/node\$number/\$file" ]; then export QUOTA_FILE="$groups/node\$number/\$file"; fi
    done
fi
exec nsenter --net="/run/netns/node\$number" unshare --uts -- \\
    taskset --cpu-list "\$first-\$((first + $share - 1))" bash -c "hostname node\$number; \$*"
AGENT
    chmod +x "$agent"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --mca plm_rsh_agent "$agent" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
        --mca oob_tcp_if_include 10.77.0.0/24 --bind-to none --host "$hosts" "$@"
}
export groups
unshare --net --mount --uts -- bash -euo pipefail -c "$(declare -f cluster); cluster \"\$@\"" run.sh "$@"
