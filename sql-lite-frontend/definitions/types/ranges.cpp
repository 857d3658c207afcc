// CREATE TYPE … AS RANGE.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Options in the parentheses; null if not given.
struct RangeOptions {
  const ast::Node* subtype = nullptr;
  const ast::Node* operator_class = nullptr;
  const ast::Node* collation = nullptr;
  const ast::Node* canonical = nullptr;
  const ast::Node* difference = nullptr;
  const ast::Node* multirange = nullptr;
};

RangeOptions read_options(ast::NodeList list) {
  RangeOptions options;
  const std::pair<std::string_view, const ast::Node**> known[] = {
      {"subtype", &options.subtype},         {"subtype_opclass", &options.operator_class},
      {"collation", &options.collation},     {"canonical", &options.canonical},
      {"subtype_diff", &options.difference}, {"multirange_type_name", &options.multirange}};
  for (const ast::Node* node : list) {
    const auto& element = ast::as<ast::DefElem>(node);
    const auto found = std::ranges::find_if(
        known, [&](const auto& entry) { return entry.first == element.defname; });
    if (found == std::end(known))
      throw_error(sqlstate::syntax_error, "type attribute \"{}\" not recognized", element.defname);
    if (*found->second != nullptr)
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          element.location + 1);
    *found->second = element.arg;
  }
  return options;
}

/// Returns the names of an option that the grammar parses as a type name.
ast::NodeList names_of(const ast::Node* node) {
  if (const auto* type = ast::try_as<ast::TypeName>(node)) return type->names;
  return ast::as<ast::List>(node).items;
}

TypeId read_subtype(StatementContext& session, const ast::Node* node) {
  if (node == nullptr)
    throw SqlError{sqlstate::syntax_error, "type attribute \"subtype\" is required"};
  Arena arena;
  Binder binder{session.names, arena};
  TypeId subtype = TypeId::none;
  try {
    subtype = binder.bind_type(ast::as<ast::TypeName>(node)).type;
  } catch (SqlError& error) {
    error.fields().position = 0;
    throw;
  }
  if (is_pseudo_type(subtype))
    throw_error(sqlstate::datatype_mismatch, "range subtype cannot be {}", format_type(subtype));
  hold_type(session, subtype);
  if (!is_indexable(subtype))
    throw sql_error(sqlstate::undefined_object,
                    "data type {} has no default operator class for access method \"btree\"",
                    format_type(subtype))
        .with_hint(
            "You must specify an operator class for the range type or define a default operator "
            "class for the subtype.");
  return subtype;
}

/// Throws unless the operator class is the type's default.
void require_default_class(const ast::Node* node, TypeId subtype) {
  if (node == nullptr) return;
  const std::string_view name = ast::string_of(names_of(node).back());
  const Oid named = operator_class(subtype, name);
  if (named == kNoOid)
    throw_error(sqlstate::undefined_object,
                "operator class \"{}\" does not exist for access method \"btree\"", name);
  if (named != operator_class(subtype, {}))
    throw_error(sqlstate::feature_not_supported,
                "the operator class \"{}\" of a range is not supported", name);
}

/// Returns the collation of the bounds; none: that of the subtype.
Oid collation_of_bounds(StatementContext& session, const ast::Node* node, TypeId subtype) {
  if (node == nullptr) return kNoOid;
  if (default_collation(subtype) == 0)
    throw SqlError{sqlstate::wrong_object_type,
                   "range collation specified but subtype does not support collation"};
  const Oid collation = used_collation(session, names_of(node), -1);
  if (collation == default_collation(subtype)) return kNoOid;
  if (!orders_by_bytes(collation) && !is_collatable(subtype))
    throw_error(sqlstate::feature_not_supported,
                "a collation of a range over type {} is not supported", format_type(subtype));
  return collation;
}

