// What the files of the programs need, beside core.hpp. Not CLI11: every file that has it, needed or not, takes seconds
// more.
#include "core.hpp"

#include <nlohmann/json.hpp>
