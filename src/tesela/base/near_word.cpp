#include "tesela/base/near_word.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace tesela {
namespace {

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// The least number of letters inserted, removed or replaced, or neighbours exchanged (Damerau, CACM 7 (1964) 171).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);  // of all but the last two letters of a, all but the last, all
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::swap(before, last);
        std::swap(last, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = last[j] + (same_letter(a[i], b[j]) ? 0 : 1);
            row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
            const bool exchanged = i > 0 && j > 0 && same_letter(a[i], b[j - 1]) && same_letter(a[i - 1], b[j]);
            if (exchanged) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
    std::optional<std::string> nearest;
    const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
    const std::size_t share = dashes > 0 ? 3 : 2;
    std::size_t best = std::max<std::size_t>(1, (word.size() - dashes) / share) + 1;
    for (const std::string& candidate : known)
        if (const std::size_t distance = edit_distance(word, candidate); distance < best) {
            nearest = candidate;
            best = distance;
        }
    return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    const auto nearest = nearest_word(word, known);
    return nearest && *nearest != word ? "; did you mean " + *nearest + "?" : "";
}

}  // namespace tesela
