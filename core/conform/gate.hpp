// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "bench/engines.hpp"
#include "bench/watchdog.hpp"
#include "bootstrap/bootstrap.hpp"
#include "conform/cases.hpp"
#include "conform/group.hpp"
#include "conform/variant.hpp"
#include "plugin/registry.hpp"

namespace ringscope::conform {

/// Takes a group that is done, at once; on rank 0 alone.
using Report = std::function<void(const Group&)>;

/// What can be shown of an algorithm for these numbers of ranks without running it. Returns the worst exit
/// code.
ExitCode check_on_paper(
    const std::vector<Variant>& variants, const std::vector<std::int32_t>& numbers_of_ranks,
    const Report& report
);

/// The conformance gate: whether an algorithm is an all-reduce on the ranks that there are, in every respect
/// that a user may rely on. The cases are run by bench::Runner like those of any experiment.
class Gate {
 public:
    Gate(
        bootstrap::Bootstrap& bootstrap, const plugin::PluginRegistry& registry,
        const bench::Engines& engines, bench::Watchdog& watchdog, Extent extent, Report report
    );

    /// Checks one algorithm or baseline, played by an engine ("auto", ...). [collective] Returns the worst
    /// exit code of all checks. Throws StuckError when a peer does not answer, after the group was reported.
    ExitCode run(const std::string& id, const std::string& engine);

 private:
    [[nodiscard]] ExitCode try_schedule(const ringscope_algorithm& algorithm, const std::string& engine);
    [[nodiscard]] ExitCode run_schedule(const ringscope_algorithm& algorithm, const std::string& engine);
    [[nodiscard]] ExitCode check_paper(const std::vector<Variant>& variants);
    [[nodiscard]] ExitCode expect_refusal(const Subject& subject);
    [[nodiscard]] ExitCode run_groups(const Subject& subject);
    [[nodiscard]] Group run_group(const CaseGroup& cases);
    void report(const Group& group) const;

    bootstrap::Bootstrap& bootstrap_;
    const plugin::PluginRegistry& registry_;
    bench::Engines engines_;
    bench::Watchdog& watchdog_;
    Extent extent_;
    Report report_;
};

}  // namespace ringscope::conform
