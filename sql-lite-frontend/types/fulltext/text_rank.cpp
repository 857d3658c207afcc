// How well a text answers a query: ts_rank() and ts_rank_cd().
#include <algorithm>
#include <cmath>
#include <map>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/fulltext/text_match.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Divisors, by the method's bits.
enum Norm : unsigned {
  log_length = 1,
  length = 2,
  extent_distance = 4,
  unique = 8,
  log_unique = 16,
  plus_one = 32,
};

/// Returns the total number of occurrences of all words.
int length_of(const TextVectorView& vector) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    length += std::max<std::size_t>(vector.places(i).size(), 1);
  }
  return static_cast<int>(length);
}

/// The words of a query by their letters, each once.
std::vector<const QueryNode*> different_words(const QueryTree& tree) {
  std::vector<const QueryNode*> words;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const QueryNode& node = tree.node(static_cast<QueryPlace>(i));
    if (node.op == QueryOp::word) words.push_back(&node);
  }
  const auto letters = [](const QueryNode* node) { return node->word; };
  std::ranges::stable_sort(words, {}, letters);
  words.erase(std::ranges::unique(words, {}, letters).begin(), words.end());
  return words;
}

/// Returns the positions of a word; without any, one at the end with weight D.
std::vector<WordPlace> places_or_end(const WordPlaces& places) {
  if (places.empty()) return {WordPlace{kLastPlace - 1, 0}};
  std::vector<WordPlace> all;
  for (std::size_t i = 0; i < places.size(); ++i) all.push_back(places[i]);
  return all;
}

float by_distance(int distance) {
  if (distance > 100) return 1e-30F;
  return static_cast<float>(1.0 /
                            (1.005 + 0.05 * std::exp(static_cast<float>(distance) / 1.5 - 2)));
}

float rank_of_any(const RankWeights& weights, const TextVectorView& vector, const QueryTree& tree) {
  const auto words = different_words(tree);
  float sum = 0;
  for (const QueryNode* word : words) {
    const WordRange range = words_like(vector, *word);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto places = places_or_end(vector.places(i));
      float each = 0;
      float best = -1;
      int best_at = 0;
      for (std::size_t k = 0; k < places.size(); ++k) {
        yield_point(2);
        const float weight = weights[places[k].weight()];
        const auto nth = static_cast<float>((k + 1) * (k + 1));
        each += weight / nth;
        if (weight > best) {
          best = weight;
          best_at = static_cast<int>(k);
        }
      }
      // The sum of 1 / n² is this number at most.
      constexpr double kLimit = 1.64493406685;
      sum = static_cast<float>(
          sum + (best + each - best / static_cast<float>((best_at + 1) * (best_at + 1))) / kLimit);
    }
  }
  if (!words.empty()) sum = sum / static_cast<float>(words.size());
  return sum;
}

float rank_of_all(const RankWeights& weights, const TextVectorView& vector, const QueryTree& tree) {
  struct Met {
    bool has_places = false;
    std::vector<WordPlace> places;
  };
  const auto words = different_words(tree);
  if (words.size() < 2) return rank_of_any(weights, vector, tree);
  std::vector<Met> met(words.size());
  float result = -1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const WordRange range = words_like(vector, *words[i]);
    for (std::size_t at = range.begin; at < range.end; ++at) {
      met[i] = {!vector.places(at).empty(), places_or_end(vector.places(at))};
      for (std::size_t k = 0; k < i; ++k) {
        for (const WordPlace& own : met[i].places) {
          for (const WordPlace& other : met[k].places) {
            yield_point(30);
            int distance =
                std::abs(static_cast<int>(own.place()) - static_cast<int>(other.place()));
            if (distance == 0 && met[i].has_places && met[k].has_places) continue;
            if (distance == 0) distance = kLastPlace;
            const auto both = static_cast<float>(
                std::sqrt(weights[own.weight()] * weights[other.weight()] * by_distance(distance)));
            result = result < 0 ? both : static_cast<float>(1.0 - (1.0 - result) * (1.0 - both));
          }
        }
      }
    }
  }
  return result;
}

/// A place of the text that words of the query are at.
struct Met {
  WordPlace place;
  std::size_t word;                       ///< of the vector
  std::vector<const QueryNode*> queried;  ///< query nodes that it may match
};

/// Returns the places of the query's words in the vector; their memory is charged to `share`.
std::vector<Met> places_of(const TextVectorView& vector, const QueryTree& tree, MemoryShare& share,
                           MemoryAccount* account) {
  // Charged for each word's list and again for the merged list.
  constexpr std::size_t kBytes = 2 * (sizeof(Met) + 4 * sizeof(void*));
  std::vector<Met> all;
  for (std::size_t n = 0; n < tree.size(); ++n) {
    const QueryNode& node = tree.node(static_cast<QueryPlace>(n));
    if (node.op != QueryOp::word) continue;
    const WordRange range = words_like(vector, node);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const WordPlaces places = vector.places(i);
      for (std::size_t k = 0; k < places.size(); ++k) {
        yield_point(20);
        if (node.weights != 0 && (node.weights >> places[k].weight() & 1U) == 0) continue;
        all.push_back({places[k], i, {&node}});
      }
      share.set(account, all.size() * kBytes);
    }
  }
  std::ranges::stable_sort(all, [](const Met& left, const Met& right) {
    yield_point(10);
    if (left.place.place() != right.place.place()) {
      return left.place.place() < right.place.place();
    }
    if (left.place.weight() != right.place.weight()) {
      return left.place.weight() < right.place.weight();
    }
    return left.word < right.word;
  });
  std::vector<Met> joined;
  for (Met& one : all) {
    if (!joined.empty() && joined.back().place.place() == one.place.place() &&
        joined.back().word == one.word) {
      joined.back().queried.push_back(one.queried.front());
    } else {
      joined.push_back(std::move(one));
    }
  }
  return joined;
}

