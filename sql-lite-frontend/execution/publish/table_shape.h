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

/// Description of a published table in the log: its columns when the change was made, and its
/// publications. So logical decoding does not need the current definition, which may differ.
struct TableShape {
  struct Column {
    std::string name;
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
    std::int16_t number = 0;   ///< from 1, dropped columns counted
    bool in_identity = false;  ///< part of the replica identity
  };
  struct Membership {
    Oid publication = kNoOid;
    std::string name;
    std::uint8_t events = 0;            ///< published::k…
    std::vector<std::int16_t> columns;  ///< their numbers; empty: all
    std::string filter_sql;             ///< empty: all rows
    /// The ancestor as whose the changes are published (publish_via_partition_root), to which
    /// `columns` and `filter_sql` refer then: position in `ancestors`.
    std::uint32_t ancestor = kNoAncestor;
  };
  static constexpr std::uint32_t kNoAncestor = UINT32_MAX;
  /// A partitioned table that the table is a partition of.
  struct Ancestor {
    Oid relation = kNoOid;
    std::string schema;
    std::string name;
    char identity = 'd';
    std::vector<Column> columns;        ///< those that logged rows have
    std::vector<std::uint32_t> places;  ///< of each, in a logged row
  };
  /// A user-defined type.
  struct MadeType {
    std::string schema;
    UserType type;  ///< only the parts needed for output
  };
  Oid relation = kNoOid;
  std::string schema;
  std::string name;
  char identity = 'd';  ///< Relation::replica_identity
  /// Columns in logged rows: without dropped ones, and generated ones that no publication
  /// publishes.
  std::vector<Column> columns;
  std::vector<Membership> memberships;
  std::vector<Ancestor> ancestors;  ///< that memberships refer to; the nearest first
  /// User-defined types of the columns, each after the types that it is composed of.
  std::vector<MadeType> types;

  /// Returns null for a built-in type, or if the shape was logged by a version without types.
  [[nodiscard]] const MadeType* made_type(TypeId type) const noexcept;

  [[nodiscard]] std::vector<TypeId> column_types() const;
  [[nodiscard]] std::uint8_t events() const noexcept;
};

/// Equal shapes have equal encodings.
std::string encode(const TableShape& shape);
/// Throws SqlError XX001.
TableShape decode_table_shape(Bytes bytes);

}  // namespace swizzle::sql
