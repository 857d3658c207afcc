#pragma once

#include "sql-lite-frontend/routines/plpgsql/frame.h"

/// Results that a function returns to its caller.
namespace swizzle::sql::plpgsql {

/// The columns of a function's result.
class ResultColumns {
 public:
  explicit ResultColumns(Frame& frame);
  /// Throws 42804 with that message for rows of other columns.
  void require(const Shape& given, std::string_view message) const;
  /// Returns a row of the function. Pre: require(given).
  void give(const Shape& given, std::span<const Value> row) const;
  /// Returns a value of the composite type, or of a record.
  void give_whole(Value value) const;

 private:
  Frame& frame_;
  ShapePtr shape_;               ///< null: any will do
  TypeId whole_ = TypeId::none;  ///< composite type whose values the rows are
};

/// Type of a returned value.
struct Given {
  TypeId type = TypeId::none;
  ShapePtr shape = nullptr;  ///< of a record variable: its fields
};
/// Returns a value of the function; it is a row where rows have columns.
void give_value(Frame& frame, const Value& value, const Given& given, std::string_view message);
/// The present values of the OUT parameters.
void give_outputs(Frame& frame);
/// Assigns to the variable, or field of a record, whose value has this place.
void assign_place(Frame& frame, std::size_t place, const Value& value, TypeId type);

}  // namespace swizzle::sql::plpgsql
