// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/device_clocks.hpp"

#include "engine/host/engine.hpp"

namespace ringscope::engine::cuda {

/// Ranks that left a case in different rounds begin the next one in the same.
void DeviceClocks::begin_case(const std::optional<ClockMail>& mail) {
    mail_ = mail;
    rounds_ = ++cases_ << 20;
}

DeviceClock DeviceClocks::measure(const ringscope::cuda::Stream& stream) {
    if (!mail_ || options_.ranks == 1) return from_host(stream);
    ++rounds_;
    if (options_.rank == 0) {
        ask_all(stream);
    } else {
        answer_peer(*mail_, options_.rank, static_cast<std::int64_t>(rounds_), stream);
    }
    return announced();
}

DeviceClock DeviceClocks::from_host(const ringscope::cuda::Stream& stream) const {
    const clock::Offset offset = clock::offset_of(ask_device(stream));
    return {offset.middle_ns(), offset.error_ns()};
}

/// The error against the host is the same for all ranks, so it orders nothing wrongly.
void DeviceClocks::ask_all(const ringscope::cuda::Stream& stream) {
    const auto exchanges = ask_peers(*mail_, options_.ranks, static_cast<std::int64_t>(rounds_), stream);
    const std::int64_t own_ns = clock::offset_of(ask_device(stream)).middle_ns();
    for (std::size_t rank = 0; rank < exchanges.size(); ++rank) {
        host::DeviceClockRecord& record = control_.device_clocks[rank];
        record.offset_ns = own_ns;
        record.error_ns = 0;
        if (rank == 0) continue;
        if (exchanges[rank].empty()) give_up(static_cast<int>(rank));
        const clock::Offset offset = clock::offset_of(exchanges[rank]);
        record.offset_ns += offset.middle_ns();
        record.error_ns = offset.error_ns();
    }
    control_.device_clock_rounds.store(rounds_, std::memory_order_release);
}

/// Rank 0 found them out for all, on its own host's clock.
DeviceClock DeviceClocks::announced() {
    try {
        const auto there = [&] {
            return control_.device_clock_rounds.load(std::memory_order_acquire) == rounds_;
        };
        waiter_.wait(there, {.peer = 0, .step = -1});
    } catch (const host::GaveUp&) {
        throw host::StuckError{host::stuck_message(control_, options_.ranks, options_.wait_ns)};
    }
    const host::DeviceClockRecord& record = control_.device_clocks[static_cast<std::size_t>(options_.rank)];
    return {record.offset_ns - options_.host.offset_ns, record.error_ns, record.offset_ns, true};
}

void DeviceClocks::give_up(int peer) {
    try {
        waiter_.give_up({.peer = peer, .step = -1});
    } catch (const host::GaveUp&) {
        throw host::StuckError{host::stuck_message(control_, options_.ranks, options_.wait_ns)};
    }
}

}  // namespace ringscope::engine::cuda
