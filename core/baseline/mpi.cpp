// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "baseline/mpi.hpp"

#include <limits>
#include <optional>

#include "mpi/mpi.hpp"
#include "reduce/reduce.hpp"

namespace ringscope::baseline {
namespace {

/// What MPI is asked for: it has no average.
ReduceOp undivided(ReduceOp op) {
    return op == ReduceOp::avg ? ReduceOp::sum : op;
}

bool is_native(DataType dtype) {
    return mpi::can_reduce(dtype, ReduceOp::sum);
}

mpi::Combine combine(DataType dtype, ReduceOp op) {
    return [reduce = reduce::reduce_copy(dtype, op)](const std::byte* in, std::byte* in_out, auto count) {
        const std::byte* sources[] = {in, in_out};
        reduce(sources, 2, &in_out, 1, count, 0);
    };
}

class MpiCollective final : public engine::BlockingCollective {
 public:
    MpiCollective(DataType dtype, ReduceOp op, std::int64_t count, std::int32_t ranks)
        : dtype_{dtype}, op_{op}, count_{count}, ranks_{ranks} {
        if (!is_native(dtype)) user_.emplace(size_of(dtype), combine(dtype, undivided(op)));
    }
    void run(const std::byte* input, std::byte* output) override {
        if (user_) {
            user_->all_reduce(input, output, count_);
        } else {
            mpi::all_reduce(input, output, count_, dtype_, undivided(op_));
        }
        if (op_ == ReduceOp::avg) divide(output);
    }
    void run_traced(const std::byte* input, std::byte* output, engine::EventLog&) override {
        run(input, output);
    }

 private:
    void divide(std::byte* sums) const {
        const std::byte* source = sums;
        reduce::reduce_copy(dtype_, ReduceOp::avg)(&source, 1, &sums, 1, count_, ranks_);
    }

    DataType dtype_;
    ReduceOp op_;
    std::int64_t count_;
    std::int32_t ranks_;
    std::optional<mpi::UserReduction> user_;
};

}  // namespace

std::string Mpi::unsupported(DataType dtype, ReduceOp op, std::int64_t count) {
    if (!is_native(dtype) && !reduce::has(dtype)) {
        return "MPI has no " + std::string{name_of(op)} + " of " + std::string{name_of(dtype)};
    }
    if (count > std::numeric_limits<int>::max()) return "MPI counts in 31 bits";
    return "";
}

std::string Mpi::addition(DataType dtype, ReduceOp op) {
    return is_native(dtype) && op != ReduceOp::avg ? "" : "user op";
}

std::unique_ptr<engine::Collective> Mpi::prepare(
    DataType dtype, ReduceOp op, std::int64_t count, std::int32_t ranks
) {
    return std::make_unique<MpiCollective>(dtype, op, count, ranks);
}

}  // namespace ringscope::baseline
