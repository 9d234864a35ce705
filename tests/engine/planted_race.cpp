// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/host/mailbox.hpp"
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
void race() {
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

}  // namespace

/// The thread sanitizer must report this, or its silence about the engine means nothing. It does not see
/// every single race.
int main() {
    for (int i = 0; i < 50; ++i) race();
}
