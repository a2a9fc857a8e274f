#include "paper000/run_picture.hpp"

#include "tesela/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tesela::bench {
namespace {

constexpr double gigabyte = 1e9;
constexpr std::array<const char*, parts> part_names{"generation", "Cholesky", "determinant, solve, product"};

}  // namespace

void RunPicture::begin(const SimulatedRun& run) {
    run_ = run;
    platform_ = *run.platform;
    for (std::int32_t node = 0; node < nodes(); ++node) {
        auto& of_node = processors_.emplace_back();
        for (const auto& worker : simulated_workers(node_type(platform_, NodeId{node}), CriticalSlot::shared_core))
            of_node.push_back(worker.processor);
    }
}

void RunPicture::task(const ScheduledTask& task) {
    const RecordedItem& item = run_.recording->items[task.item];
    const std::string& phase = run_.recording->phases[static_cast<std::size_t>(item.phase)];
    const Part part = phase == "generate" ? Part::generation : phase == "cholesky" ? Part::factorisation : Part::rest;
    const Span span{task.start, task.end};
    const Processor processor = processors_[static_cast<std::size_t>(task.node)][static_cast<std::size_t>(task.worker)];
    work_[{task.node, processor}].push_back({span, part});
    makespan_ = std::max(makespan_, task.end);
    if (part != Part::factorisation) return;
    const auto [iteration, first] = iterations_.try_emplace(item.step, span);
    if (first) return;
    iteration->second.start = std::min(iteration->second.start, span.start);
    iteration->second.end = std::max(iteration->second.end, span.end);
}

void RunPicture::memory(const ScheduledMemory& change) {
    if (change.memory != 0) return;
    auto& levels = memory_[change.node];
    levels.push_back({change.time, (levels.empty() ? 0 : levels.back().bytes) + change.bytes});
}

const std::vector<RunPicture::Work>& RunPicture::work(std::int32_t node, Processor processor) const {
    static const std::vector<Work> none;
    const auto found = work_.find({node, processor});
    return found == work_.end() ? none : found->second;
}

double RunPicture::workers(std::int32_t node, Processor processor) const {
    double count = 0;
    for (const WorkerGroup& group : node_type(platform_, NodeId{node}).workers)
        if (group.processor == processor) count += static_cast<double>(group.count);
    return count;
}

std::int32_t RunPicture::nodes() const { return static_cast<std::int32_t>(node_count(platform_)); }

namespace {

constexpr double left = 66, top = 74, panel_width = 330, gap = 34, iteration_height = 110, strip_height = 34,
                 strip_gap = 4, memory_height = 90, between = 30;
constexpr std::size_t bins = 110;

std::string colour_of(Part part) { return hex(categorical_colour(static_cast<Index>(part))); }

/// Pixels to a tenth, which is finer than can be seen: thousands of points need not be longer.
std::string tenths(double pixels) { return svg_number(std::round(10 * pixels) / 10); }

/// The share of a group's time that each part takes, bin by bin.
using Shares = std::array<std::vector<double>, parts>;
Shares shares_of(const RunPicture& run, std::int32_t node, Processor processor, double end) {
    Shares shares;
    for (auto& part : shares) part.assign(bins, 0);
    const double width = end / static_cast<double>(bins);
    const double workers = run.workers(node, processor);
    for (const auto& [span, part] : run.work(node, processor)) {
        auto bin = static_cast<std::size_t>(span.start / width);
        for (; bin < bins && static_cast<double>(bin) * width < span.end; ++bin) {
            const double from = std::max(span.start, static_cast<double>(bin) * width);
            const double to = std::min(span.end, static_cast<double>(bin + 1) * width);
            shares[static_cast<std::size_t>(part)][bin] += std::max(0.0, to - from) / (width * workers);
        }
    }
    return shares;
}

/// The share that a part takes with those before it.
Shares sums_of(Shares shares) {
    for (std::size_t part = 1; part < parts; ++part)
        for (std::size_t bin = 0; bin < bins; ++bin) shares[part][bin] += shares[part - 1][bin];
    return shares;
}

/// Draws a run in its column; `end` is the common end of the scale of time.
class Column {
public:
    Column(Svg& svg, const RunPicture& run, double x, double end)
        : svg_(svg),
          run_(run),
          time_{.low = 0, .high = end, .first = x, .last = x + panel_width},
          end_(end) {}

