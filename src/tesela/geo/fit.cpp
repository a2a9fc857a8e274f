#include "tesela/geo/fit.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/fields.hpp"
#include "tesela/base/units.hpp"
#include "tesela/geo/geometry.hpp"
#include "tesela/geo/internal/evaluation_log.hpp"
#include "tesela/geo/internal/objective.hpp"
#include "tesela/geo/internal/part_of.hpp"

#include <boost/random/sobol.hpp>
#include <boost/random/uniform_01.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace tesela::geo {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Points of a joint scan, and those of a scan of three variables or more.
constexpr Index few_scanned = 16;
constexpr Index many_scanned = 32;
/// Maxima that differ by less are one.
constexpr double same_maximum = 1e-2;

bool more_likely(const SearchPoint& a, const SearchPoint& b) { return a.log_likelihood > b.log_likelihood; }

/// A limit of the caller was reached.
struct EndOfSearch {
    StopReason reason;
};

/// Stands for numbers that are too many to be said.
std::string digest_text(const Digest& digest) { return fmt::format("{:016x}", digest.value()); }

OrderedJson observations_in_question(const Observations& observations) {
    Digest digest;
    for (const auto& column : observations.coordinates) digest.add(column);
    digest.add(observations.values);
    return OrderedJson::array({observations.size(), digest_text(digest)});
}

OrderedJson trend_in_question(const Likelihood& likelihood) {
    Digest digest;
    digest.add(likelihood.basis().at_observations().values);
    return OrderedJson::array({likelihood.basis().size(), digest_text(digest)});
}

/// Where it begins and between what; texts, since a bound may be infinite.
OrderedJson parameters_in_question(const SearchSpace& space) {
    OrderedJson json = OrderedJson::object();
    const CovarianceParameters start = space.at(space.start());
    for (const Parameter p : all_parameters) json[std::string(name(p))] = fmt::format("{}", value_of(start, p));
    for (const Variable& v : space.variables())
        json[fmt::format("bounds of {}", name(v.parameter))] =
            fmt::format("{} {} {} {}", v.lower, v.upper, v.scan_lower, v.scan_upper);
    return json;
}

std::string owners_in_question(const Distribution& distribution) {
    Digest digest;
    for (const std::int32_t owner : distribution.owners()) digest.add(static_cast<std::uint64_t>(owner));
    return digest_text(digest);
}

/// What is searched, and how: a checkpoint of anything else is of no use.
OrderedJson question_of(const Likelihood& likelihood, const SearchSpace& space, const FitOptions& options) {
    const Model& model = likelihood.model();
    OrderedJson question{{"observations", observations_in_question(likelihood.observations())},
                         {"values of the trend", trend_in_question(likelihood)},
                         {"family", name(model.family)},
                         {"metric", name(model.metric)},
                         {"estimation", name_in(estimation_names, model.estimation)},
                         {"center", model.center},
                         {"jitter", model.jitter},
                         {"starts and bounds of the parameters", parameters_in_question(space)},
                         {"optimizer", name_in(optimizer_names, options.optimizer)},
                         {"starts", options.starts},
                         {"scan_points", options.scan_points},
                         {"tolerance", options.tolerance}};
    question.update(to_json(MatrixStorage{likelihood.options().tile, likelihood.options().compression}));
    question["nodes"] = likelihood.stream().engine().node_count();
    question["owners"] = OrderedJson::array({owners_in_question(*likelihood.options().distribution)});
    return question;
}

class Search {
public:
    Search(Likelihood& likelihood, const FitOptions& options);

    [[nodiscard]] FitResult run();

private:
    [[nodiscard]] SearchPoint ask(Objective& on, const std::vector<double>& logs, Wanted wanted);
    [[nodiscard]] SearchPoint answer(Objective& on, const std::vector<double>& logs, Wanted wanted);
    void count(const Objective& on, const SearchPoint& point);
    void stop_at_limits(const Objective& on);
    [[nodiscard]] double agreed_seconds();

