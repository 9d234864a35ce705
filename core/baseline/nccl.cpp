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

class Prepared final : public NcclCollective {
 public:
    Prepared(
        std::shared_ptr<nccl::Communicator> communicator, DataType dtype, ReduceOp op, std::int64_t count,
        Mode mode, std::int64_t wait_ns
    )
        : communicator_{std::move(communicator)},
          dtype_{dtype},
          op_{op},
          count_{count},
          mode_{mode},
          wait_ns_{wait_ns} {}

    /// NCCL connects the ranks at the first operation of each kind, and cannot while a graph is recorded.
    void connect() {
        const cuda::DeviceMemory scratch{std::max<std::int64_t>(1, count_ * size_of(dtype_))};
        const engine::Operation operation{scratch.data(), scratch.data()};
        run({&operation, 1});
    }

    void arm(std::span<const engine::Operation> operations) override {
        if (mode_ != Mode::graph || is_armed(operations)) return;
        const nccl::ChoiceWatch watch;
        graph_.capture(stream_, [&] { enqueue(operations); });
        stream_.synchronize();
        armed_.assign(operations.begin(), operations.end());
        note(watch, operations);
    }

    engine::Timing sample(std::span<const engine::Operation> operations) override {
        if (noted_ || mode_ == Mode::graph) return run(operations);
        const nccl::ChoiceWatch watch;
        const engine::Timing timing = run(operations);
        note(watch, operations);
        return timing;
    }

    engine::Timing sample_traced(const engine::Operation& operation, engine::EventLog&) override {
        return run({&operation, 1});
    }

    [[nodiscard]] std::string chosen() const override { return chosen_; }

 private:
    void note(const nccl::ChoiceWatch& watch, std::span<const engine::Operation> operations) {
        chosen_ = watch.choice_for(operations.front().output);
        noted_ = true;
    }

    [[nodiscard]] bool is_armed(std::span<const engine::Operation> operations) const {
        return std::ranges::equal(operations, armed_);
    }

    engine::Timing run(std::span<const engine::Operation> operations) {
        const bool as_graph = mode_ == Mode::graph && is_armed(operations);
        engine::Timing timing{.enter_ns = now_ns()};
        start_.record(stream_);
        if (as_graph) {
            graph_.launch(stream_);
        } else {
            enqueue(operations);
        }
        stop_.record(stream_);
        wait(timing.enter_ns + wait_ns_ + second_ns);
        timing.exit_ns = now_ns();
        timing.device_ns = stop_.ns_since(start_);
        return timing;
    }

    void enqueue(std::span<const engine::Operation> operations) {
        for (const engine::Operation& operation : operations) {
            communicator_->all_reduce(operation.input, operation.output, count_, dtype_, op_, stream_.get());
        }
    }

    void wait(std::int64_t deadline_ns) {
        constexpr std::int64_t polls_per_look = 256;
        for (std::int64_t polls = 1; !stop_.done(); ++polls) {
            if (polls % polls_per_look != 0) continue;
            communicator_->check();
            if (now_ns() > deadline_ns) give_up();
        }
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
    Mode mode_;
    std::int64_t wait_ns_;
    bool noted_ = false;
    std::string chosen_;
    cuda::Stream stream_;
    cuda::Event start_, stop_;
    cuda::Graph graph_;
    std::vector<engine::Operation> armed_;
};

}  // namespace

/// A communicator and its window for each set of options, made when first asked for.
class NcclBaseline::Communicators {
 public:
    Communicators(bootstrap::Bootstrap& bootstrap, std::int64_t wait_ns)
        : bootstrap_{bootstrap}, wait_ns_{wait_ns} {}

    [[nodiscard]] bootstrap::Bootstrap& ranks() const { return bootstrap_; }

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
        found.communicator = std::make_shared<nccl::Communicator>(bootstrap_, options, wait_ns_);
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
    std::map<nccl::Options, Entry> entries_;
};

std::string Nccl::version() {
    std::string reason;
    return nccl::available(reason) ? nccl::library_version() : "";
}

std::string Nccl::unsupported(
    const AlgorithmChoice& choice, DataType, ReduceOp, std::int64_t, std::int64_t local_ranks
) {
    const std::string reason = refused_parameter(choice);
    return reason.empty() ? too_few_gpus(local_ranks) : reason;
}

NcclBaseline::NcclBaseline(bootstrap::Bootstrap& bootstrap, std::int64_t wait_ns)
    : communicators_{std::make_unique<Communicators>(bootstrap, wait_ns)}, wait_ns_{wait_ns} {
    bootstrap::agree(bootstrap, [] {
        std::string reason;
        if (!nccl::available(reason)) throw Error{ExitCode::unusable_engine, reason};
    });
}

NcclBaseline::~NcclBaseline() = default;

std::unique_ptr<NcclCollective> NcclBaseline::prepare(
    const AlgorithmChoice& choice, DataType dtype, ReduceOp op, std::int64_t count, Mode mode
) {
    auto communicator = communicators_->get(options_of(choice));
    std::unique_ptr<Prepared> prepared;
    bootstrap::agree(communicators_->ranks(), [&] {
        prepared = std::make_unique<Prepared>(std::move(communicator), dtype, op, count, mode, wait_ns_);
        if (mode == Mode::graph) prepared->connect();
    });
    return prepared;
}

std::byte* NcclBaseline::symmetric_memory(const AlgorithmChoice& choice, std::int64_t bytes) {
    return communicators_->memory(options_of(choice), bytes);
}

}  // namespace ringscope::baseline
