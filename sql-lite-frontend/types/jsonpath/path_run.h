#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/jsonpath/path_tree.h"
#include "sql-lite-frontend/types/memory_account.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// A date or time that .datetime() or a similar method has read.
struct PathMoment {
  TypeId type = TypeId::none;
  Value value;
  std::string text;  ///< as JSON shows it, in its original zone
};

/// An item of a path's result: a part of the JSON value, or something computed.
struct PathItem {
  const JsonValue* json = nullptr;  ///< null: a moment
  std::optional<PathMoment> moment = {};

  [[nodiscard]] JsonKind kind() const noexcept {
    return json == nullptr ? JsonKind::string : json->kind;
  }
};
using PathItems = CountedVector<PathItem>;

/// Failure of a path on a value. Within a predicate it makes the result unknown.
struct PathFailure {
  SqlError error;
};

/// One run of a path over one value.
class PathRun {
 public:
  enum class Zones : std::uint8_t { refused, used };
  /// `variables`: a JSON object, or empty for none.
  PathRun(FunctionContext& context, const PathTree& path, std::string_view json,
          std::string_view variables, Zones zones);
  /// The same with variables that add_variable() adds.
  struct NamedVariables {};
  PathRun(FunctionContext& context, const PathTree& path, std::string_view json, NamedVariables);
  /// Adds a variable of PASSING: JSON, boolean, number, date or time; other types as text.
  void add_variable(std::string_view name, TypeId type, const Value& value);

  /// Runs the path and returns its items in `found`; after a failure, those found before it.
  enum class Failures : std::uint8_t { thrown, kept };
  struct Outcome {
    PathItems found;
    bool failed = false;
  };
  Outcome items(Failures failures);
  /// Returns true if there is an item; nothing after a failure. Lax mode stops at the first item,
  /// so failures after it do not count.
  std::optional<bool> exists(Failures failures);
  /// Appends the item in jsonb's spelling.
  void append(const PathItem& item, std::string& out) const;

 private:
  enum class Truth : std::uint8_t { no, yes, unknown };
  /// Context of a step; restored at its end.
  struct Place {
    PathItem current;
    std::int64_t array_size = -1;
    bool ignores_structure = false;
  };
  class Restore;

  [[noreturn]] static void fail(SqlState state, std::string message, std::string hint = {});
  [[nodiscard]] bool is_lax() const noexcept { return !path_.is_strict; }
  [[nodiscard]] bool ignores_structure() const noexcept { return place_.ignores_structure; }

  /// True if only one item is wanted and `found` has it.
  [[nodiscard]] bool is_enough(const PathItems& found) const noexcept {
    return &found == first_only_ && !found.empty();
  }
  /// True if the result only matters by being non-empty and this is the last step.
  [[nodiscard]] bool only_asks(const PathNode& node, const PathItems& found) const noexcept {
    return &found == first_only_ && node.next == kNoPlace;
  }
  [[nodiscard]] bool comes_to_any(PathPlace place, const PathItem& item);
  [[nodiscard]] PathItems no_items() const {
    return PathItems{CountedAllocator<PathItem>{context_.arena.account()}};
  }
  void run(PathPlace place, const PathItem& item, PathItems& found);
  void run(PathPlace place, const PathItem& item, PathItems& found, bool unwraps);
  void next(const PathNode& node, const PathItem& item, PathItems& found);
  void each_element(const PathNode& node, PathPlace place, const PathItem& array, PathItems& found);
  bool unwrap_target(PathPlace place, const PathItem& item, PathItems& found, bool unwraps);
  /// Returns the items of an operand. In lax mode (`unwraps`) an array counts as its elements.
  PathItems operand(PathPlace place, const PathItem& item, bool unwraps);
  std::optional<PathItems> operand_or_nothing(PathPlace place, const PathItem& item, bool unwraps);
  std::optional<bool> exists_or_nothing(PathPlace place, const PathItem& item);

  void run_key(const PathNode& node, PathPlace place, const PathItem& item, PathItems& found,
               bool unwraps);
  void run_any_key(const PathNode& node, PathPlace place, const PathItem& item, PathItems& found,
                   bool unwraps);
  void run_any_array(const PathNode& node, const PathItem& item, PathItems& found);
  void run_subscripts(const PathNode& node, const PathItem& item, PathItems& found);
  void run_any(const PathNode& node, const PathItem& item, PathItems& found);
  void descend(const PathNode& node, const JsonValue& json, std::uint32_t level, PathItems& found);
  void run_arithmetic(const PathNode& node, const PathItem& item, PathItems& found);
  void run_sign(const PathNode& node, const PathItem& item, PathItems& found);
  void run_method(const PathNode& node, PathPlace place, const PathItem& item, PathItems& found,
                  bool unwraps);
  void run_double(const PathNode& node, const PathItem& item, PathItems& found);
  void run_keyvalue(const PathNode& node, const PathItem& item, PathItems& found);
  // path_convert.cpp
  void run_conversion(const PathNode& node, const PathItem& item, PathItems& found);
  [[nodiscard]] Value whole_number(const PathNode& node, const PathItem& item);
  [[nodiscard]] Value decimal_number(const PathNode& node, const PathItem& item);
  [[nodiscard]] Truth truth_of(const PathNode& node, const PathItem& item);
  [[nodiscard]] std::string string_of(const PathNode& node, const PathItem& item);
  [[nodiscard]] PathMoment moment_of(const PathNode& node, const PathItem& item);
  std::int64_t subscript(PathPlace place, const PathItem& item);

  Truth truth(PathPlace place, const PathItem& item);
  Truth compared(const PathNode& node, const PathItem& item);
  Truth compare(PathOp op, const PathItem& left, const PathItem& right);
  Truth compare_moments(PathOp op, const PathMoment& left, const PathMoment& right);
  Truth starts_with(const PathItem& left, const PathItem& right) const;
  Truth is_like(const PathNode& node, const PathItem& item);
  [[nodiscard]] static Truth of_order(PathOp op, int order) noexcept;

  PathItem made(JsonValue value);
  PathItem number(const Value& value);
  PathItem text(std::string value);
  PathItem boolean(Truth truth);
  PathItem variable(std::string_view name);
  [[nodiscard]] Value number_of(const PathItem& item) const;

  FunctionContext& context_;
  const PathTree& path_;
  Zones zones_;
  JsonValue root_;
  std::optional<JsonValue> variables_;
  std::vector<std::pair<std::string, PathItem>> named_;
  bool has_named_ = false;
  std::string_view root_text_;
  std::deque<JsonValue> made_;
  std::deque<std::string> texts_;
  std::size_t made_bytes_ = 0;
  MemoryShare share_;  ///< memory of made_ and texts_
  Place place_;
  const PathItems* first_only_ = nullptr;  ///< list of which only the first item matters
  bool throws_ = true;  ///< failures are thrown to the caller, not turned into unknown
};

/// Reads a date or time in one of SQL/JSON's ISO forms; nothing if it has none of them.
std::optional<PathMoment> read_path_moment(FunctionContext& context, std::string_view text);
/// Reads by a template. Errors of the template itself are thrown as SqlError, others as
/// PathFailure.
PathMoment read_path_moment(FunctionContext& context, std::string_view text,
                            std::string_view format);

}  // namespace swizzle::sql
