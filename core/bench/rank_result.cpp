// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/rank_result.hpp"

#include "base/bytes.hpp"
#include "trace/row_bytes.hpp"

namespace ringscope::bench {

std::string pack(const RankResult& result) {
    ByteWriter bytes;
    bytes.text(trace::pack(result.samples));
    bytes.number(result.hashes.size());
    for (const std::uint64_t hash : result.hashes) bytes.number(hash);
    bytes.integer(result.clock_error_ns);
    bytes.integer(result.compared_devices ? 1 : 0);
    bytes.integer(result.device_ahead_ns);
    bytes.integer(result.traced_ops);
    bytes.integer(result.events_kept);
    bytes.integer(result.events_dropped);
    bytes.real(result.waited_ns);
    bytes.integer(result.wrong);
    bytes.text(result.what);
    bytes.text(trace::pack(result.health));
    return bytes.take();
}

RankResult unpack(const std::string& bytes) {
    ByteReader reader{bytes};
    RankResult result;
    result.samples = trace::unpack<trace::SampleRow>(reader.text());
    result.hashes.resize(reader.number());
    for (std::uint64_t& hash : result.hashes) hash = reader.number();
    result.clock_error_ns = reader.integer();
    result.compared_devices = reader.integer() != 0;
    result.device_ahead_ns = reader.integer();
    result.traced_ops = reader.integer();
    result.events_kept = reader.integer();
    result.events_dropped = reader.integer();
    result.waited_ns = reader.real();
    result.wrong = reader.integer();
    result.what = reader.text();
    result.health = trace::unpack<trace::HealthRow>(reader.text());
    return result;
}

}  // namespace ringscope::bench
