#include "tesela/base/fractional_load.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

// By duality T = max Σ_w a_w·min_g y_g·d_wg over prices y ≥ 0 with Σ_g n_g·y_g = 1. Every y gives a value that no x can
// undercut, and the value is concave in y: it is climbed along one price at a time, and for three kinds by a search
// within a search, which cannot stop at an edge.
namespace tesela {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double golden = 0.6180339887498949;
constexpr int steps = 60;                 // narrow an interval to 3·10⁻¹³ of itself
constexpr double most_nested_work = 2e7;  // evaluations of a min: some 0.1 s

/// The kinds of which there are machines, and shares s_g = n_g·y_g of them.
class Dual {
public:
    explicit Dual(const FractionalLoad& load) : load_(load) {
        for (std::size_t g = 0; g < load.machines.size(); ++g)
            if (load.machines[g] > 0) kinds_.push_back(g);
        shares_.assign(kinds_.size(), 1.0 / static_cast<double>(std::max<std::size_t>(1, kinds_.size())));
    }

    [[nodiscard]] double maximum() {
        if (kinds_.empty()) return none_at_all() ? 0 : infinite;
        double best = value();
        if (kinds_.size() == 1) return best;
        if (kinds_.size() == 3 && nested_work() <= most_nested_work) return std::max(best, nested());
        for (int round = 0; round < (kinds_.size() > 2 ? 8 : 1); ++round)
            for (std::size_t a = 0; a < kinds_.size(); ++a)
                for (std::size_t b = a + 1; b < kinds_.size(); ++b) best = std::max(best, balance(a, b));
        return best;
    }

private:
    [[nodiscard]] bool none_at_all() const {
        return std::all_of(load_.amounts.begin(), load_.amounts.end(), [](double amount) { return amount == 0; });
    }
    [[nodiscard]] double nested_work() const {
        return static_cast<double>(steps) * steps * static_cast<double>(load_.amounts.size() * kinds_.size());
    }

    [[nodiscard]] double value() const {
        double total = 0;
        for (std::size_t w = 0; w < load_.amounts.size(); ++w) {
            if (load_.amounts[w] == 0) continue;
            double least = infinite;
            for (std::size_t k = 0; k < kinds_.size(); ++k) {
                const double seconds = load_.seconds[w][kinds_[k]];
                if (seconds < infinite) least = std::min(least, shares_[k] / load_.machines[kinds_[k]] * seconds);
            }
            total += load_.amounts[w] * least;
        }
        return total;
    }

    /// The largest value of a concave function on [0, end].
    template <class Function>
    static double climb(double end, Function at) {
        double low = 0;
        double high = end;
        double left = high - golden * (high - low);
        double right = low + golden * (high - low);
        double at_left = at(left);
        double at_right = at(right);
        double best = std::max({at(0), at(end), at_left, at_right});
        for (int step = 0; step < steps; ++step) {
            if (at_left < at_right) {
                low = std::exchange(left, right);
                at_left = at_right;
                right = low + golden * (high - low);
                at_right = at(right);
            } else {
                high = std::exchange(right, left);
                at_right = at_left;
                left = high - golden * (high - low);
                at_left = at(left);
            }
            best = std::max({best, at_left, at_right});
        }
        return best;
    }

    /// Moves share between two kinds to where the value is largest.
    double balance(std::size_t a, std::size_t b) {
        const double sum = shares_[a] + shares_[b];
        double best = -1;
        double best_part = shares_[a];
        climb(sum, [&](double part) {
            shares_[a] = part;
            shares_[b] = sum - part;
            const double here = value();
            if (here > best) {
                best = here;
                best_part = part;
            }
            return here;
        });
        shares_[a] = best_part;
        shares_[b] = sum - best_part;
        return best;
    }

    /// Over the first share, the largest over the other two.
    double nested() {
        return climb(1.0, [&](double first) {
            shares_[0] = first;
            return climb(1 - first, [&](double second) {
                shares_[1] = second;
                shares_[2] = 1 - first - second;
                return value();
            });
        });
    }

    const FractionalLoad& load_;
    std::vector<std::size_t> kinds_;
    std::vector<double> shares_;
};

}  // namespace

double least_seconds(const FractionalLoad& load) { return Dual(load).maximum(); }

}  // namespace tesela
