// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "nccl/scoped_environment.hpp"

/// What NCCL chose for an operation, as NCCL tells it to a profiler. This program is that profiler: NCCL
/// finds it under the name ncclProfiler_v4 (NCCL 2.27 and newer; an older one tells nothing). No event is
/// wanted but while a ChoiceWatch lives, so all other operations run as without a profiler.
namespace ringscope::nccl {

/// Variables that a communicator must be created under so that its choices can be read. None where the user
/// has named a profiler: then nothing is observable here.
[[nodiscard]] Variables profiler_environment();

/// Operations enqueued meanwhile are noted. Never about a whole measurement: each takes the host a little.
class ChoiceWatch {
 public:
    ChoiceWatch();
    ~ChoiceWatch();
    ChoiceWatch(const ChoiceWatch&) = delete;
    ChoiceWatch& operator=(const ChoiceWatch&) = delete;

    /// "ring ll 4 channels" for the latest operation into this buffer; "" where NCCL said nothing.
    [[nodiscard]] std::string choice_for(const std::byte* output) const;
};

/// The words for what NCCL names "RING", "LL" and a number of channels. NCCL's symmetric kernels have neither
/// protocol nor channels in it, so there is nothing to say about them.
[[nodiscard]] std::string in_words(const char* algorithm, const char* protocol, int channels);

}  // namespace ringscope::nccl
