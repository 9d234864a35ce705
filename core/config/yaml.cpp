// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace ringscope::config {
namespace {

constexpr std::size_t deepest = 16;
constexpr std::size_t longest_text = 1024;
constexpr std::size_t longest_list = 4096;

/// Whether command-line values are read: their lines and columns mean nothing to anybody.
enum class Places { lines, source_only };

Mark mark_at(std::string_view text, std::size_t offset, const std::string& source) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {source, static_cast<int>(line), static_cast<int>(offset - line_start) + 1};
}

/// Bytes of the UTF-8 sequence at the start of the text; 0 where there is none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    const bool too_large = first == 0xf4 && byte(1) > 0x8f;
    return overlong || surrogate || too_large ? 0 : length;
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
}

void check_bytes(std::string_view text, const std::string& source, std::size_t limit) {
    if (text.size() > limit) {
        fail(
            {source},
            "has " + std::to_string(text.size()) + " bytes, and the limit is " + std::to_string(limit)
        );
    }
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text.substr(i));
        if (length == 0) fail(mark_at(text, i, source), "is not UTF-8");
        if (is_control(text[i])) fail(mark_at(text, i, source), "control character (is this a YAML file?)");
        i += length;
    }
}

/// Builds the tree from the parser's events, and refuses what is not allowed as soon as it is met.
class TreeBuilder : public YAML::EventHandler {
 public:
    TreeBuilder(std::string source, Places places) : source_{std::move(source)}, places_{places} {}

    [[nodiscard]] std::optional<Node> take_root() { return std::exchange(root_, std::nullopt); }

    [[nodiscard]] Mark place(const YAML::Mark& mark) const {
        if (places_ == Places::source_only || mark.is_null()) return {source_};
        return {source_, mark.line + 1, mark.column + 1};
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (root_) fail(place(mark), "a second document begins here: one file holds one experiment");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check_plain(mark, "", anchor);
        add(make_null(place(mark)));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail(place(mark), "aliases (`*name`) are not allowed: write the value out");
    }

    void OnScalar(
        const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value
    ) override {
        const bool quoted = tag == "!";
        check_plain(mark, quoted ? "" : tag, anchor);
        if (value.size() > longest_text) fail(place(mark), "a text of more than 1024 bytes");
        if (std::ranges::any_of(value, is_control)) fail(place(mark), "control character in a text");
        add(quoted ? make_text(value, place(mark)) : make_plain(value, place(mark)));
    }

    void OnSequenceStart(
        const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value
    ) override {
        open(mark, tag, anchor, make_list({}, place(mark)));
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(
        const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value
    ) override {
        open(mark, tag, anchor, make_map({}, place(mark)));
    }
    void OnMapEnd() override { close(); }

 private:
    struct Open {
        Node node;
        std::optional<Entry> key;  ///< of a map: read, its value still to come
    };

    void check_plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
        if (anchor != YAML::NullAnchor)
            fail(place(mark), "anchors (`&name`) are not allowed: write the value out");
        if (!tag.empty() && tag != "?") fail(place(mark), "tags (`!name`) are not allowed: remove it");
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node node) {
        check_plain(mark, tag, anchor);
        if (open_.size() == deepest) fail(place(mark), "nested deeper than 16 levels");
        open_.push_back({std::move(node), std::nullopt});
    }

    void close() {
        Node node = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(node));
    }

    void add(Node node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else if (open_.back().node.kind == Kind::list) {
            add_to_list(open_.back().node, std::move(node));
        } else {
            add_to_map(open_.back(), std::move(node));
        }
    }

    static void add_to_list(Node& list, Node item) {
        if (list.items.size() == longest_list) fail(item.mark, "a list of more than 4096 items");
        list.items.push_back(std::move(item));
    }

    static void add_to_map(Open& map, Node node) {
        if (!map.key) {
            map.key = make_key(map.node, std::move(node));
            return;
        }
        Entry entry = *std::exchange(map.key, std::nullopt);
        if (node.kind == Kind::null)
            node.mark = entry.mark;  // the parser finds a missing value where the next key is
        entry.value = std::move(node);
        map.node.entries.push_back(std::move(entry));
    }

    static Entry make_key(const Node& map, Node node) {
        const bool word = node.kind != Kind::list && node.kind != Kind::map && node.kind != Kind::null;
        if (!word) fail(node.mark, "a key must be a word");
        if (node.text == "<<") fail(node.mark, "merge keys (`<<`) are not allowed: write the keys out");
        if (map.entries.size() == longest_list) fail(node.mark, "a map of more than 4096 keys");
        if (map.find(node.text)) fail(node.mark, "duplicate key `" + node.text + "`");
        return {std::move(node.text), std::move(node.mark), {}};
    }

    std::string source_;
    Places places_;
    std::vector<Open> open_;
    std::optional<Node> root_;
};

