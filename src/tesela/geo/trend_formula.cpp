#include "tesela/geo/trend_formula.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace tesela::geo {
namespace {

using Operation = TrendVariable::Operation;
using Kind = TrendVariable::Kind;
using Term = TrendFormula::Term;
using Terms = std::vector<Term>;

constexpr Names<Operation, 4> functions{
    {{Operation::log, "log"}, {Operation::log10, "log10"}, {Operation::sqrt, "sqrt"}, {Operation::exp, "exp"}}};

/// More than anybody writes; a*b*c*… doubles with every variable.
constexpr std::size_t most_terms = 1000;
constexpr int deepest = 50;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 128;
}
bool begins_name(char c) { return is_letter(c) || c == '.' || c == '_'; }
bool goes_on(char c) { return begins_name(c) || is_digit(c); }

/// A name as R writes it: in backticks unless it is a word.
std::string written(const std::string& name) {
    const bool word = !name.empty() &&
                      (is_letter(name[0]) || (name[0] == '.' && !(name.size() > 1 && is_digit(name[1])))) &&
                      std::all_of(name.begin(), name.end(), goes_on);
    return word ? name : "`" + name + "`";
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

void add_once(Terms& terms, const Term& term) {
    if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
}

double apply(Operation operation, double a, double b) {
    switch (operation) {
        case Operation::add: return a + b;
        case Operation::subtract: return a - b;
        case Operation::multiply: return a * b;
        case Operation::divide: return a / b;
        case Operation::power: return std::pow(a, b);
        default: return 0;
    }
}

double apply(Operation operation, double a) {
    switch (operation) {
        case Operation::negate: return -a;
        case Operation::log: return std::log(a);
        case Operation::log10: return std::log10(a);
        case Operation::sqrt: return std::sqrt(a);
        case Operation::exp: return std::exp(a);
        default: return 0;
    }
}

bool is_binary(Operation operation) { return operation >= Operation::add && operation <= Operation::power; }

}  // namespace

double TrendVariable::value(std::span<const double> of_columns) const {
    if (steps.empty()) return of_columns.front();
    std::vector<double> stack;
    for (const Step& step : steps) {
        if (step.operation == Operation::number) {
            stack.push_back(step.number);
        } else if (step.operation == Operation::column) {
            stack.push_back(of_columns[step.column]);
        } else if (is_binary(step.operation)) {
            const double right = stack.back();
            stack.pop_back();
            stack.back() = apply(step.operation, stack.back(), right);
        } else {
            stack.back() = apply(step.operation, stack.back());
        }
    }
    return stack.back();
}

/// Recursive descent. Between terms, from loose to tight: + and −, *, :, then variables. Inside functions and I(), from
/// loose to tight as in R: + and −, * and /, unary minus, ^ (from the right).
class FormulaParser {
public:
    explicit FormulaParser(std::string_view text) : text_(trimmed(text)) { formula_.kind_ = Trend::formula; }

    TrendFormula parse() {
        formula_.text_ = std::string(text_);
        if (text_.find('~') == std::string_view::npos)
            throw Error("\"{}\" is not a trend; there are none, constant, linear, and formulas, as '~ elev + dist'",
                        text_);
        read_response();
        Terms terms = sum({Term{}});
        if (at_ != text_.size()) unexpected();
        std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.size() < b.size(); });
        formula_.terms_ = std::move(terms);
        return std::move(formula_);
    }

