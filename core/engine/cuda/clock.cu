// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/error.hpp"
#include "base/time.hpp"
#include "engine/cuda/clock.hpp"
#include "engine/cuda/kernel/memory.cuh"

namespace ringscope::engine::cuda {
namespace {

constexpr int rounds = 200;
constexpr std::int64_t patience_ns = 1'000'000'000;

struct Exchange {
    volatile std::int64_t question;
    std::int64_t fill[15];
    volatile std::int64_t answer;  ///< the device's time; a new one is a new answer
};

__global__ void answer_questions(Exchange* exchange) {
    const std::int64_t begin = global_ns();
    for (std::int64_t round = 1; round <= rounds; ++round) {
        while (exchange->question != round) {
            if (global_ns() - begin > patience_ns) return;
        }
        exchange->answer = global_ns();
        __threadfence_system();
    }
}

__global__ void stamp(std::int64_t* to) {
    *to = global_ns();
}

}  // namespace

void stamp_clock(std::int64_t* to, const ringscope::cuda::Stream& stream) {
    stamp<<<1, 1, 0, stream.get()>>>(to);
    ringscope::cuda::check(cudaGetLastError(), "cannot launch a kernel that reads the clock");
}

DeviceClock measure_clock(const ringscope::cuda::Stream& stream) {
    const ringscope::cuda::PinnedMemory memory{sizeof(Exchange)};
    auto* exchange = reinterpret_cast<Exchange*>(memory.data());
    answer_questions<<<1, 1, 0, stream.get()>>>(exchange);
    ringscope::cuda::check(cudaGetLastError(), "cannot launch the clock kernel");
    DeviceClock clock{.error_bound_ns = std::numeric_limits<std::int64_t>::max()};
    const std::int64_t begin = now_ns();
    std::int64_t last = 0;
    for (std::int64_t round = 1; round <= rounds; ++round) {
        const std::int64_t asked = now_ns();
        exchange->question = round;
        while (exchange->answer == last) {
            if (now_ns() - begin > patience_ns)
                throw Error{ExitCode::unusable_engine, "the GPU's clock does not answer"};
        }
        const std::int64_t heard = now_ns(), device = exchange->answer;
        last = device;
        if ((heard - asked) / 2 >= clock.error_bound_ns) continue;
        clock = {.offset_ns = device - (asked + heard) / 2, .error_bound_ns = (heard - asked) / 2};
    }
    stream.synchronize();
    return clock;
}

}  // namespace ringscope::engine::cuda
