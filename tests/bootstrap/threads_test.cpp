// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "bootstrap/bootstrap.hpp"

namespace ringscope::bootstrap {
namespace {

using testing::HasSubstr;

constexpr int rank_counts[]{1, 2, 3, 5, 8};

/// Bytes of a rank in a round: of different lengths, some empty, some with NUL in them.
std::string bytes_of(int rank, int round) {
    std::string bytes(static_cast<std::size_t>((rank * 7 + round * 3) % 11), '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(static_cast<std::size_t>(rank + round) + i);
    return bytes;
}

std::vector<std::string> all_bytes(int ranks, int round) {
    std::vector<std::string> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(bytes_of(rank, round));
    return all;
}

TEST(Threads, RanksAndSize_AreNumberedFromZero) {
    for (const int ranks : rank_counts) {
        std::atomic<std::uint64_t> seen{0};
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            EXPECT_EQ(bootstrap.size(), ranks);
            EXPECT_EQ(static_cast<int>(bootstrap.local_ranks().size()), ranks);
            EXPECT_TRUE(bootstrap.shares_address_space());
            seen += std::uint64_t{1} << bootstrap.rank();
        });
        EXPECT_EQ(seen, (std::uint64_t{1} << ranks) - 1);
    }
}

TEST(Threads, AllGather_GivesEveryRanksBytesToAll) {
    for (const int ranks : rank_counts) {
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            for (int round = 0; round < 200; ++round) {
                EXPECT_EQ(bootstrap.all_gather(bytes_of(bootstrap.rank(), round)), all_bytes(ranks, round));
            }
        });
    }
}

TEST(Threads, Gather_GivesThemToTheRootOnly) {
    for (const int ranks : rank_counts) {
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            for (int round = 0; round < 50; ++round) {
                const int root = round % ranks;
                const auto gathered = bootstrap.gather(bytes_of(bootstrap.rank(), round), root);
                EXPECT_EQ(
                    gathered, bootstrap.rank() == root ? all_bytes(ranks, round) : std::vector<std::string>{}
                );
            }
        });
    }
}

TEST(Threads, Broadcast_GivesTheRootsBytesToAll) {
    for (const int ranks : rank_counts) {
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            for (int round = 0; round < 50; ++round) {
                std::string bytes = bytes_of(bootstrap.rank(), round);
                bootstrap.broadcast(bytes, round % ranks);
                EXPECT_EQ(bytes, bytes_of(round % ranks, round));
            }
        });
    }
}

TEST(Threads, Barrier_NobodyLeavesBeforeTheLastEnters) {
    for (const int ranks : rank_counts) {
        constexpr int rounds = 30;
        std::array<std::atomic<int>, rounds> entered{};
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            std::minstd_rand random{static_cast<unsigned>(bootstrap.rank()) + 1};
            for (auto& round : entered) {
                std::this_thread::sleep_for(std::chrono::microseconds{random() % 500});
                ++round;
                bootstrap.barrier();
                EXPECT_EQ(round, ranks);
            }
        });
    }
}

/// Every rank to every other, before any of them looks.
TEST(Threads, Messages_ComeFromTheirSenderInOrder) {
    for (const int ranks : rank_counts) {
        run_as_threads(ranks, [&](Bootstrap& bootstrap) {
            for (int to = 0; to < ranks; ++to)
                for (int round = 0; to != bootstrap.rank() && round < 20; ++round)
                    bootstrap.send(bytes_of(bootstrap.rank(), round + to), to);
            for (int from = 0; from < ranks; ++from)
                for (int round = 0; from != bootstrap.rank() && round < 20; ++round)
                    EXPECT_EQ(bootstrap.receive(from), bytes_of(from, round + bootstrap.rank()));
        });
    }
}

TEST(Threads, RankThatWaitsForAMessageOfOneThatFailed_IsReleased) {
    const auto body = [](Bootstrap& bootstrap) {
        if (bootstrap.rank() == 1) throw Error{ExitCode::output, "rank 1 has no disk"};
        (void)bootstrap.receive(1);
    };
    EXPECT_THROW(run_as_threads(3, body), Error);
}

