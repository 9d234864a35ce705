// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/gpu/support.hpp"
#include "verify/device.hpp"
#include "verify/pattern.hpp"

// The reference is Pattern on the host.
namespace ringscope::gpu {
namespace {

using verify::DeviceFinding;
using verify::DevicePattern;
using verify::Pattern;

constexpr std::array dtypes{DataType::float32,  DataType::float64,     DataType::float16,
                            DataType::bfloat16, DataType::int32,       DataType::int64,
                            DataType::uint8,    DataType::int8,        DataType::uint32,
                            DataType::uint64,   DataType::float8_e4m3, DataType::float8_e5m2};
constexpr std::array<std::int64_t, 6> counts{0, 1, 2047, 2048, 2049, 65537};
constexpr std::uint64_t seed = 41;
constexpr int ranks = 3, rank = 1;

/// A message of one size in device memory, with its test data.
struct Message {
    Message(DataType dtype, std::int64_t elements, std::int64_t offset)
        : Message{Pattern{dtype, ReduceOp::sum, ranks, VerifyMode::exact}, elements, offset} {}
    Message(Pattern pattern_of_it, std::int64_t elements, std::int64_t offset)
        : pattern{std::move(pattern_of_it)},
          size{size_of(pattern.dtype())},
          count{elements},
          layout{count * size, offset * size},
          memory{layout.total},
          region{memory.data(), layout},
          device{pattern, rank, stream} {
        device.restore_guards(region);
        device.poison(region.data(), layout.bytes);
    }

    [[nodiscard]] Bytes input() const {
        Bytes bytes(static_cast<std::size_t>(layout.bytes));
        pattern.fill(bytes.data(), rank, count, seed);
        return bytes;
    }
    [[nodiscard]] Bytes expected() const {
        Bytes bytes(static_cast<std::size_t>(layout.bytes));
        pattern.fill_expected(bytes.data(), count, seed);
        return bytes;
    }
    void put(const Bytes& bytes) const { upload(region.data(), bytes, stream); }
    [[nodiscard]] Bytes get() const { return download(region.data(), layout.bytes, stream); }
    [[nodiscard]] DeviceFinding check_output() const {
        return device.check_output(region.data(), count, seed);
    }

