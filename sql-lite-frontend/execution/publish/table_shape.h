#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {

/// Kinds of changes to a published table, as bits.
namespace published {
inline constexpr std::uint8_t kInsert = 1;
inline constexpr std::uint8_t kUpdate = 2;
inline constexpr std::uint8_t kDelete = 4;
inline constexpr std::uint8_t kTruncate = 8;
}  // namespace published

/// Description of a table that tells its subscribers of a change: its form when the change was
/// made, and its publications. So a reader of changes does not need the table's present definition.
struct TableShape {
  struct Column {
    std::string name;
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
    std::int16_t number = 0;   ///< from 1, dropped columns counted
    bool in_identity = false;  ///< old rows are told by it
  };
  struct Membership {
    Oid publication = kNoOid;
    std::string name;
    std::uint8_t events = 0;            ///< published::k…
    std::vector<std::int16_t> columns;  ///< their numbers; empty: all
    std::string filter_sql;             ///< empty: all rows
  };
  /// One that users made.
  struct MadeType {
    std::string schema;
    UserType type;  ///< only what its values are written with
  };
  Oid relation = kNoOid;
  std::string schema;
  std::string name;
  char identity = 'd';  ///< Relation::replica_identity
  /// Columns in rows of changes: without the dropped and the computed ones.
  std::vector<Column> columns;
  std::vector<Membership> memberships;
  /// User-defined types of the columns, each behind the types that it consists of.
  std::vector<MadeType> types;

  /// Null: no user made it, or the shape is of a version that did not keep types.
  [[nodiscard]] const MadeType* made_type(TypeId type) const noexcept;

  [[nodiscard]] std::vector<TypeId> column_types() const;
  [[nodiscard]] std::uint8_t events() const noexcept;
};

/// Equal shapes have equal forms.
std::string encode(const TableShape& shape);
/// Throws SqlError XX001.
TableShape decode_table_shape(Bytes bytes);

}  // namespace swizzle::sql
