// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/describe.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "doctor/findings.hpp"
#include "environment/cpu_list.hpp"

namespace ringscope::doctor {
namespace {

using health::GpuState;
using health::PciDevice;
using health::PciLink;
using nlohmann::json;

std::string or_unknown(const std::string& text) {
    return text.empty() ? "not known" : text;
}

std::string bytes_or_unknown(std::int64_t bytes) {
    if (bytes == unlimited) return "unlimited";
    constexpr std::int64_t MiB = 1024 * 1024;
    if (bytes >= 10 * 1024 * MiB) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 1024 / MiB);
    if (bytes >= MiB) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / MiB);
    return bytes < 0 ? "not known" : format_bytes(bytes);
}

std::string line(const char* name, const std::string& text) {
    return fmt::format("{:<10}{}\n", name, text);
}

std::string host_lines(const Host& host) {
    const std::string where = host.virtual_machine.value_or(false) ? ", in a virtual machine" : "";
    std::string nodes =
        std::to_string(host.nodes.size()) + " NUMA node" + (host.nodes.size() == 1 ? "" : "s");
    if (host.nodes.empty()) nodes = "NUMA nodes not known";
    return line("machine", "Linux " + or_unknown(host.kernel) + where) +
           line(
               "CPUs", fmt::format(
                           "{} of {}, for this process: {}; {}", host.cpus.size(), or_unknown(host.cpu_model),
                           environment::format_cpu_list(host.cpus), nodes
                       )
           ) +
           line("memory", bytes_or_unknown(host.memory_bytes)) +
           line(
               "limits", fmt::format(
                             "/dev/shm {}, locked memory {}, open files {}, CPU quota {}",
                             bytes_or_unknown(host.shm_bytes), bytes_or_unknown(host.memlock_bytes),
                             host.open_files == unlimited ? "unlimited"
                             : host.open_files < 0        ? "not known"
                                                          : std::to_string(host.open_files),
                             host.cpu_quota < 0 ? "none" : fmt::format("{:g} CPUs", host.cpu_quota)
                         )
           ) +
           line(
               "settings",
               fmt::format(
                   "clock {}, governor {}, ASPM policy {}, InfiniBand {}", or_unknown(host.clocksource),
                   or_unknown(host.governor), or_unknown(host.aspm_policy), host.infiniband ? "yes" : "no"
               )
           );
}

const GpuState* state_of(const System& system, const std::string& address) {
    const auto found = std::ranges::find(system.gpus, address, &GpuState::pci_id);
    return found == system.gpus.end() ? nullptr : &*found;
}

std::string gpu_line(const Examination& found, const PciDevice& gpu) {
    const PciDevice* before = found.idle.pci.find(gpu.address);
    const GpuState* state = state_of(found.later, gpu.address);
    std::string text = gpu.address + " " + (state ? state->name : std::string{"GPU without NVML"});
    if (gpu.numa_node >= 0) text += fmt::format(", NUMA node {}", gpu.numa_node);
    text += ", PCIe " + text_of(gpu.now);
    if (found.circumstances.loaded.contains(gpu.address)) text += " under load";
    if (before != nullptr && !(before->now == gpu.now)) text += ", " + text_of(before->now) + " at rest";
    text += ", the card can do " + text_of(gpu.most);
    if (state && state->nvlinks > 0)
        text += fmt::format(", {} of {} NVLinks", state->active_nvlinks, state->nvlinks);
    return line("GPU", text);
}

std::string gpu_lines(const Examination& found) {
    const std::vector<const PciDevice*> gpus = found.later.pci.gpus();
    if (gpus.empty()) return line("GPUs", "none");
    std::string text;
    for (const PciDevice* gpu : gpus) text += gpu_line(found, *gpu);
    return text + line(
                      "software", "NVIDIA driver " + or_unknown(found.later.host.driver) + ", NCCL " +
                                      or_unknown(found.later.host.nccl)
                  );
}

std::string pair_line(const std::optional<PairTest>& test) {
    if (!test) return "";
    std::string verdict = "every ordered pair works, tested by kernels";
    if (!test->unclaimed.empty()) verdict = "the driver claims none for " + join(test->unclaimed, ", ");
    if (!test->fault.empty()) verdict = test->fault;
    if (!test->inconclusive.empty()) verdict = "not tested: " + test->inconclusive;
    return line("peers", fmt::format("{} GPUs: {}", test->gpus, verdict));
}

