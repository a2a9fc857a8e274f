#include "tesela/base/error.hpp"
#include "tesela/sim/internal/message_gate.hpp"
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

/// Exactly the bandwidths and latencies of the platform: no factors for protocols, no traffic of acknowledgements, and
/// a precision that keeps short messages apart.
constexpr const char* configuration[] = {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                                         "surf/precision:1e-9", "precision/timing:1e-9"};

class SimGrid;
SimGrid* the_simulation = nullptr;

class SimGrid final : public Timeline {
public:
    explicit SimGrid(const Platform& platform) : gate_(platform) {
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

    void send(const SimulatedMessage& message) override { gate_.wait(message); }

    void run(TimelineHandler& handler) override {
        handler_ = &handler;
        guarded([] {});
        engine_->run();
        forget_completed();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    struct Flight {
        SimulatedMessage message;
        double start = 0;
        double claimed = 0;
        s4u::CommPtr comm;
    };

    /// A setting that this version does not know is one that it does not need.
    static void configure(const char* setting) {
        try {
            s4u::Engine::set_config(setting);
        } catch (const std::exception&) {
            return;
        }
    }

    /// Every pair of nodes gets its way, link by link.
    void build() {
        using s4u::LinkInRoute;
        const NetworkLinks& network = gate_.network();
        s4u::NetZone* zone = simgrid_names::add_zone(*engine_, "cluster");
        std::vector<s4u::Link*> links;
        for (std::size_t l = 0; l < network.links().size(); ++l) {
            const double bandwidth = network.links()[l].bandwidth;
            links.push_back(simgrid_names::add_link(*zone, "link" + std::to_string(l), bandwidth));
            links.back()->set_latency(network.links()[l].latency)->seal();
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
            gate_.open([this](const SimulatedMessage& message, const sim::MessageGate::Rates& rates) {
                start(message, rates.claimed);
            });
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    void start(const SimulatedMessage& message, double claimed) {
        const std::size_t number = new_flight();
        auto comm = s4u::Comm::sendto_init(hosts_[static_cast<std::size_t>(message.from)],
                                           hosts_[static_cast<std::size_t>(message.to)]);
        // SimGrid counts whole bytes.
        comm->set_payload_size(static_cast<std::uint64_t>(std::max(1.0, message.bytes)));
        comm->set_data(reinterpret_cast<void*>(number + 1));  // NOLINT(performance-no-int-to-ptr): a number
        flights_[number] = {message, now(), claimed, comm};
        comm->start();
        handler_->message_started(message.id);
    }

    void completed(const s4u::Activity& activity) {
        const std::size_t number = reinterpret_cast<std::uintptr_t>(activity.get_data<void>()) - 1;
        const Flight& flight = flights_[number];
        const SimulatedMessage message = flight.message;
        const MessageTimes times{flight.start, now(), now()};
        gate_.leave(message, flight.claimed);
        completed_.push_back(number);
        guarded([&] { handler_->message_arrived(message.id, times); });
    }

    /// SimGrid still looks at an activity after it has told its completion, so it is let go later.
    void forget_completed() {
        for (const std::size_t number : completed_) {
            flights_[number].comm = nullptr;
            free_flights_.push_back(number);
        }
        completed_.clear();
    }

    std::size_t new_flight() {
        if (free_flights_.empty()) {
            flights_.emplace_back();
            return flights_.size() - 1;
        }
        const std::size_t number = free_flights_.back();
        free_flights_.pop_back();
        return number;
    }

    sim::MessageGate gate_;
    s4u::Engine* engine_ = nullptr;  // never deleted: SimGrid ends with the process
    std::vector<s4u::Host*> hosts_;
    std::vector<Flight> flights_;
    std::vector<std::size_t> free_flights_;
    std::vector<std::size_t> completed_;
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
