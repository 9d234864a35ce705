// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringscope {

/// A value of nlohmann's library for people to read. Names of files and texts of plugins may hold any bytes:
/// what is no UTF-8 is replaced rather than the rest lost.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value) {
    return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringscope
