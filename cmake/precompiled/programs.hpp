// What the files of the programs need, beside core.hpp.
#include "core.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
