#include "tesela/plan/planner.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/kernels/tile.hpp"
#include "tesela/plan/bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::plan {
namespace {

/// A recipe that may be tried, and what to expect of it.
struct Candidate {
    std::string name;
    Recipe recipe;
    double lp_ideal = 0;
};

/// A choice of node types, solved.
struct SolvedChoice {
    std::string words;
    std::vector<double> first;
    std::vector<double> second;
    double ideal = 0;
    RowConstraint rows{};  ///< for 1d_constrained
};

class Planner {
public:
    Planner(const Application& application, const Platform& platform, const PlanOptions& options)
        : application_(application),
          platform_(platform),
          options_(options),
          matrix_(application.matrix),
          families_(application.families.value_or(families_of(application.matrix.operation))),
          nodes_(node_count(platform)) {}

    Planned run() {
        count();
        add_block_cyclic();
        add_named();
        search();
        vary_best();
        return finish();
    }

private:
    /// Of the budget, or a share of it.
    [[nodiscard]] bool has_time(double share = 1) const {
        return seconds_since(start_) < share * options_.budget_seconds &&
               (options_.most_simulations == 0 ||
                static_cast<double>(result_.simulated) < share * static_cast<double>(options_.most_simulations));
    }
    [[nodiscard]] bool has_first_phase() const {
        return std::ranges::any_of(counts_.types, [](const TaskType& t) { return t.part == Part::first; });
    }
    [[nodiscard]] std::size_t type_count() const { return platform_.node_types.size(); }

    void count() {
        const Recording recording = recorded(application_, nodes_);
        counts_ = count_steps(recording, application_.steps, ranks(), platform_.recompression);
        weigh_by_ranks();
        note_unknown_tasks(recording);
        row_steps_ = last_steps_of_rows(recording, application_.steps, application_.matrix.tiles.rows);
        result_.lower_bound = std::max(area_bound(counts_, resource_groups(platform_, counts_)),
                                       critical_path(recording, platform_, ranks()));
    }

    /// Those that strategies are simulated with are planned for.
    [[nodiscard]] const RankModel& ranks() const { return options_.simulation.ranks; }

    /// What ranks make of the weights of tiles and of the mean work of kernels.
    void weigh_by_ranks() {
        if (!ranks().rank) return;
        matrix_.density = TileMap(matrix_.tiles);
        for (Index i = 0; i < matrix_.tiles.rows; ++i)
            for (Index j = 0; j < matrix_.tiles.cols; ++j) {
                const Index rank = ranks().rank(matrix_.name, {i, j});
                const double share = static_cast<double>(rank) / static_cast<double>(matrix_.tile);
                matrix_.density[{i, j}] = rank == dense_rank ? 1 : std::min(1.0, share);
            }
        matrix_.ratios = {.factor = 1,
                          .solve = ratio_of("dtrsm"),
                          .symmetric_update = ratio_of("dsyrk"),
                          .update = ratio_of("dgemm")};
    }
    [[nodiscard]] double ratio_of(const char* kernel) const {
        const auto type = std::ranges::find(counts_.types, kernel, &TaskType::kernel);
        return type == counts_.types.end() ? 1 : type->ratio;
    }

    /// A rule that leaves a phase out by mistake would plan without it.
    void note_unknown_tasks(const Recording& recording) {
        Index known = 0;
        for (const TaskType& type : counts_.types) known += type.tasks;
        const Index all = std::ranges::count(recording.items, RecordedItem::Kind::task, &RecordedItem::kind);
        if (2 * known < all)
            result_.notes.push_back(
                fmt::format("the rule of steps knows {} of {} tasks: plans are for these", known, all));
        if (std::ranges::none_of(counts_.types, [](const TaskType& t) { return t.part == Part::second; }))
            result_.notes.emplace_back("the rule of steps knows no task of the second phase");
    }

    /// Simulates it; the best is kept.
    const Strategy& judge(Strategy strategy) {
        if (options_.progress) options_.progress(result_.simulated, best_ ? best_->simulated.makespan : 0);
        SimulatedEngine engine(platform_, options_.simulation);
        application_.submit(engine, strategy.distributions);
        strategy.simulated = engine.result();
        strategy.moved =
            count_moves(strategy.distributions.first, strategy.distributions.second, application_.matrix.stored())
                .moved;
        ++result_.simulated;
        last_ = std::move(strategy);
        if (!best_ || last_.simulated.makespan < best_->simulated.makespan) best_ = last_;
        return last_;
    }