    /// What columns have in common.
    struct Common {
        double most_memory = 0;
        std::int32_t last_iteration = 1;
        double strips = 0;  ///< height of the most of them
    };
    /// Nodes below `named` have their names in the column before.
    void draw(bool is_first, std::int32_t named, const Common& common) {
        svg_.text({time_.first, top - 10}, fmt::format("{}: {:.1f} s", run_.title(), run_.makespan()),
                  {.size = 12, .weight = TextWeight::bold});
        double y = top;
        iterations({time_.first, y, panel_width, iteration_height}, common.last_iteration, is_first);
        y += iteration_height + between;
        if (is_first) svg_.text({time_.first, y - 8}, "busy cores and GPUs of each node", {.size = 10});
        for (std::int32_t node = 0; node < run_.nodes(); ++node)
            for (const Processor processor : {Processor::cpu, Processor::gpu}) {
                if (run_.workers(node, processor) == 0) continue;
                const double height = processor == Processor::cpu ? strip_height : strip_height / 2;
                strip({time_.first, y, panel_width, height}, node, processor, node >= named);
                y += height + strip_gap;
            }
        y = top + iteration_height + between + common.strips + between;
        if (is_first) svg_.text({time_.first, y - 8}, "main memory in use, a line per node", {.size = 10});
        memory({time_.first, y, panel_width, memory_height}, common.most_memory, is_first);
        draw_axis(svg_, {.scale = time_,
                         .at = y + memory_height,
                         .side = AxisSide::bottom,
                         .ticks = ticks_along(0, end_, panel_width),
                         .label = "seconds"});
    }

private:
    void frame(const SvgBox& box) { svg_.rect(box, "fill=\"#f7f7f7\" stroke=\"#ccc\""); }
    void left_axis(const Scale& y, double x, const std::string& label) {
        draw_axis(svg_, {.scale = y,
                         .at = x,
                         .side = AxisSide::left,
                         .ticks = ticks_upward(y.low, y.high, y.first - y.last),
                         .label = label});
    }

    void iterations(const SvgBox& box, std::int32_t last, bool is_first) {
        frame(box);
        const double each = box.height / static_cast<double>(last + 1);
        std::string lines;
        for (const auto& [step, span] : run_.iterations())
            lines += fmt::format("M{} {}H{}", tenths(time_(span.start)), tenths(box.y + (step + 0.5) * each),
                                 tenths(std::max(time_(span.end), time_(span.start) + 0.5)));
        svg_.path(lines, fmt::format("stroke-width=\"{}\" stroke=\"{}\"", svg_number(std::max(0.6, each)),
                                     colour_of(Part::factorisation)));
        if (!is_first) return;
        svg_.text({box.x - 5, box.y + 9}, "0", {.size = 10, .anchor = TextAnchor::end});
        svg_.text({box.x - 5, box.y + box.height}, fmt::format("{}", last), {.size = 10, .anchor = TextAnchor::end});
        svg_.text({18, box.y + box.height / 2}, "step of Cholesky",
                  {.size = 10, .anchor = TextAnchor::middle, .rotate = -90});
    }

    /// What the parts take, one on top of the other: the whole first, what is in front of it later.
    void strip(const SvgBox& box, std::int32_t node, Processor processor, bool has_name) {
        frame(box);
        const auto sums = sums_of(shares_of(run_, node, processor, end_));
        for (std::size_t part = parts; part-- > 0;)
            svg_.path(area(box, sums[part]), fmt::format("fill=\"{}\"", colour_of(static_cast<Part>(part))));
        if (has_name)
            svg_.text({box.x - 5, box.y + box.height / 2 + 4},
                      fmt::format("{} {}", node, processor == Processor::cpu ? "cores" : "GPUs"),
                      {.size = 10, .anchor = TextAnchor::end});
    }

