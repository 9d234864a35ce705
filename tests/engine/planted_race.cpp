// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "engine/host/interpreter.hpp"
#include "reduce/reduce.hpp"
#include "transport/windows.hpp"

namespace {

using namespace ringscope;

constexpr std::int64_t count = 1024;

/// Adds elements with the code that the engine adds them with.
void add(const std::byte* source, std::byte* destination) {
    const std::byte* sources[]{source, destination};
    reduce::reduce_copy(DataType::float32, ReduceOp::sum)(sources, 2, &destination, 1, count, 0);
}

/// A sender that posts first and fills the slot afterwards.
void simple_race() {
    bootstrap::run_as_threads(2, [](bootstrap::Bootstrap& bootstrap) {
        const auto windows = transport::make_windows(bootstrap, engine::host::Mailbox::bytes(1, 4 * count));
        auto* box = reinterpret_cast<engine::host::Mailbox*>(windows->of(0));
        std::array<float, count> own{};
        auto* memory = reinterpret_cast<std::byte*>(own.data());
        if (bootstrap.rank() == 1) {
            box->posted.store(1, std::memory_order_release);
            add(memory, box->slots());
        } else {
            while (box->posted.load(std::memory_order_acquire) == 0) {
            }
            add(box->slots(), memory);
        }
        bootstrap.barrier();
    });
}

/// A sender of LL128 lines that stores the flag first, played by the engine's own interpreter.
void ll128_race() {
    using namespace engine::host;
    using FlagFirst = BasicLowLatency128<false>;
    constexpr std::int64_t bytes = 4 * count, slot_bytes = FlagFirst::format.wire_bytes(bytes);
    Control control{};
    bootstrap::run_as_threads(2, [&](bootstrap::Bootstrap& bootstrap) {
        const auto windows = transport::make_windows(bootstrap, Mailbox::bytes(1, slot_bytes));
        auto* box = reinterpret_cast<Mailbox*>(windows->of(0));
        Outbox outbox{{.box = box, .first_slot = box->slots(), .slots = 1, .slot_bytes = slot_bytes}};
        Inbox inbox{{.box = box, .first_slot = box->slots(), .slots = 1, .slot_bytes = slot_bytes}};
        ReadyOp op{.recvs = {}, .sends = {}, .bytes = {0, bytes}};
        if (bootstrap.rank() == 0) {
            op.recvs.push_back({&inbox, {}});
            op.store = true;
        } else {
            op.sends.push_back({&outbox, {}});
            op.local_at = 0;
        }
        std::array<float, count> own{};
        auto* memory = reinterpret_cast<std::byte*>(own.data());
        Scratch scratch{1, FlagFirst::block_bytes};
        Waiter waiter{control, bootstrap.rank(), 10'000'000'000, false};
        NoProbe none;
        const Buffers buffers{memory, memory, 4, reduce::reduce_copy(DataType::float32, ReduceOp::sum)};
        interpret<FlagFirst>({&op, 1}, buffers, scratch, waiter, none);
        bootstrap.barrier();
    });
}

}  // namespace

/// The thread sanitizer must report these, or its silence about the engine means nothing. It does not see
/// every single race. The argument is the protocol whose sender is wrong.
int main(int, char** words) {
    const bool ll128 = std::string_view{words[1]} == "ll128";
    for (int i = 0; i < 50; ++i) ll128 ? ll128_race() : simple_race();
}