    void maximise();
    [[nodiscard]] std::vector<SearchPoint> maxima(Objective& on);
    [[nodiscard]] SearchBox with_smoothness(double smoothness) const;
    [[nodiscard]] std::vector<SearchPoint> climbs_in(Objective& on, const SearchBox& box);
    [[nodiscard]] std::vector<SearchPoint> scan(Objective& on, const SearchBox& box);
    [[nodiscard]] SearchPoint climb_from(Objective& on, const SearchPoint& start, const SearchBox& box);
    [[nodiscard]] SearchPoint best_on_all(const std::vector<SearchPoint>& candidates);
    [[nodiscard]] bool look_to_the_sides();

    void find_warnings();
    void warn(FitWarning::Kind kind, Parameter parameter);
    void warn_if_cut_short();
    void warn_of_other_maxima();
    void warn_if_ill_conditioned();
    [[nodiscard]] bool is_flat(std::size_t variable) const;
    void evaluate_at_best();
    [[nodiscard]] FitResult::Bounds bounds_of(Parameter parameter) const;
    [[nodiscard]] bool is_limit(Parameter parameter) const;

    Likelihood& likelihood_;
    const FitOptions& options_;
    SearchSpace space_;
    SearchBox box_;
    Objective all_;
    std::optional<Part> part_;  ///< where observations are many
    std::optional<EvaluationLog> log_;
    Clock::time_point start_ = Clock::now();
    SearchPoint best_;       ///< on all observations
    SearchPoint best_part_;  ///< on the part
    std::vector<SearchPoint> maxima_;
    std::vector<double> sides_;  ///< by variable: the smallest change to a side
    FitResult result_;
};

Search::Search(Likelihood& likelihood, const FitOptions& options)
    : likelihood_(likelihood),
      options_(options),
      space_(likelihood),
      box_(box_of(space_)),
      all_(likelihood, space_),
      sides_(space_.variables().size(), infinity) {
    if (options_.max_evaluations < 2)
        throw Error("a fit needs at least 2 evaluations; {} are allowed", options_.max_evaluations);
    if (options_.starts < 1) throw Error("a fit needs at least 1 start; {} are asked for", options_.starts);
    if (!(options_.tolerance > 0)) throw Error("the tolerance of a fit must be above 0; it is {}", options_.tolerance);
    if (options_.max_seconds < 0)
        throw Error("the time for a fit must not be negative; it is {}", options_.max_seconds);
    const Index wanted = points_of_the_scan(all_.points(), options_);
    if (wanted < all_.points()) part_.emplace(likelihood_, wanted);
    if (part_) part_->objective.emplace(*part_->likelihood, space_);
    if (options_.checkpoint.empty()) return;
    log_.emplace();
    Engine& engine = likelihood_.stream().engine();
    std::string wrong;
    try {
        if (engine.is_first()) log_.emplace(options_.checkpoint, question_of(likelihood_, space_, options_));
    } catch (const Error& error) {
        wrong = error.what();
    }
    if (const auto told = engine.gather(wrong); !told.front().empty()) throw Error("{}", told.front());
}

// --- asking ----------------------------------------------------------------------------------------------------------

/// The time that node 0 has spent: nodes that looked at their own clocks might not stop at the same evaluation.
double Search::agreed_seconds() { return likelihood_.stream().engine().broadcast(seconds_since(start_)); }

/// One evaluation is kept for the end.
void Search::stop_at_limits(const Objective& on) {
    if (!std::isfinite(best_.log_likelihood) && !std::isfinite(best_part_.log_likelihood))
        return;  // nothing to give yet
    if (&on == &all_ && result_.evaluations + 1 >= options_.max_evaluations)
        throw EndOfSearch{StopReason::max_evaluations};
    if (options_.max_seconds > 0 && agreed_seconds() > options_.max_seconds) throw EndOfSearch{StopReason::time_limit};
    if (options_.interrupted && likelihood_.stream().engine().max(options_.interrupted() ? 1 : 0) != 0)
        throw EndOfSearch{StopReason::interrupted};
}

