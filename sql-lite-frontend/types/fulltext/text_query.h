#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/memory_account.h"

/// tsquery: conditions on the words of a text and their positions.
namespace swizzle::sql {

inline constexpr std::uint32_t kMostDistance = 16384;

enum class QueryOp : std::uint8_t {
  word,
  stop,    ///< a stop word; never stored in a value
  no,      ///< !right
  both,    ///< left & right
  either,  ///< left | right
  phrase,  ///< left <distance> right
};

using QueryPlace = std::uint32_t;

struct QueryNode {
  QueryOp op = QueryOp::word;
  std::uint8_t weights = 0;  ///< of a word: a bit for each that it may have; none: any
  bool prefix = false;       ///< of a word: any that begins so
  std::uint16_t distance = 0;
  QueryPlace left = 0;
  QueryPlace right = 0;
  std::string_view word = {};  ///< points into the value or into an arena
};

/// A query as a tree. Without a root it is the empty query.
class QueryTree {
 public:
  explicit QueryTree(MemoryAccount* account) : nodes_(CountedAllocator<QueryNode>{account}) {}

  QueryPlace add(const QueryNode& node) {
    nodes_.push_back(node);
    return static_cast<QueryPlace>(nodes_.size() - 1);
  }
  /// Copies the nodes of another tree, which has a root, into this one; returns the copied root's
  /// place.
  QueryPlace adopt(const QueryTree& other);
  QueryPlace join(QueryOp op, QueryPlace left, QueryPlace right, std::uint16_t distance = 0) {
    return add({.op = op, .distance = distance, .left = left, .right = right});
  }
  [[nodiscard]] const QueryNode& node(QueryPlace place) const noexcept { return nodes_[place]; }
  [[nodiscard]] QueryNode& node(QueryPlace place) noexcept { return nodes_[place]; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

  std::optional<QueryPlace> root;

 private:
  CountedVector<QueryNode> nodes_;
};

/// Encodes the root and the nodes below it; ignores other nodes.
Value make_text_query(Arena& arena, const QueryTree& tree);
/// Decodes a value; the words refer to it. Throws SqlError XX001 if it is malformed.
QueryTree query_tree(const Value& value, MemoryAccount* account);
/// Returns the number of nodes of a value.
std::size_t query_size(const Value& value);
/// Checksum and size by which PostgreSQL orders words before it compares their letters.
std::int32_t query_checksum(std::string_view word);
std::size_t query_reference_bytes(const QueryTree& tree);
int compare_text_queries(const Value& left, const Value& right);

void print_text_query(const Value& value, std::string& out);
void print_query_tree(const QueryTree& tree, QueryPlace from, std::string& out);
Value receive_text_query(Arena& arena, Bytes bytes);
void send_text_query(const Value& value, std::string& out);

/// Parses `text`. Passes each word to `words`, which returns the nodes to insert for it.
class QueryWords {
 public:
  QueryWords() = default;
  QueryWords(const QueryWords&) = delete;
  QueryWords& operator=(const QueryWords&) = delete;
  virtual ~QueryWords() = default;
  virtual QueryPlace take(QueryTree& tree, std::string_view word, std::uint8_t weights,
                          bool prefix) = 0;
};
QueryTree read_query(std::string_view text, QueryWords& words, MemoryAccount* account);
/// Parses a query as websearch_to_tsquery() does, which has no syntax errors.
QueryTree read_web_query(std::string_view text, QueryWords& words, MemoryAccount* account);
/// Parses a tsquery without normalizing its words.
Value read_text_query(Arena& arena, std::string_view text);

/// ts_rewrite(): returns `tree` with parts equal to `target` replaced by `substitute`. Operands of
/// & and | may be in any order, and weights are ignored. Pre: both have a root.
QueryTree rewritten_query(const QueryTree& tree, const QueryTree& target,
                          const QueryTree& substitute, MemoryAccount* account);
/// Compares checksums first, then letters. Pre: both are words.
int compare_query_words(const QueryNode& left, const QueryNode& right);
/// Rank of an operator in the sort order of queries.
int operator_rank(QueryOp op) noexcept;

/// Removes stop words; the other words of a phrase keep their distances.
void remove_stop_words(QueryTree& tree);

}  // namespace swizzle::sql
