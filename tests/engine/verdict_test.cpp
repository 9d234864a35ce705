// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ringscope::engine::cuda {
namespace {

constexpr int words = 64, astray = 16;

/// What each rank wrote to each, as a transport brings it: (writer, owner, word) to value.
using Memory = std::map<std::tuple<int, int, int>, int>;

int value_of(int writer, int owner, int word) {
    return 10'000 * writer + 1'000 * owner + word + 1;
}

Memory written(int ranks, const PeerLie& lie) {
    Memory memory;
    for (int writer = 0; writer < ranks; ++writer) {
        for (int owner = 0; owner < ranks; ++owner) {
            const auto kind = lie.concerns(writer, owner) ? lie.kind : PeerLie::Kind::none;
            for (int word = 0; word < words && kind != PeerLie::Kind::dropped; ++word) {
                const int at = kind == PeerLie::Kind::misplaced ? (word + astray) % words : word;
                memory[{writer, owner, at}] =
                    value_of(writer, owner, word) + (kind == PeerLie::Kind::altered ? 1 : 0);
            }
        }
    }
    return memory;
}

bool holds(const Memory& memory, int writer, int owner) {
    for (int word = 0; word < words; ++word) {
        const auto found = memory.find({writer, owner, word});
        if (found == memory.end() || found->second != value_of(writer, owner, word)) return false;
    }
    return true;
}

/// What the kernels find: first what arrived, then what is read back.
std::vector<std::vector<PairFinding>> findings(int ranks, const PeerLie& lie) {
    const Memory memory = written(ranks, lie);
    std::vector<std::vector<PairFinding>> all;
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<PairFinding>& own = all.emplace_back();
        for (int peer = 0; peer < ranks; ++peer) {
            PairFinding finding = PairFinding::fine;
            if (!memory.contains({peer, rank, 0})) {
                finding = PairFinding::silent;
            } else if (!holds(memory, peer, rank)) {
                finding = PairFinding::wrong_data;
            } else if (!holds(memory, rank, peer)) {
                finding = PairFinding::wrong_read;
            }
            own.push_back(peer == rank ? PairFinding::fine : finding);
        }
    }
    return all;
}

TEST(Verdict, OfHonestPeers_IsEmpty) {
    for (const int ranks : {1, 2, 5}) EXPECT_EQ(verdict(findings(ranks, {})), "");
}

TEST(Verdict, OfOneLyingPair_NamesItInItsDirectionOnly) {
    const std::map<PeerLie::Kind, std::string> said{
        {PeerLie::Kind::dropped, "nothing arrives"},
        {PeerLie::Kind::misplaced, "wrong data arrive"},
        {PeerLie::Kind::altered, "wrong data arrive"}};
    for (const auto& [kind, what] : said) {
        for (int src = 0; src < 3; ++src) {
            for (int dst = 0; dst < 3; ++dst) {
                if (src == dst) continue;
                EXPECT_EQ(
                    verdict(findings(3, {.kind = kind, .src = src, .dst = dst})),
                    what + " from the GPU of rank " + std::to_string(src) + " at that of rank " +
                        std::to_string(dst)
                );
            }
        }
    }
}

TEST(Verdict, OfPeersThatAllLie_NamesEveryOrderedPair) {
    const std::string what = verdict(findings(3, {.kind = PeerLie::Kind::altered}));
    EXPECT_EQ(std::ranges::count(what, ';'), 5);
}

TEST(Verdict, OfAWriterThatReadsSomethingElse_IsAboutItsReading) {
    auto all = findings(2, {});
    all[1][0] = PairFinding::wrong_read;
    EXPECT_EQ(verdict(all), "the GPU of rank 1 reads wrong data from that of rank 0");
}

}  // namespace
}  // namespace ringscope::engine::cuda