/// From the checkpoint of an earlier run as far as that came; only node 0 has one.
SearchPoint Search::answer(Objective& on, const std::vector<double>& logs, Wanted wanted) {
    if (!log_) return on.at(logs, wanted);
    Engine& engine = likelihood_.stream().engine();
    if (engine.broadcast(log_->has_next() ? 1 : 0) == 0) {
        SearchPoint point = on.at(logs, wanted);
        log_->add(point);
        return point;
    }
    PackedPoint packed{};
    if (log_->has_next()) packed = pack(log_->next(logs));
    return unpack(engine.broadcast(packed), logs);
}

void Search::count(const Objective& on, const SearchPoint& point) {
    const bool whole = &on == &all_;
    ++(whole ? result_.evaluations : result_.scan_evaluations);
    if (whole && !point.slope.empty()) ++result_.gradients;
    SearchPoint& best = whole ? best_ : best_part_;
    const bool with_its_slope = point.log_likelihood == best.log_likelihood && best.slope.empty();
    if (more_likely(point, best) || with_its_slope) best = point;
    if (options_.progress)
        options_.progress({.evaluation = result_.evaluations + result_.scan_evaluations,
                           .points = on.points(),
                           .theta = point.theta,
                           .log_likelihood = point.log_likelihood,
                           .best = best.log_likelihood,
                           .seconds = seconds_since(start_)});
}

SearchPoint Search::ask(Objective& on, const std::vector<double>& logs, Wanted wanted) {
    stop_at_limits(on);
    if (options_.between && &on == &all_) options_.between(likelihood_, result_.evaluations);
    SearchPoint point = answer(on, logs, wanted);
    count(on, point);
    return point;
}

// --- climbing --------------------------------------------------------------------------------------------------------

/// The start, and points that fill the space between the bounds of the scan evenly (Sobol), the most likely first.
std::vector<SearchPoint> Search::scan(Objective& on, const SearchBox& box) {
    std::vector<std::size_t> moving;
    const auto& variables = space_.variables();
    for (std::size_t k = 0; k < variables.size(); ++k)
        if (box.lower[k] < box.upper[k] && variables[k].scan_lower < variables[k].scan_upper) moving.push_back(k);
    std::vector<double> logs;
    for (const Variable& v : variables) logs.push_back(std::log(v.start));
    logs = box.clamped(std::move(logs));
    std::vector<SearchPoint> points{ask(on, logs, Wanted::value)};
    if (!moving.empty()) {
        boost::random::sobol sequence(moving.size());
        const Index count = moving.size() > 2 ? many_scanned : few_scanned;
        for (Index n = 0; n < count; ++n) {
            for (const std::size_t k : moving) {
                const double lower = std::log(variables[k].scan_lower);
                const double upper = std::log(variables[k].scan_upper);
                logs[k] = lower + boost::random::uniform_01<double>()(sequence) * (upper - lower);
            }
            points.push_back(ask(on, box.clamped(logs), Wanted::value));
        }
    }
    std::erase_if(points, [](const SearchPoint& point) { return !std::isfinite(point.log_likelihood); });
    if (points.empty()) throw NotPositiveDefinite(on.explain_failure());
    std::ranges::stable_sort(points, more_likely);
    return points;
}

SearchPoint Search::climb_from(Objective& on, const SearchPoint& start, const SearchBox& box) {
    const Ask question = [&](const std::vector<double>& logs, Wanted wanted) { return ask(on, logs, wanted); };
    return climb_to_top(options_.optimizer, question, box, start, options_.tolerance);
}

