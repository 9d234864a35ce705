// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/rows.hpp"

namespace ringscope::bench {

/// Whether the stamps of a trace can be in the order that they say.
struct Causality {
    std::int64_t pairs = 0;       ///< messages of which both ends are there
    std::int64_t decisive = 0;    ///< data came after the sender could begin, by more than the clocks' error
    std::int64_t violations = 0;  ///< data came before they were handed over, by more than the clocks' error
    std::string first;            ///< violation, in words
};

/// Checks every message: at the receiver the first data cannot be there before the sender handed them over.
class CausalityCheck {
 public:
    /// `error_ns[r]` bounds how far the stamps of rank r may be off; those of two ranks add up.
    explicit CausalityCheck(std::vector<std::int64_t> error_ns) : error_ns_{std::move(error_ns)} {}

    /// Takes events of all ranks slice by slice, as gather_events() brings them: with the first event of an
    /// iteration all earlier iterations are over. Holds no more than one iteration.
    void add(std::span<const trace::EventRow> events);
    [[nodiscard]] const Causality& found() const { return found_; }

 private:
    /// What has to be known of one end of a message.
    struct End {
        std::int64_t iteration = 0;
        std::int32_t src = 0, dst = 0;
        std::int64_t seq = 0;
        trace::Direction direction = trace::Direction::send;
        std::int64_t ready_ns = 0, handed_over_ns = 0;
    };
    static End end_of(const trace::EventRow& event);
    static bool same_message(const End& one, const End& other);
    void compare(const End& send, const End& recv);

    std::vector<std::int64_t> error_ns_;
    std::vector<End> open_;  ///< ends whose partner may still come
    Causality found_;
};

}  // namespace ringscope::bench
