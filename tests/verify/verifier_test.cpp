// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace ringscope::verify {
namespace {

using ::testing::HasSubstr;

TEST(GuardedBuffer, Offsets_AlignDataAsAsked) {
    for (const std::int64_t offset : {0, 1, 2, 4, 8, 12, 127}) {
        for (const std::int64_t bytes : {0, 1, 17, 4096, 100000}) {
            const GuardedBuffer buffer{bytes, offset};
            EXPECT_EQ(
                reinterpret_cast<std::uintptr_t>(buffer.data()) % 128, static_cast<std::uintptr_t>(offset)
            );
            EXPECT_EQ(buffer.bytes(), bytes);
            EXPECT_TRUE(buffer.guards_intact());
        }
    }
}

TEST(GuardedBuffer, EachByteAround_IsGuarded) {
    GuardedBuffer buffer{1000, 4};
    for (std::int64_t i = 1; i <= 4096; ++i) {
        for (const std::int64_t place : {-i, 999 + i}) {
            const std::byte before = buffer.data()[place];
            buffer.data()[place] = before ^ std::byte{1};
            ASSERT_EQ(buffer.first_damage(), place);
            buffer.data()[place] = before;
        }
    }
    EXPECT_TRUE(buffer.guards_intact());
}

TEST(GuardedBuffer, Poison_IsAllOnesAndLeavesTheGuards) {
    GuardedBuffer buffer{333, 1};
    std::memset(buffer.data(), 0, 333);
    buffer.poison();
    for (std::int64_t i = 0; i < 333; ++i) EXPECT_EQ(buffer.data()[i], std::byte{0xff});
    EXPECT_TRUE(buffer.guards_intact());
    std::memset(buffer.data() - 8, 0, 400);
    EXPECT_FALSE(buffer.guards_intact());
    buffer.restore_guards();
    EXPECT_TRUE(buffer.guards_intact());
}

TEST(GuardedBuffer, ImpossibleSize_IsAnError) {
    EXPECT_THROW((GuardedBuffer{-1, 0}), Error);
    EXPECT_THROW((GuardedBuffer{std::int64_t{1} << 62, 0}), Error);
}

TEST(HashBytes, PublishedValue_OfTheEmptyInput) {
    EXPECT_EQ(hash_bytes(nullptr, 0), 0x2d06800538d394c2u);  // XXH3_64bits of nothing, seed 0
}

/// The buffers of rank 1 of three after a right operation.
class VerifierOf : public ::testing::TestWithParam<DataType> {
 protected:
    static constexpr std::int64_t count = 3000;
    static constexpr std::uint64_t seed = 12;
    VerifierOf() {
        verifier_.pattern().fill(input_.data(), 1, count, seed);
        verifier_.pattern().fill_expected(output_.data(), count, seed);
    }
    [[nodiscard]] Verdict check() const { return verifier_.check(output_, &input_, 1, seed); }

