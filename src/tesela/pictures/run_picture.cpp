#include "tesela/pictures/run_picture.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/pictures/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

constexpr double gigabyte = 1e9;
using Kind = PicturedWorkers::Kind;

constexpr double top = 56, caption_height = 16, panel_width = 330, gap = 34, steps_height = 110, strip_height = 34,
                 strip_gap = 4, memory_height = 90, between = 30;
constexpr std::size_t bins = 110;

double height_of(Kind kind) { return kind == Kind::cores ? strip_height : strip_height / 2; }

/// Pixels to a tenth, which is finer than can be seen: thousands of points need not be longer.
std::string tenths(double pixels) { return svg_number(std::round(10 * pixels) / 10); }

/// The share of the workers' time that each part takes, bin by bin.
using Shares = std::vector<std::vector<double>>;
Shares shares_of(const PicturedWorkers& workers, std::size_t parts, double end) {
    Shares shares(parts, std::vector<double>(bins, 0));
    const double width = end / static_cast<double>(bins);
    for (const auto& [span, part] : workers.work) {
        auto bin = static_cast<std::size_t>(span.start / width);
        for (; bin < bins && static_cast<double>(bin) * width < span.end; ++bin) {
            const double from = std::max(span.start, static_cast<double>(bin) * width);
            const double to = std::min(span.end, static_cast<double>(bin + 1) * width);
            shares[part][bin] += std::max(0.0, to - from) / (width * workers.count);
        }
    }
    return shares;
}

/// The share that a part takes with those before it.
Shares sums_of(Shares shares) {
    for (std::size_t part = 1; part < shares.size(); ++part)
        for (std::size_t bin = 0; bin < bins; ++bin) shares[part][bin] += shares[part - 1][bin];
    return shares;
}

/// Draws a run in its column; `end` is the common end of the scale of time.
class Column {
public:
    Column(Svg& svg, const PicturedRun& run, double x, double end) : svg_(svg), run_(run), x_(x), end_(end) {}

    /// What columns have in common.
    struct Common {
        std::size_t parts = 0;
        std::string steps_label;
        double most_memory = 0;
        std::int32_t last_step = -1;  ///< none has steps
        double strips = 0;            ///< height of the most of them
    };
    /// The first `named` groups of workers have their names in the column before.
    void draw(bool is_first, std::size_t named, const Common& common) {
        svg_.text({x_, top - 10}, fmt::format("{}: {}", run_.title, format_seconds(run_.makespan)),
                  {.size = 12, .weight = TextWeight::bold});
        double y = top;
        if (common.last_step >= 0) steps(panel(y, steps_height), common, is_first);
        y += above_strips(common);
        if (is_first) svg_.text({x_, y - 8}, "busy workers of each node", {.size = 10});
        const double below = y + common.strips + (common.most_memory > 0 ? between : 0);
        for (std::size_t k = 0; k < run_.workers.size(); ++k) {
            const double height = height_of(run_.workers[k].kind);
            strip(panel(y, height), run_.workers[k], common.parts, k >= named);
            y += height + strip_gap;
        }
        y = below;
        if (common.most_memory > 0) {
            if (is_first) svg_.text({x_, y - 8}, "main memory in use, a line per node", {.size = 10});
            memory(panel(y, memory_height), common, is_first);
            y += memory_height;
        }
        Frame axis = panel(y, 0);
        axis.x_ticks.reset();
        axis.x_label = "seconds";
        draw_frame(svg_, axis);
    }

    /// From the first panel to the strips, whose caption stands below the run's title, or below its steps.
    [[nodiscard]] static double above_strips(const Common& common) {
        return common.last_step >= 0 ? steps_height + between : caption_height;
    }

private:
    /// A frame in the column, without axes.
    [[nodiscard]] Frame panel(double y, double height) const {
        return {.area = {x_, y, panel_width, height},
                .x = {0, end_},
                .y = {0, 1},
                .x_ticks = Ticks{},
                .y_ticks = Ticks{},
                .style = FrameStyle::shaded};
    }

    void steps(Frame frame, const Common& common, bool is_first) {
        frame.y = {common.last_step + 0.5, -0.5};  // downwards
        if (is_first) {
            frame.y_label = common.steps_label;
            frame.y_ticks =
                Ticks{{0, static_cast<double>(common.last_step)}, {"0", fmt::format("{}", common.last_step)}};
        }
        draw_frame(svg_, frame, [&] {
            const double each = frame.area.height / static_cast<double>(common.last_step + 1);
            // The first parts in front.
            for (std::size_t part = common.parts; part-- > 0;) {
                std::string lines;
                for (const PicturedStep& step : run_.steps) {
                    if (step.part != part) continue;
                    const SvgPoint start = frame.at(step.span.start, step.step);
                    const double end = std::max(frame.x_scale()(step.span.end), start.x + 0.5);
                    lines += fmt::format("M{} {}H{}", tenths(start.x), tenths(start.y), tenths(end));
                }
                if (!lines.empty()) svg_.path(lines, stroked(series_colour(part), std::max(0.6, each)));
            }
        });
    }

