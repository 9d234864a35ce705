// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/cuda/engine.hpp"
#include "schedule/plan.hpp"

// What engines there are, on paper: known in every build and on every machine, so that `list`, `describe`,
// experiments and plans do not depend on what is here.
namespace ringscope::engine {

using cuda::Defaults;

/// What the defaults of an engine depend on.
struct Sizing {
    Protocol protocol = Protocol::simple;
    std::int64_t chunk_bytes = 0;
    std::int32_t most_channels = 128;
    bool copy_engines = false;  ///< cuda-staged: copy engines move the data
};

struct Engine {
    const char* name;
    std::optional<cuda::GpuEngine> gpu;  ///< none: of the host
    bool (*has)(Protocol);
    schedule::LinkFormat (*format)(Protocol);  ///< of a protocol that it has
    Defaults (*defaults)(const Sizing&);
};

/// All engines that play schedules.
[[nodiscard]] std::span<const Engine> engines();

/// Null for a word that is no engine here.
[[nodiscard]] const Engine* find_engine(std::string_view name);

/// How a protocol moves a message there. Throws Error (unusable_engine) for one that the engine does not
/// have.
[[nodiscard]] schedule::LinkFormat format_on(const Engine& engine, Protocol protocol);

/// Whether copy engines, and not a kernel, play a case of cuda-staged: as the parameter `copy_engine` says (0
/// or 1), and by size where it says nothing (-1).
[[nodiscard]] bool by_copy_engines(std::int64_t parameter, Protocol protocol, Mode mode, std::int64_t bytes);

}  // namespace ringscope::engine
