#include "tesela/plan/decide_together.hpp"

#include "tesela/base/error.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace tesela::plan {

nlohmann::json decide_together(Engine& engine, const std::function<nlohmann::json()>& decide) {
    using Json = nlohmann::json;
    Json mine = Json::object();
    if (engine.is_first()) try {
            mine["decision"] = decide();
        } catch (const std::exception& error) {
            mine["error"] = error.what();
        }
    // A path may have bytes that are no text.
    const std::string text = mine.dump(-1, ' ', false, Json::error_handler_t::replace);
    Json all = Json::parse(engine.gather(text).front());
    if (all.contains("error")) throw Error("{}", all["error"].get<std::string>());
    return std::move(all["decision"]);
}

}  // namespace tesela::plan
