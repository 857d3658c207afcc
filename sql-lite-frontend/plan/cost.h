#pragma once

#include <algorithm>
#include <cmath>

/// Expected costs of steps, in PostgreSQL's unit, in which a row that is read in order costs 0.01;
/// with everything in memory that is some 40 ns.
namespace swizzle::sql::cost {

inline constexpr double kRow = 0.01;        ///< read from a table in order, with its columns
inline constexpr double kIndexRow = 0.005;  ///< an index entry that is read in order
inline constexpr double kIndexOnlyRow = 0.006;
inline constexpr double kDescent = 0.3;       ///< from a tree's root to a leaf
inline constexpr double kLookup = 0.25;       ///< a row by an index entry's key
inline constexpr double kCondition = 0.0025;  ///< a condition, or a key compared
inline constexpr double kHashBuild = 0.015;   ///< a row kept in a hash table
inline constexpr double kHashProbe = 0.01;
/// A hash table of more rows is likely to need temporary files.
inline constexpr double kHashFits = 80'000;
inline constexpr double kKeep = 0.0075;  ///< a row kept and brought back

/// Expected number of elements in a condition over an inverted index, if unknown.
inline constexpr double kElements = 2;
/// Number of pieces of an index of ranges that a condition visits. Most are empty, and neighbours.
inline constexpr double kRangeClasses = 20;

/// Cost of a step that a setting disables: used only if there is no other.
inline constexpr double kDisabled = 1e10;

/// Plans are kept while tables grow: below this a table's size must not decide against an index.
inline constexpr double kFewRows = 1000;

/// Returns the cost of sorting `rows`, of which the first `wanted` are needed.
inline double sort(double rows, double wanted) {
  const double depth = std::log2(std::max(2.0, std::min(rows, wanted)));
  return rows * (kKeep + 2 * kCondition * depth);
}

}  // namespace swizzle::sql::cost
