// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/engine.hpp"
#include "engine/cuda/range.hpp"

// The engines on GPUs in a build without CUDA.
namespace ringscope::engine::cuda {
namespace {
constexpr const char* reason = "this build has no CUDA, configure it where there is an nvcc";
}

struct CudaEngine::State {};

std::string CudaEngine::unsuitable(bootstrap::Bootstrap&) {
    return reason;
}
CudaEngine::CudaEngine(bootstrap::Bootstrap& bootstrap, host::Control&, const CudaOptions&) {
    bootstrap::agree(bootstrap, [] { throw Error{ExitCode::unusable_engine, reason}; });
}
CudaEngine::~CudaEngine() = default;

const Refusal& CudaEngine::refusal(GpuEngine) {
    static const Refusal refused{ExitCode::unusable_engine, reason};
    return refused;
}
bool CudaEngine::has_copy_engines() const {
    return false;
}
std::vector<std::int32_t> CudaEngine::staged_numa_nodes() const {
    return {};
}
PreparedOnGpu CudaEngine::prepare(const CaseRequest&) {
    throw Error{ExitCode::unusable_engine, reason};
}
Place CudaEngine::reserve(GpuEngine, std::int64_t, std::int64_t) {
    throw Error{ExitCode::unusable_engine, reason};
}
ColdSteps CudaEngine::cold_steps() const {
    return {};
}
const std::vector<Gpu>& CudaEngine::gpus() const {
    static const std::vector<Gpu> none;
    return none;
}
std::int32_t CudaEngine::most_channels() const {
    return 1;
}
std::string CudaEngine::unsupported(Protocol) const {
    return reason;
}
void CudaEngine::close() {}
std::vector<clock::Exchange> CudaEngine::ask_clock() const {
    return {};
}
Range::Range(const std::string&) {}
Range::~Range() = default;

CudaVersions CudaEngine::versions() {
    return {};
}

}  // namespace ringscope::engine::cuda
