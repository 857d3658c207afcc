#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Keys of an index that finds ranges by place. In front of a range's own key stands its class: its
/// length, within a factor of two. A range that overlaps a place begins before it, but within its
/// class not long before. So a few pieces of the index hold all candidates; the caller checks each
/// again.
namespace swizzle::sql {

/// Appends the class; the range's key, or NULL's, comes behind it.
void put_range_class(std::string& key, const Value& range);

/// The keys from `low` on, and below `high`.
struct KeyPiece {
  std::string low;
  std::string high;
};
/// True if such an index helps to find the ranges r for which `r op value` is true.
bool finds_ranges(std::string_view op, TypeId range, TypeId value) noexcept;
/// Pieces, by ascending keys, that have the key of every such range among others. Pre:
/// finds_ranges(); the value is not NULL.
std::vector<KeyPiece> pieces_with(std::string_view op, TypeId range, TypeId type,
                                  const Value& value);

}  // namespace swizzle::sql
