// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "halving_doubling_law.hpp"
#include "ringscope/plugin.hpp"

namespace {

using namespace ringscope;

int power_of_two_below(int ranks) {
    int p = 1;
    while (2 * p <= ranks) p *= 2;
    return p;
}

/// Where the number of ranks is no power of two, the first of them pair up: the even one gives its
/// contribution to the odd one, which plays for both.
struct Fold {
    int players, pairs;

    explicit Fold(int ranks) : players{power_of_two_below(ranks)}, pairs{ranks - players} {}
    [[nodiscard]] bool paired(int rank) const { return rank < 2 * pairs; }
    [[nodiscard]] int rank_of(int player) const { return player < pairs ? 2 * player + 1 : player + pairs; }
    [[nodiscard]] int player_of(int rank) const { return paired(rank) ? rank / 2 : rank - pairs; }
};

/// Recursive halving: at distance d = P/2 .. 1 partners split the range of chunks that both have, each keeps
/// the half it is in. Message for message, so that one slot per direction is enough.
void halve(Player& p, const Fold& fold, int player) {
    Local from = fold.paired(p.rank()) ? Local::output : Local::input;
    for (int d = fold.players / 2; d >= 1; d /= 2) {
        const int partner = fold.rank_of(player ^ d), keeps = player / d * d, gives = (player ^ d) / d * d;
        for (int i = 0; i < d; ++i) {
            p.op({.send = partner, .local = from, .chunks = chunk(gives + i)});
            p.op(
                {.recv = partner,
                 .local = from,
                 .local_at = player & d ? 1 : 0,
                 .store = true,
                 .finish = d == 1,
                 .chunks = chunk(keeps + i)}
            );
        }
        from = Local::output;
    }
}

/// Recursive doubling, the way back: partners at distance d = 1 .. P/2 exchange what they have.
void gather(Player& p, const Fold& fold, int player) {
    for (int d = 1; d < fold.players; d *= 2) {
        const int partner = fold.rank_of(player ^ d), has = player / d * d, lacks = (player ^ d) / d * d;
        for (int i = 0; i < d; ++i) {
            p.op({.send = partner, .local = Local::output, .chunks = chunk(has + i)});
            p.recv(partner, chunk(lacks + i));
        }
    }
}

void play_slice(Player& p, const Fold& fold) {
    const int r = p.rank();
    const Chunks all{0, fold.players};
    const bool gives = fold.paired(r) && r % 2 == 0, takes = fold.paired(r) && r % 2 == 1;
    p.phase(Phase::reduce_scatter);
    if (gives) p.send(r + 1, all);
    if (takes) p.op({.recv = r - 1, .local = Local::input, .local_at = 1, .store = true, .chunks = all});
    if (!gives) halve(p, fold, fold.player_of(r));
    p.phase(Phase::all_gather);
    if (!gives) gather(p, fold, fold.player_of(r));
    if (takes) p.op({.send = r - 1, .local = Local::output, .chunks = all});
    if (gives) p.recv(r + 1, all);
}

/// Rabenseifner's all-reduce: 2 log2 P hops and 2(P-1)M/P bytes for P ranks, a power of two.
void halving_doubling(Player& p) {
    const Fold fold{p.ranks()};
    for (std::int64_t k = 0; k < p.slices(); ++k) {
        p.slice(k);
        play_slice(p, fold);
    }
}

}  // namespace

RINGSCOPE_PLUGIN(
    "halving-doubling", "1.0",
    ringscope::algorithm<halving_doubling, power_of_two_below>(
        "halving-doubling", "recursive halving and doubling: 2 log2 N hops of full bandwidth",
        RINGSCOPE_SIMPLE, halving_doubling_law,
        {.protocols = 1u << RINGSCOPE_LL | 1u << RINGSCOPE_LL128 | 1u << RINGSCOPE_SIMPLE}
    )
);
