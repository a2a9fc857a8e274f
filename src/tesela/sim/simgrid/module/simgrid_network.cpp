#include "tesela/base/error.hpp"
#include "tesela/sim/internal/connections.hpp"
#include "tesela/sim/simgrid/internal/simgrid_names.hpp"
#include "tesela/sim/timeline.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tesela {
namespace {

namespace s4u = simgrid::s4u;

/// Exactly the bandwidths of the platform: no factors for protocols, no traffic of acknowledgements, and a precision
/// that keeps short messages apart.
constexpr const char* configuration[] = {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                                         "surf/precision:1e-9", "precision/timing:1e-9"};

class SimGrid;
SimGrid* the_simulation = nullptr;

class SimGrid final : public Timeline {
public:
    explicit SimGrid(const Platform& platform) : connections_(platform) {
        static std::string name = "tesela";
        static std::string quiet = "--log=xbt_cfg.thresh:warning";  // not a line for every setting
        static char* arguments[] = {name.data(), quiet.data(), nullptr};
        static int count = 2;
        engine_ = new s4u::Engine(&count, arguments);
        for (const char* setting : configuration) configure(setting);
        build();
        s4u::Comm::on_completion_cb([](const s4u::Activity& activity) { the_simulation->completed(activity); });
        s4u::Engine::on_time_advance_cb([](double) { the_simulation->forget_completed(); });
        engine_->seal_platform();
    }

    [[nodiscard]] double now() const override { return s4u::Engine::get_clock(); }

    void set_timer(double time, std::uint64_t what) override {
        simgrid::kernel::timer::Timer::set(time, [this, what] { guarded([&] { handler_->timer(what); }); });
    }

    void send(const SimulatedMessage& message) override {
        const std::uint32_t number = connections_.add(message, now());
        if (connections_[number].queue.size() == 1) start(number);
    }

    void run(TimelineHandler& handler) override {
        handler_ = &handler;
        guarded([] {});
        engine_->run();
        forget_completed();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    /// A setting that this version does not know is one that it does not need.
    static void configure(const char* setting) {
        try {
            s4u::Engine::set_config(setting);
        } catch (const std::exception&) {
            return;
        }
    }

    /// Every pair of nodes gets its way, link by link. Latencies are ours: SimGrid would let a message wait for its own
    /// before the first byte, one after the other on a connection, and give those with longer ones less of a link.
    void build() {
        using s4u::LinkInRoute;
        const NetworkLinks& network = connections_.network();
        s4u::NetZone* zone = simgrid_names::add_zone(*engine_, "cluster");
        std::vector<s4u::Link*> links;
        for (std::size_t l = 0; l < network.links().size(); ++l) {
            const double bandwidth = network.links()[l].bandwidth;
            links.push_back(simgrid_names::add_link(*zone, "link" + std::to_string(l), bandwidth));
            links.back()->set_latency(0)->seal();
        }
        const auto nodes = static_cast<std::int32_t>(network.nodes());
        for (std::int32_t p = 0; p < nodes; ++p) {
            hosts_.push_back(simgrid_names::add_host(*zone, "node" + std::to_string(p)));
            hosts_.back()->seal();
        }
        for (std::int32_t a = 0; a < nodes; ++a)
            for (std::int32_t b = 0; b < nodes; ++b) {
                if (a == b) continue;
                std::vector<LinkInRoute> way;
                for (const std::uint32_t l : network.route(a, b)) way.emplace_back(links[l]);
                simgrid_names::add_route(*zone, hosts_[static_cast<std::size_t>(a)],
                                         hosts_[static_cast<std::size_t>(b)], way);
            }
        zone->seal();
    }

    /// An exception must not pass through SimGrid: what is left is not told any more, and `run` throws it.
    void guarded(const std::function<void()>& tell) {
        if (failure_) return;
        try {
            tell();
            handler_->settle();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    /// The first message of a connection's queue goes.
    void start(std::uint32_t number) {
        const SimulatedMessage& message = connections_[number].queue.front().message;
        auto comm = s4u::Comm::sendto_init(hosts_[static_cast<std::size_t>(message.from)],
                                           hosts_[static_cast<std::size_t>(message.to)]);
        // SimGrid counts whole bytes.
        comm->set_payload_size(static_cast<std::uint64_t>(std::max(1.0, message.bytes)));
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a number
        comm->set_data(reinterpret_cast<void*>(std::uintptr_t{number} + 1));
        if (number >= comms_.size()) comms_.resize(number + 1);
        comms_[number] = comm;
        comm->start();
    }

    void completed(const s4u::Activity& activity) {
        const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(activity.get_data<void>()) - 1);
        sim::Connection& connection = connections_[number];
        const sim::QueuedMessage sent = connection.queue.front();
        connection.queue.pop_front();
        completed_.push_back(std::exchange(comms_[number], nullptr));
        if (!connection.queue.empty()) start(number);
        const MessageTimes times{.start = sent.start, .sent = now(), .arrival = now() + connection.latency};
        const auto arrive = [this, id = sent.message.id, times] {
            guarded([&] { handler_->message_arrived(id, times); });
        };
        if (connection.latency == 0) return arrive();
        simgrid::kernel::timer::Timer::set(times.arrival, arrive);
    }

    /// SimGrid still looks at an activity after it has told its completion, so it is let go later.
    void forget_completed() { completed_.clear(); }

    sim::Connections connections_;
    s4u::Engine* engine_ = nullptr;  // never deleted: SimGrid ends with the process
    std::vector<s4u::Host*> hosts_;
    std::vector<s4u::CommPtr> comms_;  // of connections on which something is under way
    std::vector<s4u::CommPtr> completed_;
    TimelineHandler* handler_ = nullptr;
    std::exception_ptr failure_;
};

/// What callers get: the one simulation of this process, which outlives them.
class Borrowed final : public Timeline {
public:
    [[nodiscard]] double now() const override { return the_simulation->now(); }
    void set_timer(double time, std::uint64_t what) override { the_simulation->set_timer(time, what); }
    void send(const SimulatedMessage& message) override { the_simulation->send(message); }
    void run(TimelineHandler& handler) override { the_simulation->run(handler); }
};

}  // namespace

/// The one function of the module; the caller owns what it gets.
extern "C" __attribute__((visibility("default"))) Timeline* tesela_simgrid_network(const Platform* platform) {
    if (the_simulation != nullptr)
        throw Error("SimGrid allows one simulation in a process, and there was one already; use another process");
    the_simulation = new SimGrid(*platform);
    return new Borrowed;
}

}  // namespace tesela
