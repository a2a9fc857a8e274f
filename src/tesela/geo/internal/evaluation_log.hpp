#pragma once

#include "tesela/geo/internal/local_search.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace tesela::geo {

/// A point without its logarithms, as bytes that one node can send to the others.
struct PackedPoint {
    CovarianceParameters theta{};
    double log_likelihood = 0;
    std::array<double, all_parameters.size()> slope{};
    std::array<double, all_parameters.size() * all_parameters.size()> information{};
    std::int32_t slopes = 0;
    std::int32_t informations = 0;
};
[[nodiscard]] PackedPoint pack(const SearchPoint& point);
[[nodiscard]] SearchPoint unpack(const PackedPoint& packed, std::vector<double> logs);

/// What a file says that it answers; null where there is no file, or nothing in it. Throws Error if it is no
/// checkpoint.
[[nodiscard]] nlohmann::ordered_json question_in(const std::string& file);

/// The evaluations of a search in a file, so that the same search can be made again without them: a search is a
/// function of the values it is told. Each is a line, with all digits; what a line that was cut off says is not
/// believed.
class EvaluationLog {
public:
    /// Nothing is kept.
    EvaluationLog() = default;
    /// Opens the file, or makes it. `question` says what is searched, and how, by names: a file that answers another
    /// one is refused with an Error that says what differs, and so is one that cannot be read or written.
    EvaluationLog(const std::string& file, const nlohmann::ordered_json& question);

    /// Evaluations of earlier runs that have not been asked for yet.
    [[nodiscard]] bool has_next() const { return at_ < known_.size(); }
    /// The next of them. Throws Error if it is not at these logarithms.
    [[nodiscard]] SearchPoint next(const std::vector<double>& logs);
    /// Writes one down, for good when it returns; after one that cannot be written no more are kept.
    void add(const SearchPoint& point);
    /// Why no more are kept; empty if all are.
    [[nodiscard]] const std::string& lost() const { return lost_; }

private:
    void read(const std::string& text, const nlohmann::ordered_json& question);

    std::string file_;
    std::ofstream out_;
    std::vector<SearchPoint> known_;
    std::size_t at_ = 0;
    std::size_t added_ = 0;
    std::string lost_;
};

}  // namespace tesela::geo
