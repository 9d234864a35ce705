// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "options/options.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace ringscope::options {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string>;

Options parse(const Words& words) {
    return parse_options(words);
}

/// The message of the usage error that the words must end in.
std::string refusal(const Words& words) {
    try {
        static_cast<void>(parse_options(words));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << "more than one line";
        return error.what();
    }
    return "(accepted)";
}

TEST(Run, FileAndOptions) {
    const Options options = parse(
        {"run",
         "a b.yaml",
         "--set",
         "measure.iterations=3",
         "--set=sweep.sizes=[1KiB, 2KiB]",
         "--output",
         "x y.h5",
         "--force",
         "--json",
         "--dry-run",
         "--expect-ranks",
         "4",
         "--plugin-path",
         "p",
         "--plugin-path",
         "q",
         "--expect-binding",
         "core",
         "--batch-uuid",
         "u",
         "--launch-index",
         "7",
         "--seed",
         "9007199254740991"}
    );
    EXPECT_EQ(options.expect_binding, "core");
    EXPECT_EQ(options.batch_uuid, "u");
    EXPECT_EQ(options.launch_index, 7);
    EXPECT_EQ(options.seed, 9007199254740991);
    EXPECT_EQ(options.command, Command::run);
    EXPECT_EQ(options.config, "a b.yaml");
    EXPECT_THAT(options.set, ElementsAre("measure.iterations=3", "sweep.sizes=[1KiB, 2KiB]"));
    EXPECT_EQ(options.output, "x y.h5");
    EXPECT_TRUE(options.force && options.json && options.dry_run && !options.csv);
    EXPECT_EQ(options.expect_ranks, 4);
    EXPECT_THAT(options.plugin_path, ElementsAre("p", "q"));
    EXPECT_FALSE(options.letters.min_bytes || options.letters.algorithms);
}

TEST(Run, AloneTakesEveryDefault) {
    const Options options = parse({"run"});
    EXPECT_FALSE(options.config || options.output || options.expect_ranks);
    EXPECT_FALSE(options.force || options.json || options.csv || options.dry_run);
    EXPECT_EQ(options.verbosity, 0);
}

TEST(Run, GpusMayBeSharedOnlyWhenAskedFor) {
    EXPECT_FALSE(parse({"run"}).allow_shared_gpu);
    EXPECT_TRUE(parse({"run", "--allow-shared-gpu"}).allow_shared_gpu);
}

TEST(Run, VirtualRanksAreOneTo64) {
    EXPECT_FALSE(parse({"run"}).virtual_ranks);
    EXPECT_EQ(parse({"run", "--virtual-ranks", "1"}).virtual_ranks, 1);
    EXPECT_EQ(parse({"run", "--virtual-ranks=64"}).virtual_ranks, 64);
    for (const std::string text : {"0", "65", "-1", "two"}) {
        EXPECT_THAT(
            refusal({"run", "--virtual-ranks=" + text}),
            AllOf(HasSubstr("--virtual-ranks takes a whole number from 1 to 64"), HasSubstr("`" + text + "`"))
        );
    }
}

TEST(Run, VirtualRanksExcludeAnotherNumberOfExpectedRanks) {
    EXPECT_THAT(
        refusal({"run", "--virtual-ranks", "8", "--expect-ranks", "4"}), HasSubstr("leave --expect-ranks out")
    );
    EXPECT_EQ(parse({"run", "--virtual-ranks", "8", "--expect-ranks", "8"}).expect_ranks, 8);
}

TEST(Run, OptionsBeforeTheFile) {
    EXPECT_EQ(parse({"run", "--json", "-v", "a.yaml"}).config, "a.yaml");
}

/// All eleven values in the order of the struct; "-" where none is given.
Words values_of(const Letters& letters) {
    Words values;
    for (const auto& value :
         {letters.min_bytes, letters.max_bytes, letters.factor, letters.increment, letters.iterations,
          letters.warmup, letters.dtype, letters.op, letters.check, letters.graph, letters.algorithms}) {
        values.push_back(value.value_or("-"));
    }
    return values;
}

