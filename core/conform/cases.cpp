// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "conform/cases.hpp"

#include "base/types.hpp"
#include "reduce/reduce.hpp"

namespace ringscope::conform {
namespace {

constexpr std::int64_t element = sizeof(float);

/// No multiple of anything: every type has a tail, and the parts of a message are unequal.
constexpr std::int64_t odd_bytes = 8191, long_bytes = 65537 * element;

bool is_full(const Subject& subject) {
    return subject.extent == Extent::full;
}

/// What all groups have in common: two verified iterations and a traced one.
Experiment basis(const Subject& subject) {
    Experiment experiment;
    experiment.name = "conform";
    experiment.algorithms = {subject.as_it_is};
    experiment.engines = {subject.engine};
    experiment.sizes = {odd_bytes};
    experiment.measure = {.warmup = 0, .iterations = 2, .start = StartMode::barrier, .cold_start = false};
    experiment.trace.iterations = 1;
    return experiment;
}

std::vector<std::int64_t> bytes_of(const std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> bytes;
    for (const std::int64_t count : counts) bytes.push_back(count * element);
    return bytes;
}

/// Counts around the number of ranks, powers of two and primes. Long ones come before short ones, so that
/// slots hold stale data.
std::vector<std::int64_t> counts(const Subject& subject) {
    const std::int64_t n = subject.ranks;
    if (!is_full(subject)) return {65537, n + 1, 0, 1023, n, 1, n - 1};
    return {1'048'577, n + 1, 0, 65537, n, 1, 65521, n - 1, 1023, 2, 4097, 127, 1021, 1'048'575, 16 * n + 1};
}

Experiment all_counts(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.sizes = bytes_of(counts(subject));
    experiment.offsets = {0, 1};
    experiment.in_place = {false, true};
    return experiment;
}

Experiment all_types(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.dtypes.clear();
    for (int i = 0; i < RINGSCOPE_DTYPE_COUNT; ++i) {
        const auto dtype = static_cast<DataType>(i);
        if (subject.opaque || reduce::has(dtype)) experiment.dtypes.push_back(dtype);
    }
    experiment.ops.clear();
    for (int i = 0; i < RINGSCOPE_REDUCTION_COUNT; ++i) experiment.ops.push_back(static_cast<ReduceOp>(i));
    experiment.offsets = {1};
    if (is_full(subject)) {
        experiment.offsets = {0, 1};
        experiment.in_place = {false, true};
    }
    return experiment;
}

/// Few small slots, on one channel and on several: messages of many slices, and slots used again and again.
Experiment few_slots(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.algorithms.clear();
    for (const std::int64_t channels : {1, 3}) {
        AlgorithmChoice choice = subject.as_it_is;
        choice.params = {{"slots", subject.slots}, {"slot_bytes", 512}, {"channels", channels}};
        experiment.algorithms.push_back(choice);
    }
    experiment.algorithms.front().words["direct"] = "none";
    experiment.algorithms.back().words["direct"] = "all";  // elsewhere it is what is usual on the engine
    experiment.sizes = {long_bytes, odd_bytes};
    experiment.in_place = {false, true};
    if (is_full(subject)) experiment.offsets = {0, 1};
    return experiment;
}

Experiment other_variants(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.algorithms = subject.variants;
    experiment.sizes = {long_bytes, (subject.ranks + 1) * element};
    experiment.ops = {ReduceOp::avg};
    if (is_full(subject)) {
        experiment.ops = {ReduceOp::sum, ReduceOp::avg};
        experiment.sizes = bytes_of(counts(subject));
        experiment.offsets = {0, 1};
        experiment.in_place = {false, true};
    }
    return experiment;
}

/// Operations that follow each other without a pause: a rank may be one ahead of another.
Experiment queued(const Subject& subject, Mode mode, std::int64_t iterations) {
    Experiment experiment = basis(subject);
    experiment.measure.modes = {mode};
    experiment.measure.iterations = iterations;
    experiment.sizes = {long_bytes, (subject.ranks + 1) * element, odd_bytes};
    return experiment;
}

/// The same few bytes at the same addresses, many times.
Experiment again(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.measure.iterations = is_full(subject) ? 500 : 20;
    experiment.sizes = {127 * element};
    return experiment;
}

/// Sums that need every bit of the significand.
Experiment mantissa(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.verify = VerifyMode::mantissa;
    experiment.dtypes = {DataType::float32, DataType::bfloat16};
    return experiment;
}

/// Sums that depend on their order, which must be the same on all ranks.
Experiment real(const Subject& subject) {
    Experiment experiment = basis(subject);
    experiment.verify = VerifyMode::real;
    experiment.dtypes = {DataType::float32, DataType::float16};
    experiment.ops = {ReduceOp::sum, ReduceOp::avg};
    return experiment;
}

}  // namespace

std::vector<CaseGroup> case_groups(const Subject& subject) {
    const std::int64_t many = is_full(subject) ? 200 : 20;
    std::vector<CaseGroup> groups{{"counts", all_counts(subject)}, {"types", all_types(subject)}};
    if (!subject.opaque) groups.push_back({"slots", few_slots(subject)});
    if (!subject.variants.empty()) groups.push_back({"variants", other_variants(subject)});
    groups.push_back({"queued", queued(subject, Mode::back_to_back, many)});
    if (subject.on_device) groups.push_back({"graphs", queued(subject, Mode::graph, many / 10)});
    groups.push_back({"again", again(subject)});
    groups.push_back({"mantissa", mantissa(subject)});
    groups.push_back({"real", real(subject)});
    return groups;
}

}  // namespace ringscope::conform
