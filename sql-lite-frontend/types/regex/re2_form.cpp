#include "sql-lite-frontend/types/regex/re2_form.h"

#include <fmt/format.h>

namespace swizzle::sql {
namespace {

using NodeKind = RegexNode::Kind;

bool is_constraint(NodeKind kind) {
  return kind >= NodeKind::line_begin && kind <= NodeKind::look_behind;
}

class Re2Writer {
 public:
  Re2Writer(const RegexTree& tree, Re2Length length) : tree_(tree), length_(length) {}

  Re2Form write() {
    node(tree_.root, Groups::kept);
    return std::move(form_);
  }

 private:
  enum class Groups : bool { kept, forgotten };

  void put(std::string_view text) {
    // References to groups with references would grow without end.
    constexpr std::size_t kLongest = std::size_t{1} << 20U;
    if (form_.text.size() + text.size() > kLongest)
      invalid_regex("regular expression is too complex");
    form_.text += text;
  }
  void put_superset(std::string_view text) {
    put(text);
    form_.is_exact = false;
  }

  void node(std::uint32_t place, Groups groups) {
    require_regex_stack();
    const RegexNode& node = tree_[place];
    // A reference need not be beside what its group was found beside.
    if (groups == Groups::forgotten && is_constraint(node.kind)) return;
    switch (node.kind) {
      case NodeKind::empty:
        return;
      case NodeKind::character:
        return append_re2_character(form_.text, tree_.options, node.character);
      case NodeKind::any:
        return put(tree_.options.newline_stops_dot ? "[^\\n]" : "(?s:.)");
      case NodeKind::set:
        return set(tree_.sets[node.number]);
      case NodeKind::line_begin:
        return put(tree_.options.newline_anchors ? "(?m:^)" : "\\A");
      case NodeKind::line_end:
        return put(tree_.options.newline_anchors ? "(?m:$)" : "\\z");
      case NodeKind::text_begin:
        return put("\\A");
      case NodeKind::text_end:
        return put("\\z");
      case NodeKind::no_word_edge:
        // RE2 finds it between the bytes of a character, too.
        return put_superset("");
      case NodeKind::word_edge:
      case NodeKind::word_begin:
      case NodeKind::word_end:
        return word_edge(node.kind);
      case NodeKind::look_ahead:
      case NodeKind::look_behind:
        return put_superset("");
      case NodeKind::reference:
        form_.is_exact = false;
        return this->node(tree_.groups[node.number - 1], Groups::forgotten);
      case NodeKind::group:
        put(groups == Groups::kept ? "(" : "(?:");
        this->node(node.parts.front(), groups);
        return put(")");
      case NodeKind::sequence:
        for (const std::uint32_t part : node.parts) this->node(part, groups);
        return;
      case NodeKind::choice:
        return choice(node, groups);
      case NodeKind::repeat:
        return repeat(node, groups);
    }
  }

  void set(const CharacterSet& set) {
    const auto text = set.re2_form(tree_.options);
    text ? put(*text) : put_superset("(?s:.)");
  }

  /// RE2 has \b alone, which both edges of a word are, and knows ASCII's letters.
  void word_edge(NodeKind kind) {
    if (tree_.options.letters != Letters::ascii) return put_superset("");
    kind == NodeKind::word_edge ? put("\\b") : put_superset("\\b");
  }

  void choice(const RegexNode& node, Groups groups) {
    put("(?:");
    for (const std::uint32_t part : node.parts) {
      if (part != node.parts.front()) put("|");
      this->node(part, groups);
    }
    put(")");
  }

  void repeat(const RegexNode& node, Groups groups) {
    put("(?:");
    this->node(node.parts.front(), groups);
    put(")");
    if (node.most != RegexNode::kUnlimited)
      put(fmt::format("{{{},{}}}", node.least, node.most));
    else if (node.least <= 1)
      put(node.least == 0 ? "*" : "+");
    else
      put(fmt::format("{{{},}}", node.least));
    if (length_ == Re2Length::shortest) put("?");
  }

  const RegexTree& tree_;
  Re2Length length_;
  Re2Form form_;
};

}  // namespace

Re2Form re2_form(const RegexTree& tree, Re2Length length) {
  return Re2Writer{tree, length}.write();
}

}  // namespace swizzle::sql
