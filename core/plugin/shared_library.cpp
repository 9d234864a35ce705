// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/shared_library.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace ringscope::plugin {

SharedLibrary::SharedLibrary(const std::string& path) : handle_{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)} {
    if (handle_ == nullptr) throw Error{ExitCode::usage, dlerror()};
}

const void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace ringscope::plugin
