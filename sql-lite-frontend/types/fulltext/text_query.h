#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/memory_account.h"

/// tsquery: which words a text is to have, and where.
namespace swizzle::sql {

inline constexpr std::uint32_t kMostDistance = 16384;

enum class QueryOp : std::uint8_t {
  word,
  stop,    ///< a word that says nothing; none is in a value
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
  std::string_view word = {};  ///< lies in the value, or in an arena
};

/// A query as a tree. Without a root it asks for nothing.
class QueryTree {
 public:
  explicit QueryTree(MemoryAccount* account) : nodes_(CountedAllocator<QueryNode>{account}) {}

  QueryPlace add(const QueryNode& node) {
    nodes_.push_back(node);
    return static_cast<QueryPlace>(nodes_.size() - 1);
  }
  /// The nodes of another tree, which has a root, become its own: where the other's root is.
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

/// Makes a value of the root and the nodes below it; others are left out.
Value make_text_query(Arena& arena, const QueryTree& tree);
/// Words refer to the value. Throws SqlError XX001 on malformed bytes.
QueryTree query_tree(const Value& value, MemoryAccount* account);
/// Returns the number of nodes of a value.
std::size_t query_size(const Value& value);
/// The checksum by which PostgreSQL compares words before their letters, and its form's bytes.
std::int32_t query_checksum(std::string_view word);
std::size_t query_reference_bytes(const QueryTree& tree);
int compare_text_queries(const Value& left, const Value& right);

void print_text_query(const Value& value, std::string& out);
void print_query_tree(const QueryTree& tree, QueryPlace from, std::string& out);
Value receive_text_query(Arena& arena, Bytes bytes);
void send_text_query(const Value& value, std::string& out);

/// Reads `text`. Each word goes to `words`, which returns the nodes that replace it in the tree.
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
/// Reads a query as websearch_to_tsquery() does; nothing is a syntax error there.
QueryTree read_web_query(std::string_view text, QueryWords& words, MemoryAccount* account);
/// Words as they are.
Value read_text_query(Arena& arena, std::string_view text);

/// Returns `tree` with `substitute` in place of parts that equal `target`, as ts_rewrite() has it:
/// operands of & and | have no order, nor weights a meaning. Pre: both have a root.
QueryTree rewritten_query(const QueryTree& tree, const QueryTree& target,
                          const QueryTree& substitute, MemoryAccount* account);
/// Compares the letters, but first the checksums. Pre: both are words.
int compare_query_words(const QueryNode& left, const QueryNode& right);
/// The order of operators among each other.
int operator_rank(QueryOp op) noexcept;

/// Removes stop words; their neighbours in a phrase keep their distance.
void remove_stop_words(QueryTree& tree);

}  // namespace swizzle::sql
