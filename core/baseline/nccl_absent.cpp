// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "baseline/nccl.hpp"

#include "base/error.hpp"

// A build without CUDA, or without nccl.h: RINGSCOPE_NO_NCCL says which.
namespace ringscope::baseline {
namespace {

[[noreturn]] void refuse() {
    throw Error{ExitCode::unusable_engine, std::string{"nccl: "} + RINGSCOPE_NO_NCCL};
}

}  // namespace

class NcclBaseline::Communicators {};

std::string Nccl::version() {
    return "";
}

std::string Nccl::unsupported(const AlgorithmChoice&, DataType, ReduceOp, std::int64_t, std::int64_t) {
    return RINGSCOPE_NO_NCCL;
}

NcclBaseline::NcclBaseline(bootstrap::Bootstrap&, std::int64_t wait_ns) : wait_ns_{wait_ns} {
    refuse();
}

NcclBaseline::~NcclBaseline() = default;

PreparedNccl NcclBaseline::prepare(const AlgorithmChoice&, DataType, ReduceOp, std::int64_t, Mode) {
    refuse();
}

std::byte* NcclBaseline::symmetric_memory(const AlgorithmChoice&, std::int64_t) {
    refuse();
}

std::int64_t NcclBaseline::init_ns() const {
    return -1;
}

}  // namespace ringscope::baseline
