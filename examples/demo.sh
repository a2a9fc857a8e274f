#!/usr/bin/env bash
# What `./dev demo` shows.   demo.sh PATH_TO_TESELA
set -euo pipefail
tesela=$1
echo "== The machine"
"$tesela" info
echo
echo "== A positive definite system of order 2000: factorised by tiles (L·Lᵀ), solved, and compared with LAPACK."
echo "   ratio_lapack is Tesela's speed over LAPACK's with all threads; residual and difference are in units of n·eps,"
echo "   so a few at most means right to rounding."
"$tesela" bench cholesky --n 2000 --check --quiet
