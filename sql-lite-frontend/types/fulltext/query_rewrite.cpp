// ts_rewrite(): parts of a query become others.
#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"

namespace swizzle::sql {
namespace {

/// Query whose operators & and | have any number of operands, sorted by compare().
class WideQuery {
 public:
  explicit WideQuery(MemoryAccount* account)
      : account_(account), nodes_(CountedAllocator<Node>{account}) {}

  /// Adds a query; right operands come first.
  QueryPlace add(const QueryTree& tree, QueryPlace place) {
    check_stack();
    yield_point(10);
    const QueryNode& own = tree.node(place);
    Places parts = no_places();
    if (own.op != QueryOp::word) {
      take_part(tree, own, own.right, parts);
      if (own.op != QueryOp::no) take_part(tree, own, own.left, parts);
    }
    if (is_wide(own.op)) {
      std::ranges::sort(parts, [&](QueryPlace a, QueryPlace b) { return compare(a, b) < 0; });
    }
    nodes_.push_back({own, std::move(parts)});
    return last();
  }
  enum class Operands : std::uint8_t { as_they_are, sorted };
  /// Converts back to operators with two operands.
  QueryPlace add_plain(const QueryTree& tree, QueryPlace place, Operands operands) {
    check_stack();
    yield_point(10);
    const QueryNode& own = tree.node(place);
    Places parts = no_places();
    if (own.op != QueryOp::word) {
      parts.push_back(add_plain(tree, own.right, operands));
      if (own.op != QueryOp::no) parts.push_back(add_plain(tree, own.left, operands));
    }
    if (operands == Operands::sorted && is_wide(own.op) && compare(parts[0], parts[1]) > 0) {
      std::swap(parts[0], parts[1]);
    }
    nodes_.push_back({own, std::move(parts)});
    return last();
  }

  struct Substitute {
    QueryPlace whole;  ///< in place of a whole part
    QueryPlace among;  ///< among the operands that are left of one
  };
  /// `substitute`: nothing if the found parts are to be removed.
  void replace(QueryPlace target, std::optional<Substitute> substitute) {
    target_ = target;
    substitute_ = substitute;
  }
  /// Returns nothing if the part was removed.
  std::optional<QueryPlace> rewritten(QueryPlace place) {
    check_stack();
    yield_point(10);
    const auto here = replaced(place);
    if (!here || is_substitute(*here) || is_word(*here)) return here;
    Places parts = no_places();
    for (const QueryPlace part : nodes_[*here].parts) {
      const auto rest = is_substitute(part) ? std::optional{part} : rewritten(part);
      if (rest) parts.push_back(*rest);
    }
    if (parts.empty()) return std::nullopt;
    if (parts.size() == 1 && nodes_[*here].own.op != QueryOp::no) return parts.front();
    nodes_[*here].parts = std::move(parts);
    return here;
  }

  /// Appends it to a tree, with two operands each.
  QueryPlace write(QueryPlace place, QueryTree& tree) const {
    check_stack();
    yield_point(10);
    const Node& node = nodes_[place];
    QueryNode own = node.own;
    if (own.op == QueryOp::word) return tree.add(own);
    own.right = write(node.parts.front(), tree);
    if (own.op == QueryOp::no) return tree.add(own);
    // The second, then the others from the last one on.
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      own.left = write(node.parts[i == 1 ? 1 : node.parts.size() + 1 - i], tree);
      own.right = tree.add(own);
    }
    return own.right;
  }

 private:
  using Places = CountedVector<QueryPlace>;
  struct Node {
    QueryNode own;
    Places parts;
  };

