// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "bench/case_buffers.hpp"
#include "bench/engines.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/experiment.hpp"
#include "engine/catalogue.hpp"
#include "engine/collective.hpp"
#include "plugin/registry.hpp"
#include "schedule/plan.hpp"
#include "schedule/traffic.hpp"

namespace ringscope::bench {

/// A case that this machine or library cannot run, which is no fault: it is recorded as skipped.
class Skipped : public Error {
 public:
    explicit Skipped(const std::string& reason) : Error{ExitCode::skipped, reason} {}
};

/// A case made ready: what runs it, where its buffers are, and what its schedule declares.
struct PreparedCase {
    std::unique_ptr<engine::Collective> collective;
    std::byte* user_memory = nullptr;  ///< for the user's buffers; null: any of the host will do
    std::int64_t user_bytes = 0;
    double empty_ns = std::numeric_limits<double>::quiet_NaN();  ///< an empty kernel's time, on devices
    std::string protocol;                                        ///< "" where not observable
    std::optional<VerifyMode> verify{};  ///< what results can be held to, where that is less than was asked
    std::string note;  ///< what is to be known of a case that is ok: how an engine plays it; or ""
    std::int32_t side_by_side = 1;        ///< messages of a rank that wait at the same time
    std::function<std::string()> chosen;  ///< what a library says that it chose, once it ran; "": it does not
    std::optional<schedule::Plan> plan;   ///< none for opaque baselines and a single rank
    std::optional<schedule::DeclaredTraffic> declared;  ///< none where not observable
    std::optional<schedule::LinkBytes> closed_form;
    bool traced = true;  ///< whether run_traced gives events
};

/// Chooses the engine of a case and lets it prepare the collective.
class Preparer {
 public:
    Preparer(bootstrap::Bootstrap& bootstrap, const plugin::PluginRegistry& registry, const Engines& engines)
        : bootstrap_{bootstrap}, registry_{registry}, engines_{engines} {}

    /// [collective] All ranks succeed or throw alike. Throws Skipped, or Error for a schedule that is no
    /// all-reduce, would deadlock or does not support this number of ranks, and for an engine that cannot be
    /// used here. `operations` of a sample have buffers of their own.
    [[nodiscard]] PreparedCase prepare(const Case& point, std::int64_t operations);

    /// The engine that plays a case here.
    [[nodiscard]] std::string engine_of(const Case& point) const;
    /// Whether the case's buffers are in device memory.
    [[nodiscard]] bool on_device(const Case& point) const;

    /// The plan of a case, without memory or connections; none for baselines and a single rank.
    [[nodiscard]] std::optional<schedule::Plan> plan(const Case& point) const;

 private:
    [[nodiscard]] const engine::Engine& engine_for(const Case& point) const;
    [[nodiscard]] const engine::Engine& automatic_for(const ringscope_algorithm& algorithm) const;
    /// Whether copy engines play the case, and no kernel.
    [[nodiscard]] bool by_copy_engines(const Case& point, Protocol protocol) const;
    [[nodiscard]] std::int32_t most_channels() const;
    [[nodiscard]] schedule::PlanRequest plan_request(const Case& point) const;
    [[nodiscard]] ringscope_tuning tuning_of(
        const Case& point, const schedule::PlanRequest& request, const engine::Engine& engine
    ) const;
    void check_mode(const Case& point) const;
    void describe_ways(const Case& point, PreparedCase& prepared) const;
    void check_alone(const Case& point) const;
    void prepare_mpi(const Case& point, PreparedCase& prepared);
    void prepare_nccl(const Case& point, std::int64_t operations, PreparedCase& prepared);
    void prepare_schedule(const Case& point, std::int64_t operations, PreparedCase& prepared);
    void prepare_on_host(const Case& point, std::int64_t operations, PreparedCase& prepared);
    void prepare_interpreter(const Case& point, std::int64_t operations, PreparedCase& prepared);
    void prepare_on_gpu(const Case& point, std::int64_t operations, PreparedCase& prepared);
    [[nodiscard]] const ringscope_algorithm& algorithm_of(const Case& point) const {
        return *registry_.find(point.algorithm.id)->algorithm;
    }

    bootstrap::Bootstrap& bootstrap_;
    const plugin::PluginRegistry& registry_;
    Engines engines_;
};

}  // namespace ringscope::bench
