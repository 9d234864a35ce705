// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/device_buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "tests/gpu/support.hpp"
#include "tests/verify/orders.hpp"

// The reference is HostBuffers: what is done to both must be found in the same words.
namespace ringscope::bench {
namespace {

using gpu::Bytes;
using verify::Pattern;
using verify::Verdict;
using verify::Verifier;

constexpr std::uint64_t seed = 41;
constexpr int ranks = 3, rank = 1;
constexpr std::int64_t operations = 2, count = 5000;

Case case_of(bool in_place, std::int64_t offset) {
    Case point;
    point.bytes = count * 4;
    point.count = count;
    point.offset = offset;
    point.in_place = in_place;
    return point;
}

Verifier verifier(VerifyMode mode) {
    return Verifier{Pattern{DataType::float32, ReduceOp::sum, ranks, mode}};
}

/// The buffers of a case on the device and on the host, filled, with a result in the first output.
struct Buffers {
    Buffers(const Case& point, VerifyMode mode)
        : memory{DeviceBuffers::bytes_needed(point, operations)},
          pattern{verifier(mode).pattern()},
          device{point, verifier(mode), rank, operations, memory.data(), memory.bytes()},
          host{point, verifier(mode), rank, operations} {
        device.fill(operations, seed);
        host.fill(operations, seed);
    }

    void put(const Bytes& result) {
        gpu::upload(device.operations()[0].output, result, stream);
        std::copy(result.begin(), result.end(), host.operations()[0].output);
    }
    void put_right_result() {
        Bytes result(count * 4);
        pattern.fill_expected(result.data(), count, seed);
        put(result);
    }
    /// Flips a bit in the first output, or in the input.
    void flip_output(std::int64_t byte) {
        gpu::flip(device.operations()[0].output + byte, stream);
        host.operations()[0].output[byte] ^= std::byte{1};
    }
    void flip_input(std::int64_t byte) {
        gpu::flip(const_cast<std::byte*>(device.operations()[0].input) + byte, stream);
        const_cast<std::byte*>(host.operations()[0].input)[byte] ^= std::byte{1};
    }
    [[nodiscard]] Bytes output() const {
        return gpu::download(device.operations()[0].output, count * 4, stream);
    }

    cuda::Stream stream;
    cuda::DeviceMemory memory;
    Pattern pattern;
    DeviceBuffers device;
    HostBuffers host;
};

class DeviceBuffersOf : public gpu::OnGpu, public testing::WithParamInterface<std::tuple<bool, int>> {
 protected:
    [[nodiscard]] static Case point() { return case_of(std::get<0>(GetParam()), std::get<1>(GetParam())); }
    static void expect_wrong_as_on_the_host(Buffers& buffers, const std::string& words) {
        const Verdict found = buffers.device.check(0, seed), right = buffers.host.check(0, seed);
        EXPECT_FALSE(found.ok());
        EXPECT_EQ(found.wrong, right.wrong);
        EXPECT_EQ(found.what, right.what);
        EXPECT_NE(found.what.find(words), std::string::npos) << found.what;
        EXPECT_EQ(found.hash, gpu::hash_of(buffers.output()));
    }
};

TEST_P(DeviceBuffersOf, Operations_ShareTheInputUnlessInPlace) {
    const Buffers buffers{point(), VerifyMode::exact};
    const auto all = buffers.device.operations();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_NE(all[0].output, all[1].output);
    EXPECT_EQ(all[0].input == all[1].input, !point().in_place);
    EXPECT_EQ(all[0].input == all[0].output, point().in_place);
    for (const engine::Operation& operation : all) {
        const auto offset = static_cast<std::uintptr_t>(point().offset * 4);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(operation.input) % 256, offset);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(operation.output) % 256, offset);
    }
}

TEST_P(DeviceBuffersOf, Fill_GivesTheInputOfTheRank) {
    const Buffers buffers{point(), VerifyMode::exact};
    Bytes input(count * 4);
    buffers.pattern.fill(input.data(), rank, count, seed);
    for (const engine::Operation& operation : buffers.device.operations()) {
        EXPECT_EQ(gpu::download(operation.input, count * 4, buffers.stream), input);
    }
}

TEST_P(DeviceBuffersOf, RightResult_IsOkWithTheHashOfTheDevice) {
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    const Verdict verdict = buffers.device.check(0, seed);
    EXPECT_TRUE(verdict.ok());
    EXPECT_EQ(verdict.what, "");
    EXPECT_EQ(verdict.hash, gpu::hash_of(buffers.output()));
}

