// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/arena.hpp"

#include <algorithm>
#include <cstring>

#include "base/time.hpp"

namespace ringscope::transport {
namespace {

/// An address of this process as bytes, for ranks that share it.
std::string name_of(std::byte* address) {
    return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

std::byte* address_of(const std::string& name) {
    std::byte* address = nullptr;
    std::memcpy(&address, name.data(), sizeof(address));
    return address;
}

}  // namespace

void Arena::reserve(std::int64_t bytes, Reach reach) {
    const bool reached = shared_ || reach == Reach::own_rank;
    if (bytes <= own_.bytes() && reached) return;
    if (own_.bytes() > 0) close();
    bootstrap::agree(bootstrap_, [&] { allocate(std::max(bytes, own_.bytes())); });
    if (reach == Reach::all_ranks) share();
}

void Arena::close() {
    release();
    bootstrap_.barrier();
}

void Arena::allocate(std::int64_t bytes) {
    constexpr std::int64_t unit = std::int64_t{2} << 20;
    own_ = {};
    own_ = ringscope::cuda::DeviceMemory{(std::max(bytes, unit) + unit - 1) / unit * unit};
    addresses_.assign(static_cast<std::size_t>(bootstrap_.size()), nullptr);
    addresses_[static_cast<std::size_t>(bootstrap_.rank())] = own_.data();
}

void Arena::share() {
    std::string name;
    bootstrap::agree(bootstrap_, [&] {
        name =
            bootstrap_.shares_address_space() ? name_of(own_.data()) : ringscope::cuda::export_memory(own_);
    });
    const std::vector<std::string> names = bootstrap_.all_gather(name);
    const std::int64_t begin = now_ns();
    bootstrap::agree(bootstrap_, [&] { open(names); });
    open_ns_ = std::max<std::int64_t>(0, open_ns_) + now_ns() - begin;
    shared_ = true;
}

void Arena::open(const std::vector<std::string>& names) {
    for (int rank = 0; rank < bootstrap_.size(); ++rank) {
        if (rank == bootstrap_.rank()) continue;
        const std::string& name = names[static_cast<std::size_t>(rank)];
        std::byte*& address = addresses_[static_cast<std::size_t>(rank)];
        if (bootstrap_.shares_address_space()) {
            const int peer = devices_[static_cast<std::size_t>(rank)];
            const int own = devices_[static_cast<std::size_t>(bootstrap_.rank())];
            if (peer != own) ringscope::cuda::enable_peer_access(peer);
            address = address_of(name);
        } else {
            imported_.push_back(std::make_unique<ringscope::cuda::ImportedMemory>(name));
            address = imported_.back()->data();
        }
    }
}

void Arena::release() {
    shared_ = false;
    imported_.clear();
    addresses_.clear();
}

}  // namespace ringscope::transport
