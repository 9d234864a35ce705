// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/choice.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <mutex>

namespace ringscope::nccl {
namespace {

// NCCL's profiler interface, version 4, as far as it is used here; its headers are not installed with NCCL.
using Result = int;
constexpr Result success = 0;
constexpr int collective_events = 1 << 1;

struct CollectiveEvent {
    std::uint64_t sequence;
    const char* function;
    const void* input;
    void* output;
    std::size_t count;
    int root;
    const char* dtype;
    std::uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};

struct Event {
    std::uint8_t type;
    void* parent;
    int rank;
    CollectiveEvent collective;  // only where type says so
};

struct Profiler {
    const char* name;
    Result (*init
    )(void** context, int* wanted, const char* communicator, std::uint64_t id, int nodes, int ranks, int rank,
      void* log);
    Result (*start_event)(void* context, void** handle, const Event* event);
    Result (*stop_event)(void* handle);
    Result (*record_event_state)(void* handle, int state, void* details);
    Result (*finalize)(void* context);
};

struct Notes {
    std::mutex mutex;
    int* wanted = nullptr;  // NCCL's own variable, one per process
    int watches = 0;
    std::map<const void*, std::string> choices;  // by output, which no two ranks share

    void tell_nccl() const {
        if (wanted == nullptr) return;
        std::atomic_ref{*wanted}.store(watches > 0 ? collective_events : 0, std::memory_order_relaxed);
    }
};

Notes& notes() {
    static Notes all;
    return all;
}

Result init(void** context, int* wanted, const char*, std::uint64_t, int, int, int, void*) {
    const std::lock_guard lock{notes().mutex};
    *context = &notes();
    notes().wanted = wanted;
    notes().tell_nccl();
    return success;
}

Result start_event(void*, void** handle, const Event* event) {
    *handle = nullptr;  // so NCCL has no end to report
    if (event->type != collective_events) return success;
    const CollectiveEvent& operation = event->collective;
    const std::lock_guard lock{notes().mutex};
    notes().choices[operation.output] = in_words(operation.algorithm, operation.protocol, operation.channels);
    return success;
}

Result stop_event(void*) {
    return success;
}

Result record_event_state(void*, int, void*) {
    return success;
}

Result finalize(void*) {
    return success;
}

std::string lower(const char* text) {
    std::string word = text == nullptr ? "" : text;
    std::ranges::transform(word, word.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return word;
}

}  // namespace

std::string in_words(const char* algorithm, const char* protocol, int channels) {
    const std::string algo = lower(algorithm), proto = lower(protocol);
    if (algo.empty() || proto.empty() || channels == 0) return "";
    return algo + " " + proto + " " + std::to_string(channels) + (channels == 1 ? " channel" : " channels");
}

Variables profiler_environment() {
    const char* name = "NCCL_PROFILER_PLUGIN";
    const char* theirs = std::getenv(name);
    // NCCL's word for a plugin that is part of the program.
    const std::string here = "STATIC_PLUGIN";
    return theirs != nullptr && theirs != here ? Variables{} : Variables{{name, here}};
}

ChoiceWatch::ChoiceWatch() {
    const std::lock_guard lock{notes().mutex};
    ++notes().watches;
    notes().tell_nccl();
}

ChoiceWatch::~ChoiceWatch() {
    const std::lock_guard lock{notes().mutex};
    --notes().watches;
    notes().tell_nccl();
    if (notes().watches == 0) notes().choices.clear();
}

std::string ChoiceWatch::choice_for(const std::byte* output) const {
    const std::lock_guard lock{notes().mutex};
    const auto found = notes().choices.find(output);
    return found == notes().choices.end() ? "" : found->second;
}

}  // namespace ringscope::nccl

extern "C" {
/// The name that NCCL looks up in the program.
[[gnu::visibility("default")]] extern const ringscope::nccl::Profiler ncclProfiler_v4;
const ringscope::nccl::Profiler ncclProfiler_v4{
    .name = "ringscope",
    .init = ringscope::nccl::init,
    .start_event = ringscope::nccl::start_event,
    .stop_event = ringscope::nccl::stop_event,
    .record_event_state = ringscope::nccl::record_event_state,
    .finalize = ringscope::nccl::finalize};
}
