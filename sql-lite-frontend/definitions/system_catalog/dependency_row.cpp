#include "sql-lite-frontend/definitions/system_catalog/dependency_row.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"

namespace swizzle::sql {
namespace {

/// The objects that a stored expression names by their numbers, cast to a type: '16400'::regclass.
std::vector<Oid> constants_in(std::string_view expression, std::string_view cast_to) {
  std::vector<Oid> found;
  for (std::size_t cast = expression.find(cast_to); cast != std::string_view::npos;
       cast = expression.find(cast_to, cast + 1)) {
    const std::size_t before = expression.find_last_not_of("0123456789", cast - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    Oid oid = kNoOid;
    std::from_chars(expression.data() + begin, expression.data() + cast, oid);
    if (oid != kNoOid) found.push_back(oid);
  }
  return found;
}

/// The routines that it calls, by their numbers: "#16400"(…); after other marks, its operators and
/// casts.
std::vector<Oid> numbers_in(std::string_view expression, std::string_view mark) {
  constexpr std::string_view kEnd = "\"(";
  std::vector<Oid> found;
  for (std::size_t at = expression.find(mark); at != std::string_view::npos;
       at = expression.find(mark, at + 1)) {
    const std::string_view number = expression.substr(at + mark.size());
    Oid oid = kNoOid;
    const char* const end = std::from_chars(number.data(), number.data() + number.size(), oid).ptr;
    const auto digits = static_cast<std::size_t>(end - number.data());
    if (oid != kNoOid && number.substr(digits).starts_with(kEnd)) found.push_back(oid);
  }
  return found;
}

/// Returns the catalog that describes the object which a constant of the type names.
Oid class_of_constant(TypeId constant) {
  switch (constant) {
    case TypeId::regclass:
      return class_id::pg_class;
    case TypeId::regtype:
      return class_id::pg_type;
    case TypeId::regnamespace:
      return class_id::pg_namespace;
    case TypeId::regcollation:
      return class_id::pg_collation;
    case TypeId::regoper:
    case TypeId::regoperator:
      return class_id::pg_operator;
    case TypeId::regproc:
    case TypeId::regprocedure:
      return class_id::pg_proc;
    default:
      return constant == builtin_id::regconfig ? class_id::pg_ts_config : class_id::pg_ts_dict;
  }
}

}  // namespace

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

void emit_schema(const EmitRow& emit, const ObjectAddress& dependent, Oid schema) {
  if (schema == kPgCatalogSchema || schema == kNoOid) return;
  emit_dependency(emit, dependent, {class_id::pg_namespace, schema}, Dependency::normal);
}

void emit_columns(const EmitRow& emit, const ObjectAddress& dependent, Oid relation,
                  std::span<const std::int16_t> columns, Dependency kind) {
  if (columns.empty()) emit_dependency(emit, dependent, {class_id::pg_class, relation}, kind);
  for (const std::int16_t column : columns)
    emit_dependency(emit, dependent, {class_id::pg_class, relation, column}, kind);
}

void emit_collation(const EmitRow& emit, const ObjectAddress& dependent, Oid collation) {
  // Dependencies on built-in collations are not shown.
  if (collation < kFirstUserOid || shown_number(collation) != collation) return;
  emit_dependency(emit, dependent, {class_id::pg_collation, collation}, Dependency::normal);
}

void emit_calls(const EmitRow& emit, const ObjectAddress& dependent, std::string_view expression) {
  for (const std::string_view mark : {"\"#", "\"#c"}) {
    for (const Oid routine : numbers_in(expression, mark)) {
      emit_dependency(emit, dependent, {class_id::pg_proc, routine}, Dependency::normal);
    }
  }
  for (const Oid op : numbers_in(expression, "\"#o")) {
    emit_dependency(emit, dependent, {class_id::pg_operator, op}, Dependency::normal);
  }
  // regproc and regoper find those of regprocedure and regoperator as well.
  for (const TypeId constant :
       {TypeId::regclass, TypeId::regtype, TypeId::regproc, TypeId::regoper, TypeId::regnamespace,
        TypeId::regcollation, builtin_id::regconfig, builtin_id::regdictionary}) {
    for (const Oid named : constants_in(expression, fmt::format("'::{}", format_type(constant)))) {
      if (named < kFirstUserOid) continue;
      emit_dependency(emit, dependent, {class_of_constant(constant), named}, Dependency::normal);
    }
  }
}

void emit_called(const EmitRow& emit, const ObjectAddress& dependent, const ViewRoutine& called) {
  if (called.routine < kFirstUserOid) return;
  const TypeId constant = constant_of_record(called.name);
  const Oid of_call = is_operator_record(called.name) ? class_id::pg_operator : class_id::pg_proc;
  const Oid catalog = constant == TypeId::none ? of_call : class_of_constant(constant);
  emit_dependency(emit, dependent, {catalog, called.routine}, Dependency::normal);
}

}  // namespace swizzle::sql
