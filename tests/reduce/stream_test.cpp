// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringscope::reduce {
namespace {

TEST(StreamCopy, AnyLengthAndAlignment_CopiesThatAndNothingElse) {
    std::vector<std::byte> from(1024), expected(1024);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
    for (const std::size_t source : {0, 1, 15, 16, 63}) {
        for (std::size_t target = 0; target < 65; ++target) {
            for (const std::size_t bytes : {0, 1, 15, 16, 63, 64, 65, 127, 128, 200, 513}) {
                std::vector<std::byte> to(1024, std::byte{0xee});
                expected = to;
                std::copy_n(
                    from.begin() + static_cast<std::ptrdiff_t>(source), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(target)
                );
                stream_copy(from.data() + source, to.data() + target, static_cast<std::int64_t>(bytes));
                end_streams();
                ASSERT_EQ(to, expected) << bytes << " bytes from " << source << " to " << target;
            }
        }
    }
}

}  // namespace
}  // namespace ringscope::reduce
