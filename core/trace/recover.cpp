// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/recover.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "trace/spill.hpp"
#include "trace/writer.hpp"

namespace ringscope::trace {
namespace {

/// Rows of one case that one rank measured.
using Place = std::pair<std::int32_t, std::int32_t>;

struct Counts {
    std::map<Place, std::int64_t> samples, events;
};

std::int64_t at(const std::map<Place, std::int64_t>& counts, Place place) {
    const auto found = counts.find(place);
    return found == counts.end() ? 0 : found->second;
}

[[noreturn]] void fail(const std::string& message) {
    throw Error{ExitCode::output, message};
}

template <typename Row>
void count(const Record& record, std::map<Place, std::int64_t>& counts) {
    for (const Row& row : record.as<Row>()) ++counts[{row.case_index, row.rank}];
}

void count_rows(const Record& record, Counts& counts) {
    if (record.kind == RecordKind::samples) count<SampleRow>(record, counts.samples);
    if (record.kind == RecordKind::events) count<EventRow>(record, counts.events);
}

Counts count_spill(SpillReader& spill) {
    Counts counts;
    while (const auto record = spill.next()) count_rows(*record, counts);
    spill.rewind();
    return counts;
}

/// What the log says besides the rows that are only copied.
struct Summary {
    RunInfo run;
    std::map<std::int32_t, CaseRow> cases;  ///< the last word on each
    std::set<std::int32_t> finished;
    Counts counts;
};

void note(const Record& record, Summary& summary) {
    switch (record.kind) {
        case RecordKind::run:
            summary.run = record.as<RunInfo>().at(0);
            break;
        case RecordKind::environment:
            summary.run.ranks = record.as<RankEnvironment>();
            break;
        case RecordKind::fact:
            summary.run.facts = record.as<Fact>();
            break;
        case RecordKind::cases:
            for (const CaseRow& row : record.as<CaseRow>()) summary.cases[row.case_index] = row;
            break;
        case RecordKind::case_finished:
            summary.finished.insert(static_cast<std::int32_t>(record.rows));
            break;
        default:
            count_rows(record, summary.counts);
    }
}

Summary read_summary(SpillReader& log) {
    Summary summary;
    while (const auto record = log.next()) note(*record, summary);
    if (summary.run.run_uuid.empty())
        fail(log.path() + " ends before anything was measured: nothing can be made of it");
    log.rewind();
    return summary;
}

/// The spills of one run, the log first.
std::vector<SpillReader> open_spills(const std::vector<std::string>& paths) {
    std::vector<SpillReader> spills;
    for (const std::string& path : paths) {
        spills.emplace_back(path);
        if (is_being_written(path)) fail("the run of " + path + " still writes it; wait until it has ended");
    }
    std::ranges::sort(spills, [](const SpillReader& a, const SpillReader& b) {
        return std::pair{!a.origin().is_log, a.origin().rank} <
               std::pair{!b.origin().is_log, b.origin().rank};
    });
    return spills;
}

void check_together(const std::vector<SpillReader>& spills) {
    const SpillReader& log = spills.front();
    if (!log.origin().is_log)
        fail(log.path() + " has what one rank put aside; name the log of the run too (NAME.h5.spill)");
    for (std::size_t i = 1; i < spills.size(); ++i) {
        const SpillOrigin &origin = spills[i].origin(), &before = spills[i - 1].origin();
        if (origin.run_uuid != log.origin().run_uuid)
            fail(spills[i].path() + " is of another run than " + log.path());
        if (origin.is_log == before.is_log && origin.rank == before.rank)
            fail(
                spills[i].path() + " and " + spills[i - 1].path() + " are of the same rank; name one of them"
            );
    }
}

std::string name_without_spill(const std::string& log) {
    const std::string ending = log_name("");
    if (log.ends_with(ending) && log.size() > ending.size()) return log.substr(0, log.size() - ending.size());
    fail(log + " does not end in " + ending + "; name the file to write with --output");
}

/// Rows that are taken from what a rank put aside, and not from the log: of an unfinished case the log may
/// have fewer of them, and never others.
struct Choice {
    std::set<Place> samples, events;
};

void choose(
    const std::map<Place, std::int64_t>& rest, const std::map<Place, std::int64_t>& log,
    const Summary& summary, std::set<Place>& chosen
) {
    for (const auto& [place, rows] : rest) {
        const bool open = summary.cases.contains(place.first) && !summary.finished.contains(place.first);
        if (open && rows > at(log, place)) chosen.insert(place);
    }
}

Choice choose(std::vector<SpillReader>& spills, const Summary& summary) {
    Choice choice;
    for (std::size_t i = 1; i < spills.size(); ++i) {
        const Counts rest = count_spill(spills[i]);
        choose(rest.samples, summary.counts.samples, summary, choice.samples);
        choose(rest.events, summary.counts.events, summary, choice.events);
    }
    return choice;
}

/// Copies the rows of the spills into a file.
class Recovery {
 public:
    Recovery(std::vector<SpillReader> spills, const std::string& output, bool force)
        : spills_{std::move(spills)},
          summary_{read_summary(spills_.front())},
          choice_{choose(spills_, summary_)},
          writer_{output, summary_.run, force, Making::recovered} {
        found_.path = output;
        found_.spills = std::ssize(spills_);
    }

