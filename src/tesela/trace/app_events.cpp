#include "tesela/trace/app_events.hpp"

#include "tesela/base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace tesela::trace {
namespace {

struct Registered {
    std::string name;
    std::vector<Field> fields;
};

struct Registry {
    std::mutex mutex;
    std::vector<Registered> events;
    std::atomic<Collector*> collector{nullptr};
};

Registry& registry() {
    static Registry all;
    return all;
}

nlohmann::json definition(std::size_t id, const Registered& event) {
    nlohmann::json fields = nlohmann::json::array();
    for (const Field& field : event.fields)
        fields.push_back({{"name", field.name}, {"type", field.type == FieldType::real ? "real" : "integer"}});
    return {{"type", "event"}, {"id", id}, {"name", event.name}, {"fields", fields}};
}

EventType type_of(std::size_t id, const std::vector<Field>& fields) {
    EventType type{.id = static_cast<std::uint16_t>(id), .field_count = static_cast<std::uint16_t>(fields.size())};
    for (std::size_t k = 0; k < fields.size(); ++k)
        if (fields[k].type == FieldType::real) type.reals |= 1U << k;
    return type;
}

}  // namespace

EventType register_event(const std::string& name, const std::vector<Field>& fields) {
    if (fields.size() > max_event_fields)
        throw Error("event {} has {} fields; at most {} can be recorded", name, fields.size(), max_event_fields);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found =
        std::find_if(all.events.begin(), all.events.end(), [&](const Registered& e) { return e.name == name; });
    const auto id = static_cast<std::size_t>(found - all.events.begin());
    if (found != all.events.end()) {
        if (found->fields != fields) throw Error("event {} was registered before with other fields", name);
        return type_of(id, fields);
    }
    all.events.push_back({name, fields});
    if (Collector* collector = all.collector) collector->define(definition(id, all.events.back()));
    return type_of(id, fields);
}

void emit(const EventType& type, std::initializer_list<Value> values) noexcept {
    Collector* collector = active();
    if (collector == nullptr || !collector->wants(Module::app)) return;
    constexpr std::size_t per_record = std::tuple_size_v<decltype(AppEvent::values)>;
    std::array<Record, max_event_fields / per_record> records;
    AppEvent part{.type = type.id, .time = Collector::now()};
    const std::size_t parts = std::max<std::size_t>(1, (type.field_count + per_record - 1) / per_record);
    for (std::size_t p = 0; p < parts; ++p) {
        part.part = static_cast<std::uint8_t>(p);
        for (std::size_t k = 0; k < per_record; ++k) {
            const std::size_t field = p * per_record + k;
            const FieldType kind = (type.reals >> field & 1U) != 0 ? FieldType::real : FieldType::integer;
            part.values[k] = field < values.size() ? values.begin()[field].bits(kind) : 0;
        }
        records[p] = to_record(part);
    }
    collector->put(std::span{records.data(), parts});
}

Collector* active() noexcept { return registry().collector.load(std::memory_order_acquire); }

void set_active(Collector* collector) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (collector != nullptr)
        for (std::size_t id = 0; id < all.events.size(); ++id) collector->define(definition(id, all.events[id]));
    all.collector = collector;
}

}  // namespace tesela::trace
