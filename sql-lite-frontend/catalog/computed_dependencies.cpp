#include "sql-lite-frontend/catalog/computed_dependencies.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/session/session_state.h"

/// Nothing is recorded about dependencies: they are read off the definitions.
namespace swizzle::sql {
namespace {

constexpr Oid kConstraintClass = 2606;
constexpr Oid kAttributeDefaultClass = 2604;
constexpr Oid kRewriteClass = 2618;

/// pg_depend's letters.
enum class Dependency : char { normal = 'n', automatic = 'a', internal = 'i' };

struct ObjectAddress {
  Oid catalog = kNoOid;
  Oid object = kNoOid;
  std::int64_t part = 0;
};

void emit_dependency(const EmitRow& emit, const ObjectAddress& dependent, const ObjectAddress& on,
                     Dependency kind) {
  const Value row[] = {Value::from_oid(dependent.catalog),
                       Value::from_oid(dependent.object),
                       Value::from_int(dependent.part),
                       Value::from_oid(on.catalog),
                       Value::from_oid(on.object),
                       Value::from_int(on.part),
                       Value::from_int(static_cast<char>(kind))};
  emit(row);
}

/// The relations that a stored expression names by their numbers: '16400'::regclass.
std::vector<Oid> relations_in(std::string_view expression) {
  constexpr std::string_view kCast = "'::regclass";
  std::vector<Oid> found;
  for (std::size_t cast = expression.find(kCast); cast != std::string_view::npos;
       cast = expression.find(kCast, cast + 1)) {
    const std::size_t before = expression.find_last_not_of("0123456789", cast - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    Oid oid = kNoOid;
    std::from_chars(expression.data() + begin, expression.data() + cast, oid);
    if (oid != kNoOid) found.push_back(oid);
  }
  return found;
}

void emit_defaults(const EmitRow& emit, const Relation& relation) {
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (!has_default_row(column)) continue;
    const ObjectAddress value{kAttributeDefaultClass, default_oid(relation, i)};
    emit_dependency(emit, value, {kPgClassClass, relation.oid, static_cast<std::int64_t>(i) + 1},
                    Dependency::automatic);
    for (const Oid named : relations_in(column.default_sql)) {
      emit_dependency(emit, value, {kPgClassClass, named}, Dependency::normal);
    }
  }
}

void emit_rule(const EmitRow& emit, const Relation& view) {
  const ObjectAddress rule{kRewriteClass, rule_oid(view)};
  emit_dependency(emit, rule, {kPgClassClass, view.oid}, Dependency::internal);
  for (const ViewName& name : view.view_names) {
    // System relations are there always.
    if (name.relation < kFirstUserOid) continue;
    emit_dependency(emit, rule, {kPgClassClass, name.relation}, Dependency::normal);
  }
}

}  // namespace

bool has_default_row(const Column& column) noexcept {
  return !column.dropped && !column.default_sql.empty() && column.identity == 0;
}

Oid default_oid(const Relation& relation, std::size_t position) noexcept {
  return relation.oid + static_cast<Oid>(position) + 1;
}

Oid rule_oid(const Relation& view) noexcept {
  return view.oid;
}

void dependency_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.sequence && relation.sequence->owner_table != kNoOid) {
      emit_dependency(
          emit, {kPgClassClass, relation.oid},
          {kPgClassClass, relation.sequence->owner_table, relation.sequence->owner_column},
          relation.sequence->identity ? Dependency::internal : Dependency::automatic);
    }
    for (const Constraint& constraint : relation.constraints) {
      if (constraint.index == kNoOid || constraint.kind == ConstraintKind::foreign_key) continue;
      emit_dependency(emit, {kPgClassClass, constraint.index}, {kConstraintClass, constraint.oid},
                      Dependency::internal);
    }
    emit_defaults(emit, relation);
    if (has_query(relation.kind)) emit_rule(emit, relation);
  }
}

void rule_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : execution.session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (!has_query(relation.kind)) continue;
    constexpr char kSelect = '1';
    constexpr char kAlways = 'O';
    const Value row[] = {Value::from_oid(rule_oid(relation)),
                         make_text(execution.row_arena, "_RETURN"),
                         Value::from_oid(relation.oid),
                         Value::from_int(kSelect),
                         Value::from_int(kAlways),
                         Value::from_bool(true)};
    emit(row);
  }
}

}  // namespace swizzle::sql
