// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope::plugin {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const fs::path plugins{RINGSCOPE_PLUGINS};
const fs::path fixtures{RINGSCOPE_FIXTURES};

PluginRegistry registry_of(const std::vector<fs::path>& folders) {
    std::vector<std::string> names;
    for (const fs::path& folder : folders) names.push_back(folder.string());
    return PluginRegistry{names};
}

/// A folder of the test's own.
class Registry : public testing::Test {
 protected:
    Registry() : folder_{fs::temp_directory_path() / ("ringscope-registry-" + std::to_string(getpid()))} {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Registry() override { fs::remove_all(folder_); }

    void copy_ring(const std::string& name) { fs::copy_file(plugins / "ring.so", folder_ / name); }
    void write(const std::string& name, const std::string& text) { std::ofstream{folder_ / name} << text; }

    /// The one reason for which the one file of the folder is refused.
    std::string refusal() {
        const PluginRegistry registry = registry_of({folder_});
        EXPECT_THAT(registry.algorithms(), IsEmpty());
        EXPECT_THAT(registry.refused(), SizeIs(1));
        return registry.refused().empty() ? "" : registry.refused().front().reason;
    }

    fs::path folder_;
};

TEST_F(Registry, LinkToItself_IsRefusedAndTheOthersAreFound) {
    copy_ring("ring.so");
    fs::create_symlink(folder_ / "a.so", folder_ / "a.so");
    const PluginRegistry registry = registry_of({folder_});
    EXPECT_THAT(registry.algorithms(), Not(IsEmpty()));
    ASSERT_THAT(registry.refused(), SizeIs(1));
    EXPECT_THAT(registry.refused().front().file, HasSubstr("a.so"));
}

TEST_F(Registry, BuiltPlugins_AreFoundWithFileAndVersion) {
    const PluginRegistry registry = registry_of({plugins});
    EXPECT_THAT(registry.refused(), IsEmpty());
    EXPECT_THAT(registry.ids(), testing::IsSupersetOf({"ring-ll", "ring-simple"}));
    const Found* found = registry.find("ring-ll");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->file, fs::absolute(plugins / "ring.so").string());
    EXPECT_EQ(found->plugin, "ring 1.0");
}

TEST_F(Registry, UnknownId_IsNotFound) {
    EXPECT_EQ(registry_of({plugins}).find("ring"), nullptr);
}

TEST_F(Registry, PluginInPlainC_IsFound) {
    const PluginRegistry registry = registry_of({fixtures / "correct"});
    EXPECT_THAT(registry.refused(), IsEmpty());
    ASSERT_NE(registry.find("plain-c-ring"), nullptr);
    EXPECT_EQ(registry.find("plain-c-ring")->algorithm->chunks(5), 5);
}

TEST_F(Registry, ManyAlgorithmsInOneFile_KeepTheirOrder) {
    EXPECT_THAT(
        registry_of({fixtures / "mutants"}).ids(),
        ElementsAre(
            "mutant-sent-twice", "mutant-extra-send", "mutant-dropped-op", "mutant-wrong-on-rank-2",
            "mutant-throws", "mutant-law"
        )
    );
}

TEST_F(Registry, FolderThatIsMissing_IsRefusedAndTheOthersStay) {
    const PluginRegistry registry = registry_of({folder_ / "nowhere", plugins});
    EXPECT_NE(registry.find("ring-ll"), nullptr);
    ASSERT_THAT(registry.refused(), SizeIs(1));
    EXPECT_EQ(registry.refused()[0].file, (folder_ / "nowhere").string());
}

TEST_F(Registry, EmptyFolder_GivesNothing) {
    const PluginRegistry registry = registry_of({folder_});
    EXPECT_THAT(registry.algorithms(), IsEmpty());
    EXPECT_THAT(registry.refused(), IsEmpty());
}

TEST_F(Registry, OtherAbiVersion_IsRefusedWithBothNumbers) {
    const PluginRegistry registry = registry_of({fixtures / "refused"});
    EXPECT_THAT(registry.algorithms(), IsEmpty());
    ASSERT_THAT(registry.refused(), SizeIs(2));
    EXPECT_THAT(registry.refused()[1].reason, AllOf(HasSubstr("version 42"), HasSubstr("version 1")));
}

TEST_F(Registry, LibraryWithoutEntry_IsRefused) {
    const PluginRegistry registry = registry_of({fixtures / "refused"});
    ASSERT_THAT(registry.refused(), SizeIs(2));
    EXPECT_THAT(registry.refused()[0].file, HasSubstr("no_entry.so"));
    EXPECT_THAT(registry.refused()[0].reason, HasSubstr("ringscope_entry"));
}

TEST_F(Registry, TextFile_IsRefused) {
    write("text.so", "not a library\n");
    EXPECT_THAT(refusal(), HasSubstr("text.so"));
}

TEST_F(Registry, EmptyFile_IsRefused) {
    write("empty.so", "");
    EXPECT_THAT(refusal(), HasSubstr("empty.so"));
}

TEST_F(Registry, TruncatedFile_IsRefusedAtEveryLength) {
    copy_ring("ring.so");
    const auto size = fs::file_size(folder_ / "ring.so");
    for (const std::uintmax_t part : {1, 2, 3, 5, 8, 13}) {
        // A new file each time: the loader knows a file that it has seen by its inode.
        fs::remove(folder_ / "ring.so");
        copy_ring("ring.so");
        fs::resize_file(folder_ / "ring.so", size * part / 16);
        EXPECT_THAT(refusal(), Not(IsEmpty())) << part << "/16";
    }
}

TEST_F(Registry, FileThatEverybodyMayWrite_IsRefused) {
    copy_ring("ring.so");
    fs::permissions(folder_ / "ring.so", fs::perms::others_write, fs::perm_options::add);
    EXPECT_THAT(refusal(), HasSubstr("writable by everybody"));
}

TEST_F(Registry, DirectoryNamedLikeAPlugin_IsRefused) {
    fs::create_directories(folder_ / "folder.so");
    EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(Registry, DanglingLink_IsRefused) {
    fs::create_symlink(folder_ / "gone", folder_ / "link.so");
    EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(Registry, OtherNames_AreNotLookedAt) {
    write("README", "text");
    write("ring.so.bak", "text");
    EXPECT_THAT(registry_of({folder_}).refused(), IsEmpty());
}

TEST_F(Registry, IdThatIsThereAlready_StaysWithTheFirst) {
    const PluginRegistry registry = registry_of({plugins, fixtures / "clash"});
    EXPECT_EQ(registry.find("ring-ll")->plugin, "ring 1.0");
    ASSERT_THAT(registry.refused(), SizeIs(1));
    EXPECT_THAT(
        registry.refused()[0].reason, AllOf(HasSubstr("ring-ll is already there"), HasSubstr("ring.so"))
    );
}

}  // namespace
}  // namespace ringscope::plugin
