// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

namespace ringscope::nccl {

using Variables = std::map<std::string, std::string>;

/// Environment variables that hold as long as this lives; then they are as they were. Not for two threads at
/// a time.
class ScopedEnvironment {
 public:
    explicit ScopedEnvironment(const Variables& variables);
    ~ScopedEnvironment();
    ScopedEnvironment(const ScopedEnvironment&) = delete;
    ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
    std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace ringscope::nccl
