// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/marks.hpp"

namespace ringscope::report {
namespace {

// The widths are those of nccl-tests; two blanks always stand between columns, so that no values run
// together.
constexpr int time_width = 7, rate_width = 6, wrong_width = 6, algorithm_width = 17, engine_width = 17;
constexpr int link_width = 7, waited_width = 7;

std::string place_columns(
    const std::string& time, const std::string& algbw, const std::string& busbw, const std::string& wrong
) {
    return fmt::format(
        "  {:>{}}  {:>{}}  {:>{}}  {:>{}}", time, time_width, algbw, rate_width, busbw, rate_width, wrong,
        wrong_width
    );
}

std::string own_columns(
    const std::string& algorithm, const std::string& engine, const std::string& link,
    const std::string& waited
) {
    return fmt::format(
        "  {:>{}}  {:>{}}  {:>{}}  {:>{}}", algorithm, algorithm_width, engine, engine_width, link,
        link_width, waited, waited_width
    );
}

std::string head_columns(
    const char* size, const char* count, const char* type, const char* op, const char* root
) {
    return fmt::format("#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}", size, count, type, op, root);
}

std::string table_head() {
    const std::string names = place_columns("time", "algbw", "busbw", "#wrong");
    const std::string units = place_columns("(us)", "(GB/s)", "(GB/s)", "");
    return fmt::format("#{:>74}{:>31}\n", "out-of-place", "in-place") +
           head_columns("size", "count", "type", "redop", "root") + names + names +
           own_columns("algorithm", "engine", "link", "waited") + "\n" +
           head_columns("(B)", "(elements)", "", "", "") + units + units +
           own_columns("", "", "(GB/s)", "(%)") + "\n";
}

std::string wrong_text(const CaseSummary& summary) {
    const auto status = summary.row.status;
    const bool checked = status == trace::CaseStatus::ok || status == trace::CaseStatus::wrong;
    return checked || summary.row.wrong > 0 ? std::to_string(summary.row.wrong) : "N/A";
}

std::string place_text(const CaseSummary* summary) {
    if (!summary) return place_columns("N/A", "N/A", "N/A", "N/A");
    return place_columns(
        fit(summary->verified_time_ns() / 1e3, time_width), fit(summary->algbw(), rate_width),
        fit(summary->busbw(), rate_width), wrong_text(*summary)
    );
}

std::string size_text(const trace::CaseRow& row) {
    return fmt::format(
        "{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count, nccl_tests_name_of(row.dtype),
        name_of(row.op), -1
    );
}

std::string own_text(const CaseSummary& summary) {
    return own_columns(
        summary.row.algorithm, summary.row.engine, fit(summary.link_bandwidth(), link_width),
        fit(summary.waited_share * 100, waited_width)
    );
}

std::string explanations(const CaseSummary* out_of_place, const CaseSummary* in_place) {
    std::vector<std::string> parts;
    if (out_of_place && !explanation(*out_of_place).empty()) parts.push_back(explanation(*out_of_place));
    if (in_place && !explanation(*in_place).empty()) parts.push_back("in place " + explanation(*in_place));
    return parts.empty() ? "" : "  " + join(parts, "; ");
}

/// All that the two halves of a line have in common.
auto line_key(const CaseSummary& summary) {
    const Case& point = summary.point;
    const trace::CaseRow& row = summary.row;
    return std::tuple{
        point.algorithm.id,
        point.algorithm.params,
        point.algorithm.words,
        point.engine,
        row.engine,
        row.mode,
        row.dtype,
        row.op,
        row.bytes,
        row.count,
        row.offset};
}

std::string block_text(const CaseSummary& summary) {
    const trace::CaseRow& row = summary.row;
    const std::string offset =
        row.offset == 0 ? "" : fmt::format(", buffers {} elements off their alignment", row.offset);
    return fmt::format(
        "# {} on {}, {}{}", label(summary.point.algorithm), row.engine, name_of(row.mode), offset
    );
}

/// What a launch costs that does nothing, where it was measured: no time of the block can be less.
std::string empty_kernel_text(const CaseSummary& summary) {
    return std::isnan(summary.empty_ns) ? ""
                                        : fmt::format(", empty kernel {:.2f} us", summary.empty_ns / 1e3);
}

/// As nccl-tests writes it, without the function: "0000:1b:00" of "0000:1b:00.0".
std::string pci_device(const std::string& pci_id) {
    return pci_id.substr(0, pci_id.find('.'));
}

/// One device line per rank in nccl-tests' form. The number of a GPU counts the distinct ones of the host;
/// what identifies it is the PCI id.
std::string device_lines(const std::vector<trace::RankEnvironment>& ranks) {
    std::map<std::string, std::vector<std::string>> gpus_of_host;
    std::string lines;
    for (const trace::RankEnvironment& rank : ranks) {
        lines +=
            fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} ", rank.rank, 0, rank.pid, rank.host);
        if (rank.gpu_name.empty()) {
            lines += fmt::format("cpu {}\n", rank.cpuset);
            continue;
        }
        auto& gpus = gpus_of_host[rank.host];
        auto at = std::ranges::find(gpus, rank.gpu_pci_id);
        if (at == gpus.end()) at = gpus.insert(gpus.end(), rank.gpu_pci_id);
        lines += fmt::format(
            "device {:2} [{}] {}\n", at - gpus.begin(), pci_device(rank.gpu_pci_id), rank.gpu_name
        );
    }
    return lines;
}

std::string settings_line(const RunHeader& header) {
    return fmt::format(
        "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: 1 "
        "validation: 1 "
        "graph: {}\n",
        header.min_bytes, header.max_bytes, header.step, header.warmup, header.iterations,
        header.mode == Mode::graph ? header.iterations : 0
    );
}

std::string output_line(const RunHeader& header) {
    return header.output.empty() ? "# trace: not kept (--output FILE.h5 keeps it)\n"
                                 : fmt::format("# trace: {}\n", header.output);
}

std::string warning_line(const RunHeader& header) {
    return header.warning.empty() ? "" : fmt::format("# {}\n", header.warning);
}

std::string mode_line(Mode mode, const std::string& statistic) {
    return fmt::format(
        "# mode: {}, time: {} (nccl-tests prints a back-to-back mean)\n", name_of(mode), statistic
    );
}

std::string difference_text(const TrafficVerdict& verdict) {
    std::string lines = fmt::format(
        "# Traffic: DIFFERS on {} of {} links of {} cases", verdict.links_checked - verdict.links_equal,
        verdict.links_checked, verdict.cases_checked
    );
    for (const std::string& difference : verdict.differences) lines += "\n#   " + difference;
    return lines;
}

std::string agreement_text(const TrafficVerdict& verdict) {
    if (verdict.links_checked == 0) return "# Traffic: no link was observed";
    const std::string equal =
        verdict.links_traced == 0 ? "declared = closed form" : "declared = traced = closed form";
    const std::int64_t untraced = verdict.links_checked - verdict.links_traced;
    return fmt::format(
        "# Traffic: {} on all {} links of {} cases{}", equal, verdict.links_checked, verdict.cases_checked,
        untraced == 0 ? "" : fmt::format(" ({} not traced)", untraced)
    );
}

/// What the links of the machine, as measured in this run, do not allow.
std::string suspect_text(std::int64_t suspect, std::int64_t cases) {
    return suspect == 0 ? ""
                        : fmt::format(
                              "# Suspect: {} of {} cases are faster than the links between their ranks as "
                              "measured (/machine)\n",
                              suspect, cases
                          );
}

/// "2-4, 7" of 2, 3, 4 and 7, which are in ascending order.
std::string ranges_text(const std::vector<std::int32_t>& numbers) {
    std::vector<std::string> parts;
    for (std::size_t first = 0, next = 0; first < numbers.size(); first = next) {
        for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;) ++next;
        const std::string begin = std::to_string(numbers[first]), end = std::to_string(numbers[next - 1]);
        parts.push_back(begin == end ? begin : begin + "-" + end);
    }
    return join(parts, ", ");
}

