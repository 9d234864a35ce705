// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/collective.hpp"

#include "base/time.hpp"

namespace ringscope::engine {

Timing BlockingCollective::sample(std::span<const Operation> operations) {
    Timing timing{.enter_ns = now_ns()};
    for (const Operation& operation : operations) run(operation.input, operation.output);
    timing.exit_ns = now_ns();
    return timing;
}

Timing BlockingCollective::sample_traced(std::span<const Operation> operations, EventLog& events) {
    Timing timing{.enter_ns = enter_trace()};
    for (const Operation& operation : operations) run_traced(operation.input, operation.output, events);
    timing.exit_ns = leave_trace();
    timing.events_error_ns = end_trace(events);
    return timing;
}

}  // namespace ringscope::engine
