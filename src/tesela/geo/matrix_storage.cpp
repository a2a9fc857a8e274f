#include "tesela/geo/matrix_storage.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/whole_number.hpp"

#include <nlohmann/json.hpp>

namespace tesela::geo {
namespace {

using Json = nlohmann::json;

Index whole(const Json& json, const char* field) {
    const auto number = whole_number(json.at(field));
    if (!number || *number < 1) throw Error("the field {} must be a whole number above 0", field);
    return *number;
}

double number(const Json& json, const char* field) {
    if (!json.contains(field) || !json.at(field).is_number()) throw Error("the field {} must be a number", field);
    return json.at(field).get<double>();
}

}  // namespace

nlohmann::ordered_json to_json(const MatrixStorage& storage) {
    nlohmann::ordered_json json{{"method", storage.compression ? "tlr" : "exact"}, {"tile", storage.tile}};
    if (const auto& how = storage.compression)
        json.update({{"accuracy", how->accuracy},
                     {"band", how->band},
                     {"refine", how->refine},
                     {"single", how->precision == FactorPrecision::as_needed}});
    return json;
}

std::optional<MatrixStorage> storage_from_json(const Json& json) {
    if (!json.is_object() || !json.contains("method") || !json.contains("tile")) return std::nullopt;
    const Json& method = json.at("method");
    if (method != "exact" && method != "tlr") throw Error("the field method must be exact or tlr");
    MatrixStorage storage{.tile = whole(json, "tile")};
    if (method == "exact") return storage;
    if (!json.contains("accuracy") || !json.contains("band")) return std::nullopt;  // of an earlier version
    const bool single = json.contains("single") && json.at("single") == true;
    storage.compression = TileAccuracy{.accuracy = number(json, "accuracy"),
                                       .band = whole(json, "band"),
                                       .refine = number(json, "refine"),
                                       .precision = single ? FactorPrecision::as_needed : FactorPrecision::full};
    validate(*storage.compression);
    return storage;
}

}  // namespace tesela::geo
