// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "bootstrap/bootstrap.hpp"
#include "mpi/mpi.hpp"

namespace ringscope::bootstrap {
namespace {

std::string boot_id() {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string id;
    std::getline(file, id);
    return id;
}

class MpiBootstrap final : public Bootstrap {
 public:
    MpiBootstrap() : rank_{mpi::rank()}, size_{mpi::size()} { find_local_ranks(); }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] const std::vector<int>& local_ranks() const override { return local_ranks_; }
    [[nodiscard]] bool shares_address_space() const override { return false; }

    void barrier() override { mpi::barrier(); }
    void broadcast(std::string& bytes, int root) override { mpi::broadcast(bytes, root); }
    std::vector<std::string> all_gather(const std::string& bytes) override { return mpi::all_gather(bytes); }
    std::vector<std::string> gather(const std::string& bytes, int root) override {
        return mpi::gather(bytes, root);
    }
    void send(const std::string& bytes, int to) override { mpi::send(bytes, to); }
    std::string receive(int from) override { return mpi::receive(from); }

 private:
    /// MPI's word and the kernel's must agree: a launcher may take two containers, or two hosts, for one.
    void find_local_ranks() {
        const std::vector<std::string> boots = mpi::all_gather(boot_id());
        for (const int other : mpi::ranks_sharing_memory()) {
            if (boots[static_cast<std::size_t>(other)] == boots[static_cast<std::size_t>(rank_)]) {
                local_ranks_.push_back(other);
            }
        }
    }

    int rank_, size_;
    std::vector<int> local_ranks_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_mpi_bootstrap() {
    return std::make_unique<MpiBootstrap>();
}

}  // namespace ringscope::bootstrap
