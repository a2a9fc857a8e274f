#pragma once

#include "tesela/geo/model.hpp"
#include "tesela/geo/small_matrix.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// The levels of a factor in the order in which R's C locale has them; the first is the base of its contrasts.
struct FactorLevels {
    std::string variable;  ///< "soil" or "factor(soil)"
    std::vector<std::string> labels;
    std::vector<double> numbers{};  ///< of a factor made of numbers; otherwise empty
};

/// What a formula means for given observations: the columns of the model matrix by name and in the order of R's
/// model.matrix with treatment contrasts. The levels of factors are those that the observations have.
class TrendDesign {
public:
    /// Throws Error if a column is not there (and says which are) or cannot be used as the formula does.
    TrendDesign(const TrendFormula& formula, const Observations& observations);

    [[nodiscard]] Index size() const { return static_cast<Index>(columns_.size()); }
    [[nodiscard]] bool has_intercept() const { return formula_.has_intercept(); }
    /// "intercept", and the others as R has them: soil2, sqrt(dist), elev:dist.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] const std::vector<FactorLevels>& levels() const { return levels_; }

    /// A row for every place. Throws Error that names place and column where a level is unknown, a column is missing
    /// or a number cannot be computed.
    [[nodiscard]] SmallMatrix matrix(const Sites& sites) const;

private:
    /// A variable in a column of the matrix: its number, or whether it has this level.
    struct Factor {
        std::size_t variable = 0;
        std::ptrdiff_t level = -1;
    };
    using Column = std::vector<Factor>;

    [[nodiscard]] bool is_factor(const TrendVariable& variable, const Observations& observations) const;
    void read_levels(const Observations& observations);
    [[nodiscard]] const FactorLevels* levels_of(std::size_t variable) const;
    [[nodiscard]] bool has_contrasts(std::size_t term, std::size_t variable) const;
    void add_columns(std::size_t term);
    void require_different_names() const;
    [[nodiscard]] std::vector<double> codes(std::size_t variable, const Sites& sites) const;
    [[nodiscard]] std::vector<double> numbers(std::size_t variable, const Sites& sites) const;
    [[nodiscard]] const std::vector<double>& numeric_column(const std::string& name, const Sites& sites) const;

    TrendFormula formula_;
    std::vector<std::string> coordinate_names_;
    std::vector<FactorLevels> levels_;
    std::vector<std::ptrdiff_t> levels_of_;  ///< per variable, a position in levels_ or −1
    std::vector<Column> columns_;
    std::vector<std::string> names_;
};

/// The columns of a formula that are not coordinates: what a file of places must have beside these.
[[nodiscard]] std::vector<std::string> covariate_names(const TrendFormula& formula,
                                                       const std::vector<std::string>& coordinate_names);

}  // namespace tesela::geo