/// Climbs from the best points of a scan that are not near each other.
std::vector<SearchPoint> Search::climbs_in(Objective& on, const SearchBox& box) {
    constexpr double far = 0.7;
    std::vector<SearchPoint> chosen;
    for (const SearchPoint& point : scan(on, box)) {
        if (static_cast<Index>(chosen.size()) >= options_.starts) break;
        const bool new_place = std::ranges::all_of(chosen, [&](const SearchPoint& other) {
            for (std::size_t k = 0; k < point.logs.size(); ++k)
                if (std::abs(point.logs[k] - other.logs[k]) > far) return true;
            return false;
        });
        if (new_place || chosen.empty()) chosen.push_back(point);
    }
    for (SearchPoint& point : chosen) point = climb_from(on, point, box);
    std::ranges::stable_sort(chosen, more_likely);
    return chosen;
}

/// The box without freedom in the smoothness.
SearchBox Search::with_smoothness(double smoothness) const {
    SearchBox box = box_;
    const auto& variables = space_.variables();
    for (std::size_t k = 0; k < variables.size(); ++k)
        if (variables[k].parameter == Parameter::smoothness) box.lower[k] = box.upper[k] = std::log(smoothness);
    return box;
}

/// Those of the family, among them what is reached from the best members of the families that it contains: it never
/// ends below one of these.
std::vector<SearchPoint> Search::maxima(Objective& on) {
    std::vector<SearchPoint> found = climbs_in(on, box_);
    for (const double smoothness : space_.nested_smoothness())
        found.push_back(climb_from(on, climbs_in(on, with_smoothness(smoothness)).front(), box_));
    // Few points are often as likely at the smooth end of the family, which a scan seldom comes near.
    if (const auto edge = space_.smooth_edge())
        found.push_back(climb_from(on, climbs_in(on, with_smoothness(*edge)).front(), box_));
    std::ranges::stable_sort(found, more_likely);
    return found;
}

/// Of maxima of a part of the observations, the one where all of them are most likely.
SearchPoint Search::best_on_all(const std::vector<SearchPoint>& candidates) {
    constexpr std::size_t most_candidates = 2;
    SearchPoint best;
    std::vector<const SearchPoint*> tried;
    for (const SearchPoint& candidate : candidates) {
        if (tried.size() == most_candidates) break;
        if (std::ranges::any_of(tried, [&](const SearchPoint* other) {
                return std::abs(other->log_likelihood - candidate.log_likelihood) < same_maximum;
            }))
            continue;
        tried.push_back(&candidate);
        SearchPoint point = ask(all_, candidate.logs, Wanted::value);
        if (tried.size() == 1 || more_likely(point, best)) best = std::move(point);
    }
    if (!std::isfinite(best.log_likelihood)) return scan(all_, box_).front();
    return best;
}

/// Twice and half of each variable: whether one of these is better, which is then the best.
bool Search::look_to_the_sides() {
    const SearchPoint from = best_;
    for (std::size_t k = 0; k < from.logs.size(); ++k) {
        sides_[k] = infinity;
        for (const double side : {-std::log(2.0), std::log(2.0)}) {
            std::vector<double> logs = from.logs;
            logs[k] += side;
            if (logs[k] < box_.lower[k] || logs[k] > box_.upper[k]) continue;
            const SearchPoint point = ask(all_, logs, Wanted::value);
            if (point.log_likelihood > from.log_likelihood + noticeable_difference) return true;
            sides_[k] = std::min(sides_[k], std::abs(from.log_likelihood - point.log_likelihood));
        }
    }
    return false;
}

void Search::maximise() {
    constexpr int most_rounds = 5;
    maxima_ = maxima(part_ ? *part_->objective : all_);
    result_.climbs = static_cast<Index>(maxima_.size());
    if (part_) (void)climb_from(all_, best_on_all(maxima_), box_);  // what is asked on the way is kept in best_
    for (int round = 0; round < most_rounds && look_to_the_sides(); ++round) (void)climb_from(all_, best_, box_);
    // A probe that was better, but not by much, has no slope yet.
    if (best_.slope.empty() && options_.optimizer != Optimizer::bobyqa) (void)climb_from(all_, best_, box_);
    if (!best_.slope.empty()) result_.slope = free_slope(best_, box_);
    result_.stop_reason = result_.slope > flat_slope ? StopReason::roundoff_limited : StopReason::converged;
}

