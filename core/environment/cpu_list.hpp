// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringscope::environment {

/// CPU numbers of the kernel's list form, "0-3,8", in ascending order without doubles. Throws Error{internal}
/// for other text, and for more than 65536 CPUs.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

/// The inverse: "0-3,8". The numbers are ascending without doubles.
[[nodiscard]] std::string format_cpu_list(std::span<const int> cpus);

/// The CPUs that the calling thread may run on, ascending: what binding and containers leave of the machine.
[[nodiscard]] std::vector<int> allowed_cpu_list();

/// Their number, at least 1.
[[nodiscard]] int allowed_cpus();

}  // namespace ringscope::environment