/// The shortest stretches of a text that satisfy a query, from its beginning on.
class Covers {
 public:
  Covers(std::vector<Met> met, const QueryTree& tree) : met_(std::move(met)), tree_(tree) {}
  struct Cover {
    std::size_t first;
    std::size_t last;
  };
  std::optional<Cover> next() {
    for (; from_ < met_.size(); ++from_) {
      std::optional<std::size_t> end;
      seen_.clear();
      for (std::size_t at = from_; at < met_.size(); ++at) {
        see(at);
        if (!holds()) continue;
        if (met_[at].place.place() > farthest_) {
          farthest_ = met_[at].place.place();
          end = at;
        }
        break;
      }
      farthest_ = 0;
      if (!end) return std::nullopt;
      seen_.clear();
      for (std::size_t at = *end + 1; at-- > from_;) {
        see(at);
        if (!holds()) continue;
        from_ = at + 1;
        return Cover{at, *end};
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] const Met& met(std::size_t at) const noexcept { return met_[at]; }

 private:
  void see(std::size_t at) {
    yield_point(50);
    for (const QueryNode* node : met_[at].queried) {
      yield_point(10);
      CountedVector<unsigned>& places = seen_[node];
      const unsigned place = met_[at].place.place();
      if (places.empty() || place > places.back()) {
        places.push_back(place);
      } else if (place < places.front()) {
        places.insert(places.begin(), place);
      }
    }
  }
  [[nodiscard]] bool holds() const {
    const FindWord find = [this](const QueryNode& word, bool wants_places) {
      const auto found = seen_.find(&word);
      if (found == seen_.end()) return WordFound{};
      return wants_places ? WordFound{true, found->second} : WordFound{true};
    };
    return satisfies(tree_, *tree_.root, find);
  }

  std::vector<Met> met_;
  const QueryTree& tree_;
  std::map<const QueryNode*, CountedVector<unsigned>> seen_;
  std::size_t from_ = 0;
  unsigned farthest_ = 0;
};

}  // namespace

float rank(const RankWeights& weights, const Value& vector, const Value& query, int method,
           MemoryAccount* account) {
  const TextVectorView view{vector};
  const QueryTree tree = query_tree(query, account);
  if (view.size() == 0 || !tree.root) return 0;
  const QueryOp top = tree.node(*tree.root).op;
  const bool wants_all = top == QueryOp::both || top == QueryOp::phrase;
  float result = wants_all ? rank_of_all(weights, view, tree) : rank_of_any(weights, view, tree);
  if (result < 0) result = 1e-20F;
  const auto norm = static_cast<unsigned>(method);
  const auto divide = [&](double by) { result = static_cast<float>(result / by); };
  const auto size = static_cast<double>(view.size());
  if ((norm & Norm::log_length) != 0) {
    divide(std::log(static_cast<double>(length_of(view) + 1)) / std::log(2.0));
  }
  if ((norm & Norm::length) != 0 && length_of(view) > 0) {
    result /= static_cast<float>(length_of(view));
  }
  if ((norm & Norm::unique) != 0) result /= static_cast<float>(view.size());
  if ((norm & Norm::log_unique) != 0) divide(std::log(size + 1) / std::log(2.0));
  if ((norm & Norm::plus_one) != 0) result /= result + 1;
  return result;
}

float rank_by_cover(const RankWeights& weights, const Value& vector, const Value& query, int method,
                    MemoryAccount* account) {
  const TextVectorView view{vector};
  const QueryTree tree = query_tree(query, account);
  if (view.size() == 0 || !tree.root) return 0;
  MemoryShare share;
  Covers covers{places_of(view, tree, share, account), tree};
  double result = 0;
  double distances = 0;
  double before = 0;
  int count = 0;
  while (const auto cover = covers.next()) {
    double inverted = 0;
    for (std::size_t at = cover->first; at <= cover->last; ++at) {
      inverted += 1.0 / static_cast<double>(weights[covers.met(at).place.weight()]);
    }
    const auto words = static_cast<int>(cover->last - cover->first);
    const auto first = static_cast<int>(covers.met(cover->first).place.place());
    const auto last = static_cast<int>(covers.met(cover->last).place.place());
    int noise = last - first - words;
    if (noise < 0) noise = words / 2;
    result += (words + 1) / inverted / (1 + noise);
    const double middle = (last + first) / 2.0;
    if (count > 0 && middle > before) distances += 1.0 / (middle - before);
    before = middle;
    ++count;
  }
  const auto norm = static_cast<unsigned>(method);
  const auto size = static_cast<double>(view.size());
  if ((norm & Norm::log_length) != 0) {
    result /= std::log(static_cast<double>(length_of(view) + 1));
  }
  if ((norm & Norm::length) != 0 && length_of(view) > 0) result /= length_of(view);
  if ((norm & Norm::extent_distance) != 0 && count > 0 && distances > 0) {
    result /= count / distances;
  }
  if ((norm & Norm::unique) != 0) result /= size;
  if ((norm & Norm::log_unique) != 0) result /= std::log(size + 1) / std::log(2.0);
  if ((norm & Norm::plus_one) != 0) result /= result + 1;
  return static_cast<float>(result);
}

}  // namespace swizzle::sql
