#pragma once

#include "sql-lite-frontend/catalog/computed.h"

/// Dependencies between objects, as far as clients read them: sequences and their columns, keys and
/// their indexes, defaults and their sequences, views and their relations.
namespace swizzle::sql {

void dependency_rows(Execution& execution, const EmitRow& emit);
/// Rows of pg_rewrite: each view has one rule, with its query.
void rule_rows(Execution& execution, const EmitRow& emit);

// Parts without an oid of their own get one derived from that of their object.
bool has_default_row(const Column& column) noexcept;
/// Returns the number of the default of the column at `position`, from 0.
Oid default_oid(const Relation& relation, std::size_t position) noexcept;
Oid rule_oid(const Relation& view) noexcept;

}  // namespace swizzle::sql
