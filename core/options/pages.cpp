// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "options/pages.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <boost/program_options.hpp>

namespace po = boost::program_options;

namespace ringscope::options {
namespace {

constexpr std::array<Page, 7> all_pages{{
    {Command::run, "run", "", "mpirun -np N ringscope run [CONFIG.yaml] [OPTION]...",
     "run a sweep of all-reduce algorithms, verify every timed result and trace it",
     "  mpirun -np 4 ringscope run configs/quickstart.yaml\n"
     "  mpirun -np 4 ringscope run -b 1K -e 4M -f 2 -a ring-ll,ring-simple\n"},
    {Command::list, "list", "", "ringscope list [OPTION]...",
     "list the algorithms found, and the plugins refused with the reason",
     "  ringscope list\n"
     "  ringscope list --json --plugin-path ./my-plugins\n"},
    {Command::describe, "describe", "ALGORITHM",
     "ringscope describe ALGORITHM --ranks N --bytes M [OPTION]...",
     "steps and bytes of an algorithm, per rank and per directed link, without running it",
     "  ringscope describe ring-simple --ranks 64 --bytes 100MB\n"
     "  ringscope describe parameter-server --ranks 4 --bytes 1KiB --param servers=2\n"
     "  ringscope describe ring-ll --ranks 3 --bytes 1KiB --json\n"},
    {Command::validate, "validate", "CONFIG.yaml", "ringscope validate CONFIG.yaml [OPTION]...",
     "say what is wrong in a configuration, with line and column",
     "  ringscope validate configs/quickstart.yaml\n"
     "  ringscope validate my.yaml --plugin-path ./my-plugins\n"},
    {Command::conform, "conform", "an ALGORITHM or a PLUGIN.so",
     "[mpirun -np N] ringscope conform ALGORITHM|PLUGIN.so... [OPTION]...",
     "check that an algorithm is an all-reduce in every respect: on paper without ranks, else running",
     "  ringscope conform ring-simple\n"
     "  mpirun -np 4 ringscope conform ring-simple --full\n"
     "  ringscope conform build/plugins/mine.so --virtual-ranks 3\n"},
    {Command::doctor, "doctor", "", "ringscope doctor [OPTION]...",
     "say what this machine is, and what on it will hurt an all-reduce; exit code 1 where something will",
     "  ringscope doctor\n"
     "  ringscope doctor --record machine && ringscope doctor --root machine --json\n"},
    {Command::convert, "convert", "a SPILL", "ringscope convert SPILL... [OPTION]...",
     "make a trace file of what a run left that did not end in order",
     "  ringscope convert data/quickstart.h5.spill*\n"
     "  ringscope convert data/quickstart.h5.spill* --output rescued.h5\n"},
}};

constexpr std::string_view exit_codes =
    "Exit codes: 0 ok; 2 configuration or usage; 3 wrong result; 4 timeout or hang; 5 memory;\n"
    "6 engine unusable; 7 output or trace; 8 internal; 77 everything skipped.\n"
    "Of doctor only: 1 something on this machine will hurt.\n";

constexpr unsigned help_columns = 110;

auto text(const char* name) {
    return po::value<std::string>()->value_name(name);
}
auto texts(const char* name) {
    return po::value<std::vector<std::string>>()->value_name(name)->composing();
}
auto flag() {
    return po::bool_switch();
}

// A flag that may be repeated: unlike bool_switch it does not object to a second one.
auto repeatable_flag() {
    return po::value<bool>()->zero_tokens()->implicit_value(true);
}

void add_ranks(po::options_description& options) {
    options.add_options()("allow-shared-gpu", flag(), "let ranks of several processes share a GPU")(
        "virtual-ranks", text("N"), "N ranks as threads of one process, 1 to 64: results count, times do not"
    );
}

void add_run(po::options_description& options) {
    options.add_options()("set", texts("KEY=VALUE"), "override one value of the configuration; repeatable")(
        "output", text("FILE.h5"), "write the trace there"
    )("force", flag(),
      "replace an existing output file")("json", flag(), "one JSON object instead of the table")(
        "csv", flag(), "comma separated values instead of the table"
    )("dry-run", flag(), "show the cases and stop")(
        "expect-ranks", text("N"), "refuse to run on another number"
    )("expect-binding", text("WORD"),
      "refuse ranks that are bound otherwise: none, hwthread, core, numa, socket, package")(
        "batch-uuid", text("UUID"), "for the file: the batch that this launch belongs to"
    )("launch-index", text("N"), "for the file: its number in the batch")(
        "seed", text("N"), "for the file: seed of the order of the batch"
    )("root", text("DIR"), "read the machine's files below DIR, for tests");
    add_ranks(options);
}

void add_conform(po::options_description& options) {
    options.add_options()("full", flag(), "every case there is: minutes instead of seconds")(
        "engine", text("ENGINE"), "what plays it, as in a configuration; auto"
    )("json", flag(), "JSON instead of text");
    add_ranks(options);
}

void add_doctor(po::options_description& options) {
    options.add_options()("json", flag(), "one JSON object instead of text")(
        "root", text("DIR"), "look at a recording, or at another root of /proc and /sys"
    )("record", text("DIR"), "keep what was read in this new folder, for a report"
    )("no-pair-test", flag(), "do not let the GPUs write to each other");
}

void add_convert(po::options_description& options) {
    options.add_options()(
        "output", text("FILE.h5"), "write the file there; by default the name of the log without .spill"
    )("force", flag(), "replace an existing file");
}

// The long names are those of nccl-tests, so that its command lines work.
void add_letters(po::options_description& options) {
    options.add_options()("minbytes,b", text("SIZE"), "smallest size (with -b ... -a no file is given)")(
        "maxbytes,e", text("SIZE"), "largest size"
    )("stepfactor,f", text("F"), "multiply the size by F")(
        "stepbytes,i", text("SIZE"), "add SIZE to the size"
    )("iters,n", text("N"), "timed iterations")("warmup_iters,w", text("N"), "iterations before them")(
        "datatype,d", text("TYPE"), "element type, or all"
    )("op,o", text("OP"), "sum, prod, min, max, avg, or all")(
        "check,c", text("1"), "verification, which is always on"
    )("graph,cudagraph,G", text("N"), "N > 0: CUDA graphs of 20 operations, launched -n times")(
        "algorithms,a", text("ID,..."), "algorithms to run"
    )("ngpus,g", text("N"), "GPUs that one process drives, each of them a rank");
}

void add_json(po::options_description& options) {
    options.add_options()("json", flag(), "one JSON object instead of text");
}

void add_describe(po::options_description& options) {
    options.add_options()("ranks", text("N"), "number of ranks")(
        "bytes", text("SIZE"), "size of the message"
    )("param", texts("NAME=N"), "an option of the algorithm; repeatable");
    add_json(options);
}

void add_common(po::options_description& options) {
    options.add_options()(
        "plugin-path", texts("DIR"), "look for plugins there too; repeatable (RINGSCOPE_PLUGIN_PATH)"
    )("verbose,v", repeatable_flag(), "say more on stderr; repeatable")(
        "quiet,q", repeatable_flag(), "no notes on engines and clocks on stderr"
    )("version", flag(), "print the version")("help,h", flag(), "print this");
}

void add_own(Command command, po::options_description& options) {
    if (command == Command::run) {
        add_run(options);
        add_letters(options);
    }
    if (command == Command::list || command == Command::validate) add_json(options);
    if (command == Command::describe) add_describe(options);
    if (command == Command::conform) add_conform(options);
    if (command == Command::convert) add_convert(options);
    if (command == Command::doctor) add_doctor(options);
}

}  // namespace

std::span<const Page> pages() {
    return all_pages;
}

const Page* find_page(std::string_view name) {
    const auto found = std::ranges::find(all_pages, name, &Page::name);
    return found == all_pages.end() ? nullptr : &*found;
}

po::options_description visible_options(Command command) {
    po::options_description options{"Options", help_columns};
    add_own(command, options);
    add_common(options);
    return options;
}

std::string page_text(Command command) {
    const auto page = std::ranges::find(all_pages, command, &Page::command);
    if (page == all_pages.end()) return overview_text();
    std::ostringstream out;
    out << "usage: " << page->synopsis << "\n  " << page->purpose << "\n\n"
        << visible_options(command) << "\nExamples:\n"
        << page->examples;
    return out.str();
}

std::string overview_text() {
    std::ostringstream out;
    out << "ringscope runs, times and explains all-reduce algorithms.\n\nusage: ringscope COMMAND "
           "[OPTION]...\n\n";
    for (const Page& page : all_pages) {
        out << "  " << page.name << std::string(10 - page.name.size(), ' ') << page.purpose << "\n";
    }
    out << "\nExamples:\n"
        << "  mpirun -np 4 ringscope run configs/quickstart.yaml\n  ringscope run --help\n\n"
        << exit_codes;
    return out.str();
}

}  // namespace ringscope::options
