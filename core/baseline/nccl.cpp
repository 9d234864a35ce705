// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "baseline/nccl.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "cuda/cuda.hpp"
#include "engine/cuda/stream_collective.hpp"
#include "nccl/choice.hpp"
#include "nccl/nccl.hpp"

namespace ringscope::baseline {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

nccl::Options options_of(const AlgorithmChoice& choice) {
    return {
        .algo = choice.word("algo"),
        .proto = choice.word("proto"),
        .min_ctas = choice.param("min_ctas", 0),
        .max_ctas = choice.param("max_ctas", 0)};
}

/// Why a parameter that is a word cannot be this one, or "".
std::string refused_word(
    const AlgorithmChoice& choice, const std::string& name, const std::vector<std::string>& words
) {
    const std::string word = choice.word(name);
    if (word.empty() || std::ranges::find(words, word) != words.end()) return "";
    return "nccl has no " + name + " " + word;
}

std::string refused_parameter(const AlgorithmChoice& choice) {
    const std::array reasons{
        refused_word(choice, "algo", {"ring", "tree"}),
        refused_word(choice, "proto", {"ll", "ll128", "simple"}),
        refused_word(choice, "window", {"symmetric"})};
    for (const std::string& reason : reasons) {
        if (!reason.empty()) return reason;
    }
    const nccl::Options options = options_of(choice);
    if (options.max_ctas > 0 && options.min_ctas > options.max_ctas) return "min_ctas is more than max_ctas";
    return "";
}

/// Why this host's GPUs are too few, or "".
std::string too_few_gpus(std::int64_t local_ranks) {
    std::string reason;
    const int gpus = cuda::device_count(reason);
    if (gpus == 0) return reason;
    if (gpus >= local_ranks) return "";
    return "nccl wants a GPU for each of the " + std::to_string(local_ranks) +
           " ranks of a host, and this one has " + std::to_string(gpus);
}

class NcclCollective final : public engine::cuda::StreamCollective {
 public:
    NcclCollective(
        std::shared_ptr<nccl::Communicator> communicator, DataType dtype, ReduceOp op, std::int64_t count,
        Mode mode, std::int64_t wait_ns
    )
        : StreamCollective{mode, std::make_shared<cuda::Stream>()},
          communicator_{std::move(communicator)},
          dtype_{dtype},
          op_{op},
          count_{count},
          wait_ns_{wait_ns} {}

    /// NCCL connects the ranks at the first operation of each kind, and cannot while a graph is recorded.
    void connect() {
        const cuda::DeviceMemory scratch{std::max<std::int64_t>(1, count_ * size_of(dtype_))};
        const engine::Operation operation{scratch.data(), scratch.data()};
        timed([&] { enqueue(operation); });
    }

    void arm(std::span<const engine::Operation> operations, engine::EventLog* traced) override {
        if (is_armed(operations, traced != nullptr)) return;
        const nccl::ChoiceWatch watch;
        StreamCollective::arm(operations, traced);
        chosen_ = watch.choice_for(operations.front().output);
    }

    engine::Timing sample(std::span<const engine::Operation> operations) override {
        if (!chosen_.empty() || noted_) return StreamCollective::sample(operations);
        noted_ = true;
        const nccl::ChoiceWatch watch;
        const engine::Timing timing = StreamCollective::sample(operations);
        chosen_ = watch.choice_for(operations.front().output);
        return timing;
    }

    [[nodiscard]] const std::string& chosen() const { return chosen_; }

 private:
    void enqueue(const engine::Operation& operation) override {
        communicator_->all_reduce(operation.input, operation.output, count_, dtype_, op_, stream().get());
    }

    void while_waiting(std::int64_t enter_ns) override {
        constexpr std::int64_t polls_per_look = 256;
        if (++polls_ % polls_per_look != 0) return;
        communicator_->check();
        if (now_ns() > enter_ns + wait_ns_ + second_ns) give_up();
    }

    [[noreturn]] void give_up() {
        communicator_->abort();
        throw Error{
            ExitCode::timeout, "nccl: no progress for " + std::to_string((wait_ns_ + second_ns) / 1'000'000) +
                                   " ms (timeout.wait): a rank does not take part, or a link hangs"};
    }

    std::shared_ptr<nccl::Communicator> communicator_;
    DataType dtype_;
    ReduceOp op_;
    std::int64_t count_;
    std::int64_t wait_ns_;
    std::int64_t polls_ = 0;
    bool noted_ = false;  ///< whether the first sample, of which NCCL is asked, has been
    std::string chosen_;
};

}  // namespace

