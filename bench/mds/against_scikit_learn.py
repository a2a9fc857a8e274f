#!/usr/bin/env python3
"""The largest eigenvalues of a doubly centred distance matrix, beside scikit-learn's randomized_svd and scipy's eigsh.

    bench/mds/against_scikit_learn.py TESELA [POINTS [ROUNDS]]        (default: 5000 points, best of 5)

Points in R^500 whose coordinate j has deviation j^-1/2; the 10 largest eigenvalues; times from the centred matrix in
memory, start-up not counted. Exit code 1 unless Tesela is faster than each of them at 2e-4 and at 1e-10.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy
from scipy.sparse.linalg import eigsh
from sklearn.utils.extmath import randomized_svd

K = 10


def centred(points):
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal((points, 500)) * numpy.arange(1, 501) ** -0.5
    x -= x.mean(axis=0)
    return x @ x.T


def best(rounds, work):
    seconds, result = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main():
    tesela = sys.argv[1]
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    g = centred(points)
    truth = numpy.sort(eigsh(g, k=K, tol=0, return_eigenvectors=False))[::-1]

    def error(values):
        return float(numpy.max(numpy.abs(numpy.asarray(values)[:K] - truth) / truth))

    rows = []
    for name, work in [
        ("randomized_svd, 2 power iterations", lambda: randomized_svd(g, K, n_iter=2, random_state=0)[1]),
        ("randomized_svd, its defaults", lambda: randomized_svd(g, K, random_state=0)[1]),
        ("eigsh, 2e-4", lambda: numpy.sort(eigsh(g, k=K, tol=2e-4)[0])[::-1]),
        ("eigsh, its defaults", lambda: numpy.sort(eigsh(g, k=K)[0])[::-1]),
    ]:
        seconds, values = best(rounds, work)
        rows.append((name, seconds, error(values)))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "g.npy")
        numpy.save(file, g)
        for tolerance in ("2e-4", "1e-10"):
            command = [tesela, "bench", "eigenvalues", "--file", file, "--dim", str(K), "--tolerance", tolerance,
                       "--repetitions", str(rounds), "--quiet", "--json"]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows.append((f"tesela, {tolerance}", result["seconds"], error(result["eigenvalues"])))
    for name, seconds, wrong in rows:
        print(f"{name:<38}{seconds:>9.3f} s   error {wrong:.1e}")
    others, ours = rows[:4], rows[4:]
    met = True
    for (name, seconds, wrong), limit in zip(ours, (2e-4, 1e-10)):
        rivals = [other for other in others if other[2] <= max(limit, 1.5 * wrong) or other[2] <= limit]
        for rival, their_seconds, _ in rivals:
            good = seconds < their_seconds and wrong <= limit
            met = met and good
            print(f"{'met' if good else 'NOT MET'}: {name} takes {seconds / their_seconds:.2f} of the time of {rival}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
