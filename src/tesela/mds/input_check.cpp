#include "tesela/mds/input_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tesela::mds {
namespace {

double largest_finite(const MatrixBlock& block, ColumnMajor<const double> values) noexcept {
    double largest = 0;
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.rows; ++i) {
            const double value = values.data[i + j * values.leading];
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        }
    return largest;
}

bool meets_diagonal(const MatrixBlock& block) noexcept {
    return block.row < block.col + block.cols && block.col < block.row + block.rows;
}

double difference(const InputFlaw& flaw) noexcept { return std::abs(flaw.value - flaw.mirrored); }

std::string with_label(const char* kind, Index number, const std::vector<std::string>& labels) {
    if (labels.empty()) return fmt::format("{} {}", kind, number + 1);
    return fmt::format("{} {} ({})", kind, number + 1, labels[static_cast<std::size_t>(number)]);
}

}  // namespace

InputFlaw find_flaw(Analysis analysis, const MatrixBlock& block, ColumnMajor<const double> values) noexcept {
    const bool distances = analysis == Analysis::scaling;
    const bool any_sign = analysis == Analysis::components || analysis == Analysis::scaled_components;
    const double zero = distances && meets_diagonal(block) ? same_distance * largest_finite(block, values) : 0.0;
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.rows; ++i) {
            const double value = values.data[i + j * values.leading];
            Flaw flaw = Flaw::none;
            if (!std::isfinite(value))
                flaw = Flaw::not_finite;
            else if (value < 0 && !any_sign)
                flaw = Flaw::negative;
            else if (distances && block.row + i == block.col + j && value > zero)
                flaw = Flaw::diagonal;
            if (flaw != Flaw::none) return {flaw, block.row + i, block.col + j, value, 0};
        }
    return {};
}

InputFlaw find_asymmetry(const MatrixBlock& block, ColumnMajor<const double> values,
                         ColumnMajor<const double> mirrored) noexcept {
    InputFlaw largest;
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.rows; ++i) {
            const double value = values.data[i + j * values.leading];
            const double other = mirrored.data[j + i * mirrored.leading];
            // Among such, what is no number comes first.
            if (!std::isfinite(value)) return {Flaw::not_finite, block.row + i, block.col + j, value, 0};
            if (!std::isfinite(other)) return {Flaw::not_finite, block.col + j, block.row + i, other, 0};
            const double apart = std::abs(value - other);
            if (apart <= same_distance * std::max(std::abs(value), std::abs(other))) continue;
            if (largest && apart <= difference(largest)) continue;
            largest = {Flaw::asymmetric, block.row + i, block.col + j, value, other};
        }
    return largest;
}

InputFlaw worse(const InputFlaw& a, const InputFlaw& b) noexcept {
    if (!a || !b) return a ? a : b;
    const bool a_asymmetric = a.flaw == Flaw::asymmetric;
    const bool b_asymmetric = b.flaw == Flaw::asymmetric;
    if (a_asymmetric != b_asymmetric) return a_asymmetric ? b : a;
    if (a_asymmetric && difference(a) != difference(b)) return difference(a) > difference(b) ? a : b;
    return std::tie(a.row, a.col) <= std::tie(b.row, b.col) ? a : b;
}

void FoundFlaws::add(const InputFlaw& flaw) noexcept {
    const std::scoped_lock lock(mutex_);
    worst_ = worse(worst_, flaw);
}

InputFlaw FoundFlaws::worst() const noexcept {
    const std::scoped_lock lock(mutex_);
    return worst_;
}

std::string row_name(const MatrixFile& file, Index row) { return with_label("row", row, file.header().row_labels); }

std::string column_name(const MatrixFile& file, Index col) {
    return with_label("column", col, file.header().col_labels);
}

Refusal input_error(const MatrixFile& file, const InputFlaw& flaw) {
    constexpr auto none = Refusal::Remedy::none;
    const std::string where =
        fmt::format("{}, {}, {}", file.name(), row_name(file, flaw.row), column_name(file, flaw.col));
    switch (flaw.flaw) {
        case Flaw::none: break;
        case Flaw::not_finite: return {fmt::format("{}: {} is not a finite number", where, flaw.value), none};
        case Flaw::negative: return {fmt::format("{}: {} is negative", where, flaw.value), none};
        case Flaw::diagonal:
            return {fmt::format("{}: {} is on the diagonal, where the distance of a point from itself must be 0", where,
                                flaw.value),
                    none};
        case Flaw::asymmetric:
            return {fmt::format("{} is not symmetric: {}, {} is {} and {}, {} is {}", file.name(),
                                row_name(file, flaw.row), column_name(file, flaw.col), flaw.value,
                                row_name(file, flaw.col), column_name(file, flaw.row), flaw.mirrored),
                    Refusal::Remedy::averaging};
    }
    return {fmt::format("{} holds nothing wrong", file.name()), none};
}

void require_deviations(const MatrixFile& file, std::span<const double> means, std::span<const double> squares,
                        double weight) {
    for (std::size_t j = 0; j < squares.size(); ++j) {
        const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(means[j]);
        if (!(squares[j] > weight * rounding * rounding))
            throw Error("{}, {}: all values are {}, so that it cannot be scaled to unit deviation: leave it out",
                        file.name(), column_name(file, static_cast<Index>(j)), means[j]);
    }
}

void require_masses(const MatrixFile& file, std::span<const double> row_sums, std::span<const double> col_sums) {
    constexpr auto positive = [](double sum) { return sum > 0; };
    if (const auto row = std::ranges::find_if_not(row_sums, positive); row != row_sums.end())
        throw Error("{}, {}: it sums to {}, so that it has no profile: leave it out", file.name(),
                    row_name(file, row - row_sums.begin()), *row);
    if (const auto col = std::ranges::find_if_not(col_sums, positive); col != col_sums.end())
        throw Error("{}, {}: it sums to {}, so that it has no profile: leave it out", file.name(),
                    column_name(file, col - col_sums.begin()), *col);
}

}  // namespace tesela::mds
