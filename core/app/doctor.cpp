// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "app/commands.hpp"
#include "app/ranks.hpp"
#include "doctor/describe.hpp"
#include "doctor/examine.hpp"
#include "doctor/findings.hpp"

namespace ringscope::app {
namespace {

doctor::Request request_of(const options::Options& options) {
    return {
        .root = options.root,
        .record = options.record,
        .nccl = options.root == "/" ? baseline::Nccl::version() : "",
        .pair_test = options.pair_test};
}

bool hurts(const std::vector<doctor::Finding>& findings) {
    return std::ranges::any_of(findings, [](const doctor::Finding& finding) {
        return finding.severity == doctor::Severity::harm;
    });
}

}  // namespace

ExitCode doctor(const options::Options& options) {
    let_kernels_be_resident_together();
    const doctor::Examination examination = doctor::examine(request_of(options));
    const std::vector<doctor::Finding> findings =
        doctor::findings(examination.idle, examination.later, examination.circumstances);
    if (options.json) {
        std::cout << doctor::as_json(examination, findings);
    } else {
        std::cout << doctor::machine_as_text(examination) << doctor::findings_as_text(findings);
    }
    return hurts(findings) ? ExitCode::found_harm : ExitCode::ok;
}

}  // namespace ringscope::app