/// Finds subtype_diff: a function of two values of the subtype that returns float8.
Oid find_difference(StatementContext& session, const ast::Node* node, TypeId subtype) {
  if (node == nullptr) return kNoOid;
  const ast::NodeList names = names_of(node);
  const TypeName name = type_named(names);
  const TypeId wanted[] = {subtype, subtype};
  const auto fits = [&](const Function& function) {
    return std::ranges::equal(function.arguments, wanted);
  };
  const Function* found = nullptr;
  for (const auto& routine : session.names.find_routines(name.schema, name.name))
    if (found == nullptr && fits(routine.callable->function)) found = &routine.callable->function;
  const bool may_be_builtin = name.schema.empty() || name.schema == "pg_catalog";
  if (found == nullptr && may_be_builtin) {
    for (const Function* function : functions_named(name.name))
      if (fits(*function)) found = function;
  }
  if (found == nullptr)
    throw_error(sqlstate::undefined_function, "function {}({}, {}) does not exist", written(name),
                format_type(subtype), format_type(subtype));
  const std::string signature =
      fmt::format("{}({}, {})", written(name), format_type(subtype), format_type(subtype));
  if (found->result != TypeId::float8)
    throw_error(SqlState{"42P17"}, "range subtype diff function {} must return type {}", signature,
                format_type(TypeId::float8));
  if (found->volatility != Volatility::immutable)
    throw_error(SqlState{"42P17"}, "range subtype diff function {} must be immutable", signature);
  return found->oid;
}

/// Returns "floatmultirange" for "floatrange"; for other names, appends "_multirange".
std::string multirange_name(std::string_view range) {
  constexpr std::size_t kLongest = 63;
  constexpr std::string_view kWord = "range";
  const std::size_t at = range.find(kWord);
  std::string name = at == std::string_view::npos
                         ? fmt::format("{}_multirange", range.substr(0, kLongest - 11))
                         : fmt::format("{}multi{}", range.substr(0, at), range.substr(at));
  name.resize(std::min(name.size(), kLongest));
  return name;
}

UserType new_multirange(StatementContext& session, const UserType& range, const ast::Node* named) {
  UserType type = range;
  if (named != nullptr) {
    const TypeName name = type_named(names_of(named));
    return new_type(session, name);
  }
  type.name = multirange_name(range.name);
  try {
    refuse_taken(session, type.schema, type.name);
  } catch (SqlError& error) {
    throw std::move(error)
        .with_detail(
            fmt::format("Failed while creating a multirange type for type \"{}\".", range.name))
        .with_hint(
            "You can manually specify a multirange type name using the \"multirange_type_name\" "
            "attribute.");
  }
  return type;
}

}  // namespace

void create_range(StatementContext& session, const ast::CreateRangeStmt& statement) {
  UserType range = new_type(session, type_named(statement.type_name));
  const RangeOptions options = read_options(statement.params);
  const TypeId subtype = read_subtype(session, options.subtype);
  require_default_class(options.operator_class, subtype);
  range.collation = collation_of_bounds(session, options.collation, subtype);
  // A canonical function takes the range type, so it would need a shell type with functions.
  if (options.canonical != nullptr) {
    throw SqlError{SqlState{"42P17"},
                   "cannot specify a canonical function without a pre-created shell type"}
        .with_hint(
            "Create the type as a shell type, then create its canonicalization function, then do a "
            "full CREATE TYPE.");
  }
  range.base = subtype;
  range.difference = find_difference(session, options.difference, subtype);
  range.oid = allocate_type(session, kFirstRange);
  UserType multirange = new_multirange(session, range, options.multirange);
  multirange.base = range.id();
  multirange.difference = kNoOid;
  multirange.collation = kNoOid;
  multirange.oid = raw(multirange_of_range(range.id()));
  if (multirange.schema == range.schema && multirange.name == range.name)
    throw_error(sqlstate::duplicate_object, "type \"{}\" already exists", range.name);
  session.catalog.create(*session.transaction, std::move(range));
  session.catalog.create(*session.transaction, std::move(multirange));
}

}  // namespace swizzle::sql
