// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ringscope/plugin.hpp"
#include "tree_law.hpp"

namespace {

using namespace ringscope;

/// Rank 0 is the root, with the highest power of two below n as its only child; every other rank hangs on the
/// next higher rank with one more trailing zero bit, or on the next lower one where that is beyond n. So odd
/// ranks are leaves.
int parent_in_first(int rank, int n) {
    const int bit = rank & -rank;
    const int up = (rank ^ bit) | (bit << 1);
    return up < n ? up : rank ^ bit;
}

/// The second tree is the first one mirrored (n even) or shifted by a rank (n odd), so that inner nodes of
/// the one are leaves of the other (but rank 0 for odd n). -1: the root.
int parent_of(int tree, int rank, int n) {
    const auto swap = [n](int r, int shift) { return n % 2 == 0 ? n - 1 - r : (r + shift + n) % n; };
    const int r = tree == 0 ? rank : swap(rank, -1);
    if (r == 0) return -1;
    const int parent = parent_in_first(r, n);
    return tree == 0 ? parent : swap(parent, 1);
}

struct Node {
    int parent = -1;
    std::vector<std::int32_t> children{};
    int depth = 0;
};

Node node_of(int tree, int rank, int n) {
    Node node{.parent = parent_of(tree, rank, n)};
    for (int other = 0; other < n; ++other) {
        if (parent_of(tree, other, n) == rank) node.children.push_back(other);
    }
    for (int up = node.parent; up >= 0; up = parent_of(tree, up, n)) ++node.depth;
    return node;
}

/// One tree's chunk, up and down. A rank at depth d broadcasts slice k - d * in_flight / 2 after it reduced
/// slice k, so that it does not stand still while a slice travels to the root and back.
void play_tree(Player& p, const Node& node, Chunks c) {
    const std::int64_t lag = node.depth * p.in_flight() / 2;
    for (std::int64_t k = 0; k < p.slices() + lag; ++k) {
        if (k < p.slices()) {
            p.slice(k);
            p.phase(Phase::reduce);
            if (node.parent < 0) p.recv_reduce_copy_send(node.children, node.children, c);
            if (node.parent >= 0) p.recv_reduce_send(node.children, node.parent, c);
        }
        if (node.parent >= 0 && k >= lag) {
            p.slice(k - lag);
            p.phase(Phase::broadcast);
            p.recv_copy_send(node.parent, node.children, c);
        }
    }
}

/// Double binary tree (Sanders, Speck and Traeff, 2009): half of the message on each of two trees. A channel
/// plays one tree after the other, since both may use the same link; odd channels begin with the second, so
/// that two channels keep both trees busy.
void tree_all_reduce(Player& p) {
    for (int i = 0; i < 2; ++i) {
        const int tree = (p.channel() + i) % 2;
        play_tree(p, node_of(tree, p.rank(), p.ranks()), chunk(tree));
    }
}

int one_chunk_per_tree(int) {
    return 2;
}

/// On the host a tree's half of the message goes in two parts of a slot each, however short it is, so that a rank
/// reduces the first while the second is on its way: by measurement, docs/performance-notes.md.
std::int32_t in_two_parts(const ringscope_place*, std::int64_t bytes, ringscope_tuning* tuning) {
    constexpr std::int64_t least = 4 << 10, most = 64 << 10, unit = 16;
    if (std::string_view{tuning->engine} == "host-shm")
        tuning->slot_bytes = std::clamp(bytes / 4, least, most) / unit * unit;
    return RINGSCOPE_OK;
}

}  // namespace

RINGSCOPE_PLUGIN(
    "tree", "1.0",
    ringscope::algorithm<tree_all_reduce, one_chunk_per_tree>(
        "tree-ll", "double binary tree, flags in the data: 2 log2 N hops", RINGSCOPE_LL, tree_law
    ),
    ringscope::algorithm<tree_all_reduce, one_chunk_per_tree>(
        "tree-simple", "double binary tree, whole slices behind counters", RINGSCOPE_SIMPLE, tree_law,
        {.tune = in_two_parts}
    )
);
