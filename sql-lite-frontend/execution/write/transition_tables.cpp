#include "sql-lite-frontend/execution/write/transition_tables.h"

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

enum class Side : std::uint8_t { old_rows, new_rows };
// Oids that no other relation has: plans use them to detect that a name has changed its meaning.
constexpr Oid kOldTable{1};
constexpr Oid kNewTable{2};

/// A relation of that name with the table's columns.
class TransitionRelation final : public RowSource {
 public:
  TransitionRelation(const std::string& name, const Table& of, Side side) : side_(side) {
    const Oid oid = side == Side::old_rows ? kOldTable : kNewTable;
    computed_.oid = oid;
    computed_.source = this;
    table_.relation.oid = oid;
    table_.relation.name = name;
    table_.relation.kind = RelationKind::computed;
    table_.relation.columns = of.relation.columns;
    table_.column_types = of.column_types;
    table_.runtime = std::make_shared<TableRuntime>();
    table_.computed = &computed_;
  }

  static TablePtr make(const std::string& name, const Table& of, Side side) {
    if (name.empty()) return nullptr;
    const auto made = std::make_shared<const TransitionRelation>(name, of, side);
    return {made, &made->table_};
  }

  void for_each_row(Execution& execution, const EmitRow& emit) const override {
    const TransitionTables* const tables = execution.services.transition_tables();
    if (tables == nullptr || tables->rows == nullptr) {
      throw_error(sqlstate::internal_error, "executor could not find named tuplestore \"{}\"",
                  table_.relation.name);
    }
    const TransitionRows& rows = *tables->rows;
    RowEvents::Reader reader{side_ == Side::old_rows ? rows.old_rows : rows.new_rows};
    while (reader.next()) {
      execution.tick();
      emit(reader.values());
    }
  }

 private:
  Side side_;
  ComputedRelation computed_;
  Table table_;
};

}  // namespace

TablePtr TransitionTables::find(std::string_view name) const {
  for (const TablePtr& table : {old_table, new_table}) {
    if (table && table->relation.name == name) return table;
  }
  return nullptr;
}

TransitionTables transition_tables_of(const Trigger& trigger, const Table& table) {
  return {TransitionRelation::make(trigger.old_table, table, Side::old_rows),
          TransitionRelation::make(trigger.new_table, table, Side::new_rows), nullptr};
}

}  // namespace swizzle::sql
