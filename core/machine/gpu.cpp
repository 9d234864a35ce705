// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cuda/cuda.hpp"
#include "engine/cuda/kernel/kernels.hpp"
#include "engine/cuda/kernel/move.hpp"
#include "machine/kernels.hpp"

namespace ringscope::machine {
namespace {

namespace wall = ringscope::cuda;
using engine::cuda::CudaEngine;
using engine::cuda::GpuEngine;

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::int64_t batch_ns = 200'000;

/// Of a rank's memory that others reach: its flag, and behind it what is copied.
constexpr std::int64_t data_at = 4096;

/// Times work that a stream is asked for, by events around it.
class Stopwatch {
 public:
    [[nodiscard]] const wall::Stream& stream() const { return stream_; }

    template <class Work>
    std::int64_t time(Work work) {
        start_.record(stream_);
        work();
        stop_.record(stream_);
        stream_.synchronize();
        return stop_.ns_since(start_);
    }

 private:
    wall::Stream stream_;
    wall::Event start_, stop_;
};

class GpuSurvey {
 public:
    GpuSurvey(int rank, GpuEngine engine, engine::cuda::Place place, const Effort& effort, bool latencies)
        : rank_{rank}, engine_{engine}, place_{std::move(place)}, effort_{effort}, latencies_{latencies} {
        wall::zero(place_.user, 2 * effort.sizes.back(), watch_.stream());
        watch_.stream().synchronize();
    }

    /// Rates, of a pair or of a rank's own reduction: the sender stores, or where the host drives, the
    /// receiver loads.
    void work(int src, int dst) {
        const int worker = engine_ == GpuEngine::host_driven ? dst : src;
        if (rank_ != worker) return;
        if (src == dst) return reduce();
        move(src, dst);
    }

    /// By kernels of both ranks at the same time, each of which gives up by itself.
    void bounce(int src, int dst, std::uint64_t turn) {
        if (!latencies_ || src == dst || (rank_ != src && rank_ != dst)) return;
        auto& shortest = *reinterpret_cast<std::int64_t*>(answer_.data());
        shortest = trace::not_available;
        launch_bounce(
            {.there = flag(rank_ == src ? dst : src),
             .here = flag(rank_),
             .leads = rank_ == src,
             .first_number = turn * bounce_numbers,
             .shortest_ns = &shortest},
            watch_.stream()
        );
        watch_.stream().synchronize();
        if (rank_ != src || shortest == trace::not_available) return;
        figures_.links.push_back(
            {.src = src,
             .dst = dst,
             .bytes = flag_bytes,
             .latency_ns = shortest / static_cast<std::int64_t>(2 * bounce_trips)}
        );
    }

    [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
    void reduce() {
        const void* const kernel = engine::cuda::kernels_of(DataType::float32).move;
        std::byte *const first = place_.user, *const second = first + effort_.sizes.back();
        for (const std::int64_t bytes : effort_.sizes) {
            engine::cuda::Move move{.bytes = bytes, .reduction = static_cast<std::int32_t>(ReduceOp::sum)};
            move.add_source(first);
            move.add_source(second);
            move.add_destination(first);
            const double rate = best_rate(bytes, [&](std::int64_t passes) {
                for (std::int64_t pass = 0; pass < passes; ++pass)
                    engine::cuda::launch_move(kernel, move, watch_.stream());
            });
            figures_.reductions.push_back({bytes, rate});
        }
    }

    void move(int src, int dst) {
        const bool loads = engine_ == GpuEngine::host_driven;
        std::byte* const to = loads ? place_.user : shared(dst) + data_at;
        const std::byte* const from = loads ? shared(src) + data_at : place_.user;
        for (const std::int64_t bytes : effort_.sizes) {
            LinkFigure figure{.src = src, .dst = dst, .bytes = bytes};
            figure.bandwidth = best_rate(bytes, [&](std::int64_t passes) {
                launch_copy(to, from, bytes, passes, watch_.stream());
            });
            if (!loads) figure.copy_engine_bandwidth = copy_engine_rate(to, from, bytes);
            figures_.links.push_back(figure);
        }
    }

    double copy_engine_rate(std::byte* to, const std::byte* from, std::int64_t bytes) {
        return best_rate(bytes, [&](std::int64_t passes) {
            for (std::int64_t pass = 0; pass < passes; ++pass)
                wall::copy_anywhere(to, from, bytes, watch_.stream());
        });
    }

    /// byte/s of `work(passes)`
    template <class Work>
    double best_rate(std::int64_t bytes, Work work) {
        const auto timed = [&](std::int64_t passes) { return watch_.time([&] { work(passes); }); };
        return rate_of(bytes, shortest_ns(timed, batch_ns, effort_.size_ns));
    }

    [[nodiscard]] std::byte* shared(int rank) const {
        return place_.connections[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::uint64_t* flag(int rank) const {
        return reinterpret_cast<std::uint64_t*>(shared(rank));
    }

    int rank_;
    GpuEngine engine_;
    engine::cuda::Place place_;
    const Effort& effort_;
    bool latencies_;
    Stopwatch watch_;
    wall::PinnedMemory answer_{sizeof(std::int64_t)};
    Figures figures_;
};

/// Peers' memory has room for what saturates NVLink; memory of the host is scarce in containers, and a copy
/// engine saturates PCIe with less.
std::vector<std::int64_t> wish(GpuEngine engine) {
    if (engine == GpuEngine::p2p) return {4 * KiB, 64 * KiB, 1 * MiB, 16 * MiB, 256 * MiB};
    return {4 * KiB, 64 * KiB, 1 * MiB};
}

}  // namespace

/// A rank takes three buffers of the largest size, and all ranks of a GPU together a quarter of what is free.
std::vector<std::int64_t> sizes_on(bootstrap::Bootstrap& bootstrap, GpuEngine engine) {
    std::string room;
    bootstrap::agree(bootstrap, [&] { room = std::to_string(wall::free_memory()); });
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const std::string& one : bootstrap.all_gather(room))
        least = std::min<std::int64_t>(least, std::stoll(one));
    std::vector<std::int64_t> sizes = wish(engine);
    while (sizes.size() > 1 && 3 * 4 * sizes.back() * bootstrap.size() > least) sizes.pop_back();
    return sizes;
}

Figures measure_gpu(
    bootstrap::Bootstrap& bootstrap, CudaEngine& cuda, GpuEngine engine, const Effort& effort, bool latencies
) {
    const std::int64_t largest = effort.sizes.back();
    engine::cuda::Place place = cuda.reserve(engine, data_at + largest, 2 * largest);
    std::optional<GpuSurvey> survey;
    bootstrap::agree(bootstrap, [&] {
        survey.emplace(bootstrap.rank(), engine, std::move(place), effort, latencies);
    });
    std::uint64_t turn = 0;
    for (int dst = 0; dst < bootstrap.size(); ++dst) {
        for (int src = 0; src < bootstrap.size(); ++src, ++turn) {
            bootstrap::agree(bootstrap, [&] { survey->work(src, dst); });
            bootstrap::agree(bootstrap, [&] { survey->bounce(src, dst, turn); });
        }
    }
    return survey->figures();
}

}  // namespace ringscope::machine
