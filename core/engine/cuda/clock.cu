// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/time.hpp"
#include "engine/cuda/clock.hpp"
#include "engine/cuda/kernel/memory.cuh"

namespace ringscope::engine::cuda {
namespace {

using clock::Exchange;
namespace wall = ringscope::cuda;

constexpr int rounds = 200;
constexpr std::int64_t patience_ns = 1'000'000'000;

struct HostMail {
    volatile std::int64_t question;
    std::int64_t fill[15];
    volatile std::int64_t answer;  ///< the device's time; a new one is a new answer
};

__global__ void answer_host(HostMail* mail) {
    const std::int64_t begin = global_ns();
    for (std::int64_t round = 1; round <= rounds; ++round) {
        while (mail->question != round) {
            if (global_ns() - begin > patience_ns) return;
        }
        mail->answer = global_ns();
        __threadfence_system();
    }
}

/// A question is a number, in the memory of who answers; an answer is twice the time, and odd in odd rounds:
/// on GPUs whose clock moves in large steps two answers may have the same time.
__device__ std::uint64_t* question_to(const ClockMail& mail, int rank) {
    return reinterpret_cast<std::uint64_t*>(mail.of[rank]);
}
__device__ std::uint64_t* answer_of(const ClockMail& mail, int rank) {
    return reinterpret_cast<std::uint64_t*>(mail.of[0] + rank * 256 + 128);
}

/// One block per peer. What is not filled in was not answered.
__global__ void ask(const __grid_constant__ ClockMail mail, std::int64_t first, Exchange* exchanges) {
    const int peer = static_cast<int>(blockIdx.x) + 1;
    const std::uint64_t* answer = answer_of(mail, peer);
    std::uint64_t last = load_relaxed(answer);
    for (int i = 0; i < rounds; ++i) {
        Exchange exchange{};
        std::uint64_t heard = last;
        exchange.asked_ns = global_ns();
        store_relaxed(question_to(mail, peer), static_cast<std::uint64_t>(first + i));
        while (heard == last) {
            heard = load_relaxed(answer);
            if (global_ns() - exchange.asked_ns > patience_ns) return;
        }
        exchange.heard_ns = global_ns();
        exchange.answered_ns = static_cast<std::int64_t>(heard / 2);
        exchanges[static_cast<std::int64_t>(blockIdx.x) * rounds + i] = exchange;
        last = heard;
    }
}

__global__ void answer(const __grid_constant__ ClockMail mail, int rank, std::int64_t first) {
    for (int i = 0; i < rounds; ++i) {
        const std::int64_t since = global_ns();
        const auto number = static_cast<std::uint64_t>(first + i);
        while (load_relaxed(question_to(mail, rank)) != number) {
            if (global_ns() - since > patience_ns) return;
        }
        store_relaxed(answer_of(mail, rank), 2 * static_cast<std::uint64_t>(global_ns()) + number % 2);
    }
}

__global__ void stamp(std::int64_t* to) {
    *to = global_ns();
}

}  // namespace

void stamp_clock(std::int64_t* to, const wall::Stream& stream) {
    stamp<<<1, 1, 0, stream.get()>>>(to);
    wall::check(cudaGetLastError(), "cannot launch a kernel that reads the clock");
}

std::vector<Exchange> ask_device(const wall::Stream& stream) {
    const wall::PinnedMemory memory{sizeof(HostMail)};
    auto* mail = reinterpret_cast<HostMail*>(memory.data());
    answer_host<<<1, 1, 0, stream.get()>>>(mail);
    wall::check(cudaGetLastError(), "cannot launch the clock kernel");
    std::vector<Exchange> exchanges;
    const std::int64_t begin = now_ns();
    std::int64_t last = 0;
    for (std::int64_t round = 1; round <= rounds; ++round) {
        Exchange exchange{.asked_ns = now_ns()};
        mail->question = round;
        while (mail->answer == last) {
            if (now_ns() - begin > patience_ns)
                throw Error{ExitCode::unusable_engine, "the GPU's clock does not answer"};
        }
        exchange.heard_ns = now_ns();
        exchange.answered_ns = last = mail->answer;
        exchanges.push_back(exchange);
    }
    stream.synchronize();
    return exchanges;
}

std::vector<std::vector<Exchange>> ask_peers(
    const ClockMail& mail, int ranks, std::int64_t round, const wall::Stream& stream
) {
    const auto peers = static_cast<std::size_t>(ranks - 1);
    const wall::DeviceMemory memory{static_cast<std::int64_t>(peers * rounds * sizeof(Exchange))};
    wall::zero(memory.data(), memory.bytes(), stream);
    ask<<<static_cast<unsigned int>(peers), 1, 0, stream.get()>>>(
        mail, (round - 1) * rounds + 1, reinterpret_cast<Exchange*>(memory.data())
    );
    wall::check(cudaGetLastError(), "cannot launch the kernel that asks the other GPUs' clocks");
    // Before a copy is asked for: in ranks of one process it would keep the others from launching their
    // answer.
    stream.synchronize();
    std::vector<Exchange> all(peers * rounds);
    wall::copy_to_host(all.data(), memory.data(), memory.bytes(), stream);
    stream.synchronize();
    std::vector<std::vector<Exchange>> exchanges(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].heard_ns != 0) exchanges[1 + i / rounds].push_back(all[i]);
    }
    return exchanges;
}

void answer_peer(const ClockMail& mail, int rank, std::int64_t round, const wall::Stream& stream) {
    answer<<<1, 1, 0, stream.get()>>>(mail, rank, (round - 1) * rounds + 1);
    wall::check(cudaGetLastError(), "cannot launch the kernel that answers for the GPU's clock");
    stream.synchronize();
}

}  // namespace ringscope::engine::cuda