/// The first document, having seen that there is no second one.
std::optional<Node> parse_single(std::string_view text, const std::string& source, Places places) {
    TreeBuilder builder{source, places};
    try {
        std::istringstream stream{std::string{text}};
        YAML::Parser parser{stream};
        while (parser.HandleNextDocument(builder)) continue;
    } catch (const YAML::Exception& error) {
        fail(builder.place(error.mark), error.msg);
    }
    return builder.take_root();
}

/// Whether every reader of YAML takes the text for a text without quotes: words, paths, and durations such as
/// 10s.
bool is_bare(std::string_view text) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_inner = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c == '-';
    };
    const bool begins_well = text.starts_with('/') || (!text.empty() && is_letter(text[0]));
    return (begins_well || parse_duration_ns(text)) && std::ranges::all_of(text, is_inner);
}

bool is_word_of_yaml(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? char(c + 32) : c;
    });
    // The words of YAML 1.1 are here for the sake of other readers.
    return text == "true" || text == "false" || text == "null" || text == "yes" || text == "no" ||
           text == "on" || text == "off" || text == "y" || text == "n";
}

std::string escaped(char c) {
    if (c == '"') return "\\\"";
    if (c == '\\') return "\\\\";
    if (c == '\n') return "\\n";
    if (c == '\t') return "\\t";
    if (c == '\r') return "\\r";
    return {c};
}

std::string write_flow(const Node& node);

std::string write_flow_list(const Node& list) {
    std::string text;
    for (const Node& item : list.items) text += (text.empty() ? "" : ", ") + write_flow(item);
    return "[" + text + "]";
}

std::string write_flow_map(const Node& map) {
    std::string text;
    for (const Entry& entry : map.entries) {
        text += (text.empty() ? "" : ", ") + write_text(entry.key) + ": " + write_flow(entry.value);
    }
    return "{" + text + "}";
}

std::string write_flow(const Node& node) {
    if (node.kind == Kind::list) return write_flow_list(node);
    if (node.kind == Kind::map) return write_flow_map(node);
    return node.kind == Kind::text ? write_text(node.text) : node.text;
}

std::string write_entry(const Entry& entry) {
    return write_text(entry.key) + ": " + write_flow(entry.value) + "\n";
}

std::string write_section(const Entry& section) {
    const Node& value = section.value;
    if (value.kind != Kind::map || value.entries.empty()) return write_entry(section);
    std::string text = write_text(section.key) + ":\n";
    for (const Entry& entry : value.entries) text += "  " + write_entry(entry);
    return text;
}

}  // namespace

Node parse_yaml(std::string_view text, const std::string& source, std::size_t limit) {
    check_bytes(text, source, limit);
    auto root = parse_single(text, source, Places::lines);
    if (!root) fail({source, 1, 1}, "is empty: an experiment begins with `version: 1`");
    return *std::move(root);
}

Node parse_yaml_value(std::string_view text, const std::string& source) {
    check_bytes(text, source, file_limit);
    return parse_single(text, source, Places::source_only).value_or(make_null({source}));
}

std::string write_yaml(const Node& root) {
    std::string text;
    for (const Entry& section : root.entries) text += write_section(section);
    return text;
}

std::string write_text(std::string_view text) {
    if (is_bare(text) && !is_word_of_yaml(std::string{text})) return std::string{text};
    std::string quoted = "\"";
    for (const char c : text) quoted += escaped(c);
    return quoted + "\"";
}

}  // namespace ringscope::config
