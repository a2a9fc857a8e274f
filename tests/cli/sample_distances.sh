#!/usr/bin/env bash
# `tesela sample-distances` as a user types it: files of every kind hold the same distances, which are those of the points.
#   sample_distances.sh BUILD_DIR DATA_DIR
set -uo pipefail
tesela=$(realpath "$1/tesela")
# shellcheck source=support.sh
source "$(dirname "$(realpath "$0")")/support.sh"

expect 0 "distances" "$tesela" sample-distances --n 40 --dim 6 --seed 3 -o d.csv --points x.csv
holds "distances" out "d.csv: distances between 40 points in 6 dimensions, 12.5 KiB of float64"
cat >check.py <<'PY'
import csv, math
points = [[float(f) for f in row] for row in list(csv.reader(open("x.csv")))[1:]]
distances = [[float(f) for f in row] for row in csv.reader(open("d.csv"))]
assert len(points) == 40 and len(points[0]) == 6 and len(distances) == 40
for i in range(40):
    assert distances[i][i] == 0
    for j in range(40):
        assert distances[i][j] == distances[j][i]
        assert abs(distances[i][j] - math.dist(points[i], points[j])) < 1e-13
PY
expect 0 "distances are those of the points" python3 check.py
expect 0 "the same from one thread" "$tesela" sample-distances --n 40 --dim 6 --seed 3 --workers 1 -o one.csv
expect 0 "the same from one thread" cmp d.csv one.csv
expect 0 "to standard output" "$tesela" sample-distances --n 40 --dim 6 --seed 3 -o -
check "standard output is what the file holds" cmp -s out d.csv

expect 0 "NumPy" "$tesela" sample-distances --n 40 --dim 6 --seed 3 --type float32 -o d.npy --json
json "NumPy" "d['n'] == 40 and d['type'] == 'float32' and d['bytes'] == 6400"
check "a NumPy file of 128 + 6400 bytes" [ "$(stat -c %s d.npy)" = 6528 ]

bad "no size of chunks" "5 is not a size of chunks" "$tesela" sample-distances --n 4 --chunk 5 -o d.h5
bad "chunks elsewhere" "only HDF5 files" "$tesela" sample-distances --n 4 --chunk 5x5 -o other.npy
bad "no folder" "there is no directory 'none'" "$tesela" sample-distances --n 4 -o none/d.csv
bad "no points" "at least 1" "$tesela" sample-distances --n 0 -o other.csv
finish
