#include <algorithm>
#include <bitset>
#include <vector>

#include "sql-lite-frontend/types/regex/re2_form.h"

namespace swizzle::sql {
namespace {

using NodeKind = RegexNode::Kind;

constexpr std::size_t kAscii = 128;
constexpr std::size_t kMostPlaces = 256;
/// ASCII's characters, and one bit for all others.
using Characters = std::bitset<kAscii + 1>;
using Places = std::bitset<kMostPlaces>;

/// Finds out if each character of a text has one place in the expression that it can be of. Places
/// are the expression's characters and sets; each has a set of those that may come next.
class Determination {
 public:
  explicit Determination(const RegexTree& tree) : tree_(tree) {}

  bool is_determined() {
    const Ends whole = visit(tree_.root);
    if (!is_sure_ || !are_distinct(whole.first)) return false;
    for (const Places& next : next_)
      if (!are_distinct(next)) return false;
    return true;
  }

 private:
  struct Ends {
    Places first{}, last{};
    bool may_be_empty = true;
  };

  /// Gives up: the answer is no.
  Ends unsure() {
    is_sure_ = false;
    return {};
  }

  Ends visit(std::uint32_t place) {
    require_regex_stack();
    const RegexNode& node = tree_[place];
    switch (node.kind) {
      case NodeKind::character:
      case NodeKind::any:
      case NodeKind::set:
        return leaf(node);
      case NodeKind::look_ahead:
      case NodeKind::look_behind:
      case NodeKind::reference:
        return unsure();
      case NodeKind::group:
      case NodeKind::sequence:
        return sequence(node);
      case NodeKind::choice:
        return choice(node);
      case NodeKind::repeat:
        return repeat(node);
      default:
        return {};
    }
  }

  Ends leaf(const RegexNode& node) {
    if (of_place_.size() == kMostPlaces) return unsure();
    Ends ends{.may_be_empty = false};
    ends.first.set(of_place_.size());
    ends.last = ends.first;
    of_place_.push_back(characters_of(node));
    next_.emplace_back();
    return ends;
  }

  Characters characters_of(const RegexNode& node) const {
    Characters found;
    // Which of the others a place takes is not looked at: two places that do are not distinct.
    found.set(kAscii, takes_others(node));
    for (char32_t c = 0; c < kAscii; ++c) found.set(c, takes(node, c));
    return found;
  }

  [[nodiscard]] bool takes_others(const RegexNode& node) const {
    // The Kelvin sign is a k.
    if (tree_.options.ignore_case && !tree_.options.ascii_case) return true;
    if (node.kind == NodeKind::character) return node.character >= kAscii;
    if (node.kind == NodeKind::any) return true;
    const CharacterSet& set = tree_.sets[node.number];
    const auto is_beyond = [](const auto& range) { return range.second >= kAscii; };
    const auto has_others = [this](const CharacterSet::Member& member) {
      return member.is_complement || tree_.options.letters != Letters::ascii;
    };
    return set.is_complement || std::ranges::any_of(set.ranges, is_beyond) ||
           std::ranges::any_of(set.classes, has_others);
  }

  [[nodiscard]] bool takes(const RegexNode& node, char32_t c) const {
    switch (node.kind) {
      case NodeKind::character:
        return same_character(tree_.options, node.character, c);
      case NodeKind::set:
        return tree_.sets[node.number].contains(tree_.options, c);
      default:
        return true;
    }
  }

  void follow(const Places& last, const Places& first) {
    for (std::size_t place = 0; place < next_.size(); ++place) {
      if (!last.test(place)) continue;
      // Two ways from one place to another, as by repeats within repeats.
      if ((next_[place] & first).any()) is_sure_ = false;
      next_[place] |= first;
    }
  }

  Ends sequence(const RegexNode& node) {
    Ends all;
    for (const std::uint32_t part : node.parts) {
      const Ends ends = visit(part);
      follow(all.last, ends.first);
      if (all.may_be_empty) all.first |= ends.first;
      all.last = ends.may_be_empty ? all.last | ends.last : ends.last;
      all.may_be_empty &= ends.may_be_empty;
    }
    return all;
  }

  Ends choice(const RegexNode& node) {
    Ends all{.may_be_empty = false};
    for (const std::uint32_t part : node.parts) {
      const Ends ends = visit(part);
      // Two ways to match nothing differ in the groups that they set.
      if (all.may_be_empty && ends.may_be_empty) return unsure();
      all.first |= ends.first;
      all.last |= ends.last;
      all.may_be_empty |= ends.may_be_empty;
    }
    return all;
  }

  Ends repeat(const RegexNode& node) {
    const std::uint32_t part = node.parts.front();
    Ends ends = visit(part);
    const bool has_groups = tree_[part].traits.has_groups;
    if (has_groups && ends.may_be_empty) return unsure();
    if (node.most > 1) {
      // RE2 keeps the group of an earlier repetition that the last one does not set.
      if (has_groups && may_skip_groups(part)) return unsure();
      follow(ends.last, ends.first);
    }
    ends.may_be_empty |= node.least == 0;
    return ends;
  }

  /// True if a match of the part need not set all of its groups.
  [[nodiscard]] bool may_skip_groups(std::uint32_t place) const {
    require_regex_stack();
    const RegexNode& node = tree_[place];
    if (!node.traits.has_groups) return false;
    if (node.kind == NodeKind::choice || (node.kind == NodeKind::repeat && node.least == 0))
      return true;
    for (const std::uint32_t part : node.parts)
      if (may_skip_groups(part)) return true;
    return false;
  }

  [[nodiscard]] bool are_distinct(const Places& places) const {
    Characters taken;
    for (std::size_t place = 0; place < of_place_.size(); ++place) {
      if (!places.test(place)) continue;
      if ((taken & of_place_[place]).any()) return false;
      taken |= of_place_[place];
    }
    return true;
  }

  const RegexTree& tree_;
  std::vector<Characters> of_place_;
  std::vector<Places> next_;
  bool is_sure_ = true;
};

}  // namespace

bool determines_groups(const RegexTree& tree) {
  return tree.groups.empty() || Determination{tree}.is_determined();
}

}  // namespace swizzle::sql
