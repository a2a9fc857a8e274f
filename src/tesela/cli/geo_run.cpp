#include "tesela/cli/geo_run.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/geo/conditioning.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace tesela::cli {

bool is_first(const Engine& engine) { return engine.this_node() == NodeId{0}; }

void warn_if_ill_conditioned(const geo::Likelihood& likelihood, const Engine& engine, const char* where) {
    const geo::Conditioning conditioning = geo::estimate_condition(likelihood);
    const std::string text = geo::explain_conditioning(conditioning, likelihood);
    if (!text.empty() && is_first(engine)) fmt::print(stderr, "warning: {}{}\n", text, where);
    const std::string compressed = geo::explain_compression(conditioning, likelihood);
    if (!compressed.empty() && is_first(engine)) fmt::print(stderr, "warning: {}\n", compressed);
}

geo::FittedModel read_model_first(const std::string& program, const std::string& model, const std::string& second) {
    try {
        return geo::read_model(model);
    } catch (const Error&) {
        if (geo::is_model_file(second))
            throw Error("{} is the model and comes first: {} {} {}", second, program, second, model);
        throw;
    }
}

}  // namespace tesela::cli
