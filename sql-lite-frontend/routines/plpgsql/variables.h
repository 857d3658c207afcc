#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/body_names.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/collation/collated.h"

/// Names of a function that are known from its text.
namespace swizzle::sql::plpgsql {

class Expression;
/// Deleter that lets variables hold expressions of an incomplete type.
struct DeleteExpression {
  void operator()(Expression* expression) const noexcept;
};
using ExpressionPtr = std::unique_ptr<Expression, DeleteExpression>;

/// The fields of a record.
struct Shape {
  struct Field {
    std::string name;
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
    friend bool operator==(const Field&, const Field&) = default;
  };
  std::vector<Field> fields;

  /// Returns the position of the field with that name that follows `before` others of the same
  /// name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name,
                                                std::size_t before = 0) const noexcept;
};
using ShapePtr = CheckedShared<const Shape>;

/// Cached position of a named field in a shape: usually the shape is the same as in the previous
/// use.
struct FieldPosition {
  ShapePtr shape = nullptr;
  std::optional<std::size_t> found = std::nullopt;

  std::optional<std::size_t> in(const ShapePtr& of, std::string_view name, std::size_t before = 0) {
    if (shape != of) {
      shape = of;
      found = of->find(name, before);
    }
    return found;
  }
};

/// DECLARE c CURSOR (parameters) FOR query: the variables to which OPEN assigns the parameters.
struct BoundCursor {
  std::vector<std::size_t> parameters;  ///< variables
  ExpressionPtr query;
  enum class Scroll : std::uint8_t { unsaid, yes, no } scroll = Scroll::unsaid;
};

struct Variable {
  std::string name;
  enum class Kind : std::uint8_t { scalar, record } kind = Kind::scalar;
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
  std::uint32_t collation = 0;  ///< from COLLATE or the call; 0: the database's
  bool is_constant = false;
  bool not_null = false;
  /// Shape of a record with fixed fields; null: that of its value.
  ShapePtr shape = nullptr;
  ExpressionPtr initial = nullptr;
  std::unique_ptr<BoundCursor> cursor = nullptr;
  int line = 0;
  std::size_t place = 0;  ///< index of a scalar among the values, of a record among the records

  /// True if a value of type `of` that is not NULL can be assigned without conversion.
  [[nodiscard]] bool takes_at_once(TypeId of) const noexcept {
    return without_collation(of) == type && typmod == kNoTypmod && kind == Kind::scalar;
  }
  /// Returns the type that the variable has in expressions.
  [[nodiscard]] TypeId type_within() const noexcept {
    return collation == 0 ? type : with_collation(type, collation);
  }
};

/// A declared name. Names form a list, newest first; a block begins with its label, which may be
/// empty.
struct Name {
  enum class Kind : std::uint8_t { label, variable } kind = Kind::label;
  std::string text;
  std::size_t variable = 0;
  bool is_loop = false;  ///< for a label: CONTINUE may name it
  const Name* before = nullptr;
};

struct FoundName {
  std::size_t variable = 0;
  std::size_t parts = 0;  ///< number of parts of the name that were used
};
/// Finds a variable by its name, optionally qualified by its block's label.
std::optional<FoundName> find_name(const Name* names, std::span<const std::string_view> parts);

}  // namespace swizzle::sql::plpgsql