    /// The area below the shares of the bins; equal neighbours are one step.
    [[nodiscard]] static std::string area(const SvgBox& box, const std::vector<double>& shares) {
        const std::string bottom = tenths(box.y + box.height);
        const double width = box.width / static_cast<double>(bins);
        std::string path = fmt::format("M{} {}", tenths(box.x), bottom);
        std::string level = bottom;
        for (std::size_t bin = 0; bin <= bins; ++bin) {
            const std::string next =
                bin == bins ? bottom : tenths(box.y + box.height * (1 - std::min(1.0, shares[bin])));
            if (next == level) continue;
            path += fmt::format("H{}V{}", tenths(box.x + static_cast<double>(bin) * width), next);
            level = next;
        }
        return path + "Z";
    }

    void memory(const SvgBox& box, double most, bool is_first) {
        frame(box);
        const Scale y{.low = 0, .high = 1.05 * most / gigabyte, .first = box.y + box.height, .last = box.y};
        for (const auto& [node, levels] : run_.memory_of_nodes()) {
            std::string path;
            double drawn = -1;
            double drawn_height = y(0);
            double height = y(0);
            for (const auto& [time, bytes] : levels) {
                height = y(bytes / gigabyte);
                // Closer than can be seen.
                if (!path.empty() && (time_(time) - drawn < 1 || std::abs(height - drawn_height) < 0.4)) continue;
                path += path.empty() ? fmt::format("M{} {}", tenths(time_(time)), tenths(height))
                                     : fmt::format("H{}V{}", tenths(time_(time)), tenths(height));
                drawn = time_(time);
                drawn_height = height;
            }
            path += fmt::format("V{}H{}", tenths(height), tenths(time_(run_.makespan())));
            svg_.path(path, fmt::format("fill=\"none\" stroke-width=\"1\" stroke=\"{}\"",
                                        hex(categorical_colour(3 + static_cast<Index>(node)))));
        }
        if (is_first) left_axis(y, box.x, "GB");
    }

    Svg& svg_;
    const RunPicture& run_;
    Scale time_;
    double end_;
};

double strips_height(const RunPicture& run) {
    double height = 0;
    for (std::int32_t node = 0; node < run.nodes(); ++node)
        for (const Processor processor : {Processor::cpu, Processor::gpu})
            if (run.workers(node, processor) > 0)
                height += (processor == Processor::cpu ? strip_height : strip_height / 2) + strip_gap;
    return height;
}

void draw_legend(Svg& svg) {
    double x = left;
    for (std::size_t part = 0; part < parts; ++part) {
        svg.rect({x, 30, 10, 10}, fmt::format("fill=\"{}\"", colour_of(static_cast<Part>(part))));
        svg.text({x + 14, 39}, part_names[part], {.size = 11});
        x += 34 + text_width(part_names[part], 11);
    }
}

}  // namespace

std::string draw_runs(const std::string& title, const std::vector<const RunPicture*>& runs) {
    double end = 0;
    Column::Common common;
    for (const RunPicture* run : runs) {
        end = std::max(end, run->makespan());
        for (const auto& [node, levels] : run->memory_of_nodes())
            for (const auto& level : levels) common.most_memory = std::max(common.most_memory, level.bytes);
        for (const auto& iteration : run->iterations())
            common.last_iteration = std::max(common.last_iteration, iteration.first);
        common.strips = std::max(common.strips, strips_height(*run));
    }
    const auto columns = static_cast<double>(runs.size());
    const double height = top + iteration_height + between + common.strips + between + memory_height + 44;
    Svg svg(left + columns * (panel_width + gap), height);
    svg.text({left, 18}, title, {.size = 14, .weight = TextWeight::bold});
    draw_legend(svg);
    for (std::size_t k = 0; k < runs.size(); ++k)
        Column(svg, *runs[k], left + static_cast<double>(k) * (panel_width + gap), end)
            .draw(k == 0, k == 0 ? 0 : runs[k - 1]->nodes(), common);
    return std::move(svg).finish();
}

}  // namespace tesela::bench
