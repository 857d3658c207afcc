#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"

namespace swizzle::sql {

/// Variables of a routine whose language has some. In a statement they are parameters, whose
/// numbers the language gives out.
class BodyVariables {
 public:
  BodyVariables() = default;
  BodyVariables(const BodyVariables&) = delete;
  BodyVariables& operator=(const BodyVariables&) = delete;
  virtual ~BodyVariables() = default;

  struct Field {
    std::string name;
    std::size_t parameter = 0;  ///< from 0
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
  };
  struct Meaning {
    bool is_row = false;
    bool is_null_row = false;        ///< as a whole it is NULL; its fields are, too
    std::vector<Field> fields;       ///< one, where it is no row
    TypeId row_type = TypeId::none;  ///< composite type of the row; none: it is any record
  };
  /// What a name of these parts means, if it means a variable. Throws where it names a field that a
  /// row does not have, if `must_have_field`.
  virtual std::optional<Meaning> find(std::span<const std::string_view> parts,
                                      bool must_have_field) = 0;
  /// Where a name could also be a column's.
  enum class Conflict : std::uint8_t { error, use_variable, use_column };
  [[nodiscard]] virtual Conflict conflict() const = 0;
};

/// What a statement in a routine's body can name besides relations and their columns.
struct BodyNames {
  RoutinePtr routine;
  /// By parameter number from 1; empty where it has no name. Columns of that name come first.
  std::vector<std::string> parameters;
  /// Of an atomic body, what its names meant when it was made; only the `view_…` lists are set.
  std::unique_ptr<const Relation> meanings;
  /// Null where the language has none. Outlives whoever binds.
  BodyVariables* variables = nullptr;
};
using BodyNamesPtr = std::shared_ptr<const BodyNames>;

}  // namespace swizzle::sql
