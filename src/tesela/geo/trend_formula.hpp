#pragma once

#include "tesela/base/names.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::geo {

/// The mean of the field: zero, one unknown constant, an unknown linear function of the coordinates as given, or an
/// unknown combination of what a formula lists.
enum class Trend : std::uint8_t { none, constant, linear, formula };
inline constexpr Names<Trend, 4> trend_names{
    {{Trend::none, "none"}, {Trend::constant, "constant"}, {Trend::linear, "linear"}, {Trend::formula, "formula"}}};

/// What stands between the operators of a formula: a column, which is a factor if it holds text; factor(column); or a
/// number computed from columns, in postfix order.
struct TrendVariable {
    enum class Kind : std::uint8_t { column, factor, expression };
    enum class Operation : std::uint8_t {
        number,
        column,
        negate,
        add,
        subtract,
        multiply,
        divide,
        power,
        log,
        log10,
        sqrt,
        exp
    };
    struct Step {
        Operation operation = Operation::number;
        double number = 0;
        std::size_t column = 0;  ///< of `columns`
        bool operator==(const Step&) const = default;
    };

    Kind kind = Kind::column;
    std::string name;  ///< as R's model.matrix has it: sqrt(dist), I(dist^2), `soil type`
    std::vector<std::string> columns;
    std::vector<Step> steps;

    bool operator==(const TrendVariable&) const = default;
    /// The value of an expression, or of a column of numbers, where `columns` have these; not finite where it has none.
    [[nodiscard]] double value(std::span<const double> of_columns) const;
};

/// The trend of a model as the user writes it: none, constant, linear, or a formula in R's manner, such as
/// `~ sqrt(dist) + soil`. Names of columns, `+` and `-`, `a:b` and `a*b`, `-1` or `+0` for no intercept, log, log10,
/// sqrt, exp, powers, I(…) with arithmetic inside, factor(column); names with odd characters in backticks. Other than
/// in R, `dist^2` means I(dist^2).
class TrendFormula {
public:
    /// Positions of variables, in their order; none of them is the intercept.
    using Term = std::vector<std::size_t>;

    TrendFormula() : TrendFormula(Trend::constant) {}
    /// One of the three that have a name. Implicit, so that a model's trend may be one of them.
    TrendFormula(Trend kind);  // NOLINT(google-explicit-constructor)

    /// Throws Error that says what is wrong and at which character.
    [[nodiscard]] static TrendFormula parse(std::string_view text);
    /// ~ x + y for these columns: what `linear` means.
    [[nodiscard]] static TrendFormula linear_in(const std::vector<std::string>& columns);

    [[nodiscard]] Trend kind() const { return kind_; }
    /// As it was written: "linear", "~ sqrt(dist) + soil".
    [[nodiscard]] const std::string& text() const { return text_; }
    /// What stands left of ~; empty if nothing does.
    [[nodiscard]] const std::string& response() const { return response_; }
    [[nodiscard]] const std::vector<TrendVariable>& variables() const { return variables_; }
    /// In R's order: the intercept (an empty term), single variables, interactions of two, of three, …
    [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
    [[nodiscard]] bool has_intercept() const { return !terms_.empty() && terms_.front().empty(); }
    /// The names of all columns that are used, each once.
    [[nodiscard]] std::vector<std::string> columns() const;
    /// Whether factor() is said of a column.
    [[nodiscard]] bool is_declared_factor(std::string_view column) const;

    bool operator==(const TrendFormula&) const = default;

private:
    friend class FormulaParser;
    Trend kind_ = Trend::constant;
    std::string text_;
    std::string response_;
    std::vector<TrendVariable> variables_;
    std::vector<Term> terms_;
};

/// Throws Error unless what stands left of ~ is nothing or the column of the values.
void require_response(const TrendFormula& formula, std::string_view value_name);

}  // namespace tesela::geo
