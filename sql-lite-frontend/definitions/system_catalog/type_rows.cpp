// pg_type, and the relations for types of a kind: pg_enum, pg_range.

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Schema and owner of a type, and the relation whose row type it is.
struct TypePlace {
  Oid schema = kPgCatalogSchema;
  Oid owner = kBootstrapRole;
  Oid relation = kNoOid;
};

/// Input, output and other functions of user-defined types and of their arrays, by kind.
constexpr Oid kEnumFunctions[8] = {3506, 3507, 3532, 3533, 0, 0, 0, 0};
constexpr Oid kRecordFunctions[8] = {2290, 2291, 2402, 2403, 0, 0, 0, 0};
constexpr Oid kArrayFunctions[8] = {750, 751, 2400, 2401, 0, 0, 3816, 6179};

using Functions = std::array<Oid, 8>;
constexpr Functions kShellFunctions{2398, 2399};

Functions functions_of(TypeId type) {
  static constexpr TypeFunctions kNone{};
  if (is_enum(type)) return std::to_array(kEnumFunctions);
  if (is_user_array(type)) return std::to_array(kArrayFunctions);
  if (is_composite(type)) return std::to_array(kRecordFunctions);
  if (type == kCitextType) return functions_of(TypeId::text);
  if (is_of_extension(type)) return {};
  if (is_user_range(type)) type = builtin_id::int4range;
  if (is_user_multirange(type)) type = builtin_id::int4multirange;
  if (is_domain(type)) {
    constexpr Oid kInput = 2597;
    constexpr Oid kReceive = 2598;
    const Functions base = functions_of(base_type(type));
    return {kInput, base[1], kReceive, base[3], 0, 0, base[6], 0};
  }
  const TypeFunctions* known = type_functions(type);
  const auto& functions = (known != nullptr ? *known : kNone).functions;
  Functions copied{};
  std::copy_n(std::begin(functions), copied.size(), copied.begin());
  return copied;
}

/// pg_type's facts about a user-defined type, besides those that all types have.
struct MadeType {
  const UserType* type = nullptr;
  std::string default_text = {};
};

void emit_type(Execution& execution, const EmitRow& emit, const Type& type, TypePlace place,
               const MadeType& made = {}) {
  const bool is_shell = made.type != nullptr && made.type->is_shell();
  const Functions functions = is_shell ? kShellFunctions : functions_of(type.id);
  const UserType* const domain =
      made.type != nullptr && is_domain(made.type->id()) ? made.type : nullptr;
  const Value default_text =
      made.default_text.empty() ? Value::null() : text_value(execution, made.default_text);
  const Value row[] = {
      Value::from_oid(raw(type.id)),
      text_value(execution, type.name),
      Value::from_oid(place.schema),
      Value::from_oid(place.owner),
      Value::from_int(type.length),
      flag(type.by_value),
      letter(type.kind),
      letter(type.category),
      flag(type.preferred),
      flag(!is_shell),
      letter(type.delimiter),
      Value::from_oid(place.relation),
      Value::from_oid(raw(type.element)),
      Value::from_oid(raw(type.array)),
      letter(type.alignment),
      letter(type.storage),
      flag(domain != nullptr && domain->not_null),
      Value::from_int(domain != nullptr ? domain->base_typmod : -1),
      Value::from_oid(domain != nullptr && domain->collation != kNoOid
                          ? domain->collation
                          : default_collation(type.id)),
      Value::from_oid(functions[0]),
      Value::from_oid(functions[1]),
      Value::from_oid(functions[2]),
      Value::from_oid(functions[3]),
      Value::from_oid(functions[4]),
      Value::from_oid(functions[5]),
      Value::from_oid(functions[6]),
      Value::from_oid(functions[7]),
      Value::from_oid(domain != nullptr ? raw(domain->base) : kNoOid),
      Value::from_int(domain != nullptr && is_array(domain->base) ? 1 : 0),
      default_text,
      default_text,
      made.type != nullptr ? acl_value(execution, made.type->grants) : Value::null()};
  emit(row);
}

/// Shows a shell type as PostgreSQL does.
Type shell_info(const UserType& shell) {
  Type info{};
  info.id = shell.id();
  info.name = shell.name;
  info.kind = 'p';
  info.category = 'P';
  info.length = 4;
  info.by_value = true;
  info.alignment = 'i';
  info.storage = 'p';
  return info;
}

void user_type_rows(Execution& execution, const EmitRow& emit) {
  for (const TypePtr& type : types_for(context_of(execution), emit.key)) {
    if (type->is_shell()) {
      emit_type(execution, emit, shell_info(*type), {type->schema, type->owner}, {type.get()});
      continue;
    }
    const TypeId array = array_type(type->id());
    Type info = type_info(type->id());
    info.id = type->id();
    info.name = type->name;
    info.array = array;
    MadeType made{type.get()};
    const bool is_range = is_user_range(type->id()) || is_user_multirange(type->id());
    if (is_range) {
      const TypeId subtype = range_subtype(is_user_range(type->id()) ? type->id() : type->base);
      info.alignment = value_type(subtype).alignment == 'd' ? 'd' : 'i';
    }
    const char range_alignment = info.alignment;
    if (is_domain(type->id())) {
      info.kind = 'd';
      info.preferred = false;
      info.element = TypeId::none;
      made.default_text = shown_domain_default(context_of(execution), *type);
    }
    emit_type(execution, emit, info, {type->schema, type->owner, type->relation}, made);
    const std::string array_name = "_" + type->name;
    info = type_info(array);
    info.id = array;
    info.name = array_name;
    info.element = type->id();
    if (is_range) info.alignment = range_alignment;
    emit_type(execution, emit, info, {type->schema, type->owner});
  }
}

}  // namespace

