#!/usr/bin/env python3
"""Makes phase_reference.hpp: ten random instances of the linear program (12) of paper 000 with the least sum of the ends
of all steps, by scipy's linprog on the program in its dense form, as the paper prints it.

    tests/unit/plan/reference.py > tests/unit/plan/phase_reference.hpp
"""
import numpy as np
from scipy.optimize import linprog


def solve(N, w, worker, first, strict):
    """Σ (τ1 + τ2); N[s][t], w[t][r] (inf: cannot), worker[t][r], first: the types of phase one."""
    S, T = N.shape
    R = w.shape[1]
    alpha = {}
    for s in range(S):
        for t in range(T):
            for r in range(R):
                if N[s, t] > 0 and np.isfinite(w[t, r]):
                    alpha[s, t, r] = len(alpha)
    t1 = len(alpha)
    t2 = t1 + S
    n = t2 + S
    c = np.zeros(n)
    c[t1:] = 1
    A, b, E, e = [], [], [], []
    least = min(worker[t, r] for t in first for r in range(R))

    def row(*terms):
        result = np.zeros(n)
        for k, v in terms:
            result[k] += v
        return result

    def work(s, r, types):
        return [(alpha[s, t, r], w[t, r]) for t in types if (s, t, r) in alpha]

    second = [t for t in range(T) if t not in first]
    for s in range(S):
        for t in range(T):
            if N[s, t] > 0:
                E.append(row(*[(alpha[s, t, r], 1) for r in range(R) if (s, t, r) in alpha]))
                e.append(N[s, t])
        for r in range(R):
            A.append(row(*work(s, r, first), (t1 + s, -1), *([(t1 + s - 1, 1)] if s else [])))
            A.append(row((t1 + s, 1), *work(s, r, second), (t2 + s, -1)))
            if s:
                A.append(row((t2 + s - 1, 1), *work(s, r, second), (t2 + s, -1)))
            A.append(row(*[term for z in range(s + 1) for term in work(z, r, range(T))], (t2 + s, -1)))
        if s and strict:
            A.append(row((t1 + s - 1, 1), (t1 + s, -1)))
            b.extend([0] * (len(A) - len(b) - 1) + [-least])
    b.extend([0] * (len(A) - len(b)))
    bounds = [(0, None)] * n
    bounds[t1] = (least, None)
    found = linprog(c, A_ub=np.array(A), b_ub=b, A_eq=np.array(E), b_eq=e, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return found.fun


def listed(values):
    return "{" + ", ".join("never" if not np.isfinite(v) else repr(float(v)) if isinstance(v, float) else str(v)
                           for v in values) + "}"


random = np.random.default_rng(2026)
print("""#pragma once
// Made by reference.py, with scipy's linprog.

#include <limits>
#include <vector>

namespace tesela::plan::testing {

inline constexpr double never = std::numeric_limits<double>::infinity();

/// The first `first` types are of phase one. Counts step by step, seconds and workers group by group.
struct PhaseInstance {
    int steps;
    int types;
    int first;
    bool strict;
    std::vector<int> counts;
    std::vector<std::vector<double>> worker_seconds;
    std::vector<int> workers;
    double sum_of_ends;
};

inline const std::vector<PhaseInstance> phase_instances{""")
for instance in range(10):
    S, T, R = int(random.integers(3, 9)), int(random.integers(3, 6)), int(random.integers(2, 5))
    first = list(range(1 + instance % 2))
    N = random.integers(0, 12, size=(S, T))
    N[0, 0] = 3
    N[-1, -1] = 2
    worker = np.round(random.uniform(0.01, 1, size=(T, R)), 4)
    workers = random.integers(1, 30, size=R)
    mask = random.uniform(size=(T, R)) < 0.25
    mask[:, 0] = False
    worker[mask] = np.inf
    w = worker / workers
    value = solve(N, w, worker, first, instance % 3 == 2)
    groups = ", ".join(listed(worker[:, r]) for r in range(R))
    print(f"    {{{S}, {T}, {len(first)}, {str(instance % 3 == 2).lower()}, {listed(N.ravel())}, {{{groups}}}, "
          f"{listed(workers)}, {value!r}}},")
print("};\n\n}  // namespace tesela::plan::testing")