    /// Tiles that would move if the first phase had a distribution of its own; none where it has no shares.
    [[nodiscard]] std::optional<Index> moves_if_independent(const Recipe& recipe, const Distribution& second) const {
        if (recipe.first.empty()) return std::nullopt;
        const Recipe alone{.family = families_.plain, .second = recipe.first};
        return count_moves(distributions_of(alone, matrix_, platform_).second, second, matrix_.stored()).moved;
    }

    const Strategy& judge(const Candidate& candidate) {
        tried_.push_back(candidate.recipe);
        const PhaseDistributions made = distributions_of(candidate.recipe, matrix_, platform_);
        const Strategy& judged =
            judge(Strategy{.name = candidate.name,
                           .family = candidate.recipe.family,
                           .distributions = made,
                           .lp_ideal = candidate.lp_ideal > 0 ? std::optional(candidate.lp_ideal) : std::nullopt,
                           .moved_if_independent = moves_if_independent(candidate.recipe, made.second)});
        if (best_ && best_->simulated.makespan == judged.simulated.makespan) best_recipe_ = candidate;
        return judged;
    }

    /// One that has a name, or a note why it is not there.
    template <class Make>
    void named(const char* name, Make make) {
        try {
            result_.strategies.push_back(make());
        } catch (const Error& error) {
            result_.notes.push_back(fmt::format("no {}: {}", name, error.what()));
        }
    }

    Strategy block_cyclic_on(const char* name, const std::vector<Index>& nodes) {
        const Distribution some = squarest_block_cyclic(application_.matrix.tiles, static_cast<Index>(nodes.size()));
        const Distribution all = on_nodes(some, nodes, nodes_);
        return judge(Strategy{.name = name, .family = "block_cyclic", .distributions = {all, all}});
    }

    void add_block_cyclic() {
        std::vector<Index> all;
        for (Index n = 0; n < nodes_; ++n) all.push_back(n);
        named("bc_all", [&] { return block_cyclic_on("bc_all", all); });
        named("bc_fast", [&] { return block_cyclic_on("bc_fast", fast_nodes(platform_, application_.matrix.tile)); });
    }

    SolvedChoice solve(const NodeChoice& choice, std::string words) {
        const PhaseModel model{
            .counts = counts_, .groups = resource_groups(platform_, counts_, choice), .first = application_.first};
        const PhaseSolution solution = solve_phases(model);
        if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
        return {.words = std::move(words),
                .first = phase_powers(model, solution, Part::first, nodes_),
                .second = phase_powers(model, solution, Part::second, nodes_),
                .ideal = solution.ideal,
                .rows = row_constraint(solution)};
    }

    /// Section 4.4: a row is there when its last tile has been made; on it wait as many dgemm as it has tiles, one
    /// after the other (the paper's r/bs of them would be 1.6). Two milliseconds per row are tolerated.
    [[nodiscard]] RowConstraint row_constraint(const PhaseSolution& solution) const {
        const GridSize tiles = application_.matrix.tiles;
        RowConstraint result{.chain_seconds = update_seconds(tiles.cols),
                             .ready_seconds = {},
                             .expected_seconds = solution.ideal,
                             .tolerance_seconds = 2e-3 * static_cast<double>(tiles.rows)};
        for (const Index step : row_steps_)
            result.ready_seconds.push_back(solution.first_ends[static_cast<std::size_t>(step)]);
        return result;
    }

    /// Of so many dgemm of the application, one after the other on the fastest worker of each node.
    [[nodiscard]] std::vector<double> update_seconds(Index times) const {
        const auto update = std::ranges::find(counts_.types, "dgemm", &TaskType::kernel);
        std::vector<double> result;
        for (const NodeType& type : platform_.node_types) {
            const double once = update == counts_.types.end() ? 0 : fastest_seconds(type, "dgemm", update->work);
            result.insert(result.end(), static_cast<std::size_t>(type.count),
                          static_cast<double>(times) * ratio_of("dgemm") * once);
        }
        return result;
    }

    [[nodiscard]] Candidate with_family(const SolvedChoice& choice, const std::string& family) const {
        Candidate candidate{.name = choice.words.empty() ? family : fmt::format("{}, {}", family, choice.words),
                            .recipe = {.family = family, .second = choice.second},
                            .lp_ideal = choice.ideal};
        if (family == "1d_constrained") candidate.recipe.rows = choice.rows;
        if (has_first_phase()) candidate.recipe.first = choice.first;
        return candidate;
    }

    /// By the linear program for all nodes.
    [[nodiscard]] Candidate by_program(const char* name, const std::string& family) const {
        Candidate candidate = with_family(*everyone_, family);
        candidate.name = name;
        candidate.recipe.owners = families_.first_of_lp;
        return candidate;
    }