namespace {

/// Returns pg_enum's numbers of the labels. A label that ALTER TYPE has added is halfway between
/// its neighbours of that time, or one before the first, or one behind the last.
std::vector<float> sort_orders(const UserType& type) {
  const std::vector<EnumLabel>& labels = type.labels;
  std::vector<float> orders(labels.size());
  std::vector<bool> is_placed(labels.size());
  std::vector<std::size_t> added;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // The type's number was allocated after those of its first labels.
    is_placed[i] = labels[i].oid < type.oid - kFirstEnum;
    if (!is_placed[i]) added.push_back(i);
  }
  float last = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (is_placed[i]) orders[i] = ++last;
  }
  std::ranges::sort(added, {}, [&](std::size_t i) { return labels[i].oid; });
  for (const std::size_t i : added) {
    std::size_t before = i;
    while (before > 0 && !is_placed[before - 1]) --before;
    std::size_t after = i + 1;
    while (after < labels.size() && !is_placed[after]) ++after;
    const bool is_first = before == 0;
    const bool is_last = after == labels.size();
    if (is_first) {
      orders[i] = is_last ? 1 : orders[after] - 1;
    } else {
      orders[i] = is_last ? orders[before - 1] + 1 : (orders[before - 1] + orders[after]) / 2;
    }
    is_placed[i] = true;
  }
  // So many between two that the numbers have no room: PostgreSQL numbers them anew.
  if (!std::ranges::is_sorted(orders, std::ranges::less_equal{})) {
    std::iota(orders.begin(), orders.end(), 1.0F);
  }
  return orders;
}

}  // namespace

void enum_rows(Execution& execution, const EmitRow& emit) {
  for (const TypePtr& type : types_for(context_of(execution), emit.key)) {
    const std::vector<float> orders = sort_orders(*type);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const EnumLabel& label = type->labels[i];
      const Value row[] = {Value::from_oid(label.oid), Value::from_oid(type->oid),
                           Value::from_float4(orders[i]), text_value(execution, label.name)};
      emit(row);
    }
  }
}

namespace {

struct RangeRow {
  TypeId range;
  Oid canonical = kNoOid;
  Oid difference = kNoOid;
};

/// The number of a function that may have no body here.
Oid function_called(std::string_view name) {
  if (const auto found = functions_named(name); !found.empty()) return found.front()->oid;
  const auto known = unsupported_functions(name);
  return known.empty() ? kNoOid : known.front().oid;
}

void emit_range(const EmitRow& emit, const RangeRow& range) {
  const TypeId subtype = range_subtype(range.range);
  const Value row[] = {Value::from_oid(raw(range.range)),
                       Value::from_oid(raw(subtype)),
                       Value::from_oid(raw(multirange_of_range(range.range))),
                       Value::from_oid(default_collation(range_bound_type(range.range))),
                       Value::from_oid(operator_class(subtype, {})),
                       Value::from_oid(range.canonical),
                       Value::from_oid(range.difference)};
  emit(row);
}

}  // namespace

void range_rows(Execution& execution, const EmitRow& emit) {
  for (const Type* type : builtin_types()) {
    if (type->kind != 'r') continue;
    const std::string name{type->name};
    emit_range(
        emit, {type->id, function_called(name + "_canonical"), function_called(name + "_subdiff")});
  }
  for (const TypePtr& type : context_of(execution).catalog.types())
    if (is_user_range(type->id())) emit_range(emit, {type->id(), kNoOid, type->difference});
}

void type_rows(Execution& execution, const EmitRow& emit) {
  for (const Type* type : builtin_types()) {
    emit_type(execution, emit, *type, {});
  }
  user_type_rows(execution, emit);
  // Each table and view is a type of its rows.
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    const Relation& relation = table->relation;
    if (relation.kind == RelationKind::sequence || relation.row_type == kNoOid) continue;
    const auto row_type = static_cast<TypeId>(relation.row_type);
    const auto array_type = static_cast<TypeId>(relation.array_type);
    Type rows = composite_prototype();
    rows.id = row_type;
    rows.name = relation.name;
    rows.array = array_type;
    emit_type(execution, emit, rows, {relation.schema, relation.owner, relation.oid});
    if (relation.array_type == kNoOid) continue;
    const std::string array_name = "_" + relation.name;
    Type array = user_array_prototype();
    array.id = array_type;
    array.name = array_name;
    array.element = row_type;
    array.alignment = 'd';
    emit_type(execution, emit, array, {relation.schema, relation.owner});
  }
}

}  // namespace swizzle::sql
