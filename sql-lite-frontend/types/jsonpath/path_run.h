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

/// A moment that .datetime() has read.
struct PathMoment {
  TypeId type = TypeId::none;
  Value value;
  std::string text;  ///< as JSON shows it, in the zone that it came with
};

/// A result of a path: a part of the JSON value, or something computed.
struct PathItem {
  const JsonValue* json = nullptr;  ///< null: a moment
  std::optional<PathMoment> moment = {};

  [[nodiscard]] JsonKind kind() const noexcept {
    return json == nullptr ? JsonKind::string : json->kind;
  }
};
using PathItems = CountedVector<PathItem>;

/// An error of a path on a value. Inside a predicate it makes the result unknown.
struct PathFailure {
  SqlError error;
};

/// One run of a path over one value.
class PathRun {
 public:
  enum class Zones : std::uint8_t { refused, used };
  /// `variables`: a JSON object, or empty.
  PathRun(FunctionContext& context, const PathTree& path, std::string_view json,
          std::string_view variables, Zones zones);
  /// The same with variables that add_variable() names.
  struct NamedVariables {};
  PathRun(FunctionContext& context, const PathTree& path, std::string_view json, NamedVariables);
  /// A variable as PASSING has it: JSON, a boolean, a number, a moment, or a text.
  void add_variable(std::string_view name, TypeId type, const Value& value);

  /// Runs the path and returns its items in `found`; after a failure, those found before it.
  enum class Failures : std::uint8_t { thrown, kept };
  struct Outcome {
    PathItems found;
    bool failed = false;
  };
  Outcome items(Failures failures);
  /// Whether it comes to anything; nothing: it failed. In lax mode nothing is looked at behind the
  /// first item, so that failures there are none.
  std::optional<bool> exists(Failures failures);
  /// Appends the item in jsonb's spelling.
  void append(const PathItem& item, std::string& out) const;

 private:
  enum class Truth : std::uint8_t { no, yes, unknown };
  /// State that a step restores when it ends.
  struct Place {
    PathItem current;
    std::int64_t array_size = -1;
    bool ignores_structure = false;
  };
  class Restore;

  [[noreturn]] static void fail(SqlState state, std::string message, std::string hint = {});
  [[nodiscard]] bool is_lax() const noexcept { return !path_.is_strict; }
  [[nodiscard]] bool ignores_structure() const noexcept { return place_.ignores_structure; }

  /// `found` has an item and only one is wanted.
  [[nodiscard]] bool is_enough(const PathItems& found) const noexcept {
    return &found == first_only_ && !found.empty();
  }
  /// Only one item is wanted, whatever it is, and the step is the last one.
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
  /// Returns all items of an operand; in lax mode arrays stand for their elements.
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
  MemoryShare share_;  ///< of what was made
  Place place_;
  const PathItems* first_only_ = nullptr;  ///< the list of which only the first item matters
  bool throws_ = true;                     ///< failures end the call, rather than a predicate
};

/// The moment in a text of one of the forms that SQL/JSON has.
std::optional<PathMoment> read_path_moment(FunctionContext& context, std::string_view text);
/// Reads by a template. Errors of the template are errors everywhere; others are a PathFailure.
PathMoment read_path_moment(FunctionContext& context, std::string_view text,
                            std::string_view format);

}  // namespace swizzle::sql
