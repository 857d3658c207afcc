#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Keys of an index that finds ranges by operators like &&. The key begins with the range's class:
/// its length rounded to a power of two. A range that overlaps a value begins before its end, and
/// not earlier than its class's length allows; so a few key intervals, one per class, contain all
/// candidates, which the caller checks again.
namespace swizzle::sql {

/// Appends the class; the key of the range, or of NULL, must follow.
void put_range_class(std::string& key, const Value& range);

/// Key interval [low, high).
struct KeyPiece {
  std::string low;
  std::string high;
};
/// True if the index can find the ranges r with `r op value`.
bool finds_ranges(std::string_view op, TypeId range, TypeId value) noexcept;
/// Returns key intervals, ascending, that contain all such ranges and perhaps others. Pre:
/// finds_ranges(); the value is not NULL.
std::vector<KeyPiece> pieces_with(std::string_view op, TypeId range, TypeId type,
                                  const Value& value);

}  // namespace swizzle::sql
