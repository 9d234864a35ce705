// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/survey.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "engine/catalogue.hpp"
#include "machine/gpu.hpp"
#include "machine/host.hpp"

namespace ringscope::machine {
namespace {

using bootstrap::Bootstrap;
using engine::cuda::CudaEngine;
using engine::cuda::GpuEngine;

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::int64_t host_budget_ns = 300'000'000, gpu_budget_ns = 1'000'000'000;

/// What one engine came to on this rank.
struct Part {
    Figures figures;
    std::vector<std::string> left_out;
};

/// Windows of the largest size may not fit into shared memory; then it goes without that size.
template <class Measure>
void measure_what_fits(Effort effort, Part& part, Measure measure) {
    if (!effort.left_out.empty()) part.left_out.push_back(effort.left_out);
    while (!effort.sizes.empty()) {
        try {
            part.figures = measure(effort);
            return;
        } catch (const bootstrap::AgreedError& e) {
            if (e.code() != ExitCode::out_of_memory) throw;
            part.left_out.push_back(std::to_string(effort.sizes.back()) + " bytes: " + std::string{e.what()});
            effort.sizes.pop_back();
        }
    }
}

Part survey_host(Bootstrap& bootstrap, engine::host::HostEngine& host) {
    Part part;
    if (host.options().oversubscribed) part.left_out.emplace_back("latencies, for ranks share cores");
    const Effort effort = cut_to_budget(
        {.ranks = bootstrap.size(),
         .sizes = {4 * KiB, 64 * KiB, 1 * MiB, 16 * MiB},
         .bytes_per_ns = 8,
         .budget_ns = host_budget_ns}
    );
    measure_what_fits(effort, part, [&](const Effort& e) { return measure_host(bootstrap, host, e); });
    return part;
}

/// Why a flag's way between kernels cannot be timed, or "".
std::string without_latency(const Bootstrap& bootstrap, const CudaEngine& cuda, GpuEngine engine) {
    if (engine == GpuEngine::host_driven) return "latencies, for the host is in the loop";
    if (bootstrap.shares_address_space()) return "";
    const std::vector<engine::cuda::Gpu>& gpus = cuda.gpus();
    const bool shared = std::ranges::any_of(gpus, [&](const engine::cuda::Gpu& gpu) {
        return std::ranges::count(gpus, gpu.uuid, &engine::cuda::Gpu::uuid) > 1;
    });
    return shared ? "latencies, for processes share a GPU" : "";
}

Part survey_gpus(Bootstrap& bootstrap, CudaEngine& cuda, GpuEngine engine) {
    Part part;
    if (!cuda.refusal(engine).reason.empty()) return part;
    const std::string no_latency = without_latency(bootstrap, cuda, engine);
    if (!no_latency.empty()) part.left_out.push_back(no_latency);
    const Effort effort = cut_to_budget(
        {.ranks = bootstrap.size(),
         .sizes = sizes_on(bootstrap, engine),
         .bytes_per_ns = 10,  // PCIe, twice: by a kernel and by a copy engine
         .budget_ns = gpu_budget_ns}
    );
    measure_what_fits(effort, part, [&](const Effort& e) {
        return measure_gpu(bootstrap, cuda, engine, e, no_latency.empty());
    });
    return part;
}

Part survey_of(Bootstrap& bootstrap, const Ground& ground, const std::string& name) {
    const engine::Engine* engine = engine::find_engine(name);
    if (engine == nullptr) return {};
    if (!engine->gpu) return survey_host(bootstrap, ground.host);
    return ground.cuda == nullptr ? Part{} : survey_gpus(bootstrap, *ground.cuda, *engine->gpu);
}

}  // namespace

Survey survey(Bootstrap& bootstrap, const Ground& ground) {
    Survey survey;
    if (bootstrap.size() == 1) return survey;
    for (const std::string& name : ground.names) {
        const Part part = survey_of(bootstrap, ground, name);
        const std::vector<trace::MachineRow> rows = gather_rows(bootstrap, name, part.figures);
        survey.rows.insert(survey.rows.end(), rows.begin(), rows.end());
        if (bootstrap.rank() == 0 && !part.left_out.empty())
            survey.facts.push_back({"machine." + name + ".left_out", join(part.left_out, "; ")});
    }
    return survey;
}

}  // namespace ringscope::machine
