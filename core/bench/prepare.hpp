// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "config/experiment.hpp"
#include "engine/collective.hpp"
#include "engine/host/engine.hpp"
#include "plugin/registry.hpp"
#include "schedule/plan.hpp"
#include "schedule/traffic.hpp"

namespace ringscope::bench {

/// A case that this machine or library cannot run, which is no fault: it is recorded as skipped.
class Skipped : public Error {
 public:
    explicit Skipped(const std::string& reason) : Error{ExitCode::skipped, reason} {}
};

/// A case made ready: what runs it, and what its schedule declares.
struct PreparedCase {
    std::unique_ptr<engine::Collective> collective;
    std::string protocol;                               ///< "" where not observable
    std::optional<schedule::Plan> plan;                 ///< none for opaque baselines and a single rank
    std::optional<schedule::DeclaredTraffic> declared;  ///< none where not observable
    std::optional<schedule::LinkBytes> closed_form;
    bool traced = true;  ///< whether run_traced gives events
};

/// Chooses the engine of a case and lets it prepare the collective.
class Preparer {
 public:
    Preparer(
        bootstrap::Bootstrap& bootstrap, const plugin::PluginRegistry& registry,
        engine::host::HostEngine& host
    )
        : bootstrap_{bootstrap}, registry_{registry}, host_{host} {}

    /// [collective] All ranks succeed or throw alike. Throws Skipped, or Error for a schedule that is no
    /// all-reduce, would deadlock or does not support this number of ranks.
    [[nodiscard]] PreparedCase prepare(const Case& point);

    /// The engine that plays a case here.
    [[nodiscard]] static std::string engine_of(const Case& point);

    /// The plan of a case, without memory or connections; none for baselines and a single rank.
    [[nodiscard]] std::optional<schedule::Plan> plan(const Case& point) const;

 private:
    [[nodiscard]] std::unique_ptr<engine::Collective> collective(
        const ringscope_algorithm& algorithm, const Case& point, PreparedCase& prepared
    );

    bootstrap::Bootstrap& bootstrap_;
    const plugin::PluginRegistry& registry_;
    engine::host::HostEngine& host_;
};

}  // namespace ringscope::bench
