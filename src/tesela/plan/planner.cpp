#include "tesela/plan/planner.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/kernels/tile.hpp"
#include "tesela/plan/bounds.hpp"
#include "tesela/platform/main_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::plan {
namespace {

/// So often shares of tiles are changed where a run needs more memory than there is.
constexpr int most_corrections = 8;

/// A recipe that may be tried, and what to expect of it.
struct Candidate {
    std::string name{};  ///< of the paper's, or of ours beside them; the others are described
    Recipe recipe;
    double lp_ideal = 0;
    std::string stay{};  ///< ", tiles stay", where they do
    bool varied = false;
};

/// How many nodes of each type own tiles in each phase.
struct UsedNodes {
    std::vector<Index> first;
    std::vector<Index> second;
    friend bool operator==(const UsedNodes&, const UsedNodes&) = default;
};

/// The best candidate that uses such nodes, from which variations go on.
struct Start {
    UsedNodes nodes;
    Candidate candidate;
    double makespan = 0;
    double step = 0.2;  ///< by which shares are varied
};

/// A choice of nodes, solved.
struct SolvedChoice {
    NodeChoice nodes;
    std::vector<double> first;
    std::vector<double> second;
    double ideal = 0;
    RowConstraint rows{};  ///< for 1d_constrained
    std::size_t turn = 0;  ///< among all choices, by which its families are tried
};

/// A family with the shares of a choice.
struct Trial {
    std::size_t rank = 0;  ///< the order in which they are tried
    const SolvedChoice* choice = nullptr;
    std::string family;
    SharesOf shares = SharesOf::both;
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
        RecorderOfMatrix recorder(application_.matrix, platform_, ranks());
        const Distribution any = squarest_block_cyclic(application_.matrix.tiles, nodes_);
        application_.submit(recorder, {.first = any, .second = any});
        const Recording& recording = recorder.recording();
        tile_bytes_ = recorder.tile_bytes();
        note_unknown_memory();
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

    void note_unknown_memory() {
        std::vector<std::string> names;
        for (const NodeType& type : platform_.node_types)
            if (type.memory == unknown_memory) names.push_back(type.name);
        if (!names.empty())
            result_.notes.push_back(fmt::format("{} gives no memory of {}: these nodes may get any number of tiles",
                                                platform_.name, fmt::join(names, " and ")));
    }

    [[nodiscard]] SimulationResult simulated(const PhaseDistributions& distributions) const {
        const auto known = std::ranges::find(options_.known, distributions, &Strategy::distributions);
        if (known != options_.known.end()) return known->simulated;
        SimulatedEngine engine(platform_, options_.simulation);
        application_.submit(engine, distributions);
        return engine.result();
    }

    /// Simulates it; the best is kept. Throws OverMemory where it needs more memory than there is.
    const Strategy& judge(Strategy strategy) {
        strategy.memory.first = node_loads(strategy.distributions.first, tile_bytes_);
        strategy.memory.second = node_loads(strategy.distributions.second, tile_bytes_);
        require_memory(strategy.memory, platform_);
        if (options_.progress) options_.progress(result_.simulated, best_ ? best_->simulated.makespan : 0);
        strategy.simulated = simulated(strategy.distributions);
        strategy.moved =
            count_moves(strategy.distributions.first, strategy.distributions.second, application_.matrix.stored())
                .moved;
        ++result_.simulated;
        strategy.memory.peak = strategy.simulated.memory_peak;
        require_memory(strategy.memory, platform_);
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
            judge(Strategy{.name = describe(candidate, made),
                           .family = candidate.recipe.family,
                           .distributions = made,
                           .lp_ideal = candidate.lp_ideal > 0 ? std::optional(candidate.lp_ideal) : std::nullopt,
                           .moved_if_independent = moves_if_independent(candidate.recipe, made.second)});
        if (!candidate.varied) note_start(candidate, judged);
        return judged;
    }

    /// How many nodes of each type own any of the tiles.
    [[nodiscard]] std::vector<Index> owners_by_type(const Distribution& distribution) const {
        const std::vector<Index> tiles = tile_counts(distribution, matrix_.stored());
        std::vector<Index> result(type_count(), 0);
        for (Index n = 0; n < nodes_; ++n)
            if (tiles[static_cast<std::size_t>(n)] > 0) ++result[type_of(n)];
        return result;
    }
    [[nodiscard]] UsedNodes used_nodes(const PhaseDistributions& owners) const {
        return {.first = owners_by_type(owners.first), .second = owners_by_type(owners.second)};
    }

