// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/device_buffers.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"

namespace ringscope::bench {
namespace {

constexpr std::uintptr_t alignment = 256;

verify::GuardLayout layout_of(const Case& point) {
    return {point.bytes, point.offset * size_of(point.dtype)};
}

void check_memory(const std::byte* memory, std::int64_t bytes, std::int64_t needed) {
    if (bytes >= needed && reinterpret_cast<std::uintptr_t>(memory) % alignment == 0) return;
    throw Error{
        ExitCode::internal, "the user buffers of a case take " + std::to_string(needed) +
                                " bytes of aligned device memory, given were " + std::to_string(bytes)};
}

}  // namespace

std::int64_t DeviceBuffers::bytes_needed(const Case& point, std::int64_t operations) {
    return (operations + (point.in_place ? 0 : 1)) * layout_of(point).total;
}

DeviceBuffers::DeviceBuffers(
    const Case& point, verify::Verifier verifier, int rank, std::int64_t operations, std::byte* memory,
    std::int64_t bytes
)
    : count_{point.count},
      offset_bytes_{point.offset * size_of(point.dtype)},
      in_place_{point.in_place},
      rank_{rank},
      verifier_{std::move(verifier)},
      pattern_{verifier_.pattern(), rank, stream_},
      layout_{layout_of(point)} {
    check_memory(memory, bytes, bytes_needed(point, operations));
    lay_out(memory, operations);
}

void DeviceBuffers::lay_out(std::byte* memory, std::int64_t operations) {
    if (!in_place_) input_ = make_region(memory);
    for (std::int64_t i = 0; i < operations; ++i) {
        outputs_.push_back(make_region(memory));
        std::byte* const output = outputs_.back().data();
        operations_.push_back({in_place_ ? output : input_.data(), output});
    }
}

/// Takes the next region off the memory.
verify::DeviceRegion DeviceBuffers::make_region(std::byte*& memory) const {
    const verify::DeviceRegion region{memory, layout_};
    pattern_.restore_guards(region);
    pattern_.poison(region.data(), layout_.bytes);
    memory += layout_.total;
    return region;
}

void DeviceBuffers::fill(std::int64_t ops, std::uint64_t seed) {
    if (!in_place_) pattern_.fill(input_.data(), count_, seed);
    for (std::size_t i = 0; i < static_cast<std::size_t>(ops); ++i) {
        if (in_place_) {
            pattern_.fill(outputs_[i].data(), count_, seed);
        } else {
            pattern_.poison(outputs_[i].data(), layout_.bytes);
        }
    }
}

verify::Verdict DeviceBuffers::check(std::int64_t op, std::uint64_t seed) {
    const verify::DeviceRegion& output = outputs_[static_cast<std::size_t>(op)];
    const verify::DeviceFinding finding = pattern_.check_output(output.data(), count_, seed);
    const bool good = finding.differing == 0 && !pattern_.first_damage(output) && is_as_filled(seed);
    verify::Verdict verdict;
    if (!good) verdict = check_on_host(output, seed);
    verdict.hash = finding.hash;
    return verdict;
}

/// Whether the input and its guards are what they were.
bool DeviceBuffers::is_as_filled(std::uint64_t seed) const {
    if (in_place_) return true;
    return pattern_.check_input(input_.data(), count_, seed) == 0 && !pattern_.first_damage(input_);
}

verify::Verdict DeviceBuffers::check_on_host(const verify::DeviceRegion& output, std::uint64_t seed) {
    copy_to_host(host_output_, output);
    if (in_place_) return verifier_.check(*host_output_, nullptr, rank_, seed);
    copy_to_host(host_input_, input_);
    return verifier_.check(*host_output_, &*host_input_, rank_, seed);
}

/// With the guards: a region and a GuardedBuffer have one layout.
void DeviceBuffers::copy_to_host(
    std::optional<verify::GuardedBuffer>& copy, const verify::DeviceRegion& region
) const {
    if (!copy) copy.emplace(layout_.bytes, offset_bytes_);
    const std::span<std::byte> to = copy->with_guards();
    cuda::copy_to_host(to.data(), region.memory, static_cast<std::int64_t>(to.size()), stream_);
    stream_.synchronize();
}

std::int64_t device_bytes(const Case& point, std::int64_t operations) {
    return DeviceBuffers::bytes_needed(point, operations);
}

std::unique_ptr<CaseBuffers> make_device_buffers(
    const Case& point, verify::Verifier verifier, int rank, std::int64_t operations, std::byte* memory,
    std::int64_t bytes
) {
    return std::make_unique<DeviceBuffers>(point, std::move(verifier), rank, operations, memory, bytes);
}

}  // namespace ringscope::bench