    Strategy by_updates(const std::string& family) {
        return judge(Candidate{.name = family,
                               .recipe = {.family = family,
                                          .second = update_powers(platform_, application_.matrix.tile),
                                          .owners = families_.first_of_plain}});
    }

    /// As in the paper: where we have another for triangles, tiles change hands as its algorithm 2 prints it.
    Strategy plain_by_program() {
        Candidate candidate = by_program("lp", families_.plain);
        if (!families_.triangle.empty()) candidate.recipe.hand_over = HandOver::paper;
        return judge(candidate);
    }

    void add_named() {
        named(families_.plain.c_str(), [&] { return by_updates(families_.plain); });
        if (!families_.triangle.empty())
            named(families_.triangle.c_str(), [&] { return by_updates(families_.triangle); });
        named("lp", [&] {
            everyone_ = solve({}, "");
            return plain_by_program();
        });
        if (!everyone_) return;
        if (!families_.triangle.empty())
            named("lp_triangle", [&] { return judge(by_program("lp_triangle", families_.triangle)); });
        if (!families_.constrained.empty())
            named("lp_constrained", [&] { return judge(by_program("lp_constrained", families_.constrained)); });
    }

    /// "second phase on chifflet and chifflot"
    [[nodiscard]] std::string words_of(const std::vector<bool>& chosen, const char* what) const {
        std::vector<std::string> names;
        for (std::size_t t = 0; t < type_count(); ++t)
            if (chosen[t]) names.push_back(platform_.node_types[t].name);
        return fmt::format("{} on {}", what, fmt::join(names, " and "));
    }

    /// Every choice of node types that leaves some out, of the second phase or altogether.
    std::vector<SolvedChoice> choices() {
        std::vector<SolvedChoice> result;
        if (everyone_) result.push_back(*everyone_);
        constexpr std::size_t most_types = 6;
        if (type_count() > most_types) {
            result_.notes.push_back(fmt::format("there are {} node types: which to leave out is tried for up to {}",
                                                type_count(), most_types));
            return result;
        }
        const std::size_t all = (std::size_t{1} << type_count()) - 1;
        for (std::size_t bits = 1; bits < all; ++bits) {
            std::vector<bool> chosen;
            for (std::size_t t = 0; t < type_count(); ++t) chosen.push_back((bits >> t & 1U) != 0);
            add_choice({.first = {}, .second = chosen}, words_of(chosen, "second phase"), result);
            if (has_first_phase()) add_choice({.first = chosen, .second = chosen}, words_of(chosen, "all"), result);
        }
        std::ranges::stable_sort(result, {}, &SolvedChoice::ideal);
        return result;
    }

    /// Unless the nodes that are left cannot do it.
    void add_choice(const NodeChoice& choice, std::string words, std::vector<SolvedChoice>& to) {
        if (!has_time()) return;
        try {
            to.push_back(solve(choice, std::move(words)));
        } catch (const Error&) {
            return;
        }
    }

    /// The same family by the shares of one phase or of both.
    [[nodiscard]] Candidate by_shares(const SolvedChoice& choice, const std::string& family, SharesOf shares) const {
        Candidate candidate = with_family(choice, family);
        if (shares == SharesOf::both) return candidate;
        candidate.name += shares == SharesOf::second ? ", tiles stay" : ", tiles stay by the shares of the first phase";
        if (shares == SharesOf::first) candidate.recipe.second = candidate.recipe.first;
        candidate.recipe.first.clear();
        return candidate;
    }

    /// Of each choice the families, by the shares of both phases and of one, without moving a tile. The better the
    /// ideal of a choice and the more usual a family, the earlier: every family has its turn with the best choices
    /// before the worst choices have theirs.
    [[nodiscard]] std::vector<Candidate> candidates() {
        struct Ranked {
            std::size_t rank = 0;
            Candidate candidate;
        };
        std::vector<Ranked> ranked;
        const std::vector<SolvedChoice> solved = choices();
        const std::vector<std::string> known = families();
        const std::vector<SharesOf>& shares = families_.shares;
        for (std::size_t c = 0; c < solved.size(); ++c)
            for (std::size_t f = 0; f < known.size(); ++f)
                for (std::size_t k = 0; k < shares.size(); ++k)
                    if (is_worth_trying(solved[c], shares[k]))
                        ranked.push_back({shares.size() * (c + f) + k, by_shares(solved[c], known[f], shares[k])});
        std::ranges::stable_sort(ranked, {}, &Ranked::rank);
        std::vector<Candidate> result;
        for (Ranked& one : ranked) result.push_back(std::move(one.candidate));
        return result;
    }