    /// "1d1d, second phase on chifflet and 2 chifflot, varied": by the nodes that own tiles in the end, of which there
    /// may be fewer than were chosen.
    [[nodiscard]] std::string describe(const Candidate& candidate, const PhaseDistributions& owners) const {
        std::string name = candidate.name;
        if (name.empty()) name = candidate.recipe.family + words_of(used_nodes(owners));
        return name + candidate.stay + (candidate.varied ? ", varied" : "");
    }

    /// Where variations may go on from.
    void note_start(const Candidate& candidate, const Strategy& judged) {
        const Start start{
            .nodes = used_nodes(judged.distributions), .candidate = candidate, .makespan = judged.simulated.makespan};
        const auto same = std::ranges::find(starts_, start.nodes, &Start::nodes);
        if (same == starts_.end())
            starts_.push_back(start);
        else if (start.makespan < same->makespan)
            *same = start;
    }

    /// One that has a name, or a note why it is not there.
    template <class Make>
    void named(const char* name, Make make) {
        try {
            result_.strategies.push_back(make());
        } catch (const OverMemory& lack) {
            note_lack(lack);
            result_.notes.push_back(fmt::format("no {}: {}", name, lack.what()));
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

    SolvedChoice solve(const NodeChoice& choice) {
        const PhaseModel model{
            .counts = counts_, .groups = resource_groups(platform_, counts_, choice), .first = application_.first};
        const PhaseSolution solution = solve_phases(model);
        if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
        SolvedChoice solved{.nodes = choice,
                            .first = phase_powers(model, solution, Part::first, nodes_),
                            .second = phase_powers(model, solution, Part::second, nodes_),
                            .ideal = solution.ideal,
                            .rows = row_constraint(solution)};
        if (!choice.most_shares.empty() || fits(solved)) return solved;
        NodeChoice bounded = choice;
        bounded.most_shares = most_shares();
        return solve(bounded);
    }

    /// Of the tiles, that the memory of a node of each type has room for.
    [[nodiscard]] std::vector<double> most_shares() const {
        std::vector<double> shares;
        for (const NodeType& type : platform_.node_types)
            shares.push_back(type.memory == unknown_memory ? 1 : std::min(1.0, type.memory / tile_bytes_.total()));
        return shares;
    }
    [[nodiscard]] bool fits(const SolvedChoice& solved) const {
        const std::vector<double> most = most_shares();
        std::size_t node = 0;
        for (std::size_t type = 0; type < type_count(); ++type)
            for (Index n = 0; n < platform_.node_types[type].count; ++n, ++node)
                if (std::max(solved.first[node], solved.second[node]) > most[type]) return false;
        return true;
    }

    /// The choice with lower bounds on the shares of nodes that were short of memory. Copies of others' tiles become
    /// fewer where a node owns fewer, but not as many fewer: so shares shrink somewhat less than what is needed must.
    SolvedChoice with_less_room(const SolvedChoice& solved, const PlannedMemory& memory) {
        const double damping = memory.peak.empty() ? 1 : 0.8;
        constexpr double a_little_less = 0.99;
        NodeChoice choice = solved.nodes;
        if (choice.most_shares.empty()) choice.most_shares = most_shares();
        const std::vector<double> needed = memory.peak.empty() ? least_needed(memory) : memory.peak;
        for (const MemoryShortage& shortage : memory_shortages(platform_, needed, NeededFor::tiles)) {
            const auto node = static_cast<std::size_t>(shortage.node);
            const double share = std::max(solved.first[node], solved.second[node]);
            double& most = choice.most_shares[type_of(shortage.node)];
            most = std::min(most, a_little_less * share * std::pow(shortage.ratio(), -damping));
        }
        return solve(choice);
    }
    [[nodiscard]] std::size_t type_of(Index node) const {
        std::size_t type = 0;
        while (node >= platform_.node_types[type].count) node -= platform_.node_types[type++].count;
        return type;
    }

    /// With less and less room for tiles until they fit, and what the run keeps beside them.
    template <class Make>
    const Strategy& judge_within_memory(SolvedChoice choice, const Make& candidate) {
        for (int corrections = 0;; ++corrections) try {
                return judge(candidate(choice));
            } catch (const OverMemory& lack) {
                note_lack(lack);
                if (corrections == most_corrections) throw;
                choice = with_less_room(choice, lack.memory());
            }
    }
    /// Of all that do not fit what is nearest to it; of those that were not simulated it is not known what they need.
    void note_lack(const OverMemory& lack) {
        const auto rank = [](const OverMemory& of) { return std::pair(of.memory().peak.empty(), of.worst().ratio()); };
        if (!least_lack_ || rank(lack) < rank(*least_lack_)) least_lack_ = lack;
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
        Candidate candidate{.recipe = {.family = family, .second = choice.second}, .lp_ideal = choice.ideal};
        if (family == "1d_constrained") candidate.recipe.rows = choice.rows;
        if (has_first_phase()) candidate.recipe.first = choice.first;
        return candidate;
    }

    /// By the linear program for all nodes.
    const Strategy& judge_by_program(const char* name, const std::string& family, HandOver hand_over) {
        return judge_within_memory(*everyone_, [&](const SolvedChoice& choice) {
            Candidate candidate = with_family(choice, family);
            candidate.name = name;
            candidate.recipe.owners = families_.first_of_lp;
            candidate.recipe.hand_over = hand_over;
            return candidate;
        });
    }

    Strategy by_updates(const std::string& family) {
        return judge(Candidate{.name = family,
                               .recipe = {.family = family,
                                          .second = update_powers(platform_, application_.matrix.tile),
                                          .owners = families_.first_of_plain}});
    }

    void add_named() {
        named(families_.plain.c_str(), [&] { return by_updates(families_.plain); });
        if (!families_.triangle.empty())
            named(families_.triangle.c_str(), [&] { return by_updates(families_.triangle); });
        named("lp", [&] {
            everyone_ = solve({});
            // As in the paper: where we have another for triangles, tiles change hands as its algorithm 2 prints it.
            return judge_by_program("lp", families_.plain,
                                    families_.triangle.empty() ? HandOver::steadiest : HandOver::paper);
        });
        if (!everyone_) return;
        if (!families_.triangle.empty())
            named("lp_triangle",
                  [&] { return judge_by_program("lp_triangle", families_.triangle, HandOver::steadiest); });
        if (!families_.constrained.empty())
            named("lp_constrained",
                  [&] { return judge_by_program("lp_constrained", families_.constrained, HandOver::steadiest); });
    }

    /// ", second phase on chifflet and 2 chifflot", of which there are more; nothing where all nodes own tiles.
    [[nodiscard]] std::string words_of(const UsedNodes& nodes) const {
        const std::vector<Index> all = all_nodes();
        if (nodes.first == nodes.second) return nodes.first == all ? "" : ", all on " + words_of(nodes.first);
        std::string words;
        if (nodes.first != all) words += ", first phase on " + words_of(nodes.first);
        if (nodes.second != all) words += ", second phase on " + words_of(nodes.second);
        return words;
    }
    [[nodiscard]] std::string words_of(const std::vector<Index>& counts) const {
        std::vector<std::string> names;
        for (std::size_t t = 0; t < type_count(); ++t) {
            const NodeType& type = platform_.node_types[t];
            if (counts[t] > 0)
                names.push_back(counts[t] == type.count ? type.name : fmt::format("{} {}", counts[t], type.name));
        }
        return fmt::format("{}", fmt::join(names, " and "));
    }

    /// Every choice that leaves out some node types, or some nodes of one type, of the second phase or altogether.
    /// Those of types have two turns while those of nodes, whose ideals are all but the same, have one.
    std::vector<SolvedChoice> choices() {
        std::vector<SolvedChoice> types;
        if (everyone_) types.push_back(*everyone_);
        add_fewer_types(types);
        std::vector<SolvedChoice> nodes;
        add_fewer_nodes(nodes);
        for (std::vector<SolvedChoice>* kind : {&types, &nodes}) {
            std::ranges::stable_sort(*kind, {}, &SolvedChoice::ideal);
            for (std::size_t c = 0; c < kind->size(); ++c) (*kind)[c].turn = kind == &types ? c : 2 * c + 2;
        }
        types.insert(types.end(), nodes.begin(), nodes.end());
        return types;
    }

    [[nodiscard]] std::vector<Index> all_nodes() const {
        std::vector<Index> counts;
        for (const NodeType& type : platform_.node_types) counts.push_back(type.count);
        return counts;
    }

    void add_fewer_types(std::vector<SolvedChoice>& to) {
        constexpr std::size_t most_types = 6;
        if (type_count() > most_types) {
            result_.notes.push_back(fmt::format("there are {} node types: which to leave out is tried for up to {}",
                                                type_count(), most_types));
            return;
        }
        const std::size_t all = (std::size_t{1} << type_count()) - 1;
        for (std::size_t bits = 1; bits < all; ++bits) {
            std::vector<Index> counts = all_nodes();
            for (std::size_t t = 0; t < type_count(); ++t)
                if ((bits >> t & 1U) == 0) counts[t] = 0;
            add_choices(counts, to);
        }
    }

    /// Half of the nodes of a type, a quarter, and so on down to one, beside all others and alone.
    void add_fewer_nodes(std::vector<SolvedChoice>& to) {
        for (std::size_t t = 0; t < type_count(); ++t)
            for (Index count = platform_.node_types[t].count / 2; count > 0; count /= 2) {
                std::vector<Index> alone(type_count(), 0);
                alone[t] = count;
                add_choices(alone, to);
                std::vector<Index> beside = all_nodes();
                beside[t] = count;
                if (beside != alone) add_choices(beside, to);
            }
    }

    void add_choices(const std::vector<Index>& counts, std::vector<SolvedChoice>& to) {
        add_choice({.first = {}, .second = counts}, to);
        if (has_first_phase()) add_choice({.first = counts, .second = counts}, to);
    }

    /// Unless the nodes that are left cannot do it.
    void add_choice(const NodeChoice& choice, std::vector<SolvedChoice>& to) {
        if (!may_go_on(1)) return;
        try {
            to.push_back(solve(choice));
        } catch (const Error&) {
            return;
        }
    }

    /// The same family by the shares of one phase or of both.
    [[nodiscard]] Candidate by_shares(const SolvedChoice& choice, const std::string& family, SharesOf shares) const {
        Candidate candidate = with_family(choice, family);
        if (shares == SharesOf::both) return candidate;
        candidate.stay = shares == SharesOf::second ? ", tiles stay" : ", tiles stay by the shares of the first phase";
        if (shares == SharesOf::first) candidate.recipe.second = candidate.recipe.first;
        candidate.recipe.first.clear();
        return candidate;
    }

    /// Of each choice the families, by the shares of both phases and of one, without moving a tile. The better the
    /// ideal of a choice and the more usual a family, the earlier: every family has its turn with the best choices
    /// before the worst choices have theirs.
    [[nodiscard]] std::vector<Trial> trials(const std::vector<SolvedChoice>& solved) const {
        std::vector<Trial> result;
        const std::vector<SharesOf>& shares = families_.shares;
        for (const SolvedChoice& choice : solved) {
            const std::vector<std::string> known = families_for(choice);
            for (std::size_t f = 0; f < known.size(); ++f)
                for (std::size_t k = 0; k < shares.size(); ++k)
                    if (is_worth_trying(choice, shares[k]))
                        result.push_back({shares.size() * (choice.turn + f) + k, &choice, known[f], shares[k]});
        }
        std::ranges::stable_sort(result, {}, &Trial::rank);
        return result;
    }

    /// On a single node all are the same.
    [[nodiscard]] std::vector<std::string> families_for(const SolvedChoice& choice) const {
        if (std::ranges::count_if(choice.second, [](double share) { return share > 0; }) == 1) return {families_.plain};
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
    template <class Judge>
    void try_out(const Candidate& candidate, const Judge& judged) {
        if (is_tried(candidate)) return;
        try {
            judged();
        } catch (const Error&) {
            return;
        }
    }

    /// Until something fits, however short the budget is, but not for ever.
    [[nodiscard]] bool may_go_on(double share) const {
        constexpr Index most_without_a_plan = 40;
        return best_ ? has_time(share) : result_.simulated < most_without_a_plan;
    }

    /// Leaves a part of the budget for variations of what it finds.
    void search() {
        constexpr double share = 0.6;
        constexpr double hopeless = 1.2;  // ideals are no bounds: where few workers read, runs came out 9 % shorter
        const std::vector<SolvedChoice> solved = choices();
        for (const Trial& trial : trials(solved)) {
            if (!may_go_on(share)) return;
            if (best_ && trial.choice->ideal > hopeless * best_->simulated.makespan) continue;
            const auto candidate = [&](const SolvedChoice& choice) {
                return by_shares(choice, trial.family, trial.shares);
            };
            try_out(candidate(*trial.choice), [&] { (void)judge_within_memory(*trial.choice, candidate); });
        }
    }

    /// The shares of one node type times a factor, in one of the phases; none where that changes nothing.
    [[nodiscard]] std::optional<Candidate> varied(const Candidate& from, std::size_t type, Part part,
                                                  double factor) const {
        Candidate candidate = from;
        candidate.varied = true;
        std::vector<double>& shares = part == Part::first ? candidate.recipe.first : candidate.recipe.second;
        if (shares.empty()) return std::nullopt;
        double changed = 0;
        std::size_t node = 0;
        for (std::size_t t = 0; t < type_count(); ++t)
            for (Index n = 0; n < platform_.node_types[t].count; ++n, ++node)
                if (t == type) {
                    shares[node] *= factor;
                    changed += shares[node];
                }
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        if (changed == 0 || changed >= sum) return std::nullopt;
        for (double& share : shares) share /= sum;
        return candidate;
    }

    /// Goes on from it with whatever change of one type's share in one phase makes it better.
    void vary(Start& start) {
        const double before = start.makespan;
        for (std::size_t type = 0; type < type_count(); ++type)
            for (const Part part : {Part::first, Part::second})
                for (const double factor : {1 + start.step, 1 / (1 + start.step)})
                    if (const auto next = varied(start.candidate, type, part, factor); next && has_time())
                        try_out(*next, [&] {
                            const double makespan = judge(*next).simulated.makespan;
                            if (makespan >= start.makespan) return;
                            start.candidate = *next;
                            start.makespan = makespan;
                        });
        if (start.makespan >= before) start.step /= 2;
    }

    /// The best by turns, since a few nodes more may make a better start and a worse end.
    void vary_best() {
        constexpr std::size_t most = 3;
        constexpr double hopeless = 1.05;  // of those further behind few catch up
        std::ranges::stable_sort(starts_, {}, &Start::makespan);
        if (starts_.size() > most) starts_.resize(most);
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (Start& start : starts_) {
                if (start.step <= 0.02 || start.makespan > hopeless * best_->simulated.makespan || !has_time())
                    continue;
                vary(start);
                goes_on = true;
            }
        }
    }

    Planned finish() {
        if (!best_ && least_lack_)
            throw Error("no plan fits into memory; in the one that comes nearest {}: take more nodes, or larger ones",
                        least_lack_->what());
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
    TileMap tile_bytes_;  ///< of the matrix
    std::optional<SolvedChoice> everyone_;
    std::optional<OverMemory> least_lack_;  ///< of what was too large
    std::optional<Strategy> best_;
    std::vector<Start> starts_;
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

void require_simulable(const Application& application) {
    constexpr double most = 25e6;
    const Index tiles = application.matrix.tiles.rows;
    const auto side = static_cast<double>(tiles);
    const bool triangle = stored_tiles(application.matrix.operation) == Stored::lower;
    const double tasks = application.tasks.value_or(side * side * side / (triangle ? 6 : 3));
    if (tasks > most)
        throw Error(
            "{0} x {0} tiles make about {1:.0f} million tasks, and strategies of at most {2:.0f} million are "
            "simulated: "
            "choose larger tiles",
            tiles, tasks / 1e6, most / 1e6);
}

double Planned::gain_of(const Strategy& strategy) const {
    const auto fast = std::ranges::find(strategies, "bc_fast", &Strategy::name);
    const Strategy& reference = fast == strategies.end() ? strategies.front() : *fast;
    return reference.simulated.makespan > 0 ? 1 - strategy.simulated.makespan / reference.simulated.makespan : 0;
}

Planned make_plan(const Application& application, const Platform& platform, const PlanOptions& options) {
    check_platform(platform);
    return Planner(application, platform, options).run();
}

}  // namespace tesela::plan
