// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/override.hpp"
#include "config/parse.hpp"

namespace ringscope::config {

/// What the letters set in an experiment, so that one path validates both; errors name the letter.
[[nodiscard]] std::vector<Override> settings_of(const Letters& letters);

}  // namespace ringscope::config
