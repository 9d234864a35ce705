// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "doctor/gpu_work.hpp"

namespace ringscope::doctor {
namespace {

namespace fs = std::filesystem;
using health::Recording;
using health::Sources;

constexpr int more_samples = 3;
constexpr std::chrono::milliseconds between_samples{80};
constexpr const char* loaded_gpus = "/gpus";

/// A link that changes its speed is a different one in each sample; a recording keeps the best, as the
/// findings do.
void keep_links(Recording& recording, const health::PciTree& tree) {
    for (const auto& [address, device] : tree.devices()) {
        const std::string folder = "/sys/bus/pci/devices/" + address + "/";
        if (!device.now.known()) continue;
        recording.keep(
            folder + "current_link_speed", fmt::format("{:.1f} GT/s PCIe\n", device.now.gigatransfers)
        );
        recording.keep(folder + "current_link_width", fmt::format("{}\n", device.now.width));
    }
}

System look(const Sources& sources) {
    System system = read_system(sources);
    for (int sample = 0; sample < more_samples; ++sample) {
        std::this_thread::sleep_for(between_samples);
        system.pci.sample_again(sources);
    }
    if (sources.recording) keep_links(*sources.recording, system.pci);
    system.gpus = health::read_gpus(sources);
    return system;
}

void check(const Request& request) {
    std::error_code ignored;
    if (!fs::is_directory(request.root, ignored))
        throw Error{
            ExitCode::usage,
            "--root " + request.root.string() + " is no folder: give one that doctor --record has written"};
    if (request.record && fs::exists(*request.record, ignored) && !fs::is_empty(*request.record, ignored))
        throw Error{
            ExitCode::output, "--record " + request.record->string() +
                                  " is not empty: give a new folder, so that nothing old is among the new"};
}

/// The GPUs that a recording was made with under load: the named ones, else all.
std::set<std::string> recorded_load(const Sources& sources, const health::PciTree& tree) {
    std::set<std::string> gpus;
    for (const health::PciDevice* gpu : tree.gpus()) {
        const bool named = health::line_beginning(sources, loaded_gpus, gpu->address).has_value();
        if (named || !health::whole(sources, loaded_gpus)) gpus.insert(gpu->address);
    }
    return gpus;
}

void replay(const Request& request, Recording* at_rest, Recording* at_work, Examination& found) {
    const fs::path overlay = request.root / "loaded";
    std::error_code ignored;
    const bool loaded = fs::is_directory(overlay, ignored);
    found.idle = look({request.root, {}, at_rest});
    const Sources sources{request.root, loaded ? overlay : fs::path{}, loaded ? at_work : nullptr};
    found.later = look(sources);
    if (loaded) found.circumstances.loaded = recorded_load(sources, found.later.pci);
}

void visit(const Request& request, Recording* at_rest, Recording* at_work, Examination& found) {
    found.idle = look({"/", {}, at_rest});
    {
        const Load load;
        const bool working = !load.gpus().empty();
        found.later = look({"/", {}, working ? at_work : nullptr});
        found.circumstances.loaded = load.gpus();
    }
    for (const std::string& gpu : found.circumstances.loaded) {
        if (at_work) at_work->keep_line(loaded_gpus, gpu);
    }
    for (System* system : {&found.idle, &found.later}) system->host.nccl = request.nccl;
    if (at_rest && !request.nccl.empty()) at_rest->keep_line("/nccl.version", request.nccl);
    if (request.pair_test) found.circumstances.pairs = test_pairs();
}

}  // namespace

Examination examine(const Request& request) {
    check(request);
    std::optional<Recording> at_rest, at_work;
    if (request.record) {
        at_rest.emplace(*request.record);
        at_work.emplace(*request.record / "loaded");
    }
    const auto pointer = [](std::optional<Recording>& recording) {
        return recording ? &*recording : nullptr;
    };
    Examination found;
    const auto look_at = request.root == "/" ? visit : replay;
    look_at(request, pointer(at_rest), pointer(at_work), found);
    return found;
}

}  // namespace ringscope::doctor
