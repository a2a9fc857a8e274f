#include "tesela/base/names.hpp"
#include "tesela/platform/platform.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/whole_number.hpp"
#include "tesela/platform/quantity.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace tesela {
namespace {

using nlohmann::json;

constexpr const char* format_name = "tesela-platform";
constexpr int format_version = 1;

/// A value of the file together with its path, so that every complaint can name it.
class Field {
public:
    Field(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const { return path_; }

    [[nodiscard]] bool has(const char* name) const { return value_.contains(name); }
    [[nodiscard]] Field at(const char* name) const {
        const std::string path = path_.empty() ? name : path_ + "." + name;
        if (!has(name)) throw Error("the platform has no \"{}\"", path);
        return {value_.at(name), path};
    }
    [[nodiscard]] std::vector<Field> items() const {
        if (!value_.is_array()) throw Error("{} must be a list", path_);
        std::vector<Field> items;
        for (std::size_t n = 0; n < value_.size(); ++n) items.emplace_back(value_[n], fmt::format("{}[{}]", path_, n));
        return items;
    }
    [[nodiscard]] std::string text() const {
        if (!value_.is_string()) throw Error("{} must be text", path_);
        return value_.get<std::string>();
    }
    [[nodiscard]] Index integer() const {
        const auto number = whole_number(value_);
        if (!number) throw Error("{} must be a whole number", path_);
        return *number;
    }
    void require_true() const {
        if (value_ != json(true)) throw Error("{} must be true; leave it out otherwise", path_);
    }
    [[nodiscard]] bool is_number() const { return value_.is_number(); }
    [[nodiscard]] double number() const {
        if (!value_.is_number()) throw Error("{} must be a number", path_);
        return value_.get<double>();
    }
    /// Text with a unit: a bare number could mean anything.
    [[nodiscard]] double quantity(Dimension dimension) const {
        if (!value_.is_string()) throw Error("{} must be text with a unit, as {}", path_, examples_of(dimension));
        try {
            return parse_quantity(value_.get<std::string>(), dimension);
        } catch (const Error& error) {
            throw Error("{}: {}", path_, error.what());
        }
    }
    [[nodiscard]] double quantity_or_zero(const char* name, Dimension dimension) const {
        return has(name) ? at(name).quantity(dimension) : 0;
    }
    [[nodiscard]] std::map<std::string, Index> counts() const {
        require_object();
        std::map<std::string, Index> counts;
        for (const auto& [name, value] : value_.items()) counts[name] = Field(value, path_ + "." + name).integer();
        return counts;
    }
    /// A misspelt field is an error, not a default.
    void allow_only(std::initializer_list<std::string_view> names) const {
        require_object();
        for (const auto& [name, value] : value_.items())
            if (std::find(names.begin(), names.end(), name) == names.end())
                throw Error("{}{}{} is not a field of a platform", path_, path_.empty() ? "" : ".", name);
    }

private:
    void require_object() const {
        if (!value_.is_object()) throw Error("{} must be an object", path_.empty() ? "the platform" : path_);
    }
    const json& value_;
    std::string path_;
};

constexpr Names<Source, 2> sources{{{Source::measured, "measured"}, {Source::derived, "derived"}}};
constexpr Names<Processor, 2> processors{{{Processor::cpu, "cpu"}, {Processor::gpu, "gpu"}}};

template <class Enum, std::size_t N>
Enum read_named(const Field& field, const Names<Enum, N>& names) {
    const std::string text = field.text();
    for (const auto& [value, name] : names)
        if (text == name) return value;
    throw Error("{} must be one of {}; it is \"{}\"", field.path(), list_names(names), text);
}

std::vector<TimedCall> read_calls(const Field& field) {
    std::vector<TimedCall> calls;
    for (const auto& item : field.items()) {
        item.allow_only({"tile", "value", "work"});
        calls.push_back({.tile = item.at("tile").integer(),
                         .value = item.at("value").quantity(Dimension::seconds),
                         .work = item.has("work") ? item.at("work").number() : 0});
    }
    return calls;
}

/// An efficiency is one number for every tile size or a list of points.
std::vector<TilePoint> read_efficiency(const Field& field) {
    if (field.is_number()) return {{1, field.number()}};
    std::vector<TilePoint> points;
    for (const auto& item : field.items()) {
        item.allow_only({"tile", "value"});
        points.push_back({item.at("tile").integer(), item.at("value").number()});
    }
    return points;
}

struct RateField {
    const char* name;
    RateUnit unit;
    Dimension dimension;
};
constexpr std::initializer_list<RateField> rate_fields{
    {"flops", RateUnit::flops, Dimension::flops_per_second},
    {"bytes", RateUnit::bytes, Dimension::bytes_per_second},
    {"elements", RateUnit::elements, Dimension::elements_per_second}};

/// How a rate is made less by small tiles or by what the kernel is; 1 where it does not say.
RatedKernel read_rate(const Field& kernel, const RateField& rate) {
    return {
        .rate = kernel.at(rate.name).quantity(rate.dimension),
        .unit = rate.unit,
        .efficiency = kernel.has("efficiency") ? read_efficiency(kernel.at("efficiency")) : std::vector<TilePoint>{}};
}

TimedKernel read_timed(const Field& kernel) {
    return {.seconds = read_calls(kernel.at("seconds")),
            .narrow = kernel.has("narrow") ? read_calls(kernel.at("narrow")) : std::vector<TimedCall>{}};
}

/// A field that would be ignored is an error.
void require_meaning(const Field& field, const KernelTime& kernel) {
    if (field.has("efficiency") && !std::holds_alternative<RatedKernel>(kernel.time))
        throw Error("{}.efficiency can be given with \"flops\", \"bytes\" or \"elements\" only", field.path());
    if (field.has("narrow") && !std::holds_alternative<TimedKernel>(kernel.time))
        throw Error("{}.narrow can be given with \"seconds\" only", field.path());
}

/// Exactly one of "seconds", "flops", "bytes", "elements" and "unavailable" says how long the kernel takes.
KernelTime read_kernel(const Field& field) {
    field.allow_only(
        {"kernel", "source", "seconds", "narrow", "flops", "bytes", "elements", "efficiency", "unavailable"});
    KernelTime kernel{.kernel = field.at("kernel").text(), .time = UnavailableKernel{}};
    int ways = 0;
    if (field.has("unavailable")) {
        ++ways;
        field.at("unavailable").require_true();
    }
    if (field.has("seconds")) {
        ++ways;
        kernel.time = read_timed(field);
    }
    for (const auto& rate : rate_fields) {
        if (!field.has(rate.name)) continue;
        ++ways;
        kernel.time = read_rate(field, rate);
    }
    if (ways != 1)
        throw Error("{} needs one of \"seconds\", \"flops\", \"bytes\", \"elements\" and \"unavailable\"; it has {}",
                    field.path(), ways);
    require_meaning(field, kernel);
    if (!field.has("unavailable")) kernel.source = read_named(field.at("source"), sources);
    return kernel;
}

WorkerGroup read_group(const Field& field) {
    field.allow_only(
        {"name", "processor", "count", "streams", "memory", "memory_bandwidth", "host_bandwidth", "kernels"});
    WorkerGroup group{.name = field.at("name").text(),
                      .processor = read_named(field.at("processor"), processors),
                      .count = field.at("count").integer(),
                      .streams = field.has("streams") ? field.at("streams").integer() : 1,
                      .memory = field.quantity_or_zero("memory", Dimension::bytes),
                      .memory_bandwidth = field.quantity_or_zero("memory_bandwidth", Dimension::bytes_per_second),
                      .host_bandwidth = field.quantity_or_zero("host_bandwidth", Dimension::bytes_per_second)};
    for (const auto& kernel : field.at("kernels").items()) group.kernels.push_back(read_kernel(kernel));
    return group;
}

Link read_link(const Field& field) {
    field.allow_only({"bandwidth", "latency", "source"});
    return {.bandwidth = field.at("bandwidth").quantity(Dimension::bytes_per_second),
            .latency = field.at("latency").quantity(Dimension::seconds),
            .source = field.has("source") ? read_named(field.at("source"), sources) : Source::derived};
}

/// What is left out is as without the whole.
RuntimeCosts read_runtime(const Field& field) {
    field.allow_only({"submission", "passing", "task", "turn", "message", "message_bandwidth", "source"});
    RuntimeCosts costs;
    if (field.has("submission")) costs.submission = field.at("submission").quantity(Dimension::seconds);
    if (field.has("passing")) costs.passing = field.at("passing").quantity(Dimension::seconds);
    costs.task = field.quantity_or_zero("task", Dimension::seconds);
    costs.turn = field.quantity_or_zero("turn", Dimension::seconds);
    costs.message = field.quantity_or_zero("message", Dimension::seconds);
    costs.message_bandwidth = field.quantity_or_zero("message_bandwidth", Dimension::bytes_per_second);
    if (field.has("source")) costs.source = read_named(field.at("source"), sources);
    return costs;
}

NodeType read_node_type(const Field& field) {
    field.allow_only({"name", "count", "memory", "memory_bandwidth", "nic", "subnet", "workers", "limits", "runtime"});
    NodeType type{.name = field.at("name").text(),
                  .count = field.at("count").integer(),
                  .memory = field.quantity_or_zero("memory", Dimension::bytes),
                  .memory_bandwidth = field.at("memory_bandwidth").quantity(Dimension::bytes_per_second),
                  .nic = read_link(field.at("nic")),
                  .subnet = field.has("subnet") ? field.at("subnet").text() : ""};
    if (field.has("memory") && type.memory == 0)
        throw Error("{}.memory must be greater than 0; leave it out where it is not known", field.path());
    for (const auto& group : field.at("workers").items()) type.workers.push_back(read_group(group));
    if (field.has("limits")) type.limits = field.at("limits").counts();
    if (field.has("runtime")) type.runtime = read_runtime(field.at("runtime"));
    return type;
}

std::vector<Subnet> read_topology(const Field& field) {
    field.allow_only({"kind", "subnets"});
    const std::string kind = field.at("kind").text();
    if (kind == "flat") return {};
    if (kind != "subnets") throw Error("{}.kind must be \"flat\" or \"subnets\"; it is \"{}\"", field.path(), kind);
    std::vector<Subnet> subnets;
    for (const auto& item : field.at("subnets").items()) {
        item.allow_only({"name", "uplink", "parent"});
        subnets.push_back({.name = item.at("name").text(),
                           .uplink = read_link(item.at("uplink")),
                           .parent = item.has("parent") ? item.at("parent").text() : ""});
    }
    if (subnets.empty()) throw Error("{}.subnets needs at least one subnet", field.path());
    return subnets;
}

json write_points(const std::vector<TilePoint>& points) {
    auto list = json::array();
    for (const auto& point : points) list.push_back({{"tile", point.tile}, {"value", point.value}});
    return list;
}

json write_calls(const std::vector<TimedCall>& calls) {
    auto list = json::array();
    for (const auto& call : calls) {
        list.push_back({{"tile", call.tile}, {"value", format_quantity(call.value, Dimension::seconds)}});
        if (call.work > 0) list.back()["work"] = call.work;
    }
    return list;
}

json write_kernel(const KernelTime& kernel) {
    json result{{"kernel", kernel.kernel}};
    if (std::holds_alternative<UnavailableKernel>(kernel.time)) {
        result["unavailable"] = true;
        return result;
    }
    result["source"] = name_in(sources, kernel.source);
    if (const auto* timed = std::get_if<TimedKernel>(&kernel.time)) {
        result["seconds"] = write_calls(timed->seconds);
        if (!timed->narrow.empty()) result["narrow"] = write_calls(timed->narrow);
    }
    if (const auto* rated = std::get_if<RatedKernel>(&kernel.time)) {
        for (const auto& [name, unit, dimension] : rate_fields)
            if (unit == rated->unit) result[name] = format_quantity(rated->rate, dimension);
        if (!rated->efficiency.empty()) result["efficiency"] = write_points(rated->efficiency);
    }
    return result;
}

json write_group(const WorkerGroup& group) {
    json result{{"name", group.name},
                {"processor", name_in(processors, group.processor)},
                {"count", group.count},
                {"streams", group.streams},
                {"kernels", json::array()}};
    if (group.memory > 0) result["memory"] = format_quantity(group.memory, Dimension::bytes);
    if (group.memory_bandwidth > 0)
        result["memory_bandwidth"] = format_quantity(group.memory_bandwidth, Dimension::bytes_per_second);
    if (group.host_bandwidth > 0)
        result["host_bandwidth"] = format_quantity(group.host_bandwidth, Dimension::bytes_per_second);
    for (const auto& kernel : group.kernels) result["kernels"].push_back(write_kernel(kernel));
    return result;
}

json write_link(const Link& link) {
    return {{"bandwidth", format_quantity(link.bandwidth, Dimension::bytes_per_second)},
            {"latency", format_quantity(link.latency, Dimension::seconds)},
            {"source", name_in(sources, link.source)}};
}

json write_runtime(const RuntimeCosts& costs) {
    json result{{"submission", format_quantity(costs.submission, Dimension::seconds)},
                {"passing", format_quantity(costs.passing, Dimension::seconds)},
                {"task", format_quantity(costs.task, Dimension::seconds)},
                {"turn", format_quantity(costs.turn, Dimension::seconds)},
                {"message", format_quantity(costs.message, Dimension::seconds)},
                {"source", name_in(sources, costs.source)}};
    if (costs.message_bandwidth > 0)
        result["message_bandwidth"] = format_quantity(costs.message_bandwidth, Dimension::bytes_per_second);
    return result;
}

json write_node_type(const NodeType& type) {
    json result{{"name", type.name},
                {"count", type.count},
                {"memory_bandwidth", format_quantity(type.memory_bandwidth, Dimension::bytes_per_second)},
                {"nic", write_link(type.nic)},
                {"workers", json::array()}};
    if (type.memory > 0) result["memory"] = format_quantity(type.memory, Dimension::bytes);
    if (!type.subnet.empty()) result["subnet"] = type.subnet;
    for (const auto& group : type.workers) result["workers"].push_back(write_group(group));
    if (!type.limits.empty()) result["limits"] = type.limits;
    if (type.runtime != RuntimeCosts{}) result["runtime"] = write_runtime(type.runtime);
    return result;
}

LogCurve read_recompression(const Field& field) {
    LogCurve curve;
    for (const auto& item : field.items()) {
        item.allow_only({"rank", "slowness"});
        curve.push_back({.x = item.at("rank").number(), .y = item.at("slowness").number()});
    }
    return curve;
}

json write_recompression(const LogCurve& curve) {
    auto list = json::array();
    for (const auto& [rank, slowness] : curve) list.push_back({{"rank", rank}, {"slowness", slowness}});
    return list;
}

json write_topology(const std::vector<Subnet>& subnets) {
    if (subnets.empty()) return {{"kind", "flat"}};
    json result{{"kind", "subnets"}, {"subnets", json::array()}};
    for (const auto& subnet : subnets) {
        json item{{"name", subnet.name}, {"uplink", write_link(subnet.uplink)}};
        if (!subnet.parent.empty()) item["parent"] = subnet.parent;
        result["subnets"].push_back(std::move(item));
    }
    return result;
}

}  // namespace

void to_json(json& result, const Platform& platform) {
    result = {{"format", format_name},
              {"version", format_version},
              {"name", platform.name},
              {"node_types", json::array()},
              {"topology", write_topology(platform.subnets)}};
    for (const auto& type : platform.node_types) result["node_types"].push_back(write_node_type(type));
    if (!platform.description.empty()) result["description"] = platform.description;
    if (!platform.recompression.empty()) result["recompression"] = write_recompression(platform.recompression);
}

void from_json(const json& value, Platform& platform) {
    const Field file(value, "");
    file.allow_only({"$schema", "format", "version", "name", "description", "node_types", "topology", "recompression"});
    if (file.at("format").text() != format_name)
        throw Error("this is not a platform: \"format\" must be \"{}\"", format_name);
    if (const Index version = file.at("version").integer(); version != format_version)
        throw Error("platform version {} is not known; this program reads version {}", version, format_version);
    Platform result{
        .name = file.at("name").text(),
        .node_types = {},
        .subnets = read_topology(file.at("topology")),
        .description = file.has("description") ? file.at("description").text() : "",
        .recompression = file.has("recompression") ? read_recompression(file.at("recompression")) : LogCurve{}};
    for (const auto& type : file.at("node_types").items()) result.node_types.push_back(read_node_type(type));
    check_platform(result);
    platform = std::move(result);
}

}  // namespace tesela
