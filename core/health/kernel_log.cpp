// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "health/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <mutex>

#include "health/pci.hpp"

namespace ringscope::health {
namespace {

constexpr const char* log_path = "/dev/kmsg";

/// Without "6,1234,5678901,-;".
std::string_view message_in(std::string_view line) {
    const std::size_t end = line.find(';');
    const bool header = end != std::string_view::npos && !line.empty() && line[0] >= '0' && line[0] <= '9' &&
                        line.substr(0, end).find(' ') == std::string_view::npos;
    return header ? line.substr(end + 1) : line;
}

/// "NVRM: Xid (PCI:0000:3b:00): 79, pid=..., GPU has fallen off the bus."; older drivers leave "PCI:" out.
std::optional<KernelMessage> xid_in(std::string_view text) {
    constexpr std::string_view mark = "NVRM: Xid (";
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = text.substr(at + mark.size());
    if (rest.starts_with("PCI:")) rest.remove_prefix(4);
    const std::size_t close = rest.find("): ");
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view digits = rest.substr(close + 3);
    int number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{})
        return std::nullopt;
    return KernelMessage{
        KernelMessage::Kind::xid, pci_address(rest.substr(0, close)), number, "", std::string{text}};
}

std::string severity_in(std::string_view text) {
    if (text.find("severity=Corrected") != std::string_view::npos ||
        text.find("severity=Correctable") != std::string_view::npos)
        return "corrected";
    const bool fatal = text.find("severity=Uncorrected (Fatal)") != std::string_view::npos ||
                       text.find("severity=Uncorrectable (Fatal)") != std::string_view::npos;
    return fatal ? "fatal" : "nonfatal";
}

/// "pcieport 0000:3a:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)": the line
/// that names the device which saw the error; others of the same event do not count.
std::optional<KernelMessage> aer_in(std::string_view text) {
    const std::size_t at = text.find(": PCIe Bus Error: severity=");
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view before = text.substr(0, at);
    const std::string_view address = before.substr(before.rfind(' ') + 1);
    if (address.find(':') == std::string_view::npos) return std::nullopt;
    return KernelMessage{
        KernelMessage::Kind::aer, pci_address(address), 0, severity_in(text), std::string{text}};
}

/// The machine's log, followed from its oldest record. Reads return one record each.
class Follower {
 public:
    Follower() : descriptor_{open(log_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)} {}
    ~Follower() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    std::optional<std::vector<KernelMessage>> messages() {
        const std::lock_guard lock{mutex_};
        if (descriptor_ < 0) return std::nullopt;
        std::array<char, 8192> record{};
        for (;;) {
            const ssize_t got = read(descriptor_, record.data(), record.size());
            // Records that were overwritten before they were read are said by EPIPE, once.
            if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
            if (got <= 0) break;
            add({record.data(), static_cast<std::size_t>(got)});
        }
        return messages_;
    }

 private:
    void add(std::string_view record) {
        if (auto message = parse_kernel_line(record.substr(0, record.find('\n'))))
            messages_.push_back(std::move(*message));
    }

    std::mutex mutex_;
    int descriptor_;
    std::vector<KernelMessage> messages_;
};

std::optional<std::vector<KernelMessage>> read_machine() {
    static Follower follower;
    return follower.messages();
}

std::optional<std::vector<KernelMessage>> read_plain(const Sources& sources) {
    std::ifstream stream{place_of(sources, log_path)};
    if (!stream) return std::nullopt;
    std::vector<KernelMessage> messages;
    for (std::string line; std::getline(stream, line);) {
        if (auto message = parse_kernel_line(line)) messages.push_back(std::move(*message));
    }
    return messages;
}

void record(Recording& recording, const std::vector<KernelMessage>& messages) {
    std::string text;
    for (const KernelMessage& message : messages) text += message.text + "\n";
    recording.keep(log_path, text);
}

}  // namespace

std::optional<KernelMessage> parse_kernel_line(std::string_view line) {
    const std::string_view text = message_in(line);
    auto message = xid_in(text);
    return message ? message : aer_in(text);
}

std::optional<std::vector<KernelMessage>> read_kernel_log(const Sources& sources) {
    auto messages = sources.is_machine() ? read_machine() : read_plain(sources);
    if (messages && sources.recording) record(*sources.recording, *messages);
    return messages;
}

}  // namespace ringscope::health