    Recovered run() {
        for (SpillReader& spill : spills_) copy(spill);
        for (auto& [index, row] : summary_.cases) write_case(row);
        note_silent_ranks();
        writer_.finish(lossy_);
        return std::move(found_);
    }

 private:
    void copy(SpillReader& spill) {
        const bool is_log = spill.origin().is_log;
        while (const auto record = spill.next()) {
            if (record->kind == RecordKind::samples) {
                found_.samples += copy<SampleRow>(*record, is_log, choice_.samples, written_.samples);
            } else if (record->kind == RecordKind::events) {
                found_.events += copy<EventRow>(*record, is_log, choice_.events, written_.events);
            } else {
                copy_whole(*record);
            }
        }
        if (spill.damaged_bytes() == 0) return;
        found_.damaged.push_back(
            std::to_string(spill.damaged_bytes()) + " bytes at the end of " + spill.path()
        );
    }

    template <typename Row>
    std::int64_t copy(
        const Record& record, bool is_log, const std::set<Place>& from_rest,
        std::map<Place, std::int64_t>& written
    ) {
        std::vector<Row> rows = record.as<Row>();
        std::erase_if(rows, [&](const Row& row) {
            const bool known = summary_.cases.contains(row.case_index);
            return !known || from_rest.contains({row.case_index, row.rank}) == is_log;
        });
        for (const Row& row : rows) ++written[{row.case_index, row.rank}];
        writer_.append(rows);
        return std::ssize(rows);
    }

    void copy_whole(const Record& record) {
        if (record.kind == RecordKind::traffic) writer_.append(record.as<TrafficRow>());
        if (record.kind == RecordKind::cold) writer_.append(record.as<ColdRow>());
        if (record.kind == RecordKind::clock) writer_.append(record.as<ClockRow>());
        if (record.kind == RecordKind::clock_exchanges) writer_.append(record.as<ClockExchangeRow>());
        if (record.kind == RecordKind::machine) writer_.append(record.as<MachineRow>());
        if (record.kind == RecordKind::health) writer_.append(record.as<HealthRow>());
    }

    void write_case(CaseRow row) {
        if (summary_.finished.contains(row.case_index)) {
            ++found_.cases;
        } else {
            end_early(row);
        }
        lossy_ = lossy_ || row.events_dropped > 0;
        writer_.append(std::vector{row});
    }

    void end_early(CaseRow& row) {
        found_.unfinished.push_back(row.case_index);
        if (row.status == CaseStatus::ok) {
            row.status = CaseStatus::failed;
            row.reason = "the run ended while this case was written";
        }
        row.events_written = rows_of(row.case_index, written_.events);
        row.events_expected = std::max(row.events_expected, row.events_written);
        row.events_dropped = std::max<std::int64_t>(0, row.events_expected - row.events_written);
    }

    [[nodiscard]] std::int64_t rows_of(std::int32_t case_index, const std::map<Place, std::int64_t>& written)
        const {
        std::int64_t rows = 0;
        for (std::int32_t rank = 0; rank < summary_.run.world_size; ++rank)
            rows += at(written, {case_index, rank});
        return rows;
    }

    void note_silent_ranks() {
        for (std::int32_t rank = 0; rank < summary_.run.world_size; ++rank) {
            const bool silent = std::ranges::all_of(found_.unfinished, [&](std::int32_t one) {
                return at(written_.samples, {one, rank}) + at(written_.events, {one, rank}) == 0;
            });
            if (silent && !found_.unfinished.empty()) found_.silent.push_back(rank);
        }
    }

    std::vector<SpillReader> spills_;
    Summary summary_;
    Choice choice_;
    TraceWriter writer_;
    Counts written_;
    bool lossy_ = false;
    Recovered found_;
};

}  // namespace

Recovered recover(const std::vector<std::string>& paths, std::string output, bool force) {
    std::vector<SpillReader> spills = open_spills(paths);
    check_together(spills);
    if (output.empty()) output = name_without_spill(spills.front().path());
    return Recovery{std::move(spills), output, force}.run();
}

}  // namespace ringscope::trace
