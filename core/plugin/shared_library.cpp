// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace ringscope::plugin {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <class Record>
bool read_at(std::ifstream& file, std::uint64_t offset, Record& record) {
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&record), sizeof(record)));
}

bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t file_bytes) {
    return offset <= file_bytes && bytes <= file_bytes - offset;
}

/// Whether an ELF file ends before what its headers promise. The loader maps such a file as if it were whole,
/// and the process dies of SIGBUS when it touches the missing part. What is no ELF file is left to the
/// loader.
bool is_truncated(const std::string& path) {
    std::error_code none;
    const std::uint64_t file_bytes = std::filesystem::file_size(path, none);
    std::ifstream file{path, std::ios::binary};
    Header header{};
    if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (header.e_ident[EI_CLASS] != own_class) return false;
    if (!fits(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize, file_bytes)) return true;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Segment segment{};
        if (!read_at(file, header.e_phoff + i * header.e_phentsize, segment)) return true;
        if (!fits(segment.p_offset, segment.p_filesz, file_bytes)) return true;
    }
    return false;
}

void* open(const std::string& path) {
    if (is_truncated(path)) throw Error{ExitCode::usage, path + " is truncated: copy or build it again"};
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw Error{ExitCode::usage, dlerror()};
    return handle;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& path) : handle_{open(path)} {}

const void* SharedLibrary::symbol(const char* name) const {
    return dlsym(handle_, name);
}

}  // namespace ringscope::plugin
