// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// The conversions of reduce/half.hpp and reduce/float8.hpp, done by a GPU.
namespace ringscope::gpu {

[[nodiscard]] std::vector<float> floats_of_halfs(const std::vector<std::uint16_t>& bits);
[[nodiscard]] std::vector<float> floats_of_bfloat16s(const std::vector<std::uint16_t>& bits);
[[nodiscard]] std::vector<std::uint16_t> halfs_of(const std::vector<float>& values);
[[nodiscard]] std::vector<std::uint16_t> bfloat16s_of(const std::vector<float>& values);

[[nodiscard]] std::vector<float> floats_of_e4m3s(const std::vector<std::uint8_t>& bits);
[[nodiscard]] std::vector<float> floats_of_e5m2s(const std::vector<std::uint8_t>& bits);
[[nodiscard]] std::vector<std::uint8_t> e4m3s_of(const std::vector<float>& values);
[[nodiscard]] std::vector<std::uint8_t> e5m2s_of(const std::vector<float>& values);

}  // namespace ringscope::gpu
