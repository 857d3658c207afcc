#include "sql-lite-frontend/definitions/tables/virtual_columns.h"

#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void refuse_key(std::string_view what) {
  throw_error(sqlstate::feature_not_supported, "{} on virtual generated columns are not supported",
              what);
}

[[noreturn]] void refuse_made(std::string_view what, std::int32_t location) {
  throw sql_error(sqlstate::feature_not_supported, "generation expression uses user-defined {}",
                  what)
      .with_detail(fmt::format("Virtual generated columns that make use of user-defined {}s are "
                               "not yet supported.",
                               what))
      .at_position(location + 1);
}

}  // namespace

void refuse_virtual_key(const Relation& relation, std::span<const std::int16_t> columns,
                        std::string_view what) {
  for (const std::int16_t number : columns) {
    if (number > 0 && relation.columns[static_cast<std::size_t>(number - 1)].is_virtual) {
      refuse_key(what);
    }
  }
}

void refuse_virtual_read(const Relation& relation, Expr& expr, Slot first_slot) {
  walk(expr, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot == nullptr || slot->slot() < first_slot) return;
    const std::size_t position = slot->slot() - first_slot;
    const auto& columns = relation.columns;
    if (position < columns.size() && columns[position].is_virtual) refuse_key("indexes");
  });
}

void require_plain_type(const Column& column) {
  const TypeId type = without_collation(column.type);
  if (!is_user_type(type)) return;
  if (is_domain(type)) {
    throw_error(sqlstate::feature_not_supported,
                "virtual generated column \"{}\" cannot have a domain type", column.name);
  }
  throw sql_error(sqlstate::feature_not_supported,
                  "virtual generated column \"{}\" cannot have a user-defined type", column.name)
      .with_detail(
          "Virtual generated columns that make use of user-defined types are not yet supported.");
}

void require_built_in(Expr& expr) {
  walk(expr, [](Expr& part) {
    if (dynamic_cast<const RoutineExpr*>(&part) != nullptr)
      refuse_made("function", part.location());
    if (is_user_type(without_collation(part.type()))) refuse_made("type", part.location());
  });
}

}  // namespace swizzle::sql