// --- warnings --------------------------------------------------------------------------------------------------------

FitResult::Bounds Search::bounds_of(Parameter parameter) const {
    if (const Variable* v = space_.variable(parameter)) return {v->lower, v->upper};
    if (parameter == Parameter::sigma2 && space_.profiled()) return {0, infinity};
    const double fixed = likelihood_.model().choice(parameter).fixed.value_or(0);
    return {fixed, fixed};
}

bool Search::is_limit(Parameter parameter) const {
    const Variable* v = space_.variable(parameter);
    return v != nullptr && v->upper_is_limit;
}

void Search::warn(FitWarning::Kind kind, Parameter parameter) {
    const FitResult::Bounds bounds = bounds_of(parameter);
    const std::string unit = parameter == Parameter::nugget && space_.profiled() ? "·sigma2" : "";
    std::string text;
    if (kind == FitWarning::Kind::at_lower_bound)
        text = fmt::format("{} ended at its lower bound {:.6g}{}: {}", name(parameter), bounds.lower, unit,
                           parameter == Parameter::nugget
                               ? "lower the bound (--lower), or fix it at 0 (--fix nugget=0) unless "
                                 "points lie close together"
                               : "lower the bound (--lower), or fix it at a value (--fix)");
    else if (kind == FitWarning::Kind::at_upper_bound)
        text =
            fmt::format("{} ended at its upper bound {:.6g}{}: {}", name(parameter), bounds.upper, unit,
                        is_limit(parameter) ? "more is not valid with this family and metric; try others"
                        : likelihood_.model().family == CovarianceFamily::matern && parameter == Parameter::smoothness
                            ? "try --family squared_exponential, which it comes near to there, "
                              "or raise the bound (--upper)"
                            : "raise the bound (--upper), or fix it at a value (--fix)");
    else
        text = fmt::format(
            "the likelihood is flat in {}: a factor of 2 changes it by less than 0.001, so the data do "
            "not determine it; fix it at a value (--fix)",
            name(parameter));
    result_.warnings.push_back({kind, parameter, std::move(text)});
}

/// A factor of 2 to one of the sides changes nothing.
bool Search::is_flat(std::size_t variable) const { return sides_[variable] < noticeable_difference; }

void Search::warn_if_cut_short() {
    std::string text;
    if (result_.stop_reason == StopReason::max_evaluations)
        text = fmt::format(
            "the search was ended after {} evaluations, before it came to a maximum: give more "
            "(--max-evaluations)",
            result_.evaluations);
    else if (result_.stop_reason == StopReason::time_limit)
        text = fmt::format("the search was ended after {}, before it came to a maximum: give more time (--max-seconds)",
                           format_seconds(options_.max_seconds));
    else if (result_.stop_reason == StopReason::interrupted)
        text = "the search was interrupted; this is the best point so far, not a maximum";
    else if (result_.stop_reason == StopReason::roundoff_limited)
        text = fmt::format(
            "the likelihood still changes by {:.2g} per unit of a parameter's logarithm where the search ended: "
            "rounding errors hide what a step would gain",
            result_.slope);
    else
        return;
    result_.warnings.push_back({FitWarning::Kind::cut_short, Parameter::sigma2, std::move(text)});
}

/// Maxima of the part are compared on the part.
void Search::warn_of_other_maxima() {
    constexpr double nearly_as_likely = 2;
    const SearchPoint* other = nullptr;
    for (const SearchPoint& point : maxima_) {
        const double below = maxima_.front().log_likelihood - point.log_likelihood;
        if (below < same_maximum)
            ++result_.climbs_to_best;
        else if (below < nearly_as_likely && other == nullptr)
            other = &point;
    }
    if (other == nullptr) return;
    result_.warnings.push_back(
        {FitWarning::Kind::other_maximum, Parameter::range,
         fmt::format("{} of {} starts came to this maximum; another, only {:.2g} less likely, is at {}",
                     result_.climbs_to_best, result_.climbs, maxima_.front().log_likelihood - other->log_likelihood,
                     describe(likelihood_.model().family, other->theta))});
}