/// What became of the machine while cases ran.
std::string health_text(const std::map<std::string, std::vector<std::int32_t>>& changed) {
    std::vector<std::string> parts;
    for (const auto& [mark, cases] : changed)
        parts.push_back(mark + " in " + (cases.size() == 1 ? "case " : "cases ") + ranges_text(cases));
    return parts.empty()
               ? ""
               : fmt::format("# Health: {} (reasons above, readings in /health)\n", join(parts, "; "));
}

std::string exit_text(ExitCode code) {
    return code == ExitCode::ok
               ? ""
               : fmt::format("# Exit code {} (see ringscope --help)\n", static_cast<int>(code));
}

}  // namespace

std::string fit(double value, int width) {
    if (std::isnan(value)) return fmt::format("{:>{}}", "N/A", width);
    for (int decimals = 2; decimals >= 0; --decimals) {
        const std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
        if (std::ssize(text) <= width) return text;
    }
    return fmt::format("{:{}.0e}", value, width);
}

std::string traffic_text(const TrafficVerdict& verdict) {
    const bool differs = verdict.links_equal != verdict.links_checked || !verdict.differences.empty();
    const std::string text = differs ? difference_text(verdict) : agreement_text(verdict);
    if (verdict.not_observed.empty()) return text;
    return text + (differs ? "\n#   " : "; ") + "not observable: " + join(verdict.not_observed, ", ");
}

