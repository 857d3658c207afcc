#pragma once

#include "sql-lite-frontend/catalog/computed.h"

/// Dependencies between objects, as far as clients read them: sequences and their columns, keys and
/// their indexes, defaults and their sequences, views and their relations.
namespace swizzle::sql {

void dependency_rows(Execution& execution, const EmitRow& emit);
/// Each view has one: the rule that its query stands in for it.
void rule_rows(Execution& execution, const EmitRow& emit);

// Parts without a number of their own are numbered after the object that they belong to.
bool has_default_row(const Column& column) noexcept;
/// Returns the number of the default of the column at `position`, from 0.
Oid default_oid(const Relation& relation, std::size_t position) noexcept;
Oid rule_oid(const Relation& view) noexcept;

}  // namespace swizzle::sql