TEST(Threads, BodyThatThrows_ReleasesTheOthers_AndTheFirstErrorComesOut) {
    for (const int ranks : {2, 3, 8}) {
        std::atomic<int> released{0};
        try {
            run_as_threads(ranks, [&](Bootstrap& bootstrap) {
                bootstrap.barrier();
                if (bootstrap.rank() == 1) throw Error{ExitCode::output, "rank 1 has no disk"};
                try {
                    bootstrap.barrier();
                } catch (const Error&) {
                    ++released;
                    throw;
                }
            });
            FAIL() << "the error got lost";
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ExitCode::output);
            EXPECT_STREQ(e.what(), "rank 1 has no disk");
        }
        EXPECT_EQ(released, ranks - 1);
    }
}

TEST(Agree, AllWell_ReturnsOnAll) {
    std::atomic<int> passed{0};
    run_as_threads(5, [&](Bootstrap& bootstrap) {
        agree(bootstrap, [] {});
        ++passed;
    });
    EXPECT_EQ(passed, 5);
}

/// What all ranks catch when some steps fail.
struct Caught {
    ExitCode code = ExitCode::ok;
    std::string text;
    friend bool operator==(const Caught&, const Caught&) = default;
};

std::vector<Caught> agreed(int ranks, const std::function<void(int rank)>& step) {
    std::vector<Caught> caught(static_cast<std::size_t>(ranks));
    run_as_threads(ranks, [&](Bootstrap& bootstrap) {
        try {
            agree(bootstrap, [&] { step(bootstrap.rank()); });
        } catch (const AgreedError& e) {
            caught[static_cast<std::size_t>(bootstrap.rank())] = {e.code(), e.what()};
        }
        bootstrap.barrier();
    });
    return caught;
}

TEST(Agree, OneRankFails_AllGetItsErrorAndItsName) {
    for (const int ranks : {2, 3, 5, 8}) {
        const auto caught = agreed(ranks, [&](int rank) {
            if (rank == ranks - 1) throw Error{ExitCode::out_of_memory, "no room"};
        });
        const Caught expected{ExitCode::out_of_memory, "rank " + std::to_string(ranks - 1) + ": no room"};
        EXPECT_EQ(caught, std::vector<Caught>(static_cast<std::size_t>(ranks), expected));
    }
}

TEST(Agree, SeveralFail_TheWorstCodeWins) {
    const auto caught = agreed(4, [](int rank) {
        if (rank == 0) throw Error{ExitCode::usage, "a usage"};
        if (rank == 1) throw Error{ExitCode::out_of_memory, "a memory"};
        if (rank == 2) throw Error{ExitCode::wrong_result, "a wrong result"};
        throw Error{ExitCode::timeout, "a timeout"};
    });
    EXPECT_EQ(caught, std::vector<Caught>(4, {ExitCode::wrong_result, "rank 2: a wrong result"}));
}

TEST(Agree, SameCodeTwice_TheLowerRankSpeaks) {
    const auto caught = agreed(3, [](int rank) {
        throw Error{ExitCode::usage, "from " + std::to_string(rank)};
    });
    EXPECT_EQ(caught, std::vector<Caught>(3, {ExitCode::usage, "from 0"}));
}

TEST(Agree, OtherExceptions_AreInternalOrMemory) {
    EXPECT_EQ(agreed(2, [](int) { throw std::runtime_error{"x y"}; })[1].code, ExitCode::internal);
    EXPECT_EQ(agreed(2, [](int) { throw std::bad_alloc{}; })[1].code, ExitCode::out_of_memory);
}

TEST(Agree, TextOfSeveralLines_ComesThroughWhole) {
    EXPECT_EQ(
        agreed(
            2,
            [](int) {
                throw Error{ExitCode::usage, "one: 1\n two: 2"};
            }
        )[1]
            .text,
        "one: 1\n two: 2"
    );
}

}  // namespace
}  // namespace ringscope::bootstrap
