// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "tests/config/support.hpp"

namespace ringscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Parse, the_example_of_the_documentation) {
    const Experiment e = parse(R"(# yaml-language-server: $schema=schema/experiment.schema.json
version: 1
name: quickstart
launch:   {np: [4], hostfile: null, map_by: null, bind_to: none, env: {}, mca: {}, timeout: 10m, launches: 1}
sweep:
  algorithms: [ring-ll, ring-simple, {id: ring-simple, params: {channels: 2}}, mpi]
  engines: [auto]
  sizes: {from: 1KiB, to: 4MiB, factor: 4}
  dtypes: [float32]
  ops: [sum]
  in_place: [false]
measure: {warmup: 5, iterations: 20, mode: [isolated], start: auto, cold_start: true}
trace:   {enabled: true, iterations: 2, max_events_per_rank: 1000000, max_events_in_memory: 1000000}
machine: {enabled: true}
verify:  {mode: exact}
timeout: {wait: 10s, case: 60s}
output: data/{name}.h5
)");
    EXPECT_EQ(e.name, "quickstart");
    ASSERT_EQ(e.algorithms.size(), 4U);
    EXPECT_EQ(e.algorithms[2], (AlgorithmChoice{"ring-simple", {{"channels", 2}}}));
    EXPECT_THAT(e.sizes, ElementsAre(1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22));
    EXPECT_EQ(e.timeout.wait_ns, 10'000'000'000);
    EXPECT_EQ(e.timeout.case_ns, 60'000'000'000);
    EXPECT_EQ(e.output, "data/quickstart.h5");
}

TEST(Parse, defaults_are_those_of_the_types) {
    const Experiment e = parse("version: 1\n");
    const Experiment expected;
    EXPECT_EQ(e.name, expected.name);
    EXPECT_THAT(
        e.algorithms, ElementsAre(AlgorithmChoice{"ring-ll", {}}, AlgorithmChoice{"ring-simple", {}})
    );
    EXPECT_EQ(e.engines, expected.engines);
    EXPECT_EQ(e.dtypes, expected.dtypes);
    EXPECT_EQ(e.ops, expected.ops);
    EXPECT_EQ(e.in_place, expected.in_place);
    EXPECT_EQ(e.offsets, expected.offsets);
    EXPECT_EQ(e.measure.warmup, expected.measure.warmup);
    EXPECT_EQ(e.measure.iterations, expected.measure.iterations);
    EXPECT_EQ(e.measure.modes, expected.measure.modes);
    EXPECT_EQ(e.measure.start, expected.measure.start);
    EXPECT_EQ(e.measure.cold_start, expected.measure.cold_start);
    EXPECT_EQ(e.measure.devices_per_rank, expected.measure.devices_per_rank);
    EXPECT_EQ(e.trace.enabled, expected.trace.enabled);
    EXPECT_EQ(e.trace.iterations, expected.trace.iterations);
    EXPECT_EQ(e.trace.max_events_per_rank, expected.trace.max_events_per_rank);
    EXPECT_EQ(e.trace.max_events_in_memory, expected.trace.max_events_in_memory);
    EXPECT_EQ(e.machine, expected.machine);
    EXPECT_EQ(e.verify, expected.verify);
    EXPECT_EQ(e.timeout.wait_ns, expected.timeout.wait_ns);
    EXPECT_EQ(e.timeout.case_ns, expected.timeout.case_ns);
    EXPECT_EQ(e.output, "data/run.h5");
}

TEST(Parse, reads_every_value) {
    const Experiment e = parse(R"(version: 1
sweep:
  algorithms: [{id: ring-ll, params: {channels: 3, slots: 4, slot_bytes: 4KiB}}]
  engines: [host-shm]
  sizes: [0, 4KB, 1.5K, "8"]
  dtypes: [bfloat16, uint8, float8_e5m2]
  ops: [avg, min]
  in_place: [true, false]
  offsets: [1, 64]
measure: {warmup: 0, iterations: 1e3, mode: back-to-back, start: barrier, cold_start: false}
trace: {enabled: false, iterations: 0, max_events_per_rank: 7, max_events_in_memory: 6}
machine: {enabled: false}
verify: {mode: real}
timeout: {wait: 250us, case: 1.5s}
output: null
)");
    EXPECT_EQ(
        e.algorithms[0].params,
        (std::map<std::string, std::int64_t>{{"channels", 3}, {"slots", 4}, {"slot_bytes", 4096}})
    );
    EXPECT_THAT(e.engines, ElementsAre("host-shm"));
    EXPECT_THAT(e.sizes, ElementsAre(0, 4000, 1536, 8));
    EXPECT_THAT(e.dtypes, ElementsAre(DataType::bfloat16, DataType::uint8, DataType::float8_e5m2));
    EXPECT_THAT(e.ops, ElementsAre(ReduceOp::avg, ReduceOp::min));
    EXPECT_THAT(e.in_place, ElementsAre(true, false));
    EXPECT_THAT(e.offsets, ElementsAre(1, 64));
    EXPECT_EQ(e.measure.iterations, 1000);
    EXPECT_THAT(e.measure.modes, ElementsAre(Mode::back_to_back));
    EXPECT_EQ(e.measure.start, StartMode::barrier);
    EXPECT_FALSE(e.measure.cold_start);
    EXPECT_FALSE(e.trace.enabled);
    EXPECT_EQ(e.trace.max_events_per_rank, 7);
    EXPECT_EQ(e.trace.max_events_in_memory, 6);
    EXPECT_FALSE(e.machine);
    EXPECT_EQ(e.verify, VerifyMode::real);
    EXPECT_EQ(e.timeout.wait_ns, 250'000);
    EXPECT_EQ(e.timeout.case_ns, 1'500'000'000);
    EXPECT_EQ(e.output, "");
}

TEST(Parse, parameters_of_nccl_are_words_and_numbers) {
    const Experiment e = parse(with_sweep(
        "algorithms: [nccl, {id: nccl, params: {proto: ll128, max_ctas: 32, algo: ring, min_ctas: 32}}, "
        "{id: nccl, params: {window: symmetric}}, {id: nccl, params: {algo: tree, proto: simple}}]"
    ));
    ASSERT_EQ(e.algorithms.size(), 4U);
    EXPECT_EQ(
        e.algorithms[1],
        (AlgorithmChoice{"nccl", {{"min_ctas", 32}, {"max_ctas", 32}}, {{"algo", "ring"}, {"proto", "ll128"}}}
        )
    );
    EXPECT_EQ(e.algorithms[1].word("algo"), "ring");
    EXPECT_EQ(e.algorithms[1].word("window"), "");
    EXPECT_EQ(e.algorithms[2].word("window"), "symmetric");
    EXPECT_TRUE(e.algorithms[3].params.empty());
}

TEST(Parse, threads_are_whole_warps) {
    for (const std::int64_t threads : {32, 512, 1024}) {
        const Experiment e = parse(
            with_sweep("algorithms: [{id: ring-ll, params: {threads: " + std::to_string(threads) + "}}]")
        );
        EXPECT_EQ(e.algorithms[0].param("threads", 0), threads);
    }
}

TEST(Parse, modes_may_be_all_three) {
    EXPECT_THAT(
        parse("version: 1\nmeasure: {mode: [graph, isolated, back-to-back]}\n").measure.modes,
        ElementsAre(Mode::graph, Mode::isolated, Mode::back_to_back)
    );
}

TEST(Parse, launch_takes_scalars_and_lists) {
    for (const char* launch :
         {"np: 4", "np: [2, 4]", "np: null", "hostfile: hosts", "hostfile: [a, b]", "map_by: [core, socket]",
          "bind_to: core", "env: {OMP_NUM_THREADS: 1, X: a, Y: true, Z: 0.5}", "env: [{A: 1}, {A: 2}]",
          "env: [a: {}, b: {A: 1}]", "env: [{}, b: {A: 1}]", "mca: {btl: self}", "mca: [x: {btl: self}, {}]",
          "timeout: 5m", "launches: 3"}) {
        EXPECT_EQ(error_of("version: 1\nlaunch: {" + std::string{launch} + "}\n"), "no error") << launch;
    }
}

TEST(Parse, launch_is_given_as_lists) {
    const Launch launch =
        parse(
            "version: 1\nlaunch: {np: [2, 4], map_by: ppr:1:node, bind_to: null, timeout: 90s, launches: 6,\n"
            "  env: [plain: {}, no-p2p: {NCCL_P2P_DISABLE: 1, B: true}, {C: 0.50}]}\n"
        )
            .launch;
    EXPECT_THAT(launch.np, ElementsAre(2, 4));
    EXPECT_THAT(launch.map_by, ElementsAre("ppr:1:node"));
    EXPECT_THAT(launch.bind_to, ElementsAre(""));
    EXPECT_THAT(launch.hostfile, ElementsAre(""));
    EXPECT_EQ(launch.timeout_ns, 90'000'000'000);
    EXPECT_EQ(launch.launches, 6);
    EXPECT_THAT(launch.mca, ElementsAre(Variables{}));
    EXPECT_THAT(
        launch.env,
        ElementsAre(
            Variables{"plain", {}}, Variables{"no-p2p", {{"B", "true"}, {"NCCL_P2P_DISABLE", "1"}}},
            Variables{"", {{"C", "0.50"}}}
        )
    );
}

struct Bad {
    std::string text, message;
};

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, is_refused_with_its_place) {
    EXPECT_THAT(error_of(GetParam().text), StartsWith(GetParam().message));
}

const std::vector<Bad> wrong_keys{
    {"version: 1\nswep: {}\n", "x.yaml:2:1: unknown key `swep`, did you mean `sweep`?"},
    {with_sweep("algoritms: [mpi]"), "x.yaml:3:3: unknown key `algoritms`, did you mean `algorithms`?"},
    {"version: 1\nmeasure: {warmup: 1, itertions: 3}\n",
     "x.yaml:2:22: unknown key `itertions`, did you mean `iterations`?"},
    {"version: 1\nzzzzzzzz: 1\n", "x.yaml:2:1: unknown key `zzzzzzzz`; known here: `launch`, `machine`"},
    {"version: 1\ntrue: 1\n", "x.yaml:2:1: unknown key `true`"},
    {"name: a\n", "x.yaml:1:1: missing key `version`"},
    {"version: 2\n", "x.yaml:1:10: `version` must be 1, the version of this format, found `2`"},
    {"version: \"1\"\n", "x.yaml:1:10: `version` must be 1"},
    {"version: 1\nversion2: 1\nname: [a]\n", "x.yaml:2:1: unknown key `version2`, did you mean `version`?"},
    {"[1, 2]\n", "x.yaml:1:1: the document must be a ringscope experiment, found a list"},
    {"hello\n", "x.yaml:1:1: the document must be a ringscope experiment, found `hello`"},
    {"version: 1\nsweep:\nname: a\n", "x.yaml:2:1: `sweep` must be a map of what is swept, found nothing"},
    {"version: 1\nname: ../../etc\n", "x.yaml:2:7: `name` must be a name of up to 64 letters"},
    {"version: 1\noutput: \"\"\n", "x.yaml:2:9: `output` must be a path, or null for no file"},
    {"version: 1\noutput: data/{nmae}.h5\n",
     "x.yaml:2:9: the only thing in braces that `output` knows is `{name}`"},
};

const std::vector<Bad> wrong_sweeps{
    {with_sweep("algorithms: [ring-lll]"),
     "x.yaml:3:16: unknown algorithm `ring-lll`, did you mean `ring-ll`?"},
    {with_sweep("algorithms: [mpi, {id: rign-ll}]"),
     "x.yaml:3:26: unknown algorithm `rign-ll`, did you mean `ring-ll`?"},
    {with_sweep("algorithms: [hierarchical]"),
     "x.yaml:3:16: algorithm `hierarchical` is not in this version"},
    {with_sweep("algorithms: [qqqqqqq]"), "x.yaml:3:16: unknown algorithm `qqqqqqq`; known here: `ring-ll`"},
    {with_sweep("algorithms: [mpi, mpi]"),
     "x.yaml:3:21: algorithm `mpi` with the same parameters is listed twice"},
    {with_sweep("algorithms: [mpi, {id: mpi, params: {}}]"), "x.yaml:3:26: algorithm `mpi` with the same"},
    {with_sweep("algorithms: []"), "x.yaml:3:15: `sweep.algorithms` must be a list of algorithm ids"},
    {with_sweep("algorithms: mpi"), "x.yaml:3:15: `sweep.algorithms` must be a list of algorithm ids"},
    {with_sweep("algorithms: [8]"),
     "x.yaml:3:16: `sweep.algorithms.0` must be an algorithm's id, or {id, params}"},
    {with_sweep("algorithms: [{params: {}}]"), "x.yaml:3:16: missing key `id`"},
    {with_sweep("algorithms: [{id: mpi, params: {chanels: 1}}]"),
     "x.yaml:3:35: unknown key `chanels`, did you mean `channels`?"},
    {with_sweep("algorithms: [{id: mpi, params: {channels: 129}}]"),
     "x.yaml:3:45: `sweep.algorithms.0.params.channels` must be a whole number from 1 to 128, found `129`"},
    {with_sweep("algorithms: [{id: mpi, params: {slots: 0}}]"),
     "x.yaml:3:42: `sweep.algorithms.0.params.slots` must be a whole number from 1 to 64"},
    {with_sweep("algorithms: [{id: mpi, params: {slot_bytes: 72}}]"),
     "x.yaml:3:47: `slot_bytes` must be from 64"},
    {with_sweep("algorithms: [{id: mpi, params: {slot_bytes: 65MiB}}]"),
     "x.yaml:3:47: `slot_bytes` must be from"},
    {with_sweep("engines: [host_shm]"), "x.yaml:3:13: unknown engine `host_shm`, did you mean `host-shm`?"},
    {with_sweep("engines: [simgrid]"), "x.yaml:3:13: engine `simgrid` is not in this version"},
    {with_sweep("engines: [cuda-stage]"),
     "x.yaml:3:13: unknown engine `cuda-stage`, did you mean `cuda-staged`?"},
    {with_sweep("engines: [cuda_p2p]"), "x.yaml:3:13: unknown engine `cuda_p2p`, did you mean `cuda-p2p`?"},
    {with_sweep("engines: [nccl]"), "x.yaml:3:13: engine `nccl` is not in this version"},
    {with_sweep("engines: [auto, auto]"), "x.yaml:3:19: `auto` is listed twice"},
    {with_sweep("dtypes: [flot32]"), "x.yaml:3:12: unknown value `flot32`, did you mean `float32`?"},
    {with_sweep("dtypes: [complex]"),
     "x.yaml:3:12: unknown value `complex`; known here: `float32`, `float64`"},
    {with_sweep("ops: [summ]"), "x.yaml:3:9: unknown value `summ`, did you mean `sum`?"},
    {with_sweep("in_place: [yes]"), "x.yaml:3:14: `sweep.in_place.0` must be true or false, found `yes`"},
    {with_sweep("offsets: [65]"),
     "x.yaml:3:13: `sweep.offsets.0` must be a whole number from 0 to 64, found `65`"},
};

/// One algorithm with parameters in braces; their first key stands in column 36.
std::string with_params(const std::string& id, const std::string& params) {
    return with_sweep("algorithms: [{id: " + id + ", params: {" + params + "}}]");
}

const std::vector<Bad> wrong_params{
    {with_params("servers", "cuont: 2"), "x.yaml:3:39: unknown key `cuont`, did you mean `count`?"},
    {with_params("servers", "count: 65"),
     "x.yaml:3:46: `count` of `servers` must be from 1 to 64, found `65`"},
    {with_params("servers", "count: two"), "x.yaml:3:46: `count` of `servers` must be from 1 to 64"},
    {with_params("servers", "protocol: ll128"),
     "x.yaml:3:49: `servers` cannot be played with protocol `ll128`, it can with `ll`, `simple`"},
    {with_params("mpi", "count: 2"), "x.yaml:3:35: unknown key `count`"},
    {with_params("nccl", "algo: rng"), "x.yaml:3:42: unknown value `rng`, did you mean `ring`?"},
    {with_params("nccl", "algo: collnet"),
     "x.yaml:3:42: unknown value `collnet`; known here: `ring`, `tree`"},
    {with_params("nccl", "proto: simpel"), "x.yaml:3:43: unknown value `simpel`, did you mean `simple`?"},
    {with_params("nccl", "proto: LL"), "x.yaml:3:43: unknown value `LL`"},
    {with_params("nccl", "window: symetric"),
     "x.yaml:3:44: unknown value `symetric`, did you mean `symmetric`?"},
    {with_params("nccl", "window: true"),
     "x.yaml:3:44: `sweep.algorithms.0.params.window` must be symmetric, found `true`"},
    {with_params("nccl", "max_ctas: 65"),
     "x.yaml:3:46: `sweep.algorithms.0.params.max_ctas` must be a whole number from 1 to 64, found `65`"},
    {with_params("nccl", "min_ctas: 0"), "x.yaml:3:46: `sweep.algorithms.0.params.min_ctas` must be a whole"},
    {with_params("nccl", "min_ctas: 8, max_ctas: 4"),
     "x.yaml:3:46: `min_ctas` (8) is larger than `max_ctas` (4)"},
    {with_params("nccl", "max_cta: 4"), "x.yaml:3:36: unknown key `max_cta`, did you mean `max_ctas`?"},
    {with_params("nccl", "algorithm: ring"), "x.yaml:3:36: unknown key `algorithm`"},
    {with_params("mpi", "threads: 48"),
     "x.yaml:3:44: `sweep.algorithms.0.params.threads` must be a multiple of 32 from 32 to 1024, found `48`"},
    {with_params("mpi", "threads: 1056"), "x.yaml:3:44: `sweep.algorithms.0.params.threads` must be a"},
    {with_params("mpi", "threads: 0"), "x.yaml:3:44: `sweep.algorithms.0.params.threads` must be a"},
    {with_params("mpi", "copy_engine: 2"),
     "x.yaml:3:48: `sweep.algorithms.0.params.copy_engine` must be 0 or 1, found `2`"},
    {with_params("ring-simple", "direct: 2"),
     "x.yaml:3:51: `sweep.algorithms.0.params.direct` must be none, results or all, found `2`"},
    {with_params("mpi", "thread: 32"), "x.yaml:3:35: unknown key `thread`, did you mean `threads`?"},
    {with_params("ring-ll", "proto: ll"),
     "x.yaml:3:39: `proto` is a parameter of `nccl` alone; `ring-ll` takes `channels`, `slots`, "
     "`slot_bytes`, `direct`, `threads`, `copy_engine`"},
    {with_params("mpi", "slots: 2, max_ctas: 4"), "x.yaml:3:45: `max_ctas` is a parameter of `nccl` alone"},
};

const std::vector<Bad> wrong_sizes{
    {with_sweep("sizes: [4Kib]"), "x.yaml:3:11: `sweep.sizes.0` must be a size, such as"},
    {with_sweep("sizes: [-1]"), "x.yaml:3:11: `sweep.sizes.0` must be a size"},
    {with_sweep("sizes: [010]"), "x.yaml:3:11: `sweep.sizes.0` must be a size"},
    {with_sweep("sizes: [1.5]"), "x.yaml:3:11: `sweep.sizes.0` must be a size"},
    {with_sweep("sizes: [1e99]"), "x.yaml:3:11: `sweep.sizes.0` must be a size"},
    {with_sweep("sizes: [4611686018427387905]"), "x.yaml:3:11: "},
    {with_sweep("sizes: [99999999999G]"),
     "x.yaml:3:11: the size `99999999999G` is no whole number of bytes up to"},
    {with_sweep("sizes: [0.3B]"), "x.yaml:3:11: the size `0.3B` is no whole number"},
    {with_sweep("sizes: 4KiB"), "x.yaml:3:10: `sweep.sizes` must be a list of sizes, or {from, to, factor}"},
    {with_sweep("sizes: {from: 1, to: 8}"),
     "x.yaml:3:10: `sweep.sizes` must be {from, to, factor} or {from, to, step}"},
    {with_sweep("sizes: {from: 1, to: 8, factor: 2, step: 1}"),
     "x.yaml:3:10: `sweep.sizes` must be {from, to,"},
    {with_sweep("sizes: {from: 1, factor: 2}"), "x.yaml:3:10: missing key `to`"},
    {with_sweep("sizes: {frm: 1, to: 8, factor: 2}"), "x.yaml:3:11: unknown key `frm`, did you mean `from`?"},
    {with_sweep("sizes: {from: 8, to: 4, factor: 2}"),
     "x.yaml:3:17: `from` (8 bytes) is larger than `to` (4 bytes)"},
    {with_sweep("sizes: {from: 1, to: 4, factor: 1}"),
     "x.yaml:3:35: `sweep.sizes.factor` must be a whole number from"},
    {with_sweep("sizes: {from: 0, to: 4, factor: 2}"), "x.yaml:3:17: `from: 0` does not grow by a factor"},
    {with_sweep("sizes: {from: 0, to: 4, step: 0}"), "x.yaml:3:33: `step` must not be 0"},
    {with_sweep("sizes: {from: 0, to: 1G, step: 1}"), "x.yaml:3:10: makes more than 100000 cases"},
};

const std::vector<Bad> wrong_others{
    {"version: 1\nmeasure: {iterations: 0}\n",
     "x.yaml:2:23: `measure.iterations` must be a whole number from 1 to 1000000, found `0`"},
    {"version: 1\nmeasure: {iterations: \"8\"}\n",
     "x.yaml:2:23: `measure.iterations` must be a whole number"},
    {"version: 1\nmeasure: {iterations: 1e99}\n", "x.yaml:2:23: `measure.iterations` must be a whole number"},
    {"version: 1\nmeasure: {iterations: 2.5}\n", "x.yaml:2:23: `measure.iterations` must be a whole number"},
    {"version: 1\nmeasure: {iterations: true}\n", "x.yaml:2:23: `measure.iterations` must be a whole number"},
    {"version: 1\nmeasure: {warmup: -1}\n", "x.yaml:2:19: `measure.warmup` must be a whole number from 0"},
    {"version: 1\nmeasure: {mode: graphs}\n", "x.yaml:2:17: unknown value `graphs`, did you mean `graph`?"},
    {"version: 1\nmeasure: {mode: 3}\n",
     "x.yaml:2:17: `measure.mode` must be isolated, back-to-back or graph, or a list of them, found `3`"},
    {"version: 1\nmeasure: {mode: [isolated, back2back]}\n", "x.yaml:2:28: unknown value `back2back`"},
    {"version: 1\nmeasure: {mode: isolate}\n",
     "x.yaml:2:17: unknown value `isolate`, did you mean `isolated`?"},
    {"version: 1\nmeasure: {mode: [isolated, isolated]}\n", "x.yaml:2:28: `isolated` is listed twice"},
    {"version: 1\nmeasure: {start: windw}\n", "x.yaml:2:18: unknown value `windw`, did you mean `window`?"},
    {"version: 1\nmeasure: {cold_start: 1}\n",
     "x.yaml:2:23: `measure.cold_start` must be true or false, found `1`"},
    {"version: 1\ntrace: {max_events_per_rank: 0}\n",
     "x.yaml:2:30: `trace.max_events_per_rank` must be a whole"},
    {"version: 1\nverify: {mode: none}\n", "x.yaml:2:16: unknown value `none`"},
    {"version: 1\ntimeout: {wait: 10}\n", "x.yaml:2:17: `timeout.wait` must be a duration, such as"},
    {"version: 1\ntimeout: {wait: 10 sec}\n", "x.yaml:2:17: `timeout.wait` must be a duration"},
    {"version: 1\ntimeout: {case: 0s}\n", "x.yaml:2:17: the duration `0s` leaves no time at all"},
    {"version: 1\ntimeout: {case: 99999999999h}\n",
     "x.yaml:2:17: the duration `99999999999h` is no whole number"},
    {"version: 1\nlaunch: {np: 0}\n", "x.yaml:2:14: `launch.np` must be a number of ranks"},
    {"version: 1\nlaunch: {np: [2, two]}\n",
     "x.yaml:2:18: `launch.np.1` must be a number of ranks from 1 to 65536"},
    {"version: 1\nlaunch: {env: {A: [1]}}\n",
     "x.yaml:2:19: `launch.env.A` must be a single value, found a list"},
    {"version: 1\nlaunch: {env: {A-B: 1}}\n",
     "x.yaml:2:15: `launch.env` must be a map from names to single values, found a map"},
    {"version: 1\nlaunch: {np: [2, 2]}\n", "x.yaml:2:18: `2` is listed twice"},
    {"version: 1\nlaunch: {env: [{A: 1}, {A: 1}]}\n", "x.yaml:2:24: a map is listed twice"},
    {"version: 1\nlaunch: {env: [a: {}, a: {A: 1}]}\n", "x.yaml:2:15: the name `a` is given twice"},
    {"version: 1\nlaunch: {env: {a: {A: 1}}}\n", "x.yaml:2:19: `launch.env.a` must be a single value"},
    {"version: 1\nlaunch: {env: [{a: {}, b: {}}]}\n", "x.yaml:2:20: `launch.env.0.a` must be a single value"},
    {"version: 1\nlaunch: {timeout: [1m, 2m]}\n", "x.yaml:2:19: `launch.timeout` must be a duration"},
    {"version: 1\nlaunch: {nproc: 4}\n", "x.yaml:2:10: unknown key `nproc`"},
};

INSTANTIATE_TEST_SUITE_P(keys, BadInput, testing::ValuesIn(wrong_keys));
INSTANTIATE_TEST_SUITE_P(sweeps, BadInput, testing::ValuesIn(wrong_sweeps));
INSTANTIATE_TEST_SUITE_P(params, BadInput, testing::ValuesIn(wrong_params));
INSTANTIATE_TEST_SUITE_P(sizes, BadInput, testing::ValuesIn(wrong_sizes));
INSTANTIATE_TEST_SUITE_P(others, BadInput, testing::ValuesIn(wrong_others));

TEST(Parse, too_many_cases_by_multiplication) {
    const std::string sizes = "sizes: {from: 0, to: 50000, step: 1}\n";
    EXPECT_EQ(
        error_of(with_sweep(sizes + "  algorithms: [ring-ll, ring-simple]")),
        "x.yaml:3:3: makes more than 100000 "
        "cases: take fewer sizes, or larger steps"
    );
    EXPECT_EQ(error_of(with_sweep(sizes + "  algorithms: [ring-ll]")), "no error");
}

TEST(Parse, options_of_an_algorithm_are_numbers_or_yes_and_no) {
    const Experiment e =
        parse(with_sweep("algorithms: [{id: servers, params: {count: 2, dedicated: true, protocol: ll}}]"));
    EXPECT_EQ(e.algorithms[0].param("count", 0), 2);
    EXPECT_EQ(e.algorithms[0].param("dedicated", 0), 1);
    EXPECT_EQ(e.algorithms[0].word("protocol"), "ll");
}

TEST(Faults, parameters_of_another_algorithm_are_told_with_unknown_names) {
    const std::string text = with_sweep("algorithms: [{id: rign-ll, params: {algo: ring, proto: ll}}]");
    EXPECT_THAT(
        experiment_faults(text, "x.yaml", vocabulary()),
        ElementsAre(
            "x.yaml:3:21: unknown algorithm `rign-ll`, did you mean `ring-ll`?",
            StartsWith("x.yaml:3:39: `algo` is a parameter of `nccl` alone; `rign-ll` takes"),
            StartsWith("x.yaml:3:51: `proto` is a parameter of `nccl` alone")
        )
    );
}

TEST(Faults, are_all_told_in_the_order_of_the_file) {
    const std::string text =
        "version: 1\nnam: a\nmeasure: {warmup: -1, iterations: x}\nverify: {mode: exakt}\n";
    EXPECT_THAT(
        experiment_faults(text, "x.yaml", vocabulary()),
        ElementsAre(
            "x.yaml:2:1: unknown key `nam`, did you mean `name`?",
            StartsWith("x.yaml:3:19: `measure.warmup`"), StartsWith("x.yaml:3:35: `measure.iterations`"),
            "x.yaml:4:16: unknown value `exakt`, did you mean `exact`?"
        )
    );
    EXPECT_THAT(experiment_faults("version: 1\n", "x.yaml", vocabulary()), ElementsAre());
    EXPECT_THAT(
        experiment_faults("version: [\n", "x.yaml", vocabulary()), ElementsAre(StartsWith("x.yaml:"))
    );
}

TEST(Override, sets_values_lists_and_maps) {
    const std::string text = "version: 1\nsweep: {algorithms: [ring-ll, {id: ring-simple}], sizes: [1K]}\n";
    const Experiment e = parse(
        text, {"measure.iterations=7", "sweep.sizes=[8, 16]", "sweep.algorithms.1.params.channels=2",
               "sweep.algorithms.0={id: mpi}", "name=other", "sweep.sizes.1=2K"}
    );
    EXPECT_EQ(e.measure.iterations, 7);
    EXPECT_THAT(e.sizes, ElementsAre(8, 2048));
    EXPECT_THAT(
        e.algorithms,
        ElementsAre(AlgorithmChoice{"mpi", {}}, AlgorithmChoice{"ring-simple", {{"channels", 2}}})
    );
    EXPECT_EQ(e.output, "data/other.h5");
}

TEST(Override, errors_name_the_override) {
    const std::string text = "version: 1\nsweep: {sizes: [1]}\n";
    const auto error = [&](const std::string& word) { return error_of(text, {word}); };
    EXPECT_EQ(
        error("measure.itertions=3"),
        "--set measure.itertions=3: unknown key `itertions`, did you mean `iterations`?"
    );
    EXPECT_THAT(
        error("measure.iterations=x"), StartsWith("--set measure.iterations=x: `measure.iterations` must be")
    );
    EXPECT_THAT(
        error("sweep.sizes.1=4"), StartsWith("--set sweep.sizes.1=4: `1` is no index of a list of 1")
    );
    EXPECT_THAT(error("sweep.sizes.0.x=4"), StartsWith("--set sweep.sizes.0.x=4: nothing can be set inside"));
    EXPECT_THAT(error("nothing"), StartsWith("--set nothing: must be key.path=value"));
    EXPECT_THAT(error("=1"), StartsWith("--set =1: must be key.path=value"));
    EXPECT_THAT(error("a..b=1"), StartsWith("--set a..b=1: an element of the path is empty"));
    EXPECT_THAT(error("sweep.sizes=[1"), StartsWith("--set sweep.sizes=[1: "));
    EXPECT_THAT(error("name=*a"), StartsWith("--set name=*a: "));
    EXPECT_THAT(error("sweep="), StartsWith("--set sweep=: `sweep` must be a map"));
    EXPECT_THAT(error("verify={mode: exact, mode: real}"), HasSubstr("duplicate key `mode`"));
}

TEST(Override, output_of_any_name_is_taken_literally) {
    for (const std::string file : {"a.h5", "my results/#1: x.h5", "true", "8", "t\xc3\xbcr.h5", "a\"b\\c"}) {
        EXPECT_EQ(parse("version: 1\n", {output_override(file)}).output, file);
    }
}

void expect_same(const Experiment& a, const Experiment& b) {
    EXPECT_EQ(a.resolved_text, b.resolved_text);
    EXPECT_EQ(a.sha256, b.sha256);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.algorithms, b.algorithms);
    EXPECT_EQ(a.engines, b.engines);
    EXPECT_EQ(a.sizes, b.sizes);
    EXPECT_EQ(a.dtypes, b.dtypes);
    EXPECT_EQ(a.ops, b.ops);
    EXPECT_EQ(a.in_place, b.in_place);
    EXPECT_EQ(a.offsets, b.offsets);
    EXPECT_EQ(a.measure.modes, b.measure.modes);
    EXPECT_EQ(a.measure.iterations, b.measure.iterations);
    EXPECT_EQ(a.timeout.wait_ns, b.timeout.wait_ns);
    EXPECT_EQ(a.timeout.case_ns, b.timeout.case_ns);
    EXPECT_EQ(a.verify, b.verify);
    EXPECT_EQ(a.output, b.output);
    EXPECT_EQ(a.original_text, b.original_text);
}

TEST(Resolved, reads_back_as_the_same_experiment) {
    for (const std::string& text :
         {std::string{"version: 1\n"}, with_sweep("sizes: {from: 0, to: 1MB, step: 1.5K}"),
          std::string{
              "name: n\nversion: 1\ntimeout: {case: 90s, wait: 1500us}\noutput: \"a b/{name}: #1.h5\"\n"
              "launch: {np: [2, 4], env: [{B: \"yes\", A: \"1\", C: 2, D: 0.5}, n.1: {b: 1, a: 2}], timeout: "
              "60m}\n"
              "measure: {mode: back-to-back}\n"},
          with_sweep("algorithms: [{params: {slots: 2, channels: 3}, id: ring-ll}, {id: mpi, params: {}}]"),
          with_sweep("algorithms: [{id: nccl, params: {proto: ll, max_ctas: 4, algo: tree}}]"),
          std::string{"version: 1\nmeasure: {mode: graph}\noutput: ~\n"}}) {
        const Experiment first = parse(text);
        EXPECT_EQ(first.original_text, text);
        expect_same(first, parse_resolved(first.resolved_text, first.original_text, vocabulary()));
    }
}

TEST(Resolved, does_not_depend_on_how_the_file_is_written) {
    const Experiment a =
        parse("version: 1\nname: x\nmeasure: {warmup: 5, mode: isolated}\nsweep: {sizes: [1KiB]}\n");
    const Experiment b =
        parse("sweep:\n  sizes:\n    - 1024   # bytes\nname: \"x\"\nversion: 1\ntimeout: {case: 1m}\n");
    EXPECT_EQ(a.resolved_text, b.resolved_text);
    EXPECT_NE(a.sha256, parse("version: 1\nname: y\nsweep: {sizes: [1KiB]}\n").sha256);
}

TEST(Resolved, writes_every_value_out) {
    const Experiment e = parse("version: 1\n");
    EXPECT_EQ(e.resolved_text, R"(version: 1
name: run
launch:
  np: null
  hostfile: null
  map_by: null
  bind_to: none
  env: {}
  mca: {}
  timeout: 10m
  launches: 1
sweep:
  algorithms: [ring-ll, ring-simple]
  engines: [auto]
  sizes: {from: 1024, to: 4194304, factor: 4}
  dtypes: [float32]
  ops: [sum]
  in_place: [false]
  offsets: [0]
measure:
  warmup: 5
  iterations: 20
  mode: [isolated]
  start: auto
  cold_start: true
  devices_per_rank: 1
trace:
  enabled: true
  iterations: 2
  max_events_per_rank: 1000000
  max_events_in_memory: 1000000
machine:
  enabled: true
verify:
  mode: exact
timeout:
  wait: 10s
  case: 1m
output: data/run.h5
)");
    EXPECT_EQ(e.sha256, sha256(e.resolved_text));
}

TEST(File, that_cannot_be_read_is_refused) {
    EXPECT_THROW(static_cast<void>(read_experiment_file("/nonexistent/x.yaml")), Error);
    EXPECT_THROW(static_cast<void>(read_experiment_file("/")), Error);
    EXPECT_THROW(static_cast<void>(read_experiment_file("/dev/zero")), Error);
}

}  // namespace
}  // namespace ringscope