TEST_P(DeviceBuffersOf, OutputNotWritten_IsSaid) {
    Buffers buffers{point(), VerifyMode::exact};
    expect_wrong_as_on_the_host(buffers, point().in_place ? "the input of rank 1" : "never written");
}

TEST_P(DeviceBuffersOf, FlippedElement_IsSaid) {
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    buffers.flip_output(4 * 4321);
    expect_wrong_as_on_the_host(
        buffers, "1 of 5000 elements of the output are wrong, the first at index 4321"
    );
}

TEST_P(DeviceBuffersOf, WriteBehindTheOutput_IsSaid) {
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    buffers.flip_output(count * 4 + 3);
    expect_wrong_as_on_the_host(
        buffers, "memory outside the output was written, first 3 bytes behind its end"
    );
}

TEST_P(DeviceBuffersOf, WriteBeforeTheOutput_IsSaid) {
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    buffers.flip_output(-1);
    expect_wrong_as_on_the_host(
        buffers, "memory outside the output was written, first 1 bytes before its begin"
    );
}

TEST_P(DeviceBuffersOf, ChangedInput_IsSaid) {
    if (point().in_place) return;  // it has none of its own
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    buffers.flip_input(4 * 17);
    expect_wrong_as_on_the_host(buffers, "1 of 5000 elements of the input were changed");
}

TEST_P(DeviceBuffersOf, WriteOutsideTheInput_IsSaid) {
    if (point().in_place) return;
    Buffers buffers{point(), VerifyMode::exact};
    buffers.put_right_result();
    buffers.flip_input(-4096);
    expect_wrong_as_on_the_host(buffers, "memory outside the input was written");
}

Bytes reduce_in_a_ring(const Pattern& pattern) {
    return verify::orders::reduce_in_ring_order(pattern, verify::orders::inputs_of(pattern, count, seed));
}

TEST_P(DeviceBuffersOf, RealResult_IsOkWithTheHashOfTheDevice) {
    Buffers buffers{point(), VerifyMode::real};
    buffers.put(reduce_in_a_ring(buffers.pattern));
    const Verdict verdict = buffers.device.check(0, seed);
    EXPECT_TRUE(verdict.ok()) << verdict.what;
    EXPECT_EQ(verdict.hash, gpu::hash_of(buffers.output()));
}

TEST_P(DeviceBuffersOf, WrongRealResult_IsSaid) {
    Buffers buffers{point(), VerifyMode::real};
    Bytes result = reduce_in_a_ring(buffers.pattern);
    constexpr float far_off = 1e30f;
    std::memcpy(&result[4 * 100], &far_off, sizeof(far_off));
    buffers.put(result);
    expect_wrong_as_on_the_host(
        buffers, "1 of 5000 elements of the output are wrong, the first at index 100"
    );
}

std::string name(const testing::TestParamInfo<std::tuple<bool, int>>& place) {
    const auto [in_place, offset] = place.param;
    return std::string{in_place ? "in_place" : "out_of_place"} + "_offset_" + std::to_string(offset);
}

INSTANTIATE_TEST_SUITE_P(
    Places, DeviceBuffersOf, testing::Combine(testing::Bool(), testing::Values(0, 1)), name
);

using DeviceBuffersOnce = gpu::OnGpu;

TEST_F(DeviceBuffersOnce, NoElements_IsOk) {
    Case point = case_of(false, 0);
    point.bytes = point.count = 0;
    const cuda::DeviceMemory memory{DeviceBuffers::bytes_needed(point, 1)};
    DeviceBuffers buffers{point, verifier(VerifyMode::exact), rank, 1, memory.data(), memory.bytes()};
    buffers.fill(1, seed);
    EXPECT_TRUE(buffers.check(0, seed).ok());
}

TEST_F(DeviceBuffersOnce, TooLittleMemory_Throws) {
    const Case point = case_of(false, 0);
    const cuda::DeviceMemory memory{DeviceBuffers::bytes_needed(point, 1)};
    EXPECT_THROW(
        DeviceBuffers(point, verifier(VerifyMode::exact), rank, 2, memory.data(), memory.bytes()), Error
    );
}

}  // namespace
}  // namespace ringscope::bench
