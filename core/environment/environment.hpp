// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/rows.hpp"

/// What could matter for a measurement and is not part of the configuration: the machine, the build, the
/// settings.
namespace ringscope::environment {

inline constexpr std::string_view unavailable = "unavailable";

/// "NAME=value" of every variable of this process.
[[nodiscard]] std::vector<std::string> current_variables();

/// Where facts are read. Tests put another root and other variables in place of the machine's.
struct Sources {
    std::filesystem::path root = "/";
    std::vector<std::string> variables = current_variables();
};

/// Host, boot id, pid, CPUs and NUMA node of the calling process. The GPU's fields stay empty: they are not
/// known here.
[[nodiscard]] trace::RankEnvironment capture_rank(std::int32_t rank, const Sources& sources = {});

/// Program, build, machine, limits and allow-listed variables ("env.NCCL_DEBUG"). Every fact is always there;
/// one whose source is missing has the value "unavailable". Versions of MPI, HDF5, NCCL and CUDA are added by
/// who knows them.
[[nodiscard]] std::vector<trace::Fact> capture_facts(const Sources& sources = {});

/// What the libraries say of themselves; 0 and "" where there is none.
struct GpuVersions {
    int cuda_driver = 0, cuda_runtime = 0;  ///< of CUDA 13.0: 13000
    std::string nccl;                       ///< "2.28.9"
};

/// The versions as facts: "cuda.driver" and "cuda.runtime", such as 13.0, and "nccl.version"; "unavailable"
/// for what there is not.
[[nodiscard]] std::vector<trace::Fact> gpu_facts(const GpuVersions& versions);

/// Whether this build holds the CUDA engine and NCCL's baseline.
[[nodiscard]] bool has_cuda() noexcept;

/// The allow-listed ones of the variables as facts: those of NCCL, Open MPI, UCX, CUDA, OpenMP and ringscope,
/// and what describes a Slurm job; never one whose name speaks of a key, token, secret or password.
[[nodiscard]] std::vector<trace::Fact> recorded_variables(const std::vector<std::string>& variables);

/// "0.1.0", as in --version.
[[nodiscard]] std::string_view program_version() noexcept;

/// A random UUID (version 4): "c0ffee00-1234-4abc-9def-0123456789ab".
[[nodiscard]] std::string run_uuid();

/// Now, to the second, in UTC: "2024-05-01T12:00:00Z".
[[nodiscard]] std::string iso8601_now();

}  // namespace ringscope::environment