const Words all_letters{"8", "128M", "2", "1M", "20", "5", "float", "sum", "1", "0", "ring-ll,mpi"};

TEST(Letters, ApartFromTheirValues) {
    const Options options =
        parse({"run", "-b", "8",     "-e", "128M", "-f", "2", "-i", "1M", "-n", "20",         "-w",
               "5",   "-d", "float", "-o", "sum",  "-c", "1", "-G", "0",  "-a", "ring-ll,mpi"});
    EXPECT_EQ(values_of(options.letters), all_letters);
}

TEST(Letters, TogetherWithTheirValues) {
    const Options options = parse(
        {"run", "-b8", "-e128M", "-f2", "-i1M", "-n20", "-w5", "-dfloat", "-osum", "-c1", "-G0",
         "-aring-ll,mpi"}
    );
    EXPECT_EQ(values_of(options.letters), all_letters);
}

TEST(Letters, LongNamesOfNcclTests) {
    const Options options = parse(
        {"run",
         "--minbytes",
         "8",
         "--maxbytes=128M",
         "--stepfactor",
         "2",
         "--stepbytes",
         "1M",
         "--iters",
         "20",
         "--warmup_iters",
         "5",
         "--datatype",
         "float",
         "--op",
         "sum",
         "--check",
         "1",
         "--cudagraph",
         "0",
         "--algorithms",
         "ring-ll,mpi"}
    );
    EXPECT_EQ(values_of(options.letters), all_letters);
    EXPECT_EQ(parse({"run", "--graph", "0"}).letters.graph, "0");
}

TEST(Letters, WithAFileAreRefused) {
    for (const char* letter : {"-b", "-e", "-f", "-i", "-n", "-w", "-d", "-o", "-c", "-G", "-a"}) {
        EXPECT_THAT(refusal({"run", "a.yaml", letter, "0"}), AllOf(HasSubstr("letters"), HasSubstr("a.yaml")))
            << letter;
    }
}

TEST(Letters, GraphIsTakenAsTyped) {
    EXPECT_EQ(parse({"run", "-G", "20"}).letters.graph, "20");
}

TEST(Letters, GpusOfOneProcessHaveALetter) {
    for (const char* word : {"-g", "--ngpus"}) {
        EXPECT_EQ(parse({"run", "-b", "8", word, "2"}).letters.devices, "2") << word;
    }
    EXPECT_EQ(parse({"run", "-g1"}).letters.devices, "1");
}

TEST(Letters, ThreadsPerRankAreExplained) {
    for (const char* word : {"-t", "--nthreads"}) {
        EXPECT_THAT(refusal({"run", "-b", "8", word, "1"}), HasSubstr("mpirun -np N")) << word;
    }
}

TEST(UnknownWord, NearestOptionIsNamed) {
    EXPECT_EQ(
        refusal({"run", "a.yaml", "--outptu", "x.h5"}),
        "unknown option --outptu, did you mean --output? (see ringscope run --help)"
    );
    EXPECT_THAT(
        refusal({"run", "--outptu=x.h5"}), HasSubstr("unknown option --outptu, did you mean --output?")
    );
}

TEST(UnknownWord, PrefixIsNeverGuessed) {
    EXPECT_THAT(refusal({"run", "--dry"}), HasSubstr("unknown option --dry, did you mean --dry-run?"));
    EXPECT_THAT(refusal({"run", "--out", "x"}), HasSubstr("did you mean --output?"));
}

TEST(UnknownWord, NothingNearIsClaimed) {
    EXPECT_EQ(refusal({"run", "--zzzzzzzzz"}), "unknown option --zzzzzzzzz (see ringscope run --help)");
    EXPECT_EQ(refusal({"run", "-z"}), "unknown option -z (see ringscope run --help)");
}

TEST(UnknownWord, OptionOfAnotherCommand) {
    EXPECT_THAT(refusal({"list", "--force"}), HasSubstr("unknown option --force"));
}

