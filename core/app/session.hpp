// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "base/time.hpp"
#include "bench/engines.hpp"
#include "bench/health_probe.hpp"
#include "bench/ladder.hpp"
#include "bootstrap/bootstrap.hpp"
#include "environment/environment.hpp"
#include "trace/rows.hpp"

namespace ringscope::app {

/// CPUs that the ranks may run on, all together.
[[nodiscard]] std::size_t distinct_cpus(const std::vector<trace::RankEnvironment>& ranks);

/// What one rank has while cases run: the plugins, what is known of all ranks, and the engines.
class Session {
 public:
    Session(bootstrap::Bootstrap& bootstrap, const options::Options& options, bench::Ladder ladder)
        : bootstrap_{bootstrap}, options_{options}, ladder_{std::move(ladder)} {}
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void load_plugins();
    /// Opens the engines that these cases need. [collective] GPUs are taken when a case names them, or when
    /// they are what `auto` means here.
    void connect(const std::vector<Case>& cases, const Timeouts& timeout);
    /// Lets go of the GPUs in an orderly way. [collective]
    void close();

    [[nodiscard]] bootstrap::Bootstrap& bootstrap() { return bootstrap_; }
    [[nodiscard]] bool is_first() const { return bootstrap_.rank() == 0; }
    [[nodiscard]] const plugin::PluginRegistry& registry() const { return *registry_; }
    [[nodiscard]] const bench::Engines& engines() const { return *engines_; }
    /// Null where no GPU is used.
    [[nodiscard]] const engine::cuda::CudaEngine* cuda() const { return cuda_.get(); }
    [[nodiscard]] const std::vector<trace::RankEnvironment>& ranks() const { return ranks_; }
    /// More ranks than CPUs for them: times are no measurement.
    [[nodiscard]] bool oversubscribed() const { return distinct_cpus(ranks_) < ranks_.size(); }
    /// The clocks of the ranks' processes.
    [[nodiscard]] clock::Clocks& clocks() { return *clocks_; }
    /// Of rank 0: how they compared when the session was connected.
    [[nodiscard]] const std::vector<clock::Comparison>& first_comparison() const { return first_comparison_; }
    [[nodiscard]] environment::GpuVersions versions() const;
    /// What has passed since the last step was this phase of the start.
    void step(const std::string& phase);
    [[nodiscard]] bench::Ladder& ladder() { return ladder_; }
    /// Of the GPUs that this rank drives; of those of --root where that is given, whatever plays.
    [[nodiscard]] bench::HealthProbe health_probe() const;
    [[nodiscard]] engine::cuda::CudaEngine* cuda() { return cuda_.get(); }
    [[nodiscard]] const options::Options& options() const { return options_; }
    /// What to say where the run ends early, of what it leaves; "" before there is anything.
    [[nodiscard]] const std::string& legacy() const { return legacy_; }
    void set_legacy(std::string text) { legacy_ = std::move(text); }
    /// The page on which ranks tell each other to give up; null before connect().
    [[nodiscard]] engine::host::Control* control() { return host_ ? &host_->control() : nullptr; }

 private:
    void connect_host(const std::vector<Case>& cases, const Timeouts& timeout);
    void compare_clocks();
    void note_clocks() const;
    void connect_gpus(const std::vector<Case>& cases, const Timeouts& timeout);
    void choose_automatic();
    void try_named_engines(const std::vector<Case>& cases);
    void connect_nccl(const std::vector<Case>& cases, const Timeouts& timeout);
    void note(const std::string& text) const;

    bootstrap::Bootstrap& bootstrap_;
    const options::Options& options_;
    bench::Ladder ladder_;
    std::vector<trace::RankEnvironment> ranks_;
    std::optional<plugin::PluginRegistry> registry_;
    std::optional<engine::host::HostEngine> host_;
    std::optional<clock::Clocks> clocks_;
    std::vector<clock::Comparison> first_comparison_;
    std::unique_ptr<engine::cuda::CudaEngine> cuda_;
    std::unique_ptr<baseline::NcclBaseline> nccl_;
    std::optional<bench::Engines> engines_;
    std::string legacy_;
};

}  // namespace ringscope::app
