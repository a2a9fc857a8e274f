#pragma once

// For tests with engines of their own.

#include "support/on_any_node.hpp"
#include "tesela/starpu/engine.hpp"
