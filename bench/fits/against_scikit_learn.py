#!/usr/bin/env python3
"""Time to the optimum, Tesela beside scikit-learn, on the same sampled field in one interleaved run (best of N).

    bench/fits/against_scikit_learn.py build/release/tesela [--n 2000] [--rounds 3] [--workers 2]

Both maximise the same likelihood: Matern 3/2, its variance, range and nugget free, no trend, both from their own
defaults, without standard errors, which scikit-learn does not have. Exit code 1 if Tesela is less than four times as fast, or ends below scikit-learn. Needs python3-sklearn.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tesela", help="the command")
parser.add_argument("--n", type=int, default=2000, help="observations")
parser.add_argument("--rounds", type=int, default=3, help="of each, in turn")
parser.add_argument("--workers", type=int, default=os.cpu_count(), help="cores for each")
parser.add_argument("--seed", type=int, default=7, help="of the field")
options = parser.parse_args()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is loaded
    os.environ[variable] = str(options.workers)

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

LIMIT = 4.0  # times as fast, written down before the first run


def sampled_field(folder):
    path = os.path.join(folder, "field.csv")
    subprocess.run([options.tesela, "sample", "--n", str(options.n), "--seed", str(options.seed), "--theta",
                    "sigma2=1,range=0.05,smoothness=1.5,nugget=0.1", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path


def fit_by_tesela(path, folder):
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    model = os.path.join(folder, "model.json")
    start = time.perf_counter()
    subprocess.run([options.tesela, "fit", path, "--coords", "x,y", "--value", "z", "--trend", "none", "--fix",
                    "smoothness=1.5", "--errors", "none", "--workers", str(options.workers), "-o", model],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    seconds = time.perf_counter() - start
    with open(model) as file:
        fitted = json.load(file)
    return seconds, fitted["loglik"], f"{fitted['evaluations']} evaluations, {fitted['gradients']} slopes"


def fit_by_scikit_learn(path):
    columns = np.genfromtxt(path, delimiter=",", names=True)
    places = np.column_stack([columns["x"], columns["y"]])
    kernel = ConstantKernel(1.0) * Matern(nu=1.5, length_scale=0.1) + WhiteKernel(0.1)
    regressor = GaussianProcessRegressor(kernel=kernel)
    start = time.perf_counter()
    regressor.fit(places, columns["z"])
    return time.perf_counter() - start, regressor.log_marginal_likelihood_value_, str(regressor.kernel_)


with tempfile.TemporaryDirectory() as folder:
    path = sampled_field(folder)
    rounds = [(fit_by_tesela(path, folder), fit_by_scikit_learn(path)) for _ in range(options.rounds)]
ours = min(r[0] for r in rounds)
theirs = min(r[1] for r in rounds)
ratio = theirs[0] / ours[0]
print(f"n = {options.n}, {options.workers} cores, best of {options.rounds}, scikit-learn {sklearn.__version__}")
print(f"tesela        {ours[0]:8.2f} s  loglik {ours[1]:.6f}  {ours[2]}")
print(f"scikit-learn  {theirs[0]:8.2f} s  loglik {theirs[1]:.6f}  {theirs[2]}")
met = ratio >= LIMIT and ours[1] >= theirs[1] - 1e-3
print(f"{'met' if met else 'MISSED'}: {ratio:.2f} times as fast (limit {LIMIT:g}), start of the program and reading included")
sys.exit(0 if met else 1)
