// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/findings.hpp"

namespace ringscope::doctor {
namespace {

using health::GpuState;

/// Errors by which NVIDIA's driver reports a fault of a program, not of the machine: an exception or a wrong
/// address in its kernels, and what follows from that (NVIDIA's list of Xid errors).
constexpr std::array xids_of_programs{13, 31, 43, 45, 68};

/// Each kind of error of each GPU once, by its last message.
std::vector<Finding> xid_findings(const System& system) {
    if (!system.log) return {};
    std::map<std::pair<std::string, int>, std::pair<std::int64_t, std::string>> kinds;
    for (const health::KernelMessage& message : *system.log) {
        if (message.kind != health::KernelMessage::Kind::xid) continue;
        auto& [count, text] = kinds[{message.pci_id, message.xid}];
        ++count;
        text = message.text;
    }
    std::vector<Finding> found;
    for (const auto& [kind, seen] : kinds) {
        const bool by_program = std::ranges::find(xids_of_programs, kind.second) != xids_of_programs.end();
        found.push_back(
            {by_program ? Severity::note : Severity::harm, id::xid, kind.first,
             fmt::format("Xid {}, {} in the kernel's log: {}", kind.second, seen.first, seen.second),
             by_program
                 ? "a program made this error; what ran then is not to be trusted"
                 : "the GPU, its memory or its links failed; results since then are not to be trusted, and "
                   "survivors of a GPU that is lost wait for it",
             by_program
                 ? "run the program under compute-sanitizer"
                 : "look the number up in NVIDIA's list of Xid errors; reset the GPU or start the machine "
                   "anew; where it comes back, look at power, slot and cooling"}
        );
    }
    return found;
}

/// Before and later of one GPU.
struct Twice {
    const GpuState* idle;
    const GpuState& now;
    bool loaded;
};

bool says(const GpuState& gpu, std::string_view word) {
    return std::ranges::find(gpu.throttle, word) != gpu.throttle.end();
}

void judge_memory(const GpuState& gpu, std::vector<Finding>& found) {
    if (gpu.rows_failed.value_or(false) || gpu.rows_pending.value_or(false))
        found.push_back(
            {Severity::harm, id::remapped_rows, gpu.pci_id,
             gpu.rows_failed.value_or(false) ? "a row of its memory could not be remapped"
                                             : "a row of its memory waits to be remapped",
             "its memory has a bad row: an uncorrectable error ends what runs, at a time of its own",
             "reset the GPU (nvidia-smi -r) before the next run; where remapping failed, have it replaced"}
        );
    if (gpu.ecc_uncorrected > 0)
        found.push_back(
            {Severity::harm, id::ecc, gpu.pci_id,
             fmt::format("{} uncorrected memory errors since the driver was loaded", gpu.ecc_uncorrected),
             "data were lost; what ran then ended or is wrong",
             "reset the GPU; where they come back, have it replaced"}
        );
    else if (gpu.ecc_corrected > 0)
        found.push_back(
            {Severity::note, id::ecc, gpu.pci_id,
             fmt::format("{} corrected memory errors since the driver was loaded", gpu.ecc_corrected),
             "none yet: each was put right", "watch the count"}
        );
}

constexpr std::array slowed_by_fault{
    health::throttle::hardware_slowdown, health::throttle::thermal, health::throttle::hardware_thermal,
    health::throttle::power_brake};

bool slows_by_fault(const GpuState& gpu) {
    return std::ranges::any_of(slowed_by_fault, [&](std::string_view word) { return says(gpu, word); });
}

std::string heat_and_power(const GpuState& gpu) {
    std::string text;
    if (gpu.temperature_c >= 0) text += fmt::format(", {} C", gpu.temperature_c);
    if (gpu.power_w >= 0) text += fmt::format(", {:.0f} W", gpu.power_w);
    if (gpu.power_limit_w >= 0) text += fmt::format(", limit {:.0f} W", gpu.power_limit_w);
    return text;
}

void judge_throttling(const Twice& gpu, std::vector<Finding>& found) {
    const bool by_fault = slows_by_fault(gpu.now), by_power = says(gpu.now, health::throttle::power_cap);
    const bool grew =
        gpu.idle != nullptr && gpu.idle->throttled_ns >= 0 && gpu.now.throttled_ns > gpu.idle->throttled_ns;
    if (!by_fault && !by_power && !grew) return;
    const std::string how = by_fault || by_power
                                ? "clocks are held down (" + join(gpu.now.throttle, ", ") + ")"
                                : "clocks were held down for a moment while this command looked";
    found.push_back(
        {by_fault ? Severity::harm : Severity::note, id::throttled, gpu.now.pci_id,
         how + heat_and_power(gpu.now),
         "reductions and copies by kernels run at a lower clock, and one slow GPU holds back all",
         by_fault ? "look at cooling, power cables and power supply; then measure again"
                  : "let the GPUs cool between runs, or lock clocks that they can hold (nvidia-smi -lgc)"}
    );
}

/// Copies alone may leave the multiprocessors idle, and an idle clock says nothing.
void judge_clocks(const Twice& gpu, std::vector<Finding>& found) {
    const GpuState& now = gpu.now;
    if (!gpu.loaded || says(now, health::throttle::idle) || slows_by_fault(now)) return;
    if (now.sm_clock_mhz <= 0 || now.most_sm_clock_mhz <= 0) return;
    const double share = static_cast<double>(now.sm_clock_mhz) / now.most_sm_clock_mhz;
    if (share >= 0.9) return;
    found.push_back(
        {share < 2.0 / 3 ? Severity::harm : Severity::note, id::clocks, now.pci_id,
         fmt::format("runs at {} of {} MHz under load", now.sm_clock_mhz, now.most_sm_clock_mhz),
         "reductions and copies by kernels take longer in proportion",
         "unlock the clocks (nvidia-smi -rgc, -rac), or lock them on purpose and say so beside the result"}
    );
}

void judge_settings(const GpuState& gpu, std::vector<Finding>& found) {
    if (gpu.mig.value_or(false))
        found.push_back(
            {Severity::harm, id::mig, gpu.pci_id, "MIG is on",
             "slices of a GPU reach no peer: no peer access and no CUDA IPC",
             "turn it off: nvidia-smi -mig 0"}
        );
    if (gpu.compute_mode == "prohibited")
        found.push_back(
            {Severity::harm, id::compute_mode, gpu.pci_id, "compute mode is prohibited",
             "no program can use this GPU", "nvidia-smi -c DEFAULT"}
        );
    if (gpu.compute_mode.starts_with("exclusive"))
        found.push_back(
            {Severity::note, id::compute_mode, gpu.pci_id, "compute mode is " + gpu.compute_mode,
             "a second rank or program on this GPU is refused",
             "nvidia-smi -c DEFAULT, where ranks share GPUs"}
        );
    if (gpu.persistence == false)
        found.push_back(
            {Severity::note, id::persistence, gpu.pci_id, "persistence mode is off",
             "the driver starts anew for each program: seconds of a cold start, and clocks that begin low",
             "nvidia-smi -pm 1, or nvidia-persistenced"}
        );
}

/// Cards with room for more bridges than they have show the same number of links; one that has fewer than its
/// like lost some.
void judge_nvlink(const GpuState& gpu, const std::vector<GpuState>& all, std::vector<Finding>& found) {
    if (gpu.nvlinks <= 0 || gpu.active_nvlinks < 0 || gpu.active_nvlinks == gpu.nvlinks) return;
    int most = 0;
    for (const GpuState& other : all) {
        if (other.name == gpu.name) most = std::max(most, other.active_nvlinks);
    }
    const bool lost = gpu.active_nvlinks < most;
    if (!lost && (gpu.active_nvlinks == 0 && all.size() < 2)) return;
    found.push_back(
        {lost ? Severity::harm : Severity::note, id::nvlink_down, gpu.pci_id,
         fmt::format("{} of {} NVLinks are active", gpu.active_nvlinks, gpu.nvlinks) +
             (lost ? fmt::format("; others of its kind have {}", most) : ""),
         "bandwidth to peers is that of the active links; with none it goes over PCIe",
         "look at nvidia-smi nvlink -s and -e, at the bridges, and on a machine with NVSwitch at the fabric "
         "manager; then reset the GPUs"}
    );
}

std::vector<Finding> pair_findings(const std::optional<PairTest>& test) {
    std::vector<Finding> found;
    if (!test) return found;
    if (!test->unclaimed.empty())
        found.push_back(
            {Severity::note, id::peer_access, join(test->unclaimed, ", "),
             "the driver says that these GPUs do not reach each other's memory",
             "data go through memory of the host (engine cuda-staged), at the rate of PCIe",
             "nothing is broken; where the cards could: see acs-redirect and iommu, and the BIOS"}
        );
    if (!test->fault.empty())
        found.push_back(
            {Severity::harm, id::peer_access, "GPUs by rank", test->fault,
             "whoever trusts the driver gets wrong sums or waits for ever; ringscope refuses cuda-p2p (exit "
             "code "
             "6) and NCCL has to be told: NCCL_P2P_DISABLE=1",
             "turn ACS and IOMMU off or to pass-through, take an unmodified driver, then test again"}
        );
    if (!test->inconclusive.empty())
        found.push_back(
            {Severity::note, id::peer_access, "all pairs", "could not be tested: " + test->inconclusive,
             "not known", "put right what stopped the test, or leave it out: --no-pair-test"}
        );
    return found;
}

const GpuState* find(const std::vector<GpuState>& gpus, const std::string& pci_id) {
    const auto found = std::ranges::find(gpus, pci_id, &GpuState::pci_id);
    return found == gpus.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Finding> gpu_findings(
    const System& idle, const System& later, const Circumstances& circumstances
) {
    std::vector<Finding> found = xid_findings(later);
    for (const GpuState& gpu : later.gpus) {
        const Twice twice{find(idle.gpus, gpu.pci_id), gpu, circumstances.loaded.contains(gpu.pci_id)};
        judge_memory(gpu, found);
        judge_throttling(twice, found);
        judge_clocks(twice, found);
        judge_settings(gpu, found);
        judge_nvlink(gpu, later.gpus, found);
    }
    std::vector<Finding> pairs = pair_findings(circumstances.pairs);
    found.insert(found.end(), pairs.begin(), pairs.end());
    return found;
}

}  // namespace ringscope::doctor
