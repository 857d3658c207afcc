#pragma once

#include <array>
#include <functional>
#include <vector>

#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"

namespace swizzle::sql {

/// Positions of a query's word in the searched value.
struct WordFound {
  bool is_there = false;
  /// Ascending; empty if unknown.
  CountedVector<unsigned> places = {};
};
/// `wants_places`: the positions are needed; the word's presence alone is not enough.
using FindWord = std::function<WordFound(const QueryNode& word, bool wants_places)>;

/// True if the words that `find` returns satisfy the query below `from`.
bool satisfies(const QueryTree& tree, QueryPlace from, const FindWord& find);
/// Occurrences of a part of a query: the positions at which they end, ascending, and the distance
/// of each from its first word to its end.
struct Occurrences {
  CountedVector<unsigned> ends;
  unsigned width = 0;
};
/// Returns the occurrences of the parts that all belong to a match of the query below `from`: one
/// list for each operand of &, and for | one for each pair of the two sides' lists. Empty if it
/// does not match, or by what is absent alone.
std::vector<Occurrences> occurrences(const QueryTree& tree, QueryPlace from, const FindWord& find);
/// tsvector @@ tsquery.
bool matches(const Value& vector, const Value& query, MemoryAccount* account);
/// Range of the words of a vector that match a word of a query.
struct WordRange {
  std::size_t begin;
  std::size_t end;
};
WordRange words_like(const TextVectorView& vector, const QueryNode& word);

/// Weights of D, C, B and A for ts_rank() and ts_rank_cd().
using RankWeights = std::array<float, 4>;
inline constexpr RankWeights kUsualWeights{0.1F, 0.2F, 0.4F, 1.0F};
float rank(const RankWeights& weights, const Value& vector, const Value& query, int method,
           MemoryAccount* account);
float rank_by_cover(const RankWeights& weights, const Value& vector, const Value& query, int method,
                    MemoryAccount* account);

}  // namespace swizzle::sql
