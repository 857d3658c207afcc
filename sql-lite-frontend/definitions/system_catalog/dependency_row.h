#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"

/// Rows of pg_depend: the dependencies of one object.
namespace swizzle::sql {

struct StatementContext;

/// Values of pg_depend.deptype.
enum class Dependency : char {
  normal = 'n',
  automatic = 'a',
  internal = 'i',
  extension = 'e',
  partition_of_index = 'P',  ///< on the parent's index
  partition_of_table = 'S',  ///< of the same index on its own table
};

struct ObjectAddress {
  Oid catalog = kNoOid;
  Oid object = kNoOid;
  std::int64_t part = 0;
};

void emit_dependency(const EmitRow& emit, const ObjectAddress& dependent, const ObjectAddress& on,
                     Dependency kind);
/// Emits the dependency on the object's schema; none for built-in schemas.
void emit_schema(const EmitRow& emit, const ObjectAddress& dependent, Oid schema);
/// Emits dependencies on columns of a relation, or on the relation itself if there are none.
void emit_columns(const EmitRow& emit, const ObjectAddress& dependent, Oid relation,
                  std::span<const std::int16_t> columns, Dependency kind);
void emit_collation(const EmitRow& emit, const ObjectAddress& dependent, Oid collation);
/// Emits the objects that a stored expression calls, or names as constants.
void emit_calls(const EmitRow& emit, const ObjectAddress& dependent, std::string_view expression);
/// Emits the object behind a routine's name in a view or a body, which may be an operator, or a
/// constant's object.
void emit_called(const EmitRow& emit, const ObjectAddress& dependent, const ViewRoutine& called);
/// Emits all rows of a relation, its columns, constraints, indexes, triggers, policies and rule.
void emit_relation(const EmitRow& emit, StatementContext& session, const Table& table);

}  // namespace swizzle::sql