    /// What the parts take, one on top of the other: the whole first, what is in front of it later.
    void strip(const Frame& frame, const PicturedWorkers& workers, std::size_t parts, bool has_name) {
        const SvgBox& box = frame.area;
        draw_frame(svg_, frame, [&] {
            const Shares sums = sums_of(shares_of(workers, parts, end_));
            for (std::size_t part = parts; part-- > 0;) svg_.path(area(box, sums[part]), filled(series_colour(part)));
        });
        if (has_name)
            svg_.text({box.x - 5, box.y + box.height / 2 + 4},
                      fmt::format("node {} {}", workers.node, workers.kind == Kind::cores ? "cores" : "GPUs"),
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

    void memory(Frame frame, const Common& common, bool is_first) {
        frame.y = {0, 1.05 * common.most_memory / gigabyte};
        if (is_first) {
            frame.y_label = "GB";
            frame.y_ticks.reset();
        }
        draw_frame(svg_, frame, [&] {
            for (std::size_t node = 0; node < run_.memory.size(); ++node)
                if (!run_.memory[node].empty())
                    svg_.path(line_of(run_.memory[node], frame), stroked(series_colour(common.parts + node), 1));
        });
    }

    [[nodiscard]] std::string line_of(const std::vector<PicturedLevel>& levels, const Frame& frame) const {
        const Scale time = frame.x_scale();
        const Scale y = frame.y_scale();
        std::string path;
        double drawn = -1;
        double drawn_height = y(0);
        double height = y(0);
        for (const auto& [since, bytes] : levels) {
            height = y(bytes / gigabyte);
            // Closer than can be seen.
            if (!path.empty() && (time(since) - drawn < 1 || std::abs(height - drawn_height) < 0.4)) continue;
            path += path.empty() ? fmt::format("M{} {}", tenths(time(since)), tenths(height))
                                 : fmt::format("H{}V{}", tenths(time(since)), tenths(height));
            drawn = time(since);
            drawn_height = height;
        }
        return path + fmt::format("V{}H{}", tenths(height), tenths(time(run_.makespan)));
    }

    Svg& svg_;
    const PicturedRun& run_;
    double x_;
    double end_;
};

Column::Common common_of(const RunsPicture& picture) {
    Column::Common common{.parts = picture.parts.size(), .steps_label = picture.steps_label};
    for (const PicturedRun& run : picture.runs) {
        for (const auto& levels : run.memory)
            for (const PicturedLevel& level : levels) common.most_memory = std::max(common.most_memory, level.bytes);
        for (const PicturedStep& step : run.steps) common.last_step = std::max(common.last_step, step.step);
        double strips = 0;
        for (const PicturedWorkers& workers : run.workers) strips += height_of(workers.kind) + strip_gap;
        common.strips = std::max(common.strips, strips);
    }
    return common;
}

void check(const RunsPicture& picture) {
    if (picture.runs.empty()) throw Error("a picture of runs needs one");
    const auto has_name = [&](const auto& of) { return of.part < picture.parts.size(); };
    for (const PicturedRun& run : picture.runs) {
        const bool named = std::ranges::all_of(run.steps, has_name) &&
                           std::ranges::all_of(run.workers, [&](const PicturedWorkers& workers) {
                               return std::ranges::all_of(workers.work, has_name);
                           });
        if (!named)
            throw Error("the run \"{}\" has more parts than the {} with names", run.title, picture.parts.size());
    }
}

}  // namespace

std::string draw_runs(const RunsPicture& picture) {
    check(picture);
    const Column::Common common = common_of(picture);
    double end = 0;
    for (const PicturedRun& run : picture.runs) end = std::max(end, run.makespan);
    if (end <= 0) end = 1;
    Svg svg(picture.title);
    std::vector<LegendEntry> legend;
    for (std::size_t part = 0; part < picture.parts.size(); ++part)
        legend.push_back({picture.parts[part], [&svg, part](SvgPoint at) {
                              draw_mark(svg, at, {MarkShape::square, 5, filled(series_colour(part))});
                          }});
    draw_legend(svg, {0, 18}, legend, LegendLayout::row);
    for (std::size_t k = 0; k < picture.runs.size(); ++k)
        Column(svg, picture.runs[k], static_cast<double>(k) * (panel_width + gap), end)
            .draw(k == 0, k == 0 ? 0 : picture.runs[k - 1].workers.size(), common);
    return std::move(svg).finish();
}

}  // namespace tesela