    [[nodiscard]] std::vector<std::string> families() const {
        std::vector<std::string> result{families_.constrained, families_.triangle, families_.plain};
        std::erase(result, "");
        result.insert(result.end(), families_.others.begin(), families_.others.end());
        return result;
    }

    /// Where nodes take part in the first phase alone, its shares are about those of all nodes, which are tried anyway.
    [[nodiscard]] bool is_worth_trying(const SolvedChoice& choice, SharesOf shares) const {
        if (shares == SharesOf::both) return true;
        if (!has_first_phase()) return false;
        if (shares == SharesOf::second) return true;
        return std::ranges::equal(choice.first, choice.second,
                                  [](double first, double second) { return (first > 0) == (second > 0); });
    }

    [[nodiscard]] bool is_tried(const Candidate& candidate) const {
        return std::ranges::find(tried_, candidate.recipe) != tried_.end();
    }

    /// Unless it was tried, or cannot be made, as a family for so few nodes or tiles.
    void try_out(const Candidate& candidate) {
        if (is_tried(candidate)) return;
        try {
            (void)judge(candidate);
        } catch (const Error&) {
            return;
        }
    }

    /// Leaves a part of the budget for variations of what it finds.
    void search() {
        constexpr double share = 0.6;
        constexpr double hopeless = 1.2;  // ideals are no bounds: where few workers read, runs came out 9 % shorter
        for (const Candidate& candidate : candidates()) {
            if (!has_time(share)) return;
            if (best_ && candidate.lp_ideal > hopeless * best_->simulated.makespan) continue;
            try_out(candidate);
        }
    }

    /// The shares of one node type times a factor, in one of the phases.
    [[nodiscard]] std::optional<Candidate> varied(const Candidate& from, std::size_t type, Part part,
                                                  double factor) const {
        Candidate candidate = from;
        std::vector<double>& shares = part == Part::first ? candidate.recipe.first : candidate.recipe.second;
        if (shares.empty()) return std::nullopt;
        std::size_t node = 0;
        for (std::size_t t = 0; t < type_count(); ++t)
            for (Index n = 0; n < platform_.node_types[t].count; ++n, ++node)
                if (t == type) shares[node] *= factor;
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (double& share : shares) share /= sum;
        if (!candidate.name.ends_with(", varied")) candidate.name += ", varied";
        return candidate;
    }

    /// Goes on from the best as long as a change of one type's share in one phase makes it better.
    void vary_best() {
        if (!best_recipe_ || best_recipe_->recipe.second.empty()) return;
        for (double step = 0.2; step > 0.02 && has_time();) {
            const double before = best_->simulated.makespan;
            for (std::size_t type = 0; type < type_count(); ++type)
                for (const Part part : {Part::first, Part::second})
                    for (const double factor : {1 + step, 1 / (1 + step)})
                        if (const auto next = varied(*best_recipe_, type, part, factor); next && has_time())
                            try_out(*next);
            if (best_->simulated.makespan >= before) step /= 2;
        }
    }

    Planned finish() {
        if (!best_) throw Error("no strategy could be made: {}", fmt::join(result_.notes, "; "));
        const std::string name = best_->name;
        result_.why = fmt::format("{}: the shortest of {} simulated", name, result_.simulated);
        Strategy chosen = *best_;
        chosen.name = "chosen";
        result_.strategies.push_back(std::move(chosen));
        result_.seconds = seconds_since(start_);
        return std::move(result_);
    }

    const Application& application_;
    const Platform& platform_;
    const PlanOptions& options_;
    PlannedMatrix matrix_;  ///< the application's, with what its ranks make of it
    Families families_;
    Index nodes_;
    Clock::time_point start_ = Clock::now();
    StepCounts counts_;
    std::vector<Index> row_steps_;  ///< when each row of tiles has been made
    Planned result_;
    std::optional<SolvedChoice> everyone_;
    std::optional<Strategy> best_;
    std::optional<Candidate> best_recipe_;
    std::vector<Recipe> tried_;
    Strategy last_;
};

}  // namespace

Families families_of(Operation operation) {
    Families families;
    if (operation != Operation::cholesky) return families;
    families.triangle = "1d1d_triangle";
    families.constrained = "1d1d_constrained";
    return families;
}

Recording recorded(const Application& application, Index nodes) {
    RecordingEngine recorder(nodes);
    const Distribution any = squarest_block_cyclic(application.matrix.tiles, nodes);
    application.submit(recorder, {.first = any, .second = any});
    return recorder.recording();
}

Planned make_plan(const Application& application, const Platform& platform, const PlanOptions& options) {
    check_platform(platform);
    return Planner(application, platform, options).run();
}

}  // namespace tesela::plan
