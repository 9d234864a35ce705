// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "environment/topology.hpp"

#include <hwloc.h>

#include <memory>

namespace ringscope::environment {
namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

/// Without the plugins that would start a GPU's driver in this process.
Handle load() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return nullptr;
    Handle handle{topology};
    for (const char* plugin : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
        (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    return hwloc_topology_load(topology) == 0 ? std::move(handle) : nullptr;
}

}  // namespace

Topology capture_topology(const Sources& sources) {
    if (sources.root != "/") return {};
    const Handle topology = load();
    char* text = nullptr;
    int length = 0;
    if (!topology || hwloc_topology_export_xmlbuffer(topology.get(), &text, &length, 0) != 0)
        return {HWLOC_VERSION, ""};
    Topology found{HWLOC_VERSION, text};
    hwloc_free_xmlbuffer(topology.get(), text);
    return found;
}

}  // namespace ringscope::environment