  [[nodiscard]] Places no_places() const { return Places{CountedAllocator<QueryPlace>{account_}}; }
  [[nodiscard]] QueryPlace last() const noexcept {
    return static_cast<QueryPlace>(nodes_.size() - 1);
  }
  [[nodiscard]] bool is_word(QueryPlace place) const noexcept {
    return nodes_[place].own.op == QueryOp::word;
  }
  [[nodiscard]] bool is_substitute(QueryPlace place) const noexcept {
    return substitute_ && (place == substitute_->whole || place == substitute_->among);
  }
  static bool is_wide(QueryOp op) noexcept { return op == QueryOp::both || op == QueryOp::either; }

  /// An operand, or those of one with the same operator.
  void take_part(const QueryTree& tree, const QueryNode& of, QueryPlace place, Places& parts) {
    check_stack();
    const QueryNode& own = tree.node(place);
    if (!is_wide(of.op) || own.op != of.op) return parts.push_back(add(tree, place));
    take_part(tree, own, own.right, parts);
    take_part(tree, own, own.left, parts);
  }

  [[nodiscard]] int compare(QueryPlace a, QueryPlace b) const {
    check_stack();
    yield_point(20);
    const Node& left = nodes_[a];
    const Node& right = nodes_[b];
    if (is_word(a) != is_word(b)) return is_word(a) ? 1 : -1;
    if (is_word(a)) return compare_query_words(left.own, right.own);
    if (left.own.op != right.own.op) {
      return operator_rank(left.own.op) > operator_rank(right.own.op) ? -1 : 1;
    }
    if (left.parts.size() != right.parts.size()) {
      return left.parts.size() > right.parts.size() ? -1 : 1;
    }
    for (std::size_t i = 0; i < left.parts.size(); ++i) {
      if (const int order = compare(left.parts[i], right.parts[i]); order != 0) return order;
    }
    if (left.own.distance == right.own.distance) return 0;
    return left.own.distance > right.own.distance ? -1 : 1;
  }

  /// Returns the node itself unless it equals the target, or contains all of the target's operands.
  std::optional<QueryPlace> replaced(QueryPlace place) {
    const QueryOp op = nodes_[place].own.op;
    if (op != nodes_[target_].own.op) return place;
    if (nodes_[place].parts.size() <= nodes_[target_].parts.size()) {
      if (compare(place, target_) != 0) return place;
      return substitute_ ? std::optional{substitute_->whole} : std::nullopt;
    }
    Places kept = no_places();
    std::size_t matched = 0;
    const Places& wanted = nodes_[target_].parts;
    const Places& parts = nodes_[place].parts;
    for (const QueryPlace part : parts) {
      const int order = matched < wanted.size() ? compare(part, wanted[matched]) : -1;
      if (order > 0) return place;
      if (order == 0) {
        ++matched;
      } else {
        kept.push_back(part);
      }
    }
    if (matched < wanted.size()) return place;
    if (substitute_) {
      const auto behind = std::ranges::find_if(
          kept, [&](QueryPlace part) { return compare(part, substitute_->among) > 0; });
      kept.insert(behind, substitute_->among);
    }
    nodes_[place].parts = std::move(kept);
    return place;
  }

  MemoryAccount* account_;
  CountedVector<Node> nodes_;
  QueryPlace target_ = 0;
  std::optional<Substitute> substitute_;
};

}  // namespace

QueryTree rewritten_query(const QueryTree& tree, const QueryTree& target,
                          const QueryTree& substitute, MemoryAccount* account) {
  WideQuery wide{account};
  const QueryPlace root = wide.add(tree, *tree.root);
  const QueryPlace wanted = wide.add(target, *target.root);
  std::optional<WideQuery::Substitute> instead;
  if (substitute.root) {
    instead = {wide.add_plain(substitute, *substitute.root, WideQuery::Operands::as_they_are),
               wide.add_plain(substitute, *substitute.root, WideQuery::Operands::sorted)};
  }
  wide.replace(wanted, instead);
  QueryTree result{account};
  if (const auto rest = wide.rewritten(root)) result.root = wide.write(*rest, result);
  return result;
}

}  // namespace swizzle::sql
