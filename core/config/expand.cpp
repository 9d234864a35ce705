// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "config/experiment.hpp"

namespace ringscope {
namespace {

/// The cases so far, each once with every value of one more list; later lists vary faster.
template <class List, class Set>
std::vector<Case> crossed(const std::vector<Case>& cases, const List& values, Set set) {
    std::vector<Case> product;
    for (const Case& one : cases) {
        for (const auto& value : values) {
            product.push_back(one);
            set(product.back(), value);
        }
    }
    return product;
}

/// The baselines run as they are: the list of engines does not apply to them.
bool is_baseline(const AlgorithmChoice& algorithm) {
    return algorithm.id == "mpi" || algorithm.id == "nccl";
}

std::vector<Case> with_engines(const std::vector<Case>& cases, const std::vector<std::string>& engines) {
    std::vector<Case> product;
    for (const Case& one : cases) {
        const std::vector<std::string> own =
            is_baseline(one.algorithm) ? std::vector<std::string>{"auto"} : engines;
        std::ranges::copy(
            crossed({one}, own, [](Case& c, const std::string& engine) { c.engine = engine; }),
            std::back_inserter(product)
        );
    }
    return product;
}

/// Bytes are rounded down to whole elements.
void set_size(Case& one, std::int64_t bytes) {
    one.count = bytes / size_of(one.dtype);
    one.bytes = one.count * size_of(one.dtype);
}

}  // namespace

std::vector<Case> expand(const Experiment& experiment) {
    std::vector<Case> cases(1);
    cases = crossed(cases, experiment.algorithms, [](Case& c, const AlgorithmChoice& choice) {
        c.algorithm = choice;
    });
    cases = with_engines(cases, experiment.engines);
    cases = crossed(cases, experiment.measure.modes, [](Case& c, Mode mode) { c.mode = mode; });
    cases = crossed(cases, experiment.dtypes, [](Case& c, DataType dtype) { c.dtype = dtype; });
    cases = crossed(cases, experiment.ops, [](Case& c, ReduceOp op) { c.op = op; });
    cases = crossed(cases, experiment.offsets, [](Case& c, std::int64_t offset) { c.offset = offset; });
    cases = crossed(cases, experiment.sizes, set_size);
    cases = crossed(cases, experiment.in_place, [](Case& c, bool in_place) { c.in_place = in_place; });
    std::int32_t index = 0;
    for (Case& one : cases) one.index = index++;
    return cases;
}

}  // namespace ringscope