private:
    [[noreturn]] void fail(const std::string& what, std::size_t at) const {
        // Characters, not bytes: those that go on with one (10xxxxxx) are not counted.
        const auto before = std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        if (at == text_.size()) throw Error("the formula \"{}\": {} at its end", text_, what);
        throw Error("the formula \"{}\": {} at character {}", text_, what, before + 1);
    }
    [[noreturn]] void unexpected() const {
        if (at_ == text_.size()) fail("something is missing", at_);
        std::size_t end = at_ + 1;
        while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
        const std::string_view found = text_.substr(at_, end - at_);
        if (found == "/" || found == "%" || found == "|")
            fail(fmt::format("\"{}\" has no meaning between terms; there are +, -, : and *, and I() for arithmetic",
                             found),
                 at_);
        fail(fmt::format("\"{}\" is not expected", found), at_);
    }

    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    [[nodiscard]] char peek() {
        skip_blanks();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c || at_ == text_.size()) return false;
        ++at_;
        return true;
    }
    void need(char c, std::size_t opened) {
        if (!take(c)) fail(fmt::format("a {} is missing for the ( of character {}", c, opened + 1), at_);
    }

    /// Something read, and where it began.
    struct Word {
        std::string text;
        std::size_t at = 0;
        bool quoted = false;
    };
    [[nodiscard]] std::optional<Word> word() {
        const char first = peek();
        Word result{.text = {}, .at = at_};
        if (first == '`') {
            const std::size_t end = text_.find('`', at_ + 1);
            if (end == std::string_view::npos) fail("the backtick has no second one", at_);
            if (end == at_ + 1) fail("there is no name between the backticks", at_);
            result.text = std::string(text_.substr(at_ + 1, end - at_ - 1));
            result.quoted = true;
            at_ = end + 1;
            return result;
        }
        if (at_ == text_.size() || !begins_name(first)) return std::nullopt;
        while (at_ < text_.size() && goes_on(text_[at_])) result.text += text_[at_++];
        if (result.text == ".") fail("the dot stands for no columns here: name them;", result.at);
        return result;
    }
    [[nodiscard]] std::optional<double> number() {
        const char first = peek();
        if (at_ == text_.size() || !(is_digit(first) || first == '.')) return std::nullopt;
        double value = 0;
        const char* end = text_.data() + text_.size();
        const auto [stop, status] = std::from_chars(text_.data() + at_, end, value);
        if (status != std::errc{} || !std::isfinite(value)) return std::nullopt;
        at_ = static_cast<std::size_t>(stop - text_.data());
        return value;
    }

    void read_response() {
        if (take('~')) return;
        const auto name = word();
        if (name && peek() == '(')
            fail(
                "the left side is transformed, which it cannot be here: make a column of it and name that with "
                "--value;",
                name->at);
        if (!name) unexpected();
        formula_.response_ = name->text;
        if (!take('~')) unexpected();
    }

    /// Terms with + and − between them, from those that are there before.
    Terms sum(Terms terms) {
        const Deeper guard(*this);
        bool plus = !take('-');
        if (plus) take('+');
        do {
            add_summand(terms, plus);
            plus = peek() == '+';
        } while (take('+') || take('-'));
        return terms;
    }
    void add_summand(Terms& terms, bool plus) {
        skip_blanks();
        const std::size_t at = at_;
        Terms next{Term{}};
        if (const auto n = number()) {
            if (*n != 0 && *n != 1) fail("a number other than 0 and 1 stands inside I(), as I(2 * dist);", at);
            if (*n == 0) plus = !plus;
        } else {
            next = product();
        }
        for (const Term& term : next) {
            if (plus)
                add_once(terms, term);
            else
                std::erase(terms, term);
        }
    }
    Terms product() {
        Terms left = interaction();
        while (take('*')) {
            const Terms right = interaction();
            const Terms both = crossed(left, right);
            for (const Term& term : right) add_once(left, term);
            for (const Term& term : both) add_once(left, term);
            require_few(left);
        }
        return left;
    }
    Terms interaction() {
        Terms left = atom();
        while (take(':')) left = crossed(left, atom());
        return left;
    }
    void require_few(const Terms& terms) const {
        if (terms.size() > most_terms) fail(fmt::format("more than {} terms", most_terms), at_);
    }
    [[nodiscard]] Terms crossed(const Terms& left, const Terms& right) const {
        Terms result;
        for (const Term& a : left)
            for (const Term& b : right) {
                Term both;
                std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
                add_once(result, both);
                require_few(result);
            }
        return result;
    }
    Terms atom() {
        if (peek() == '(') {
            const std::size_t opened = at_++;
            Terms terms = sum({});
            need(')', opened);
            if (peek() == '^') fail("a power of several terms has no meaning; write a*b for a + b + a:b;", at_);
            return terms;
        }
        return {Term{variable()}};
    }

    /// The position of the variable that is read next, which is new or was there before.
    std::size_t variable() {
        skip_blanks();
        const std::size_t at = at_;
        const auto name = word();
        if (!name) {
            if (number()) fail("a number stands inside I(), as I(2 * dist);", at);
            if (at_ == text_.size()) fail("a column or a function is missing", at_);
            unexpected();
        }
        TrendVariable result;
        const bool call = !name->quoted && peek() == '(';
        if (call && name->text == "factor") {
            result = factor();
        } else if (call && name->text == "I") {
            Expression inside;
            parenthesised(inside);
            result = std::move(inside.variable);
            result.kind = Kind::expression;
            result.name = "I" + inside.name;
        } else {
            at_ = at;
            result = computed();
        }
        const auto known = std::find(formula_.variables_.begin(), formula_.variables_.end(), result);
        const auto position = static_cast<std::size_t>(known - formula_.variables_.begin());
        if (known == formula_.variables_.end()) formula_.variables_.push_back(std::move(result));
        return position;
    }
    TrendVariable factor() {
        const std::size_t opened = at_++;
        const auto column = word();
        if (!column) fail("factor() takes the name of a column,", at_);
        need(')', opened);
        return {.kind = Kind::factor,
                .name = fmt::format("factor({})", written(column->text)),
                .columns = {column->text},
                .steps = {}};
    }

    /// Arithmetic as it is read: the steps, and the text that R has for it.
    struct Expression {
        TrendVariable variable{};
        std::string name{};

        void push(Operation operation) { variable.steps.push_back({.operation = operation}); }
        void push_number(double number) {
            variable.steps.push_back({.operation = Operation::number, .number = number});
            name += fmt::format("{}", number);
        }
        void push_column(const std::string& column) {
            auto& columns = variable.columns;
            const auto found = std::find(columns.begin(), columns.end(), column);
            variable.steps.push_back(
                {.operation = Operation::column, .column = static_cast<std::size_t>(found - columns.begin())});
            if (found == columns.end()) columns.push_back(column);
            name += written(column);
        }
    };

    /// A column or function of columns, or a power of one, which R would have inside I().
    TrendVariable computed() {
        Expression expression;
        primary(expression);
        const bool is_power = peek() == '^';
        if (is_power) exponent(expression);
        TrendVariable result = std::move(expression.variable);
        const bool is_column = result.steps.size() == 1 && result.steps.front().operation == Operation::column;
        result.kind = is_column ? Kind::column : Kind::expression;
        result.name = is_power ? fmt::format("I({})", expression.name) : expression.name;
        if (is_column) result.steps.clear();
        return result;
    }
    void arithmetic(Expression& e) {
        const Deeper guard(*this);
        scaled(e);
        for (char c = peek(); c == '+' || c == '-'; c = peek()) {
            ++at_;
            e.name += fmt::format(" {} ", c);
            scaled(e);
            e.push(c == '+' ? Operation::add : Operation::subtract);
        }
    }
    void scaled(Expression& e) {
        signed_power(e);
        for (char c = peek(); c == '*' || c == '/'; c = peek()) {
            ++at_;
            e.name += c == '*' ? " * " : "/";
            signed_power(e);
            e.push(c == '*' ? Operation::multiply : Operation::divide);
        }
    }
    void signed_power(Expression& e) {
        const Deeper guard(*this);
        if (take('-')) {
            e.name += "-";
            signed_power(e);
            e.push(Operation::negate);
            return;
        }
        primary(e);
        if (peek() == '^') exponent(e);
    }
    void exponent(Expression& e) {
        take('^');
        e.name += "^";
        signed_power(e);
        e.push(Operation::power);
    }
    void parenthesised(Expression& e) {
        const std::size_t opened = at_;
        if (!take('(')) unexpected();
        e.name += "(";
        arithmetic(e);
        need(')', opened);
        e.name += ")";
    }
    void primary(Expression& e) {
        if (peek() == '(') return parenthesised(e);
        if (const auto n = number()) return e.push_number(*n);
        const auto name = word();
        if (!name) {
            if (at_ == text_.size()) fail("a column or a number is missing", at_);
            unexpected();
        }
        if (name->quoted || peek() != '(') return e.push_column(name->text);
        const auto known = std::find_if(functions.begin(), functions.end(),
                                        [&](const auto& entry) { return entry.second == name->text; });
        if (known == functions.end())
            fail(fmt::format("there is no function {} (there are {}, I and factor)", name->text, list_names(functions)),
                 name->at);
        e.name += name->text;
        parenthesised(e);
        e.push(known->first);
    }

    /// Counts how deep things are inside each other, so that no text can exhaust the stack.
    struct Deeper {
        explicit Deeper(FormulaParser& parser) : depth(parser.depth_) {
            if (++depth > deepest) parser.fail(fmt::format("it is more than {} levels deep", deepest), parser.at_);
        }
        ~Deeper() { --depth; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        int& depth;
    };

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    TrendFormula formula_;
};

