// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verifier.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string_view>

namespace ringscope::verify {
namespace {

/// Adds a finding to a verdict.
void report(Verdict& verdict, std::int64_t wrong, const std::string& what) {
    verdict.wrong += wrong;
    verdict.what += (verdict.what.empty() ? "" : "; ") + what;
}

std::string of(std::int64_t wrong, std::int64_t count) {
    return std::to_string(wrong) + " of " + std::to_string(count);
}

void check_output(
    Verdict& verdict, const Pattern& pattern, const std::byte* got, std::int64_t count, std::uint64_t seed
) {
    const std::int64_t wrong = pattern.count_wrong(got, count, seed);
    if (wrong == 0) return;
    const WrongElement first = pattern.find_first_wrong(got, count, seed).value();
    const std::string cause = pattern.likely_cause(got, count, seed);
    report(
        verdict, wrong,
        of(wrong, count) + " elements of the output are wrong, the first at index " +
            std::to_string(first.index) + ": expected " + first.expected + ", got " + first.got +
            (cause.empty() ? "" : ", which looks like: " + cause)
    );
}

/// A rank that takes no part: its output is as it was poisoned.
void check_untouched(Verdict& verdict, const GuardedBuffer& output) {
    const std::byte* end = output.data() + output.bytes();
    const auto changed =
        end - std::find_if(output.data(), end, [](std::byte b) { return b != std::byte{0xFF}; });
    if (changed == 0) return;
    report(
        verdict, 1,
        "the output was written at byte " + std::to_string(output.bytes() - changed) +
            ", though this rank takes no part"
    );
}

void check_input(
    Verdict& verdict, const Pattern& pattern, const std::byte* input, int rank, std::int64_t count,
    std::uint64_t seed
) {
    const std::int64_t changed = pattern.count_changed(input, rank, count, seed);
    if (changed == 0) return;
    report(
        verdict, changed,
        of(changed, count) + " elements of the input were changed by an operation out of place"
    );
}

void check_guards(Verdict& verdict, const GuardedBuffer& buffer, std::string_view name) {
    const std::optional<std::int64_t> damage = buffer.first_damage();
    if (!damage) return;
    const std::string where = *damage < 0
                                  ? std::to_string(-*damage) + " bytes before its begin"
                                  : std::to_string(*damage - buffer.bytes()) + " bytes behind its end";
    report(verdict, 1, "memory outside the " + std::string{name} + " was written, first " + where);
}

}  // namespace

std::uint64_t hash_bytes(const std::byte* bytes, std::int64_t count) {
    return XXH3_64bits(bytes, static_cast<std::size_t>(count));
}

bool Verifier::takes_part(int rank) const {
    return std::ranges::find(pattern_.contributors(), rank) != pattern_.contributors().end();
}

Verdict Verifier::check(const GuardedBuffer& output, const GuardedBuffer* input, int rank, std::uint64_t seed)
    const {
    const std::int64_t count = output.bytes() / size_of(pattern_.dtype());
    Verdict verdict;
    if (takes_part(rank)) {
        check_output(verdict, pattern_, output.data(), count, seed);
    } else {
        check_untouched(verdict, output);
    }
    check_guards(verdict, output, "output");
    if (input != nullptr) {
        check_input(verdict, pattern_, input->data(), rank, count, seed);
        check_guards(verdict, *input, "input");
    }
    verdict.hash = hash_bytes(output.data(), output.bytes());
    if (!verdict.ok()) {
        verdict.what =
            "rank " + std::to_string(rank) + ", seed " + std::to_string(seed) + ": " + verdict.what;
    }
    return verdict;
}

}  // namespace ringscope::verify
