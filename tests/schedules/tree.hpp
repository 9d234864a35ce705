// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ringscope/plugin.hpp"

/// Double binary tree (Sanders, Speck, Traeff): two trees, each for half of the message; a rank is an inner
/// node in at most one of them (for odd N, rank 0 has children in both).
namespace ringscope::schedules {

struct TreeNode {
    int parent = -1;  ///< -1 at the root
    std::vector<std::int32_t> children;
    int depth = 0;
};

/// Rank 0 is the root with the single child of the highest power of two below n; the others follow their
/// lowest set bit.
inline int first_tree_parent(int rank, int n) {
    const int bit = rank & -rank;
    const int up = (rank ^ bit) | (bit << 1);
    return up < n ? up : rank ^ bit;
}

/// The second tree is the first one mirrored (even n) or shifted by one rank (odd n).
inline int tree_parent(int tree, int rank, int n) {
    const auto to_first = [&](int r) { return n % 2 == 0 ? n - 1 - r : (r - 1 + n) % n; };
    const auto from_first = [&](int r) { return n % 2 == 0 ? n - 1 - r : (r + 1) % n; };
    const int r = tree == 0 ? rank : to_first(rank);
    if (r == 0) return -1;
    const int parent = first_tree_parent(r, n);
    return tree == 0 ? parent : from_first(parent);
}

inline TreeNode tree_node(int tree, int rank, int n) {
    TreeNode node{.parent = tree_parent(tree, rank, n), .children = {}};
    for (int other = 0; other < n; ++other) {
        if (other != rank && tree_parent(tree, other, n) == rank) node.children.push_back(other);
    }
    for (int up = node.parent; up >= 0; up = tree_parent(tree, up, n)) ++node.depth;
    return node;
}

/// One tree's chunk, up and down. A rank at depth d broadcasts slice k - d * in_flight / 2 after it reduced
/// slice k, so that it does not stand still while the slice travels to the root and back.
inline void play_tree(Player& p, const TreeNode& node, Chunks c) {
    const std::int64_t lag = node.depth * p.in_flight() / 2;
    for (std::int64_t k = 0; k < p.slices() + lag; ++k) {
        if (k < p.slices()) {
            p.slice(k);
            p.phase(Phase::reduce);
            if (node.parent < 0) {
                p.recv_reduce_copy_send(node.children, node.children, c);
            } else {
                p.recv_reduce_send(node.children, node.parent, c);
            }
        }
        if (node.parent >= 0 && k >= lag) {
            p.slice(k - lag);
            p.phase(Phase::broadcast);
            p.recv_copy_send(node.parent, node.children, c);
        }
    }
}

/// Chunk t travels on tree t. A channel plays one tree after the other, since both may use the same link; odd
/// channels begin with the second, so that two channels keep both trees busy.
inline void tree_all_reduce(Player& p) {
    for (int i = 0; i < 2; ++i) {
        const int tree = (p.channel() + i) % 2;
        play_tree(p, tree_node(tree, p.rank(), p.ranks()), chunk(tree));
    }
}

inline int two_chunks(int) {
    return 2;
}

/// Each edge of tree t carries its chunk once up and once down.
inline std::int64_t tree_law(
    const ringscope_place* place, std::int64_t bytes, std::int32_t src, std::int32_t dst
) {
    const std::int64_t units = bytes / 16, first = 16 * ((units + 1) / 2);
    const std::int64_t half[2] = {units == 0 ? 0 : first, bytes - (units == 0 ? 0 : first)};
    std::int64_t sent = 0;
    for (int tree = 0; tree < 2; ++tree) {
        const bool edge =
            tree_parent(tree, src, place->ranks) == dst || tree_parent(tree, dst, place->ranks) == src;
        if (edge) sent += half[tree];
    }
    return sent;
}

inline constexpr ringscope_algorithm tree_ll =
    algorithm<tree_all_reduce, two_chunks>("tree-ll", "double binary tree", RINGSCOPE_LL, tree_law);
inline constexpr ringscope_algorithm tree_simple =
    algorithm<tree_all_reduce, two_chunks>("tree-simple", "double binary tree", RINGSCOPE_SIMPLE, tree_law);

}  // namespace ringscope::schedules
