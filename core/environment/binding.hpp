// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "environment/environment.hpp"

namespace ringscope::environment {

/// What is wrong with a rank's CPUs where it should be bound to one `hwthread`, `core`, `numa` node, `socket`
/// or `package` (another word for socket); empty where they lie within one, and for every other word.
[[nodiscard]] std::string binding_fault(
    std::string_view asked, std::span<const int> cpus, const Sources& sources = {}
);

/// What is wrong with ranks that should not be bound: two of one host that may use different CPUs. Empty
/// where there is no such pair.
[[nodiscard]] std::string unbound_fault(const std::vector<trace::RankEnvironment>& ranks);

}  // namespace ringscope::environment
