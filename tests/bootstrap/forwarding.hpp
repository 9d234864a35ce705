// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace ringscope::bootstrap {

/// Another bootstrap, of which a test changes what it derives.
class Forwarding : public Bootstrap {
 public:
    explicit Forwarding(Bootstrap& inner) : inner_{inner} {}

    [[nodiscard]] int rank() const override { return inner_.rank(); }
    [[nodiscard]] int size() const override { return inner_.size(); }
    [[nodiscard]] const std::vector<int>& local_ranks() const override { return inner_.local_ranks(); }
    [[nodiscard]] bool shares_address_space() const override { return inner_.shares_address_space(); }
    void barrier() override { inner_.barrier(); }
    void broadcast(std::string& bytes, int root) override { inner_.broadcast(bytes, root); }
    std::vector<std::string> all_gather(const std::string& bytes) override {
        return inner_.all_gather(bytes);
    }
    std::vector<std::string> gather(const std::string& bytes, int root) override {
        return inner_.gather(bytes, root);
    }
    void send(const std::string& bytes, int to) override { inner_.send(bytes, to); }
    std::string receive(int from) override { return inner_.receive(from); }

 private:
    Bootstrap& inner_;
};

}  // namespace ringscope::bootstrap
