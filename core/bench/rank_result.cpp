// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/rank_result.hpp"

#include <cstring>
#include <type_traits>

namespace ringscope::bench {
namespace {

template <class Value>
void put(std::string& bytes, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(Value));
}

template <class Sequence>
void put_all(std::string& bytes, const Sequence& values) {
    static_assert(std::is_trivially_copyable_v<typename Sequence::value_type>);
    put(bytes, values.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
}

template <class Value>
void take(const char*& at, Value& value) {
    std::memcpy(&value, at, sizeof(Value));
    at += sizeof(Value);
}

template <class Sequence>
void take_all(const char*& at, Sequence& values) {
    std::size_t count = 0;
    take(at, count);
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), at, count * sizeof(values[0]));
    at += count * sizeof(values[0]);
}

}  // namespace

std::string pack(const RankResult& result) {
    std::string bytes;
    bytes.reserve(
        result.events.size() * sizeof(trace::EventRow) + result.samples.size() * sizeof(trace::SampleRow) +
        256
    );
    put_all(bytes, result.samples);
    put_all(bytes, result.hashes);
    put_all(bytes, result.events);
    put(bytes, result.clock_error_ns);
    put(bytes, result.traced_ops);
    put(bytes, result.events_dropped);
    put(bytes, result.wrong);
    put_all(bytes, result.what);
    return bytes;
}

RankResult unpack(const std::string& bytes) {
    RankResult result;
    const char* at = bytes.data();
    take_all(at, result.samples);
    take_all(at, result.hashes);
    take_all(at, result.events);
    take(at, result.clock_error_ns);
    take(at, result.traced_ops);
    take(at, result.events_dropped);
    take(at, result.wrong);
    take_all(at, result.what);
    return result;
}

}  // namespace ringscope::bench
