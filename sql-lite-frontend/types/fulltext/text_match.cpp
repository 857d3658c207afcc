#include "sql-lite-frontend/types/fulltext/text_match.h"

#include <algorithm>
#include <iterator>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

/// Positions at which a part of a phrase ends. `negated`: all positions but these.
struct Ends {
  bool is_there = false;
  bool negated = false;
  CountedVector<unsigned> places = {};
  unsigned width = 0;        ///< distance from its first word to its end
  bool is_unplaced = false;  ///< the word occurs, but without positions
};

/// Positions needed of two operands: of both, of the left only, of the right only.
struct WantedSides {
  bool both = false;
  bool left = false;
  bool right = false;
};

CountedVector<unsigned> merged(const Ends& left, unsigned left_shift, const Ends& right,
                               unsigned right_shift, WantedSides wanted) {
  MemoryAccount* const account = left.places.get_allocator().account();
  CountedVector<unsigned> places{CountedAllocator<unsigned>{account}};
  std::size_t l = 0;
  std::size_t r = 0;
  while (l < left.places.size() || r < right.places.size()) {
    yield_point(1);
    const bool has_left = l < left.places.size();
    const bool has_right = r < right.places.size();
    const unsigned at_left = has_left ? left.places[l] + left_shift : 0;
    const unsigned at_right = has_right ? right.places[r] + right_shift : 0;
    if (has_left && has_right && at_left == at_right) {
      if (wanted.both) places.push_back(at_left);
      ++l;
      ++r;
    } else if (has_left && (!has_right || at_left < at_right)) {
      if (wanted.left) places.push_back(at_left);
      ++l;
    } else {
      if (wanted.right) places.push_back(at_right);
      ++r;
    }
  }
  return places;
}

class Matching {
 public:
  Matching(const QueryTree& tree, const FindWord& find) : tree_(tree), find_(find) {}

  [[nodiscard]] bool holds(QueryPlace place) const {
    check_stack();
    yield_point(10);
    const QueryNode& node = tree_.node(place);
    switch (node.op) {
      case QueryOp::word:
        return find_(node, false).is_there;
      case QueryOp::no:
        return !holds(node.right);
      case QueryOp::both:
        return holds(node.left) && holds(node.right);
      case QueryOp::either:
        return holds(node.left) || holds(node.right);
      case QueryOp::phrase:
        return ends(place).is_there;
      case QueryOp::stop:
        break;
    }
    return false;
  }

  /// Adds the occurrences of the parts that all belong to a match. False if there is none.
  [[nodiscard]] bool add_occurrences(QueryPlace place, std::vector<Ends>& out) const {
    check_stack();
    const QueryNode& node = tree_.node(place);
    switch (node.op) {
      case QueryOp::no:
        return !holds(node.right);
      case QueryOp::both:
        return add_occurrences(node.left, out) && add_occurrences(node.right, out);
      case QueryOp::either: {
        std::vector<Ends> left;
        std::vector<Ends> right;
        const bool has_left = add_occurrences(node.left, left);
        const bool has_right = add_occurrences(node.right, right);
        if (!has_left) left.clear();
        if (!has_right) right.clear();
        if (left.empty() || right.empty()) {
          std::vector<Ends>& any = left.empty() ? right : left;
          std::ranges::move(any, std::back_inserter(out));
          return has_left || has_right;
        }
        // (a & b) | (c & d) is (a | c) & (a | d) & (b | c) & (b | d).
        constexpr std::size_t kMostPairs = 10'000;
        if (left.size() * right.size() > kMostPairs) {
          std::ranges::move(left, std::back_inserter(out));
          return true;
        }
        for (const Ends& one : left) {
          for (const Ends& other : right) out.push_back(either(one, other));
        }
        return true;
      }
      default: {
        Ends found = ends(place);
        if (!found.is_there) return false;
        if (!found.negated && !found.places.empty()) out.push_back(std::move(found));
        return true;
      }
    }
  }

