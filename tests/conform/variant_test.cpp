// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/conform/support.hpp"

namespace ringscope::conform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::vector<std::int64_t>> options_of(const std::vector<Variant>& variants) {
    std::vector<std::vector<std::int64_t>> options;
    for (const Variant& variant : variants) options.push_back(variant.options);
    return options;
}

TEST(Variants, OfARing_AreOne) {
    const std::vector<Variant> variants = host_variants("ring-ll");
    ASSERT_EQ(variants.size(), 1u);
    EXPECT_EQ(variants[0].link.protocol, Protocol::ll);
    EXPECT_THAT(variants[0].options, IsEmpty());
}

/// Servers 1 to 64, usually 1, and dedicated or not, usually not.
TEST(Variants, OfOptions_AreTheirBoundsAlsoTogether) {
    EXPECT_THAT(
        options_of(host_variants("parameter-server")),
        UnorderedElementsAre(
            ElementsAre(1, 0), ElementsAre(2, 0), ElementsAre(64, 0), ElementsAre(1, 1), ElementsAre(2, 1),
            ElementsAre(64, 1)
        )
    );
}

TEST(Variants, OfProtocols_AreThoseOfTheEngine) {
    const std::vector<Variant> variants = host_variants("two-shot");
    ASSERT_EQ(variants.size(), 3u);
    EXPECT_EQ(variants[0].link.protocol, Protocol::simple);
    EXPECT_EQ(variants[1].choice.word("protocol"), "ll");
    EXPECT_EQ(variants[2].choice.word("protocol"), "ll128");
}

TEST(Variants, OfProtocolsThatTheEngineLacks_AreLeftOut) {
    const auto simple_alone = [](Protocol protocol) {
        if (protocol != Protocol::simple) throw Error{ExitCode::unusable_engine, "not here"};
        return engine::host::HostEngine::format(protocol);
    };
    EXPECT_EQ(variants_of(algorithm_named("two-shot"), simple_alone).size(), 1u);
}

/// One-shot is LL, where there is LL.
TEST(Variants, WithoutTheOwnProtocol_BeginWithTheFirstThereIs) {
    const auto simple_alone = [](Protocol protocol) {
        if (protocol != Protocol::simple) throw Error{ExitCode::unusable_engine, "not here"};
        return engine::host::HostEngine::format(protocol);
    };
    const std::vector<Variant> variants = variants_of(algorithm_named("one-shot"), simple_alone);
    ASSERT_EQ(variants.size(), 1u);
    EXPECT_EQ(variants[0].link.protocol, Protocol::simple);
    EXPECT_EQ(variants[0].choice.word("protocol"), "");
}

TEST(Variants, WithoutAnyProtocol_AreAnError) {
    const auto nothing = [](Protocol) -> schedule::LinkFormat {
        throw Error{ExitCode::unusable_engine, "no protocol at all"};
    };
    EXPECT_THROW((void)variants_of(algorithm_named("ring-ll"), nothing), Error);
}

TEST(Variants, SupportRanksThatLeaveOneToTakePart) {
    for (const Variant& variant : host_variants("parameter-server")) {
        const bool dedicated = variant.options[1] == 1;
        for (const std::int32_t ranks : {2, 3, 64}) {
            EXPECT_EQ(variant.supports(ranks), variant.options[0] + (dedicated ? 1 : 0) <= ranks)
                << variant.options[0] << (dedicated ? " dedicated" : "") << " on " << ranks;
        }
        EXPECT_EQ(variant.supports(1), !dedicated);
    }
}

}  // namespace
}  // namespace ringscope::conform
