#pragma once

#include "sql-lite-frontend/plpgsql/frame.h"

/// Results that a function returns to its caller.
namespace swizzle::sql::plpgsql {

/// The types of a result's row; empty where any will do.
std::vector<TypeId> result_columns(const Frame& frame);
/// Throws 42804.
void require_columns(const Frame& frame, const Shape& shape, std::span<const TypeId> expected,
                     std::string_view message);
void give_row(Frame& frame, const Shape& shape, std::span<const Value> row);
/// A value that is a row, where rows have columns.
void give_value(Frame& frame, const Value& value, TypeId type, std::string_view message);
/// The present values of the OUT parameters.
void give_outputs(Frame& frame);
/// Assigns to the variable, or field of a record, whose value has this place.
void assign_place(Frame& frame, std::size_t place, const Value& value, TypeId type);

}  // namespace swizzle::sql::plpgsql
