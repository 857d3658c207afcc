#include "sql-lite-frontend/definitions/types/composite_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/statistics/statistics_store.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

NamedObjects numbers_of(const std::vector<TypeId>& types) {
  NamedObjects numbers;
  for (const TypeId type : types) numbers.push_back(raw(type));
  return numbers;
}

class Editor {
 public:
  Editor(StatementContext& session, const UserType& type, std::span<const AttributeEdit> edits)
      : type_(type.id()), within_(types_with(session, type.id())), edits_(edits) {}

  [[nodiscard]] bool has(TypeId type) const {
    return std::ranges::find(within_, without_array(type)) != within_.end();
  }
  /// Returns the type, and the types with values that contain its values.
  [[nodiscard]] const std::vector<TypeId>& within() const noexcept { return within_; }
  Value edited(Arena& arena, TypeId type, const Value& value) const {
    check_stack();
    if (value.is_null() || !has(type)) return value;
    const TypeId plain = base_type(type);
    return is_user_array(plain) ? edited_array(arena, value) : edited_record(arena, plain, value);
  }

 private:
  Value edited_array(Arena& arena, const Value& value) const {
    const ArrayView array{value};
    std::vector<ArrayDimension> dimensions;
    for (std::size_t i = 0; i < array.dimension_count(); ++i)
      dimensions.push_back(array.dimension(i));
    CountedValues elements = counted_values(arena);
    for (std::size_t i = 0; i < array.size(); ++i)
      elements.push_back(edited(arena, array.element_type(), array.element(i)));
    return make_array(arena, array.element_type(), dimensions, elements);
  }
  Value edited_record(Arena& arena, TypeId type, const Value& value) const {
    const RecordView record{value};
    std::vector<TypeId> types;
    std::vector<Value> fields;
    for (std::size_t i = 0; i < record.size(); ++i) {
      types.push_back(record.ordered_type(i));
      fields.push_back(edited(arena, record.type(i), record.field(i)));
    }
    if (type == type_) {
      for (const AttributeEdit& edit : edits_) edit_fields(edit, types, fields);
    }
    return make_record(arena, types, fields);
  }
  static void edit_fields(const AttributeEdit& edit, std::vector<TypeId>& types,
                          std::vector<Value>& fields) {
    if (!edit.dropped) {
      types.push_back(edit.added);
      fields.push_back(Value::null());
      return;
    }
    const auto place = static_cast<std::ptrdiff_t>(*edit.dropped);
    types.erase(types.begin() + place);
    fields.erase(fields.begin() + place);
  }

  TypeId type_;
  std::vector<TypeId> within_;
  std::span<const AttributeEdit> edits_;
};

/// Removes the statistics of changed columns: the samples do not describe the rows any more.
void forget_statistics(StatementContext& session, Oid table,
                       const std::vector<std::size_t>& places) {
  StatisticsStore& store = *session.shared.statistics;
  const StatisticsPtr known = store.read(*session.transaction, table);
  if (known == nullptr) return;
  TableStatistics left = *known;
  std::erase_if(left.columns, [&](const ColumnStatistics& column) {
    return std::ranges::find(places, static_cast<std::size_t>(column.column - 1)) != places.end();
  });
  store.remove(*session.transaction, table);
  store.write(*session.transaction, table, left);
}

/// A star in a view means the attributes at the time of its creation.
void require_same_columns(StatementContext& session, const UserType& type,
                          const std::vector<TypeId>& within, std::string_view dropped) {
  constexpr std::size_t kWorkOfView = 100'000;
  const std::string name = session.names.user_type_name(type.id()).value_or(type.name);
  for (const TablePtr& view : session.catalog.naming<Table>(carriers_of(session, within))) {
    if (!has_query(view->relation.kind)) continue;
    yield_point(kWorkOfView);
    std::size_t columns = view->relation.columns.size();
    try {
      Arena arena;
      Binder binder{session.names, arena};
      columns = binder.bind_view_query(*view)->targets.size();
    } catch (const SqlError&) {
      if (dropped.empty()) {
        throw_error(sqlstate::feature_not_supported,
                    "cannot alter type \"{}\" because {} could not be read any more", type.name,
                    described(session, *view));
      }
      throw sql_error(
          sqlstate::dependent_objects_still_exist,
          "cannot drop column {} of composite type {} because other objects depend on it", dropped,
          name)
          .with_detail(fmt::format("{} depends on column {} of composite type {}",
                                   described(session, *view), dropped, name))
          .with_hint("Drop the view first.");
    }
    if (columns == view->relation.columns.size()) continue;
    throw_error(sqlstate::feature_not_supported,
                "cannot alter type \"{}\" because {} shows all its attributes", type.name,
                described(session, *view));
  }
}

}  // namespace

