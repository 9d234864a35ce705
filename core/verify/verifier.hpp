// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "verify/guarded_buffer.hpp"
#include "verify/pattern.hpp"

namespace ringscope::verify {

/// XXH3, 64 bits: for the comparison of outputs across ranks.
[[nodiscard]] std::uint64_t hash_bytes(const std::byte* bytes, std::int64_t count);

/// What became of one operation on one rank.
struct Verdict {
    std::int64_t wrong =
        0;             ///< wrong output elements + changed input elements + damaged buffers; 0: all is well
    std::string what;  ///< empty when all is well; else rank, index, expected, got, for a person
    std::uint64_t hash = 0;  ///< of the output; must be the same on all ranks, in every mode

    [[nodiscard]] bool ok() const noexcept { return wrong == 0; }
};

/// Checks the buffers of a rank after an operation. Before it the caller fills the input by pattern().fill
/// and poisons the output. Compare the hashes of all ranks as well: in real mode each of two different
/// results may be accepted.
class Verifier {
 public:
    explicit Verifier(Pattern pattern) : pattern_{std::move(pattern)} {}

    /// The output of a rank that does not contribute must be as it was poisoned. `input` is null where the
    /// operation was in place. The number of elements is that of the output buffer.
    [[nodiscard]] Verdict check(
        const GuardedBuffer& output, const GuardedBuffer* input, int rank, std::uint64_t seed
    ) const;

    [[nodiscard]] const Pattern& pattern() const noexcept { return pattern_; }

 private:
    [[nodiscard]] bool takes_part(int rank) const;

    Pattern pattern_;
};

}  // namespace ringscope::verify
