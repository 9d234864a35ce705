// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/scoped_environment.hpp"

#include <cstdlib>

namespace ringscope::nccl {

ScopedEnvironment::ScopedEnvironment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
        const char* before = std::getenv(name.c_str());
        before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>{before};
        setenv(name.c_str(), value.c_str(), 1);
    }
}

ScopedEnvironment::~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
        if (value) {
            setenv(name.c_str(), value->c_str(), 1);
        } else {
            unsetenv(name.c_str());
        }
    }
}

}  // namespace ringscope::nccl
