#pragma once

#include <simgrid/s4u.hpp>

// SimGrid 3 wants it after another of its headers.
#include <simgrid/version.h>

#include <string>
#include <vector>

/// What SimGrid 4 names otherwise than SimGrid 3.
namespace tesela::simgrid_names {

namespace s4u = simgrid::s4u;

#if SIMGRID_VERSION_MAJOR >= 4

inline s4u::NetZone* add_zone(const s4u::Engine& engine, const std::string& name) {
    return engine.get_netzone_root()->add_netzone_full(name);
}
inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name, double bandwidth) {
    return zone.add_link(name, bandwidth);
}
inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name) { return zone.add_host(name, 1.0); }
inline void add_route(s4u::NetZone& zone, s4u::Host* a, s4u::Host* b, const std::vector<s4u::LinkInRoute>& way) {
    zone.add_route(a, b, way, false);
}

#else

inline s4u::NetZone* add_zone(const s4u::Engine&, const std::string& name) { return s4u::create_full_zone(name); }
inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name, double bandwidth) {
    return zone.create_link(name, bandwidth);
}
inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name) { return zone.create_host(name, 1.0); }
inline void add_route(s4u::NetZone& zone, s4u::Host* a, s4u::Host* b, const std::vector<s4u::LinkInRoute>& way) {
    zone.add_route(a->get_netpoint(), b->get_netpoint(), nullptr, nullptr, way, false);
}

#endif

}  // namespace tesela::simgrid_names