void TableReporter::begin(const RunHeader& header) {
    header_ = header;
    mode_ = header.mode;
    out_ << "# ringscope " << header.version << ", " << header.name << ", " << header.ranks.size()
         << " ranks\n"
         << settings_line(header) << "#\n# Using devices\n"
         << device_lines(header.ranks) << "#\n"
         << output_line(header) << warning_line(header);
    print_table_head(mode_);
    out_.flush();
}

void TableReporter::add(const CaseSummary& summary) {
    count(summary);
    if (pending_ && summary.row.in_place && line_key(*pending_) == line_key(summary)) {
        print_line(&*pending_, &summary);
        pending_.reset();
        return;
    }
    print_pending();
    open_block(summary);
    if (summary.row.in_place) {
        print_line(nullptr, &summary);
    } else if (header_.both_places) {
        pending_ = summary;
    } else {
        print_line(&summary, nullptr);
    }
}

void TableReporter::end(const TrafficVerdict& verdict, ExitCode code) {
    print_pending();
    const std::string mean =
        busbw_count_ == 0 ? "N/A" : fmt::format("{:g}", busbw_sum_ / static_cast<double>(busbw_count_));
    out_ << "# Out of bounds values : " << wrong_ << (wrong_ == 0 ? " OK\n" : " FAILED\n")
         << "# Avg bus bandwidth    : " << mean << "\n#\n"
         << suspect_text(suspect_, cases_) << health_text(changed_) << exit_text(code)
         << traffic_text(verdict) << "\n";
    out_.flush();
}

// Two kinds of time never share a table, so another mode begins a table of its own.
void TableReporter::print_table_head(Mode mode) {
    const std::string statistic =
        mode == header_.mode ? header_.statistic : statistic_of(mode, header_.iterations);
    out_ << mode_line(mode, statistic) << "#\n" << table_head();
}

void TableReporter::open_block(const CaseSummary& summary) {
    if (summary.row.mode != mode_) {
        mode_ = summary.row.mode;
        out_ << "#\n";
        print_table_head(mode_);
    }
    const std::string block = block_text(summary);
    if (block != block_) out_ << block << empty_kernel_text(summary) << "\n";
    block_ = block;
}

void TableReporter::print_pending() {
    if (pending_) print_line(&*pending_, nullptr);
    pending_.reset();
}

void TableReporter::print_line(const CaseSummary* out_of_place, const CaseSummary* in_place) {
    const CaseSummary& shown = out_of_place ? *out_of_place : *in_place;
    out_ << size_text(shown.row) << place_text(out_of_place) << place_text(in_place) << own_text(shown)
         << explanations(out_of_place, in_place) << "\n";
    out_.flush();
}

void TableReporter::count(const CaseSummary& summary) {
    wrong_ += summary.row.wrong;
    ++cases_;
    if (trace::has_mark(summary.row, "suspect")) ++suspect_;
    for (const std::string_view mark : trace::health_marks) {
        if (trace::has_mark(summary.row, mark)) changed_[std::string{mark}].push_back(summary.row.case_index);
    }
    const double busbw = summary.busbw();
    if (std::isnan(busbw)) return;
    busbw_sum_ += busbw;
    ++busbw_count_;
}

}  // namespace ringscope::report