void Search::warn_if_ill_conditioned() {
    result_.conditioning = estimate_condition(likelihood_);
    if (std::string text = explain_conditioning(result_.conditioning, likelihood_); !text.empty())
        result_.warnings.push_back({FitWarning::Kind::ill_conditioned, Parameter::nugget, std::move(text)});
}

void Search::find_warnings() {
    constexpr double near = 1e-3;
    for (std::size_t k = 0; k < space_.variables().size(); ++k) {
        const Parameter parameter = space_.variables()[k].parameter;
        if (best_.logs[k] < box_.lower[k] + near)
            warn(FitWarning::Kind::at_lower_bound, parameter);
        else if (best_.logs[k] > box_.upper[k] - near)
            warn(FitWarning::Kind::at_upper_bound, parameter);
        else if (is_flat(k))
            warn(FitWarning::Kind::flat, parameter);
    }
    warn_of_other_maxima();
    warn_if_cut_short();
}

/// Leaves the likelihood at the estimate, which it has not seen where sigma2 is profiled out.
void Search::evaluate_at_best() {
    if (!std::isfinite(best_.log_likelihood)) best_ = best_part_;  // ended before all were looked at
    if (!std::isfinite(best_.log_likelihood)) throw Error("the search was ended before its first evaluation");
    const LikelihoodValue value = likelihood_.evaluate(best_.theta);
    ++result_.evaluations;
    require_good_evaluation(likelihood_, value.status, best_.theta);
    result_.theta = best_.theta;
    result_.trend = value.trend;
    result_.log_likelihood = value.log_likelihood;
}

FitResult Search::run() {
    try {
        if (space_.variables().empty())
            best_ = scan(all_, box_).front();
        else
            maximise();
    } catch (const EndOfSearch& end) {
        result_.stop_reason = end.reason;
    }
    evaluate_at_best();
    find_warnings();
    if (log_ && !log_->lost().empty())
        result_.warnings.push_back({FitWarning::Kind::checkpoint_lost, Parameter::sigma2, log_->lost()});
    warn_if_ill_conditioned();
    result_.seconds = seconds_since(start_);
    for (const Parameter p : all_parameters) result_.bounds[static_cast<std::size_t>(p)] = bounds_of(p);
    return std::move(result_);
}

}  // namespace

Index points_of_the_scan(Index observations, const FitOptions& options) {
    const Index wanted = std::max(options.scan_points, observations / 8);
    return observations >= 2 * wanted ? wanted : observations;
}

FitResult fit(Likelihood& likelihood, const FitOptions& options) {
    Digest digest;
    add_fields(digest, std::array{options.max_evaluations, options.starts, options.scan_points});
    add_fields(digest, std::array{options.max_seconds, options.tolerance});
    add_fields(digest, options.optimizer);
    add_fields(digest, options.checkpoint.empty());
    likelihood.stream().engine().require_alike("the options of the fit", digest.value());
    return Search(likelihood, options).run();
}

std::optional<MatrixStorage> storage_in_checkpoint(const std::string& file) {
    try {
        return storage_from_json(question_in(file));
    } catch (const Error& error) {
        throw Error("{} cannot be gone on from: {}", file, error.what());
    }
}

std::string check_duplicates(const Observations& observations, const Model& model) {
    const Duplicates found = find_duplicates(PointSet(model.metric, observations.coordinates));
    if (found.points == 0) return {};
    std::string text = fmt::format("{} of {} points lie on another one, at {} place{}; the first is {}, on {}",
                                   found.points, observations.size(), found.places, plural(found.places),
                                   observations.where(found.example.second), observations.where(found.example.first));
    if (model.choice(Parameter::nugget).fixed == 0.0 && model.jitter == 0)
        throw Error(
            "{}: without a nugget the covariance matrix is singular. Let the nugget be free or fix it above 0, "
            "merge such points, or give --jitter",
            text);
    return text;
}

}  // namespace tesela::geo
