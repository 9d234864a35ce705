// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/program.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace ringscope::schedule {
namespace {

/// The sink behind record(): exceptions must not cross the C boundary, so the first fault is kept and thrown
/// after.
class Recorder {
 public:
    Recorder(const ringscope_place& place, std::int32_t chunks) : place_{place}, chunks_{chunks} {}

    static std::int32_t on_op(void* self, const ringscope_op* op) {
        return static_cast<Recorder*>(self)->take(*op) ? RINGSCOPE_OK : RINGSCOPE_FAILED;
    }
    static void on_fail(void* self, const char* text) { static_cast<Recorder*>(self)->thrown_ = text; }

    Program program;
    [[nodiscard]] const std::string& fault() const { return fault_; }
    [[nodiscard]] const std::string& thrown() const { return thrown_; }

 private:
    bool take(const ringscope_op& op) {
        fault_ = fault_of(op);
        if (!fault_.empty()) return false;
        for (std::int32_t i = 0; i < op.chunk_count; ++i) append(op, op.first_chunk + i);
        return true;
    }

    void append(const ringscope_op& op, std::int32_t chunk) {
        program.ops.push_back({
            .slice = op.slice,
            .chunk = chunk,
            .local = op.local,
            .local_at = op.local_at,
            .phase = op.phase,
            .recv_count = op.recv_count,
            .send_count = op.send_count,
            .first_message = static_cast<std::int32_t>(program.messages.size()),
            .store = op.store != 0,
            .finish = op.finish != 0,
        });
        for (std::int32_t i = 0; i < op.recv_count; ++i) program.messages.push_back({.peer = op.recv[i]});
        for (std::int32_t i = 0; i < op.send_count; ++i) program.messages.push_back({.peer = op.send[i]});
    }

    [[nodiscard]] std::string fault_of(const ringscope_op& op) const {
        if (op.size != sizeof(ringscope_op)) return "the op's size is not that of this ABI version";
        const std::string peers =
            fault_of_peers(op.recv, op.recv_count) + fault_of_peers(op.send, op.send_count);
        if (!peers.empty()) return peers;
        if (op.local < RINGSCOPE_LOCAL_NONE || op.local > RINGSCOPE_LOCAL_OUTPUT)
            return "unknown local contribution";
        if (op.local == RINGSCOPE_LOCAL_NONE && op.recv_count == 0) return "the op reads nothing";
        if (op.local_at < 0 || op.local_at > op.recv_count)
            return "local_at is not within the received messages";
        if (op.store == 0 && op.send_count == 0) return "the op's result goes nowhere";
        if (op.phase < 0 || op.phase >= RINGSCOPE_PHASE_COUNT) return "unknown phase";
        if (op.slice < 0 || op.slice >= place_.slices)
            return "slice " + std::to_string(op.slice) + " does not exist";
        if (op.first_chunk < 0 || op.chunk_count < 1 || op.chunk_count > chunks_ - op.first_chunk) {
            return "chunk " + std::to_string(op.first_chunk) + " (+" + std::to_string(op.chunk_count) +
                   ") does not exist";
        }
        return "";
    }

    [[nodiscard]] std::string fault_of_peers(const std::int32_t* peers, std::int32_t count) const {
        if (count < 0 || count >= place_.ranks) return "too many peers";
        for (std::int32_t i = 0; i < count; ++i) {
            if (peers[i] < 0 || peers[i] >= place_.ranks || peers[i] == place_.rank) {
                return "peer " + std::to_string(peers[i]) + " is not another rank";
            }
            if (std::count(peers, peers + i, peers[i]) != 0) {
                return "peer " + std::to_string(peers[i]) + " is named twice";
            }
        }
        return "";
    }

    ringscope_place place_;
    std::int32_t chunks_;
    std::string fault_, thrown_;
};

std::string where(const ringscope_algorithm& algorithm, const ringscope_place& place, std::size_t op) {
    return "schedule of " + std::string{algorithm.id} + ", rank " + std::to_string(place.rank) + " of " +
           std::to_string(place.ranks) + ", channel " + std::to_string(place.channel) + ", op " +
           std::to_string(op) + ": ";
}

}  // namespace

std::int32_t chunks_at(const ringscope_algorithm& algorithm, const ringscope_place& place) {
    return algorithm.chunks_at != nullptr ? algorithm.chunks_at(&place) : algorithm.chunks(place.ranks);
}

Program record(const ringscope_algorithm& algorithm, const ringscope_place& place) {
    Recorder recorder{place, chunks_at(algorithm, place)};
    const ringscope_sink sink{sizeof(ringscope_sink), &recorder, Recorder::on_op, Recorder::on_fail};
    const std::int32_t status = algorithm.play(&place, &sink);
    const std::string at = where(algorithm, place, recorder.program.ops.size());
    if (!recorder.fault().empty()) throw Error{ExitCode::wrong_result, at + recorder.fault()};
    if (!recorder.thrown().empty())
        throw Error{ExitCode::internal, at + "the plugin threw: " + recorder.thrown()};
    if (status != RINGSCOPE_OK)
        throw Error{ExitCode::internal, at + "the plugin gave status " + std::to_string(status)};
    return std::move(recorder.program);
}

}  // namespace ringscope::schedule