    Pattern pattern;
    std::int64_t size, count;
    cuda::Stream stream;
    verify::GuardLayout layout;
    cuda::DeviceMemory memory;
    verify::DeviceRegion region;
    DevicePattern device;
};

/// Elements at the edges of blocks and of the message.
std::set<std::int64_t> telling_elements(std::int64_t count) {
    std::set<std::int64_t> indices;
    for (const std::int64_t index :
         {std::int64_t{0}, std::int64_t{1}, count / 2, std::int64_t{2047}, std::int64_t{2048}, count - 2,
          count - 1}) {
        if (index >= 0 && index < count) indices.insert(index);
    }
    return indices;
}

class DeviceVerify : public OnGpu, public testing::WithParamInterface<std::tuple<DataType, std::int64_t>> {
 protected:
    /// Runs a check at each number of elements.
    template <class Check>
    void at_each_count(Check&& check) {
        const auto [dtype, offset] = GetParam();
        for (const std::int64_t count : counts) {
            SCOPED_TRACE(count);
            const Message message{dtype, count, offset};
            check(message);
        }
    }
};

// ---- Test data ----

TEST_P(DeviceVerify, Fill_EqualsTheHostAndStaysInside) {
    at_each_count([](const Message& message) {
        message.device.fill(message.region.data(), message.count, seed);
        EXPECT_EQ(message.get(), message.input());
        EXPECT_EQ(message.device.first_damage(message.region), std::nullopt);
    });
}

TEST_P(DeviceVerify, Poison_IsAllOnesAndStaysInside) {
    at_each_count([](const Message& message) {
        message.device.fill(message.region.data(), message.count, seed);
        message.device.poison(message.region.data(), message.layout.bytes);
        EXPECT_EQ(message.get(), Bytes(static_cast<std::size_t>(message.layout.bytes), std::byte{0xff}));
        EXPECT_EQ(message.device.first_damage(message.region), std::nullopt);
    });
}

// ---- Outputs ----

TEST_P(DeviceVerify, RightResult_DoesNotDifferAndHasTheHashOfItsBytes) {
    at_each_count([](const Message& message) {
        message.put(message.expected());
        const DeviceFinding finding = message.check_output();
        EXPECT_EQ(finding.differing, 0);
        EXPECT_EQ(finding.hash, hash_of(message.expected()));
    });
}

TEST_P(DeviceVerify, FlippedBit_IsOneElementAndAnotherHash) {
    at_each_count([](const Message& message) {
        const Bytes right = message.expected();
        for (const std::int64_t index : telling_elements(message.count)) {
            for (const std::int64_t byte : {index * message.size, (index + 1) * message.size - 1}) {
                Bytes wrong = right;
                wrong[static_cast<std::size_t>(byte)] ^= std::byte{0x80};
                message.put(wrong);
                const DeviceFinding finding = message.check_output();
                EXPECT_EQ(finding.differing, 1) << index;
                EXPECT_NE(finding.hash, hash_of(right)) << index;
                EXPECT_EQ(finding.hash, hash_of(wrong)) << index;
            }
        }
    });
}

TEST_P(DeviceVerify, NeverWritten_IsEveryElement) {
    at_each_count([](const Message& message) { EXPECT_EQ(message.check_output().differing, message.count); });
}

TEST_P(DeviceVerify, LastElementNeverWritten_IsOneElement) {
    at_each_count([](const Message& message) {
        if (message.count == 0) return;
        Bytes bytes = message.expected();
        std::fill(bytes.end() - message.size, bytes.end(), std::byte{0xff});
        message.put(bytes);
        EXPECT_EQ(message.check_output().differing, 1);
    });
}

// ---- Inputs ----

TEST_P(DeviceVerify, Input_IsUnchangedUntilABitFlips) {
    at_each_count([](const Message& message) {
        std::byte* const data = message.region.data();
        message.device.fill(data, message.count, seed);
        EXPECT_EQ(message.device.check_input(data, message.count, seed), 0);
        for (const std::int64_t index : telling_elements(message.count)) {
            flip(data + index * message.size, message.stream);
            EXPECT_EQ(message.device.check_input(data, message.count, seed), 1) << index;
            flip(data + index * message.size, message.stream);
        }
    });
}

TEST_P(DeviceVerify, InputOfAnotherSeed_Differs) {
    at_each_count([](const Message& message) {
        if (message.count < 2047) return;  // single elements may be alike
        message.device.fill(message.region.data(), message.count, seed - 1);
        EXPECT_GT(message.device.check_input(message.region.data(), message.count, seed), message.count / 2);
    });
}

// ---- Guards ----

TEST_P(DeviceVerify, WriteOutside_IsFoundNearestToTheFront) {
    at_each_count([](const Message& message) {
        const std::int64_t front = message.layout.front, bytes = message.layout.bytes;
        const std::int64_t behind = message.layout.total - front - 1;
        EXPECT_EQ(message.device.first_damage(message.region), std::nullopt);
        const std::set<std::int64_t, std::greater<>> places{behind, bytes + 4095, bytes, -1, -front};
        for (const std::int64_t at : places) {
            flip(message.region.data() + at, message.stream);
            EXPECT_EQ(message.device.first_damage(message.region), std::optional{at});
        }
        message.device.restore_guards(message.region);
        EXPECT_EQ(message.device.first_damage(message.region), std::nullopt);
    });
}

std::string name(const testing::TestParamInfo<std::tuple<DataType, std::int64_t>>& info) {
    return std::string{name_of(std::get<0>(info.param))} + "_offset_" +
           std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Types, DeviceVerify, testing::Combine(testing::ValuesIn(dtypes), testing::Values(0, 1)), name
);

// ---- What does not depend on the type ----

using DeviceVerifyOnce = OnGpu;

TEST_F(DeviceVerifyOnce, RankThatDoesNotContribute_HasOnesAsInput) {
    const Message message{
        Pattern{DataType::float32, ReduceOp::sum, std::vector{0, 2}, VerifyMode::exact}, 5000, 0};
    message.device.fill(message.region.data(), message.count, seed);
    EXPECT_EQ(message.get(), Bytes(20000, std::byte{0xff}));
    EXPECT_EQ(message.device.check_input(message.region.data(), message.count, seed), 0);
}

TEST_F(DeviceVerifyOnce, Offset_DoesNotChangeTheHash) {
    std::set<std::uint64_t> hashes;
    for (const std::int64_t offset : {0, 1, 3, 4}) {
        const Message message{DataType::float16, 65537, offset};
        message.put(message.expected());
        hashes.insert(message.check_output().hash);
    }
    EXPECT_EQ(hashes.size(), 1u);
}

TEST_F(DeviceVerifyOnce, AllOperations_GiveTheTablesOfTheHost) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
        for (const VerifyMode mode : {VerifyMode::exact, VerifyMode::mantissa, VerifyMode::real}) {
            const Message message{Pattern{DataType::bfloat16, op, ranks, mode}, 20001, 0};
            message.put(message.expected());
            EXPECT_EQ(message.check_output().differing, 0);
            message.device.fill(message.region.data(), message.count, seed);
            EXPECT_EQ(message.get(), message.input());
        }
    }
}

/// More blocks than all warps of the largest grid, and more than a table is long.
TEST_F(DeviceVerifyOnce, LongMessage_EqualsTheHost) {
    constexpr std::int64_t count = (8192 * 8 + 3) * std::int64_t{2048} + 5;
    const Message message{DataType::uint8, count, 0};
    message.device.fill(message.region.data(), message.count, seed);
    EXPECT_TRUE(message.get() == message.input());
    EXPECT_EQ(message.device.check_input(message.region.data(), message.count, seed), 0);
    message.put(message.expected());
    const DeviceFinding finding = message.check_output();
    EXPECT_EQ(finding.differing, 0);
    EXPECT_EQ(finding.hash, hash_of(message.expected()));
}

}  // namespace
}  // namespace ringscope::gpu
