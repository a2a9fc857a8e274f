#!/usr/bin/env bash
# A command that a signal ends while it writes leaves nothing behind, and the file that was there before.
#   signal.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"
# Python starts the command: what bash starts in the background ignores SIGINT.
cat >end.py <<'PY'
import glob, os, signal, subprocess, sys, time
def wait_for(process, what):
    until = time.time() + 60
    while not what() and process.poll() is None and time.time() < until:
        time.sleep(0.001)
number, output, command = getattr(signal, sys.argv[1]), sys.argv[2], sys.argv[3:]
signal.signal(number, signal.SIG_DFL)  # who runs the tests may ignore it, as nohup does, and so would the command
folder, name = os.path.split(os.path.abspath(output))
written = lambda: sum(os.path.getsize(f) for f in glob.glob(glob.escape(folder) + "/." + name + ".tmp*"))
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wait_for(process, lambda: written() > 0)
assert process.poll() is None and written() > 0, "it ended before the signal"
process.send_signal(number)
assert process.wait(60) == -number, "it ended with %d" % process.returncode
assert os.listdir(folder) == [name], os.listdir(folder)
assert open(output).read() == "before", "another file is in its place"
PY
mkdir one
large=("$tesela" sample-distances --n 20000 --dim 3 --quiet)
for signal in SIGINT SIGTERM SIGHUP; do
    for format in csv npy h5; do
        if [ $format = h5 ] && ! "$tesela" sample-distances --n 3 -o probe.h5 >/dev/null 2>&1; then continue; fi # without HDF5
        rm -f one/*
        printf before >one/d.$format
        expect 0 "$signal, $format" python3 end.py $signal one/d.$format "${large[@]}" -o one/d.$format
    done
done

# A limit to the size of files is told as a full disk is.
rm -f one/*
expect 1 "a file that may not grow" bash -c "ulimit -f 1000; exec '$tesela' sample-distances --n 2000 --dim 3 --quiet -o one/d.csv"
check "nothing is left of a file that may not grow" [ -z "$(ls -A one)" ]

# The first Ctrl-C of a fit is kept for it, the second ends the program at once. An evaluation takes seconds here.
cat >twice.py <<'PY'
import signal, subprocess, sys, time
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
process.stderr.readline()  # the node: the fit begins
time.sleep(1)
process.send_signal(signal.SIGINT)
said = False
for line in process.stderr:
    if "Ctrl-C again" in line:
        said = True
        process.send_signal(signal.SIGINT)
assert said and process.wait(60) == -signal.SIGINT, "it ended with %d" % process.returncode
PY
expect 0 "places" "$tesela" sample --n 5000 --theta sigma2=1,range=0.1,smoothness=0.5 --seed 2 -o places.csv --quiet
expect 0 "Ctrl-C twice" python3 twice.py "$tesela" fit places.csv --coords x,y --value z -o model.json
check "nothing is left of the fit" [ "$(find . -name '.model*' -o -name model.json | wc -l)" = 0 ]

# Ctrl-C that reaches another node than the first ends the fit of all: each saves what was found, exit code 130.
cat >other_node.py <<'PY'
import glob, os, signal, subprocess, sys, time
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
process.stderr.readline()
time.sleep(1)
def of_node_1(folder):
    try:
        environment = open(folder + "/environ", "rb").read().split(b"\0")
        return b"THIS_TEST=%d" % os.getpid() in environment and b"OMPI_COMM_WORLD_RANK=1" in environment
    except OSError:
        return False
found = [int(folder.split("/")[2]) for folder in glob.glob("/proc/[0-9]*") if of_node_1(folder)]
assert len(found) == 1, found
os.kill(found[0], signal.SIGINT)
said = process.stderr.read()
code = process.wait(60)
assert code == 130 and "interrupted" in said, "it ended with %d: %s" % (code, said)
PY
expect 0 "Ctrl-C on another node" bash -c 'export THIS_TEST=$$; exec python3 other_node.py "$@"' - \
    "${mpirun[@]}" -n 2 "$tesela" fit places.csv --coords x,y --value z -o other.json --workers 1
check "the model of a fit that another node interrupted" [ -s other.json ]
finish