 private:
  [[nodiscard]] Ends ends(QueryPlace place) const {
    check_stack();
    const QueryNode& node = tree_.node(place);
    switch (node.op) {
      case QueryOp::word: {
        WordFound found = find_(node, true);
        const bool is_unplaced = found.is_there && found.places.empty();
        return {found.is_there, false, std::move(found.places), 0, is_unplaced};
      }
      case QueryOp::no:
        return without(ends(node.right));
      case QueryOp::either:
        return either(ends(node.left), ends(node.right));
      default:
        return joined(node);
    }
  }
  static Ends without(Ends of) {
    if (!of.is_there) return {true, true, {}, 0};
    if (of.is_unplaced) return of;
    if (of.places.empty()) return {};  // all positions matched
    of.negated = !of.negated;
    return of;
  }
  static Ends of_places(CountedVector<unsigned> places, unsigned width, bool negated) {
    const bool is_there = negated || !places.empty();
    return {is_there, negated, std::move(places), width};
  }
  /// Matches a phrase, or & within a phrase, whose operands must end at the same position.
  [[nodiscard]] Ends joined(const QueryNode& node) const {
    const Ends left = ends(node.left);
    if (!left.is_there) return {};
    const Ends right = ends(node.right);
    if (!right.is_there) return {};
    if (left.is_unplaced || right.is_unplaced) return {};
    unsigned left_shift = 0;
    unsigned right_shift = 0;
    unsigned width = 0;
    if (node.op == QueryOp::phrase) {
      left_shift = node.distance + right.width;
      width = node.distance + left.width + right.width;
    } else {
      width = std::max(left.width, right.width);
      left_shift = width - left.width;
      right_shift = width - right.width;
    }
    WantedSides wanted{.both = true};
    const bool negated = left.negated && right.negated;
    if (negated) {
      wanted = {true, true, true};  // neither: all positions except those of both
    } else if (left.negated) {
      wanted = {.right = true};
    } else if (right.negated) {
      wanted = {.left = true};
    }
    return of_places(merged(left, left_shift, right, right_shift, wanted), width, negated);
  }
  static Ends either(const Ends& left, const Ends& right) {
    if (!left.is_there && !right.is_there) return {};
    if (left.is_unplaced || right.is_unplaced) return {};
    const unsigned width = std::max(left.width, right.width);
    WantedSides wanted{true, true, true};
    const bool negated = left.negated || right.negated;
    if (left.negated && right.negated) {
      wanted = {.both = true};
    } else if (left.negated) {
      wanted = {.left = true};
    } else if (right.negated) {
      wanted = {.right = true};
    }
    return of_places(merged(left, width - left.width, right, width - right.width, wanted), width,
                     negated);
  }

  const QueryTree& tree_;
  const FindWord& find_;
};

WordFound find_in(const TextVectorView& vector, const QueryNode& word, bool wants_places,
                  MemoryAccount* account) {
  const WordRange range = words_like(vector, word);
  WordFound found{.places = CountedVector<unsigned>{CountedAllocator<unsigned>{account}}};
  for (std::size_t i = range.begin; i < range.end; ++i) {
    yield_point(10);
    if (!wants_places && word.weights == 0) return {true};
    const WordPlaces places = vector.places(i);
    // A word without positions may have any weight.
    if (!wants_places && places.empty()) return {true};
    if (places.empty()) found.is_there = true;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (word.weights != 0 && (word.weights >> places[k].weight() & 1U) == 0) continue;
      if (!wants_places) return {true};
      found.is_there = true;
      found.places.push_back(places[k].place());
    }
  }
  if (range.end > range.begin + 1) {
    std::ranges::sort(found.places);
    found.places.erase(std::ranges::unique(found.places).begin(), found.places.end());
  }
  return found;
}

}  // namespace

WordRange words_like(const TextVectorView& vector, const QueryNode& word) {
  WordRange range{vector.lower_bound(word.word), 0};
  for (range.end = range.begin; range.end < vector.size(); ++range.end) {
    const std::string_view at = vector.word(range.end);
    if (word.prefix ? !at.starts_with(word.word) : at != word.word) break;
  }
  return range;
}

bool satisfies(const QueryTree& tree, QueryPlace from, const FindWord& find) {
  return Matching{tree, find}.holds(from);
}

std::vector<Occurrences> occurrences(const QueryTree& tree, QueryPlace from, const FindWord& find) {
  std::vector<Ends> found;
  if (!Matching{tree, find}.add_occurrences(from, found)) return {};
  std::vector<Occurrences> all;
  for (Ends& one : found) all.push_back({std::move(one.places), one.width});
  return all;
}

bool matches(const Value& vector, const Value& query, MemoryAccount* account) {
  const QueryTree tree = query_tree(query, account);
  const TextVectorView view{vector};
  if (!tree.root) return false;
  const FindWord find = [&](const QueryNode& word, bool wants_places) {
    return find_in(view, word, wants_places, account);
  };
  return satisfies(tree, *tree.root, find);
}

}  // namespace swizzle::sql
