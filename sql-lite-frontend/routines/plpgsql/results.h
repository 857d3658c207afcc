#pragma once

#include "sql-lite-frontend/routines/plpgsql/frame.h"

/// Returning results from a function to its caller.
namespace swizzle::sql::plpgsql {

/// Columns of a function's result rows.
class ResultColumns {
 public:
  explicit ResultColumns(Frame& frame);
  /// Throws 42804 with `message` if the row has other columns.
  void require(const Shape& given, std::string_view message) const;
  /// Returns a row to the caller. Pre: require(given).
  void give(const Shape& given, std::span<const Value> row) const;
  /// Returns a value of a composite type, or a record, to the caller.
  void give_whole(Value value) const;

 private:
  Frame& frame_;
  ShapePtr shape_;               ///< null: any columns
  TypeId whole_ = TypeId::none;  ///< composite type whose values the rows are
};

/// Type of a returned value.
struct Given {
  TypeId type = TypeId::none;
  ShapePtr shape = nullptr;  ///< of a record variable: its fields
};
/// Returns a value to the caller; as a row if the result has columns.
void give_value(Frame& frame, const Value& value, const Given& given, std::string_view message);
/// Returns the current values of the OUT parameters to the caller.
void give_outputs(Frame& frame);
/// Assigns to the variable, or record field, with this place.
void assign_place(Frame& frame, std::size_t place, const Value& value, TypeId type);

}  // namespace swizzle::sql::plpgsql