TEST(UnknownWord, Command) {
    EXPECT_EQ(refusal({"runn"}), "unknown command runn, did you mean run? (see ringscope --help)");
    EXPECT_THAT(refusal({"valid", "a.yaml"}), HasSubstr("did you mean validate?"));
    EXPECT_THAT(refusal({"configs/quickstart.yaml"}), HasSubstr("unknown command"));
    EXPECT_THAT(refusal({}), HasSubstr("no command"));
    EXPECT_THAT(refusal({"-b", "8"}), HasSubstr("the command comes first"));
}

TEST(LaterVersions, WordsAreRefusedAndHidden) {
    for (const std::string word : {"simulate"}) {
        EXPECT_THAT(refusal({word}), HasSubstr("not in this version"));
        EXPECT_THAT(help_text(std::nullopt), Not(HasSubstr(word)));
    }
}

TEST(Doctor, TakesARootAndAFolderForARecording) {
    const Options options = parse({"doctor"});
    EXPECT_EQ(options.command, Command::doctor);
    EXPECT_EQ(options.root, "/");
    EXPECT_FALSE(options.record || options.json);
    EXPECT_TRUE(options.pair_test);
    const Options other = parse({"doctor", "--json", "--root", "a b", "--record=c", "--no-pair-test"});
    EXPECT_EQ(other.root, "a b");
    EXPECT_EQ(other.record, "c");
    EXPECT_TRUE(other.json);
    EXPECT_FALSE(other.pair_test);
    EXPECT_THAT(refusal({"doctor", "machine"}), HasSubstr("one word too many: machine"));
    EXPECT_THAT(refusal({"doctor", "--pair-test"}), HasSubstr("unknown option"));
}

TEST(Conform, TakesAlgorithmsAndPlugins) {
    const Options options = parse({"conform", "ring-ll", "build/mine.so", "--full", "--virtual-ranks", "3"});
    EXPECT_EQ(options.command, Command::conform);
    EXPECT_THAT(options.subjects, ElementsAre("ring-ll", "build/mine.so"));
    EXPECT_TRUE(options.full);
    EXPECT_EQ(options.virtual_ranks, 3);
    EXPECT_EQ(options.engine, "auto");
    EXPECT_EQ(parse({"conform", "ring-ll", "--engine=host-shm"}).engine, "host-shm");
    EXPECT_THAT(refusal({"conform"}), HasSubstr("an ALGORITHM or a PLUGIN.so"));
}

TEST(Run, TableFormatsExcludeEachOther) {
    EXPECT_THAT(refusal({"run", "--json", "--csv"}), HasSubstr("exclude"));
}

TEST(Run, FaultyValuesAreNamed) {
    for (const std::string text : {"0", "-1", "four", "4x", "1e3", "99999999999"}) {
        EXPECT_THAT(refusal({"run", "--expect-ranks=" + text}), HasSubstr("`" + text + "`"));
    }
    EXPECT_THAT(refusal({"run", "--output"}), HasSubstr("--output"));
    EXPECT_THAT(refusal({"run", "--output", "a", "--output", "b"}), HasSubstr("--output"));
    EXPECT_THAT(refusal({"run", "a.yaml", "b.yaml"}), HasSubstr("b.yaml"));
}

TEST(Describe, AllParts) {
    const Options options = parse({"describe", "ring-ll", "--ranks", "64", "--bytes", "100MB", "--json"});
    EXPECT_EQ(options.command, Command::describe);
    EXPECT_EQ(options.algorithm, "ring-ll");
    EXPECT_EQ(options.ranks, 64);
    EXPECT_EQ(options.bytes, "100MB");
    EXPECT_TRUE(options.json);
}

TEST(Describe, MissingPartsAreRefused) {
    EXPECT_THAT(refusal({"describe", "--ranks", "4", "--bytes", "8"}), HasSubstr("ALGORITHM"));
    EXPECT_THAT(refusal({"describe", "ring-ll", "--bytes", "8"}), HasSubstr("--ranks"));
    EXPECT_THAT(refusal({"describe", "ring-ll", "--ranks", "4"}), HasSubstr("--bytes"));
    EXPECT_THAT(refusal({"describe", "ring-ll", "--ranks", "4", "--bytes", "much"}), HasSubstr("`much`"));
}