template <class Number>
json known(Number number) {
    return number < 0 ? json(nullptr) : json(number);
}

json limit(std::int64_t number) {
    return number == unlimited ? json("unlimited") : known(number);
}

json link_as_json(const PciLink& link) {
    if (!link.known()) return nullptr;
    return {
        {"gigatransfers", link.gigatransfers},
        {"width", link.width},
        {"gigabytes_per_second", health::gigabytes_per_second(link)}};
}

json gpu_as_json(const Examination& found, const PciDevice& gpu, const json& states) {
    const PciDevice* before = found.idle.pci.find(gpu.address);
    json object{
        {"pci_id", gpu.address},
        {"numa_node", known(gpu.numa_node)},
        {"link_at_rest", before ? link_as_json(before->now) : json(nullptr)},
        {"link", link_as_json(gpu.now)},
        {"link_most", link_as_json(gpu.most)},
        {"loaded", found.circumstances.loaded.contains(gpu.address)},
        {"path", json::array()},
        {"nvml", nullptr}};
    for (const PciDevice* port : found.later.pci.path(gpu.address)) object["path"].push_back(port->address);
    for (const json& state : states) {
        if (state.at("pci_id") == gpu.address) object["nvml"] = state;
    }
    return object;
}

json pairs_as_json(const std::optional<PairTest>& test) {
    if (!test) return nullptr;
    return {
        {"gpus", test->gpus},
        {"passed", test->passed()},
        {"unclaimed", test->unclaimed},
        {"fault", test->fault},
        {"inconclusive", test->inconclusive}};
}

json machine_as_json(const Examination& found) {
    const Host& host = found.later.host;
    json machine{
        {"kernel", host.kernel},
        {"virtual_machine", host.virtual_machine ? json(*host.virtual_machine) : json(nullptr)},
        {"cpu_model", host.cpu_model},
        {"cpus", environment::format_cpu_list(host.cpus)},
        {"numa_nodes", host.nodes.size()},
        {"memory_bytes", known(host.memory_bytes)},
        {"shm_bytes", known(host.shm_bytes)},
        {"memlock_bytes", limit(host.memlock_bytes)},
        {"open_files", limit(host.open_files)},
        {"cpu_quota", known(host.cpu_quota)},
        {"infiniband", host.infiniband},
        {"aspm_policy", host.aspm_policy},
        {"governor", host.governor},
        {"clocksource", host.clocksource},
        {"driver", host.driver},
        {"nccl", host.nccl},
        {"kernel_log", found.later.log.has_value()},
        {"gpus", json::array()},
        {"pair_test", pairs_as_json(found.circumstances.pairs)}};
    const json states = json::parse(health::gpus_as_json(found.later.gpus));
    for (const PciDevice* gpu : found.later.pci.gpus())
        machine["gpus"].push_back(gpu_as_json(found, *gpu, states));
    return machine;
}

}  // namespace

std::string machine_as_text(const Examination& examination) {
    return host_lines(examination.later.host) + gpu_lines(examination) +
           pair_line(examination.circumstances.pairs);
}

std::string findings_as_text(const std::vector<Finding>& findings) {
    if (findings.empty()) return "\nnothing found that hurts an all-reduce\n";
    std::string text;
    for (const Finding& finding : findings) {
        text += fmt::format(
            "\n{}: {} at {}\n  {}\n  effect: {}\n  advice: {}\n", name_of(finding.severity), finding.id,
            finding.where, finding.evidence, finding.effect, finding.advice
        );
    }
    return text;
}

std::string as_json(const Examination& examination, const std::vector<Finding>& findings) {
    json root{{"machine", machine_as_json(examination)}, {"findings", json::array()}};
    for (const Finding& finding : findings) {
        root["findings"].push_back(
            {{"severity", name_of(finding.severity)},
             {"id", finding.id},
             {"where", finding.where},
             {"evidence", finding.evidence},
             {"effect", finding.effect},
             {"advice", finding.advice}}
        );
    }
    return json_text(root) + "\n";
}

}  // namespace ringscope::doctor