void edit_values_of(StatementContext& session, const UserType& type,
                    std::span<const AttributeEdit> edits) {
  const Editor editor{session, type, edits};
  refuse_ranges_of(session, type);
  bool is_named = !type.is_of_relation();
  for (const TablePtr& table : session.catalog.naming<Table>(numbers_of(editor.within()))) {
    if (!keeps_rows(table->relation.kind)) continue;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      const Column& column = table->relation.columns[i];
      if (!column.dropped && editor.has(column.type)) places.push_back(i);
    }
    // An index over an expression of the type has such values as entries: it is built anew.
    const bool has_entries = std::ranges::any_of(table->relation.indexes, [&](const Index& index) {
      return std::ranges::any_of(index.columns, [&](const IndexColumn& column) {
        return column.column == 0 && editor.has(column.type);
      });
    });
    if (places.empty() && !has_entries) continue;
    is_named = true;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table,
                                                            lock::RelationMode::access_exclusive);
    const TablePtr rewritten = rewrite_table(
        session, locked, locked->relation,
        [&](Execution& execution, std::span<const Value> old_row, std::span<Value> new_row) {
          std::ranges::copy(old_row, new_row.begin());
          for (const std::size_t place : places) {
            new_row[place] = editor.edited(execution.row_arena,
                                           locked->relation.columns[place].type, old_row[place]);
          }
        });
    forget_statistics(session, rewritten->relation.oid, places);
  }
  if (!is_named) return;
  const auto dropped = std::ranges::find_if(
      edits, [](const AttributeEdit& edit) { return edit.dropped.has_value(); });
  require_same_columns(session, type, editor.within(), dropped != edits.end() ? dropped->name : "");
}

void require_field_unnamed(StatementContext& session, const UserType& type,
                           std::string_view field) {
  const std::vector<TypeId> within = types_with(session, type.id());
  const auto has_type = [&](const TablePtr& table) {
    return std::ranges::any_of(table->relation.columns, [&](const Column& column) {
      return !column.dropped &&
             std::ranges::find(within, without_array(column.type)) != within.end();
    });
  };
  // A relation's own texts say what its rows' fields are called by themselves.
  if (type.is_of_relation() &&
      std::ranges::none_of(session.catalog.naming<Table>(numbers_of(within)), has_type))
    return;
  const NamedObjects carriers = carriers_of(session, within);
  const auto require_bound = [&](const std::string& what, const auto& bind) {
    constexpr std::size_t kWorkOfTexts = 100'000;
    yield_point(kWorkOfTexts);
    try {
      bind();
    } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefined_column) return;
      throw_error(sqlstate::feature_not_supported,
                  "renaming attribute \"{}\" of type \"{}\" is not supported, because {} names it",
                  field, type.name, what);
    }
  };
  for (const TablePtr& table : session.catalog.naming<Table>(carriers)) {
    const bool is_view = has_query(table->relation.kind);
    if (!is_view && (!keeps_rows(table->relation.kind) || !has_type(table))) continue;
    require_bound(described(session, *table), [&] {
      Arena arena;
      Binder binder{session.names, arena};
      std::vector<Slot> slots;
      if (is_view) {
        binder.read_view(*table);
      } else {
        binder.bind_row_source(table, {}, slots);
      }
    });
  }
  for (const TypePtr& domain : session.catalog.naming<UserType>(carriers)) {
    if (domain->checks.empty()) continue;
    require_bound("type " + domain->name, [&] { DomainRules{session, *domain}; });
  }
}

void edit_rows_elsewhere(StatementContext& session, const Table& table, const AttributeEdit& edit) {
  const TypePtr rows = session.names.user_type(TypeId{table.relation.row_type});
  if (rows) edit_values_of(session, *rows, std::span{&edit, 1});
}

}  // namespace swizzle::sql
