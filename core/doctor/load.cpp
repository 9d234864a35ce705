// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <latch>
#include <map>
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

/// Both directions of the current GPU's link.
class Copies {
 public:
    void once() {
        wall::copy_to_device(down_.data(), from_.data(), copy_bytes, downward_);
        wall::copy_to_host(to_.data(), up_.data(), copy_bytes, upward_);
        downward_.synchronize();
        upward_.synchronize();
    }

 private:
    wall::PinnedMemory from_{copy_bytes}, to_{copy_bytes};
    wall::DeviceMemory down_{copy_bytes}, up_{copy_bytes};
    wall::Stream downward_, upward_;
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
        std::unique_ptr<Copies> copies = first_copies(device);
        begun.count_down();
        try {
            while (copies && !stop) copies->once();
        } catch (const Error&) {
            leave_out(device);
        }
    }

    /// A GPU that another program holds, or that is full, is no load and no error.
    std::unique_ptr<Copies> first_copies(int device) {
        try {
            wall::use_device(device);
            auto copies = std::make_unique<Copies>();
            copies->once();
            const std::lock_guard lock{mutex};
            working.emplace(device, health::pci_address(wall::device_info(device).pci_id));
            return copies;
        } catch (const Error&) {
            return nullptr;
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
