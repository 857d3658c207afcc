#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

/// Variables of a routine's language. In a statement they are parameters, numbered by the language.
class BodyVariables {
 public:
  BodyVariables() = default;
  BodyVariables(const BodyVariables&) = delete;
  BodyVariables& operator=(const BodyVariables&) = delete;
  virtual ~BodyVariables() = default;

  struct Field {
    std::string name;
    std::size_t parameter = 0;  ///< counted from 0
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
  };
  struct Meaning {
    bool is_row = false;
    bool is_null_row = false;   ///< true if it is NULL as a whole; then its fields are NULL, too
    std::vector<Field> fields;  ///< just one if it is no row
    TypeId row_type = TypeId::none;  ///< composite type of the row; none if it may be any record
  };
  /// Returns the meaning of a name with these parts, if it is a variable. Throws if it names a
  /// field that the row does not have and `must_have_field` is set.
  virtual std::optional<Meaning> find(std::span<const std::string_view> parts,
                                      bool must_have_field) = 0;
  /// Resolution of a name that could also be a column's.
  enum class Conflict : std::uint8_t { error, use_variable, use_column };
  [[nodiscard]] virtual Conflict conflict() const = 0;
};

/// Names that a statement in a routine's body can use, besides those of relations and columns.
struct BodyNames {
  RoutinePtr routine;
  /// Names of the parameters in order; a parameter without a name has an empty one. Columns of that
  /// name take precedence.
  std::vector<std::string> parameters;
  /// Meanings of an atomic body's names when it was made; only the `view_…` lists are set.
  std::unique_ptr<const Relation> meanings;
  /// Null if the language has no variables. Outlives the binder.
  BodyVariables* variables = nullptr;
};
using BodyNamesPtr = CheckedShared<const BodyNames>;

}  // namespace swizzle::sql
