// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "cuda/cuda.hpp"
#include "doctor/gpu_work.hpp"
#include "health/pci.hpp"

namespace ringscope::doctor {
namespace {

namespace wall = ringscope::cuda;

/// Long enough for a link to be at work nearly all the time, short enough to stop at once.
constexpr std::int64_t copy_bytes = std::int64_t{16} << 20;

/// Both directions of one GPU's link.
class Copies {
 public:
    explicit Copies(int device) {
        wall::use_device(device);
        lanes_.emplace();
    }
    void once() {
        wall::copy_to_device(lanes_->down.data(), lanes_->from.data(), copy_bytes, lanes_->downward);
        wall::copy_to_host(lanes_->to.data(), lanes_->up.data(), copy_bytes, lanes_->upward);
        lanes_->downward.synchronize();
        lanes_->upward.synchronize();
    }

 private:
    struct Lanes {
        wall::PinnedMemory from{copy_bytes}, to{copy_bytes};
        wall::DeviceMemory down{copy_bytes}, up{copy_bytes};
        wall::Stream downward, upward;
    };
    std::optional<Lanes> lanes_;
};

}  // namespace

struct Load::State {
    explicit State(int devices) : begun{devices} {
        for (int device = 0; device < devices; ++device)
            threads.emplace_back([this, device] { work(device); });
        begun.wait();
    }
    ~State() {
        stop = true;
        for (std::thread& thread : threads) thread.join();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void work(int device) {
        std::optional<Copies> copies = first_copies(device);
        begun.count_down();
        try {
            while (copies && !stop) copies->once();
        } catch (const Error&) {
            leave_out(device);
        }
    }

    /// A GPU that another program holds, or that is full, is no load and no error.
    std::optional<Copies> first_copies(int device) {
        try {
            std::optional<Copies> copies{std::in_place, device};
            copies->once();
            const std::lock_guard lock{mutex};
            working.emplace(device, health::pci_address(wall::device_info(device).pci_id));
            return copies;
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    void leave_out(int device) {
        const std::lock_guard lock{mutex};
        working.erase(device);
    }

    std::latch begun;
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::map<int, std::string> working;
    std::vector<std::thread> threads;
};

Load::Load() {
    std::string reason;
    state_ = std::make_unique<State>(wall::device_count(reason));
}

Load::~Load() = default;

std::set<std::string> Load::gpus() const {
    const std::lock_guard lock{state_->mutex};
    std::set<std::string> addresses;
    for (const auto& [device, address] : state_->working) addresses.insert(address);
    return addresses;
}

}  // namespace ringscope::doctor
