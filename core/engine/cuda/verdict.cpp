// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/verdict.hpp"

namespace ringscope::engine::cuda {
namespace {

std::string in_words(PairFinding at_owner, PairFinding at_writer, std::size_t writer, std::size_t owner) {
    const std::string from = std::to_string(writer), to = std::to_string(owner);
    if (at_owner == PairFinding::silent)
        return "nothing arrives from the GPU of rank " + from + " at that of rank " + to;
    if (at_owner == PairFinding::wrong_data)
        return "wrong data arrive from the GPU of rank " + from + " at that of rank " + to;
    if (at_writer == PairFinding::wrong_read)
        return "the GPU of rank " + from + " reads wrong data from that of rank " + to;
    return "";
}

}  // namespace

std::string verdict(const std::vector<std::vector<PairFinding>>& findings) {
    std::string faults;
    for (std::size_t writer = 0; writer < findings.size(); ++writer) {
        for (std::size_t owner = 0; owner < findings.size(); ++owner) {
            const std::string fault =
                in_words(findings[owner][writer], findings[writer][owner], writer, owner);
            if (!fault.empty()) faults += (faults.empty() ? "" : "; ") + fault;
        }
    }
    return faults;
}

}  // namespace ringscope::engine::cuda