/// A communicator and its window for each set of options, made when first asked for.
class NcclBaseline::Communicators {
 public:
    Communicators(bootstrap::Bootstrap& bootstrap, std::int64_t wait_ns)
        : bootstrap_{bootstrap}, wait_ns_{wait_ns} {}

    [[nodiscard]] bootstrap::Bootstrap& ranks() const { return bootstrap_; }
    [[nodiscard]] std::int64_t init_ns() const { return init_ns_; }

    std::shared_ptr<nccl::Communicator> get(const nccl::Options& options) {
        return entry(options).communicator;
    }

    std::byte* memory(const nccl::Options& options, std::int64_t bytes) {
        Entry& wanted = entry(options);
        if (wanted.memory == nullptr || wanted.memory->bytes() < bytes) grow(wanted, bytes);
        return wanted.memory->data();
    }

 private:
    /// Each member needs those above it.
    struct Entry {
        std::shared_ptr<nccl::Communicator> communicator;
        std::unique_ptr<nccl::Memory> memory;
        std::unique_ptr<nccl::Window> window;
    };

    Entry& entry(const nccl::Options& options) {
        Entry& found = entries_[options];
        if (usable_everywhere(found)) return found;
        drop(found);
        const std::int64_t begin = now_ns();
        found.communicator = std::make_shared<nccl::Communicator>(bootstrap_, options, wait_ns_);
        init_ns_ = std::max<std::int64_t>(0, init_ns_) + now_ns() - begin;
        return found;
    }

    /// Not waited for: another rank may have given up alone.
    static void drop(Entry& entry) {
        if (entry.communicator != nullptr) entry.communicator->abort();
        entry.window.reset();
        entry.memory.reset();
        entry.communicator.reset();
    }

    bool usable_everywhere(const Entry& mine) {
        const bool usable = mine.communicator != nullptr && mine.communicator->usable();
        const std::vector<std::string> all = bootstrap_.all_gather(usable ? "usable" : "");
        return std::ranges::find(all, "") == all.end();
    }

    void grow(Entry& wanted, std::int64_t bytes) {
        wanted.window.reset();
        wanted.memory.reset();
        bootstrap::agree(bootstrap_, [&] { wanted.memory = std::make_unique<nccl::Memory>(bytes); });
        bootstrap::agree(bootstrap_, [&] {
            wanted.window = std::make_unique<nccl::Window>(*wanted.communicator, *wanted.memory);
        });
    }

    bootstrap::Bootstrap& bootstrap_;
    std::int64_t wait_ns_;
    std::int64_t init_ns_ = -1;
    std::map<nccl::Options, Entry> entries_;
};

std::string Nccl::version() {
    std::string reason;
    return nccl::available(reason) ? nccl::library_version() : "";
}

std::string Nccl::unsupported(
    const AlgorithmChoice& choice, DataType dtype, ReduceOp, std::int64_t, std::int64_t local_ranks
) {
    std::string reason = refused_parameter(choice);
    if (reason.empty()) reason = too_few_gpus(local_ranks);
    std::string without_nccl;
    if (reason.empty() && nccl::available(without_nccl)) reason = nccl::missing_type(dtype);
    return reason;
}

NcclBaseline::NcclBaseline(bootstrap::Bootstrap& bootstrap, std::int64_t wait_ns)
    : communicators_{std::make_unique<Communicators>(bootstrap, wait_ns)}, wait_ns_{wait_ns} {
    bootstrap::agree(bootstrap, [] {
        std::string reason;
        if (!nccl::available(reason)) throw Error{ExitCode::unusable_engine, reason};
    });
}

NcclBaseline::~NcclBaseline() = default;

PreparedNccl NcclBaseline::prepare(
    const AlgorithmChoice& choice, DataType dtype, ReduceOp op, std::int64_t count, Mode mode
) {
    auto communicator = communicators_->get(options_of(choice));
    std::unique_ptr<NcclCollective> prepared;
    bootstrap::agree(communicators_->ranks(), [&] {
        prepared =
            std::make_unique<NcclCollective>(std::move(communicator), dtype, op, count, mode, wait_ns_);
        if (mode == Mode::graph) prepared->connect();
    });
    const NcclCollective& own = *prepared;
    return {std::move(prepared), [&own] { return own.chosen(); }};
}

std::int64_t NcclBaseline::init_ns() const {
    return communicators_->init_ns();
}

std::byte* NcclBaseline::symmetric_memory(const AlgorithmChoice& choice, std::int64_t bytes) {
    return communicators_->memory(options_of(choice), bytes);
}

}  // namespace ringscope::baseline