    std::int64_t size_ = size_of(GetParam());
    Verifier verifier_{Pattern{GetParam(), ReduceOp::sum, 3, VerifyMode::exact}};
    GuardedBuffer input_{count * size_, size_};
    GuardedBuffer output_{count * size_, size_};
};

TEST_P(VerifierOf, RightResult_IsOk) {
    const Verdict verdict = check();
    EXPECT_TRUE(verdict.ok());
    EXPECT_EQ(verdict.wrong, 0);
    EXPECT_EQ(verdict.what, "");
    EXPECT_EQ(verdict.hash, hash_bytes(output_.data(), output_.bytes()));
}

TEST_P(VerifierOf, OneWrongElement_NamesRankIndexAndValues) {
    output_.data()[77 * size_] ^= std::byte{1};
    const std::uint64_t right = hash_bytes(output_.data(), output_.bytes()) ^ 1;
    const Verdict verdict = check();
    EXPECT_EQ(verdict.wrong, 1);
    EXPECT_NE(verdict.hash, right);
    EXPECT_THAT(verdict.what, HasSubstr("rank 1, seed 12: 1 of 3000 elements of the output are wrong"));
    EXPECT_THAT(verdict.what, HasSubstr("index 77: expected "));
    EXPECT_THAT(verdict.what, HasSubstr(", got "));
}

TEST_P(VerifierOf, OutputNeverWritten_SaysSo) {
    output_.poison();
    const Verdict verdict = check();
    EXPECT_EQ(verdict.wrong, count);
    EXPECT_THAT(verdict.what, HasSubstr("never written"));
}

TEST_P(VerifierOf, GuardBeforeTheOutput_IsReported) {
    output_.data()[-3] = ~output_.data()[-3];
    EXPECT_EQ(check().wrong, 1);
    EXPECT_THAT(check().what, HasSubstr("outside the output was written, first 3 bytes before its begin"));
}

TEST_P(VerifierOf, GuardBehindTheOutput_IsReported) {
    output_.data()[output_.bytes()] = ~output_.data()[output_.bytes()];
    EXPECT_EQ(check().wrong, 1);
    EXPECT_THAT(check().what, HasSubstr("outside the output was written, first 0 bytes behind its end"));
}

TEST_P(VerifierOf, GuardOfTheInput_IsReported) {
    input_.data()[-1] = ~input_.data()[-1];
    EXPECT_EQ(check().wrong, 1);
    EXPECT_THAT(check().what, HasSubstr("outside the input was written"));
}

TEST_P(VerifierOf, ChangedInput_IsReportedOutOfPlaceOnly) {
    input_.data()[5 * size_] ^= std::byte{1};
    EXPECT_EQ(check().wrong, 1);
    EXPECT_THAT(check().what, HasSubstr("1 of 3000 elements of the input were changed"));
    EXPECT_TRUE(verifier_.check(output_, nullptr, 1, seed).ok());
}

TEST_P(VerifierOf, SeveralFaults_AreAllSaid) {
    output_.data()[-1] = ~output_.data()[-1];
    output_.data()[0] ^= std::byte{1};
    const Verdict verdict = check();
    EXPECT_EQ(verdict.wrong, 2);
    EXPECT_THAT(verdict.what, HasSubstr("; memory outside"));
}

INSTANTIATE_TEST_SUITE_P(
    AllTypes, VerifierOf,
    ::testing::Values(
        DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16, DataType::int32,
        DataType::int64, DataType::uint8, DataType::int8, DataType::uint32, DataType::uint64,
        DataType::float8_e4m3, DataType::float8_e5m2
    ),
    [](const auto& parameters) { return std::string{name_of(parameters.param)}; }
);

TEST(Verifier, EmptyMessage_IsOk) {
    const Verifier verifier{Pattern{DataType::float32, ReduceOp::sum, 2, VerifyMode::exact}};
    const GuardedBuffer output{0}, input{0};
    EXPECT_TRUE(verifier.check(output, &input, 0, 0).ok());
}

/// Of ranks 0 to 3 only 1 and 3 take part: the others' outputs must stay as they were poisoned.
TEST(Verifier, OutputOfARankThatOnlyServes_IsLeftAlone) {
    const Pattern pattern{DataType::float32, ReduceOp::sum, {1, 3}, VerifyMode::exact};
    const Verifier verifier{pattern};
    GuardedBuffer output{400};
    output.poison();
    EXPECT_TRUE(verifier.check(output, nullptr, 0, 7).ok());
    EXPECT_FALSE(verifier.check(output, nullptr, 1, 7).ok());
    pattern.fill_expected(output.data(), 100, 7);
    EXPECT_TRUE(verifier.check(output, nullptr, 1, 7).ok());
    EXPECT_THAT(verifier.check(output, nullptr, 0, 7).what, HasSubstr("this rank takes no part"));
    output.poison();
    output.data()[399] = std::byte{0};
    EXPECT_THAT(verifier.check(output, nullptr, 2, 7).what, HasSubstr("written at byte 399"));
}

}  // namespace
}  // namespace ringscope::verify
