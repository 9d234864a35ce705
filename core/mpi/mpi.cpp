// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ringscope::mpi {
namespace {

/// MPI-3 counts are int: longer transfers go in pieces of this size.
constexpr std::size_t piece = std::size_t{1} << 28;
constexpr int bytes_tag = 1, message_tag = 2;

template <class Transfer>
void in_pieces(std::string& bytes, Transfer transfer) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        transfer(bytes.data() + at, static_cast<int>(std::min(piece, bytes.size() - at)));
    }
}

std::vector<std::uint64_t> all_sizes(std::size_t mine) {
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size()));
    const std::uint64_t own = mine;
    MPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    return sizes;
}

MPI_Datatype mpi_type(DataType dtype) {
    switch (dtype) {
        case DataType::float32:
            return MPI_FLOAT;
        case DataType::float64:
            return MPI_DOUBLE;
        case DataType::int32:
            return MPI_INT32_T;
        case DataType::int64:
            return MPI_INT64_T;
        case DataType::uint8:
            return MPI_UINT8_T;
        case DataType::int8:
            return MPI_INT8_T;
        case DataType::uint32:
            return MPI_UINT32_T;
        case DataType::uint64:
            return MPI_UINT64_T;
        case DataType::float16:
        case DataType::bfloat16:
        case DataType::float8_e4m3:
        case DataType::float8_e5m2:
            break;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum:
            return MPI_SUM;
        case ReduceOp::prod:
            return MPI_PROD;
        case ReduceOp::min:
            return MPI_MIN;
        case ReduceOp::max:
            return MPI_MAX;
        case ReduceOp::avg:
            break;
    }
    return MPI_OP_NULL;
}

/// MPI gives a user's function no context. It calls it within MPI_Allreduce, on the thread that called that.
const Combine* combining = nullptr;

void combine_elements(void* in, void* in_out, int* count, MPI_Datatype*) {
    (*combining)(static_cast<const std::byte*>(in), static_cast<std::byte*>(in_out), *count);
}

const void* source_of(const std::byte* input, const std::byte* output) {
    return input == output ? MPI_IN_PLACE : static_cast<const void*>(input);
}

}  // namespace

Session::Session() {
    static_cast<void>(started_by_launcher());  // to be asked before MPI_Init
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
}
Session::~Session() {
    MPI_Finalize();
}

int rank() {
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    return value;
}

int size() {
    int value = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    return value;
}

/// Remembers the first answer, because MPI_Init sets these variables itself where there was no launcher.
bool started_by_launcher() {
    constexpr std::array marks{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    static const bool marked =
        std::ranges::any_of(marks, [](const char* name) { return std::getenv(name) != nullptr; });
    return marked;
}

std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::vector<int> ranks_sharing_memory() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &node);
    int count = 0;
    MPI_Comm_size(node, &count);
    std::vector<int> ranks(static_cast<std::size_t>(count));
    const int mine = rank();
    MPI_Allgather(&mine, 1, MPI_INT, ranks.data(), 1, MPI_INT, node);
    MPI_Comm_free(&node);
    return ranks;
}

void barrier() {
    MPI_Barrier(MPI_COMM_WORLD);
}

void broadcast(std::string& bytes, int root) {
    std::uint64_t length = bytes.size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    bytes.resize(length);
    in_pieces(bytes, [&](char* at, int count) { MPI_Bcast(at, count, MPI_BYTE, root, MPI_COMM_WORLD); });
}

std::vector<std::string> all_gather(const std::string& bytes) {
    std::vector<std::string> all = gather(bytes, 0);
    all.resize(static_cast<std::size_t>(size()));
    for (std::string& one : all) broadcast(one, 0);
    return all;
}

std::vector<std::string> gather(const std::string& bytes, int root) {
    const std::vector<std::uint64_t> sizes = all_sizes(bytes.size());
    if (rank() != root) {
        in_pieces(const_cast<std::string&>(bytes), [&](char* at, int count) {
            MPI_Send(at, count, MPI_BYTE, root, bytes_tag, MPI_COMM_WORLD);
        });
        return {};
    }
    std::vector<std::string> all(sizes.size());
    for (int src = 0; src < size(); ++src) {
        std::string& one = all[static_cast<std::size_t>(src)];
        one.resize(sizes[static_cast<std::size_t>(src)]);
        if (src == root) {
            one = bytes;
            continue;
        }
        in_pieces(one, [&](char* at, int count) {
            MPI_Recv(at, count, MPI_BYTE, src, bytes_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
    }
    return all;
}

void send(const std::string& bytes, int to) {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, message_tag, MPI_COMM_WORLD);
}

std::string receive(int from) {
    MPI_Status status;
    MPI_Probe(from, message_tag, MPI_COMM_WORLD, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::string bytes(static_cast<std::size_t>(count), '\0');
    MPI_Recv(bytes.data(), count, MPI_BYTE, from, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
}

bool can_reduce(DataType dtype, ReduceOp op) {
    return mpi_type(dtype) != MPI_DATATYPE_NULL && mpi_op(op) != MPI_OP_NULL;
}

void all_reduce(const std::byte* input, std::byte* output, std::int64_t count, DataType dtype, ReduceOp op) {
    MPI_Allreduce(
        source_of(input, output), output, static_cast<int>(count), mpi_type(dtype), mpi_op(op), MPI_COMM_WORLD
    );
}

struct UserReduction::Handles {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
};

UserReduction::UserReduction(std::int64_t element_bytes, Combine combine)
    : handles_{std::make_unique<Handles>()}, combine_{std::move(combine)} {
    MPI_Type_contiguous(static_cast<int>(element_bytes), MPI_BYTE, &handles_->type);
    MPI_Type_commit(&handles_->type);
    MPI_Op_create(combine_elements, 1, &handles_->op);
}

UserReduction::~UserReduction() {
    MPI_Op_free(&handles_->op);
    MPI_Type_free(&handles_->type);
}

void UserReduction::all_reduce(const std::byte* input, std::byte* output, std::int64_t count) {
    combining = &combine_;
    MPI_Allreduce(
        source_of(input, output), output, static_cast<int>(count), handles_->type, handles_->op,
        MPI_COMM_WORLD
    );
}

void abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
}

}  // namespace ringscope::mpi