TEST(Validate, NeedsOneFile) {
    EXPECT_EQ(parse({"validate", "a.yaml"}).config, "a.yaml");
    EXPECT_TRUE(parse({"validate", "a.yaml", "--json"}).json);
    EXPECT_THAT(refusal({"validate"}), HasSubstr("CONFIG.yaml"));
    EXPECT_THAT(refusal({"validate", "a", "b"}), HasSubstr("b"));
}

TEST(List, Json) {
    EXPECT_TRUE(parse({"list", "--json"}).json);
    EXPECT_THAT(refusal({"list", "more"}), HasSubstr("more"));
}

TEST(Verbosity, CountsWords) {
    EXPECT_EQ(parse({"run", "-v"}).verbosity, 1);
    EXPECT_EQ(parse({"run", "-v", "-v"}).verbosity, 2);
    EXPECT_EQ(parse({"run", "-vv"}).verbosity, 2);
    EXPECT_EQ(parse({"run", "-q"}).verbosity, -1);
}

TEST(Help, EveryWayToAsk) {
    for (const Words& words : {Words{"--help"}, Words{"-h"}, Words{"help"}}) {
        EXPECT_EQ(parse(words).command, Command::help);
        EXPECT_FALSE(parse(words).help_topic);
    }
    for (const Words& words : {Words{"run", "--help"}, Words{"run", "-h"}, Words{"help", "run"}}) {
        EXPECT_EQ(parse(words).command, Command::help);
        EXPECT_EQ(parse(words).help_topic, Command::run);
    }
    EXPECT_EQ(parse({"describe", "--help"}).help_topic, Command::describe) << "needs no algorithm";
}

TEST(Help, PageIsShortAndHasExamples) {
    for (const Command command :
         {Command::run, Command::list, Command::describe, Command::validate, Command::conform}) {
        const std::string page = help_text(command);
        EXPECT_LE(std::ranges::count(page, '\n'), 40);
        const std::string examples = page.substr(page.find("Examples:\n"));
        EXPECT_THAT(std::ranges::count(examples, '\n'), AnyOf(3, 4)) << page;
    }
}

TEST(Help, RunNamesTheOptionsForGpus) {
    EXPECT_THAT(
        help_text(Command::run),
        AllOf(HasSubstr("--allow-shared-gpu"), HasSubstr("--virtual-ranks N"), HasSubstr("graphs"))
    );
}

TEST(Help, ExamplesParse) {
    EXPECT_EQ(
        parse({"run", "-b", "1K", "-e", "4M", "-f", "2", "-a", "ring-ll,ring-simple"}).letters.factor, "2"
    );
    EXPECT_EQ(parse({"validate", "my.yaml", "--plugin-path", "./my-plugins"}).config, "my.yaml");
}

TEST(Version, NamesProgramAndAbi) {
    EXPECT_EQ(parse({"--version"}).command, Command::version);
    EXPECT_EQ(parse({"run", "--version"}).command, Command::version);
    EXPECT_EQ(version_text(), "ringscope 0.1.0\nplugin ABI 1\n");
}

TEST(PluginPath, OptionComesBeforeTheVariable) {
    const std::map<std::string, std::string> variables{{"RINGSCOPE_PLUGIN_PATH", "/a::/b c"}};
    const auto lookup = [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
    EXPECT_THAT(
        plugin_path(parse({"list", "--plugin-path", "/x:y"}), lookup), ElementsAre("/x:y", "/a", "/b c")
    );
}

TEST(PluginPath, EmptyWithoutEither) {
    EXPECT_THAT(plugin_path(parse({"list"}), [](const char*) -> const char* { return nullptr; }), IsEmpty());
}

}  // namespace
}  // namespace ringscope::options
