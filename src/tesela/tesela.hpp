#pragma once

// All that most programs need: an engine, streams, matrices and the algorithms on them.

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/starpu/engine.hpp"
