// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace ringscope {

/// An algorithm as an experiment names it, with the parameters it is run with.
struct AlgorithmChoice {
    std::string id;
    std::map<std::string, std::int64_t>
        params{};  ///< "channels", "slots", "slot_bytes", "threads", "copy_engine"; absent means default
    std::map<std::string, std::string> words{};  ///< parameters that are words: "algo", "proto", "window"

    [[nodiscard]] std::int64_t param(const std::string& name, std::int64_t fallback) const {
        const auto found = params.find(name);
        return found == params.end() ? fallback : found->second;
    }
    [[nodiscard]] std::string word(const std::string& name) const {
        const auto found = words.find(name);
        return found == words.end() ? "" : found->second;
    }
    friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

enum class StartMode { automatic, window, barrier };
enum class VerifyMode { exact, mantissa, real, rank };

struct Measure {
    std::int64_t warmup = 5;
    std::int64_t iterations = 20;
    std::vector<Mode> modes{Mode::isolated};
    StartMode start = StartMode::automatic;
    bool cold_start = true;
    std::int64_t devices_per_rank = 1;  ///< more: one process drives so many GPUs, each of them a rank
};

struct TraceSettings {
    bool enabled = true;
    std::int64_t iterations = 2;
    std::int64_t max_events_per_rank = 1'000'000;
    std::int64_t max_events_in_memory = 1'000'000;  ///< of a rank; older ones wait in a file
};

struct Timeouts {
    std::int64_t wait_ns = 10'000'000'000;
    std::int64_t case_ns = 60'000'000'000;
};

/// Environment variables or MCA parameters; the name is empty where none was given.
struct Variables {
    std::string name{};
    std::map<std::string, std::string> values{};

    friend bool operator==(const Variables&, const Variables&) = default;
};

/// How the ranks are started: one mpirun for each combination of these lists, `launches` times. The program
/// itself acts on nothing of it; it checks it and tells it to launch/batch.
struct Launch {
    std::vector<std::int64_t> np;       ///< 0: left to whoever starts the run
    std::vector<std::string> hostfile;  ///< empty: this host
    std::vector<std::string> map_by;    ///< empty: mpirun's own choice, as for bind_to
    std::vector<std::string> bind_to;
    std::vector<Variables> env;
    std::vector<Variables> mca;
    std::int64_t timeout_ns = 600'000'000'000;
    std::int64_t launches = 1;
};

/// A validated experiment as a plain value.
struct Experiment {
    std::string name = "run";
    Launch launch;
    std::vector<AlgorithmChoice> algorithms;
    std::vector<std::string> engines{"auto"};
    std::vector<std::int64_t> sizes;  ///< bytes, as asked for; a case rounds down to whole elements
    std::vector<DataType> dtypes{DataType::float32};
    std::vector<ReduceOp> ops{ReduceOp::sum};
    std::vector<bool> in_place{false};
    std::vector<std::int64_t> offsets{0};  ///< elements by which user buffers are shifted off their alignment
    Measure measure;
    TraceSettings trace;
    bool machine = true;  ///< whether the links are measured first, and results held against them
    VerifyMode verify = VerifyMode::exact;
    Timeouts timeout;
    std::string output;  ///< path, `{name}` already replaced; empty means no file

    std::string original_text;  ///< the file as read, or empty
    std::string resolved_text;  ///< every value written out, as YAML
    std::string sha256;         ///< of resolved_text, 64 hex digits
};

/// One point of the sweep.
struct Case {
    std::int32_t index = 0;
    AlgorithmChoice algorithm{};
    std::string engine{};  ///< as asked for: "auto", "host-shm", ...
    Mode mode = Mode::isolated;
    DataType dtype = DataType::float32;
    ReduceOp op = ReduceOp::sum;
    std::int64_t bytes = 0;  ///< count * size_of(dtype)
    std::int64_t count = 0;
    std::int64_t offset = 0;  ///< elements
    bool in_place = false;
};

/// The cases in the order of the sweep: algorithm, engine, mode, dtype, op, offset, size, and in_place
/// innermost, so that both halves of a table line follow each other.
[[nodiscard]] std::vector<Case> expand(const Experiment& experiment);

}  // namespace ringscope
