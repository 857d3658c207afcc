#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/memory_account.h"

/// Parsed jsonpath: an expression over parts of a JSON value.
namespace swizzle::sql {

enum class PathOp : std::uint8_t {
  // Start of an expression.
  root,      ///< $
  current,   ///< @
  last,      ///< last index of an array, within its brackets
  variable,  ///< $name
  null,
  boolean,
  number,
  string,
  // Accessors: steps from the value before.
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
  PathPlace next = kNoPlace;  ///< the accessor after it
  PathPlace left = kNoPlace;  ///< left operand, or the only one
  PathPlace right = kNoPlace;
  /// Of a key, string, number, variable, pattern or template: its text; of a method: the precision.
  std::string text = {};
  std::string flags = {};   ///< of like_regex: its flags; of .decimal(): the scale
  bool truth = false;       ///< of a boolean literal: its value; of .datetime(): has a template
  std::uint32_t first = 0;  ///< of .**: first level
  std::uint32_t last = 0;   ///< of .**: last level
  struct Subscript {
    PathPlace from;
    PathPlace to;  ///< kNoPlace: a single subscript
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

/// Parses a path. Its nodes, many times as large as the text, are charged to the account. Throws
/// SqlError 42601, or 22P02 for an empty text.
PathTree parse_path(std::string_view text, MemoryAccount* account);
std::string print_path(const PathTree& path);
/// Returns an operator's spelling: "==", "starts with" and so on.
std::string_view path_operator(PathOp op) noexcept;
/// Translates XQuery's flags of like_regex to those of our regular expressions.
std::string path_regex_flags(std::string_view flags);
/// Returns a method's name, such as "size".
std::string_view path_method(PathOp op) noexcept;
std::optional<PathOp> path_method_named(std::string_view name) noexcept;

}  // namespace swizzle::sql
