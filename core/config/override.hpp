// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/node.hpp"

namespace ringscope::config {

/// One value from the command line that takes the place of one in the file.
struct Override {
    std::string path;    ///< "sweep.algorithms.0"
    std::string value;   ///< YAML
    std::string source;  ///< what errors name: "--set sweep.algorithms.0=mpi"
};

/// Of "key.path=value", the word after --set.
[[nodiscard]] Override parse_override(const std::string& word);

/// Sets the value in the tree; maps on the way are made where they are missing, items of a list must be
/// there.
void apply_override(Node& root, const Override& setting);

}  // namespace ringscope::config
