// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "baseline/mpi.hpp"

#include <limits>

#include "mpi/mpi.hpp"

namespace ringscope::baseline {
namespace {

class MpiCollective final : public engine::BlockingCollective {
 public:
    MpiCollective(DataType dtype, ReduceOp op, std::int64_t count) : dtype_{dtype}, op_{op}, count_{count} {}
    void run(const std::byte* input, std::byte* output) override {
        mpi::all_reduce(input, output, count_, dtype_, op_);
    }
    void run_traced(const std::byte* input, std::byte* output, engine::EventLog&) override {
        run(input, output);
    }

 private:
    DataType dtype_;
    ReduceOp op_;
    std::int64_t count_;
};

}  // namespace

std::string Mpi::unsupported(DataType dtype, ReduceOp op, std::int64_t count) {
    if (!mpi::can_reduce(dtype, op)) {
        return "MPI has no " + std::string{name_of(op)} + " of " + std::string{name_of(dtype)};
    }
    if (count > std::numeric_limits<int>::max()) return "MPI counts in 31 bits";
    return "";
}

std::unique_ptr<engine::Collective> Mpi::prepare(DataType dtype, ReduceOp op, std::int64_t count) {
    return std::make_unique<MpiCollective>(dtype, op, count);
}

}  // namespace ringscope::baseline
