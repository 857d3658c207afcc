#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/memory_account.h"

/// jsonpath: an expression over parts of a JSON value.
namespace swizzle::sql {

enum class PathOp : std::uint8_t {
  // Where an expression begins.
  root,      ///< $
  current,   ///< @
  last,      ///< of an array, in its brackets
  variable,  ///< $name
  null,
  boolean,
  number,
  string,
  // Steps from the value before.
  key,
  any_key,    ///< .*
  any_array,  ///< [*]
  subscripts,
  any,  ///< .**
  filter,
  type,
  size,
  abs,
  floor,
  ceiling,
  double_,
  datetime,
  keyvalue,
  to_bigint,
  to_boolean,
  to_date,
  to_decimal,
  to_integer,
  to_number,
  to_string,
  to_time,
  to_time_tz,
  to_timestamp,
  to_timestamp_tz,
  // Operators.
  plus,
  minus,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  // Predicates.
  logical_and,
  logical_or,
  logical_not,
  is_unknown,
  exists,
  equal,
  not_equal,
  less,
  greater,
  less_or_equal,
  greater_or_equal,
  starts_with,
  like_regex,
};

using PathPlace = std::uint32_t;
inline constexpr PathPlace kNoPlace = UINT32_MAX;
inline constexpr std::uint32_t kLastLevel = UINT32_MAX;

struct PathNode {
  PathOp op = PathOp::root;
  PathPlace next = kNoPlace;  ///< the step behind it
  PathPlace left = kNoPlace;  ///< an operator's, or its only one
  PathPlace right = kNoPlace;
  /// Of a key, string, number, variable, pattern, template; a method's precision.
  std::string text = {};
  std::string flags = {};   ///< of like_regex; the scale of .decimal()
  bool truth = false;       ///< of a boolean
  std::uint32_t first = 0;  ///< of .**: from which level on
  std::uint32_t last = 0;   ///< and to which
  struct Subscript {
    PathPlace from;
    PathPlace to;  ///< kNoPlace: one alone
  };
  std::vector<Subscript> list = {};
};

struct PathTree {
  explicit PathTree(MemoryAccount* account) : nodes{CountedAllocator<PathNode>{account}} {}

  bool is_strict = false;
  PathPlace root = kNoPlace;
  CountedVector<PathNode> nodes;

  [[nodiscard]] const PathNode& at(PathPlace place) const noexcept { return nodes[place]; }
};

/// Throws SqlError 42601 and its like, 22P02 for nothing.
/// Its nodes, many times as much as the text, count in the account.
PathTree parse_path(std::string_view text, MemoryAccount* account);
std::string print_path(const PathTree& path);
/// "==", "starts with" …
std::string_view path_operator(PathOp op) noexcept;
/// XQuery's flags of like_regex as our regular expressions take them.
std::string path_regex_flags(std::string_view flags);
/// "size": of a method.
std::string_view path_method(PathOp op) noexcept;
std::optional<PathOp> path_method_named(std::string_view name) noexcept;

}  // namespace swizzle::sql
