// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringscope::plugin {

/// A dlopened file. Never closed again: code that a plugin registered elsewhere (a CUDA context, thread-local
/// storage) must not vanish below it.
class SharedLibrary {
 public:
    /// Loads with RTLD_NOW | RTLD_LOCAL. The path must contain a slash. Throws Error (usage): truncated, or
    /// the loader's own reason.
    explicit SharedLibrary(const std::string& path);

    /// The address of an exported symbol, or null.
    [[nodiscard]] const void* symbol(const char* name) const;

 private:
    void* handle_;
};

}  // namespace ringscope::plugin
