// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "config/experiment.hpp"

namespace ringscope::verify {

/// The first element that is not as it must be, as text.
struct WrongElement {
    std::int64_t index;
    std::string expected;
    std::string got;
};

/// Test data and the results that are right for it, at about the cost of one memcpy and one memcmp.
///
/// Each contributor has a table of 8191 elements, and the expected results are one more; a message is a row
/// of windows into them, one per block of 2048 elements. Where a window begins depends on the block and on
/// the seed and is the same for all: so the data depends on rank, index and seed, and a table of results is
/// computed once. Two blocks of a message, and the same block under two seeds, have different windows unless
/// blocks or seeds are a multiple of 8191 apart (blocks: for nearly all of those as well).
///
/// Modes, for floating point:
///  - exact: integers of both signs; every partial sum or product is exact in any order, so one result is
///  right. avg
///    divides the sum once, rounded to nearest (which a multiplication of the terms by 1/N does not give).
///  - mantissa: for sum and avg, sums that need every bit of the significand, still exact in any order: an
///  accumulation
///    that is one bit short shows in each element. The same as exact for the other operations.
///  - real: reals, also badly cancelling ones; a result is right within gamma_k * sum|x_i|, k = N-1 roundings
///  (avg: N+1) to
///    the type itself. min and max stay exact.
///  - rank: every element is the place of its contributor, 0, 1, 2, ..., for any type, as small examples of
///  NCCL have it. One rank's element is like another's, so a chunk that lands elsewhere is not found.
/// For integers all others are the same: sums stay within the type, products wrap. 8-bit floats have no mode
/// real: their data are exact there too, for the bound would accept nearly anything.
class Pattern {
 public:
    /// `contributors` are the distinct ranks that are reduced, at least one.
    Pattern(DataType dtype, ReduceOp op, std::vector<int> contributors, VerifyMode mode);
    /// All of 0 .. ranks-1 contribute.
    Pattern(DataType dtype, ReduceOp op, int ranks, VerifyMode mode);

    /// The input of a rank; 0xFF bytes (NaN) for one that does not contribute, so that its use would show.
    void fill(std::byte* out, int rank, std::int64_t count, std::uint64_t seed) const;
    /// The expected result (in real mode the least that is accepted).
    void fill_expected(std::byte* out, std::int64_t count, std::uint64_t seed) const;

    [[nodiscard]] std::int64_t count_wrong(const std::byte* got, std::int64_t count, std::uint64_t seed)
        const;
    [[nodiscard]] std::optional<WrongElement> find_first_wrong(
        const std::byte* got, std::int64_t count, std::uint64_t seed
    ) const;
    /// Elements in which a rank's input differs from what `fill` wrote.
    [[nodiscard]] std::int64_t count_changed(
        const std::byte* input, int rank, std::int64_t count, std::uint64_t seed
    ) const;
    /// What a wrong result looks like, if all of its first wrong elements agree: "never written", "rank 3 is
    /// missing", "rank 3 is added twice", "the input of rank 3", "the result of seed 41"; else empty.
    [[nodiscard]] std::string likely_cause(const std::byte* got, std::int64_t count, std::uint64_t seed)
        const;

    /// What `fill` and `fill_expected` take their windows from (verify/window.hpp), for a device that does
    /// the same. Empty for a rank that does not contribute.
    [[nodiscard]] std::span<const std::byte> input_table(int rank) const;
    [[nodiscard]] std::span<const std::byte> expected_table() const;

    [[nodiscard]] DataType dtype() const noexcept;
    [[nodiscard]] ReduceOp op() const noexcept;
    [[nodiscard]] VerifyMode mode() const noexcept;
    [[nodiscard]] const std::vector<int>& contributors() const noexcept;

 private:
    struct Tables;
    struct Evidence;
    std::shared_ptr<const Tables> tables_;  ///< never changed: a Pattern is cheap to copy and safe to share
};

}  // namespace ringscope::verify