TrendFormula::TrendFormula(Trend kind) : kind_(kind), text_(name_in(trend_names, kind)) {
    if (kind == Trend::formula) throw Error("a trend by a formula needs one; see TrendFormula::parse()");
    if (kind != Trend::none) terms_.emplace_back();
}

TrendFormula TrendFormula::parse(std::string_view text) {
    const std::string_view word = trimmed(text);
    for (const auto& [kind, name] : trend_names)
        if (kind != Trend::formula && name == word) return {kind};
    return FormulaParser(text).parse();
}

TrendFormula TrendFormula::linear_in(const std::vector<std::string>& columns) {
    TrendFormula result(Trend::linear);
    for (const std::string& column : columns) {
        result.terms_.push_back({result.variables_.size()});
        result.variables_.push_back({.kind = Kind::column, .name = column, .columns = {column}, .steps = {}});
    }
    return result;
}

std::vector<std::string> TrendFormula::columns() const {
    std::vector<std::string> names;
    for (const TrendVariable& variable : variables_)
        for (const std::string& column : variable.columns)
            if (std::find(names.begin(), names.end(), column) == names.end()) names.push_back(column);
    return names;
}

bool TrendFormula::is_declared_factor(std::string_view column) const {
    return std::any_of(variables_.begin(), variables_.end(), [&](const TrendVariable& variable) {
        return variable.kind == Kind::factor && variable.columns.front() == column;
    });
}

void require_response(const TrendFormula& formula, std::string_view value_name) {
    if (formula.response().empty() || formula.response() == value_name) return;
    throw Error("the formula \"{}\" is of {}, but the values are those of {} (--value)", formula.text(),
                formula.response(), value_name);
}

}  // namespace tesela::geo
