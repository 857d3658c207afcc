#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// Names of types in statements.
namespace swizzle::sql {
namespace {

std::string_view schema_of(const ast::TypeName& name) {
  return name.names.size() > 1 ? ast::string_of(name.names[name.names.size() - 2])
                               : std::string_view{};
}

std::string dotted_name(const ast::TypeName& name) {
  std::string text;
  for (const ast::Node* part : name.names) {
    if (!text.empty()) text += '.';
    text += ast::string_of(part);
  }
  return text;
}

/// Returns the type for int4 or pg_catalog.int4; null if PostgreSQL has no such type.
const Type* builtin_type(const ast::TypeName& name) {
  const std::string_view schema = schema_of(name);
  if (name.names.size() > 2 || (!schema.empty() && schema != "pg_catalog")) return nullptr;
  return name.names.empty() ? nullptr : find_built_in_type(ast::string_of(name.names.back()));
}

/// Returns the type for a domain of information_schema: here they are their base types.
std::optional<TypeReference> standard_domain(const ast::TypeName& name) {
  struct Domain {
    std::string_view name;
    TypeReference base;
  };
  constexpr std::array kDomains = std::to_array<Domain>({
      {"cardinal_number", {TypeId::int4, kNoTypmod}},
      {"character_data", {TypeId::varchar, kNoTypmod}},
      {"sql_identifier", {TypeId::name, kNoTypmod}},
      {"time_stamp", {TypeId::timestamptz, 2}},
      {"yes_or_no", {TypeId::varchar, 3 + 4}},
  });
  if (schema_of(name) != "information_schema" || !name.typmods.empty()) return std::nullopt;
  const auto found = std::ranges::find(kDomains, ast::string_of(name.names.back()), &Domain::name);
  return found == kDomains.end() ? std::nullopt : std::optional{found->base};
}

std::vector<std::int32_t> modifiers_of(const ast::TypeName& name) {
  std::vector<std::int32_t> modifiers;
  for (const ast::Node* node : name.typmods) {
    const auto* constant = ast::try_as<ast::A_Const>(node);
    if (constant == nullptr || constant->ival == nullptr) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "type modifiers must be simple constants or identifiers"};
    }
    modifiers.push_back(constant->ival->ival);
  }
  return modifiers;
}

}  // namespace

TypePtr ExpressionBinder::find_user_type(const ast::TypeName& name, std::string_view last) {
  const std::string_view schema = schema_of(name);
  if (open_view_ != nullptr) {
    for (const ViewType& known : open_view_->view_types) {
      const bool is_type = known.type >= kCollations;
      if (is_type && known.name == last && known.schema == schema)
        return names_.user_type(TypeId{known.type});
    }
  }
  TypePtr type = names_.find_user_type(schema, last);
  if (!type && schema.empty()) {
    const TypeId stored = type_of_stored_name(last);
    if (stored != TypeId::none) type = names_.user_type(stored);
  }
  looked_up_objects_ |= type != nullptr;
  if (type && view_depth_ == recorded_depth_) {
    types_read_.push_back({std::string{schema}, std::string{last}, type->oid});
  }
  return type;
}

TypeId ExpressionBinder::bind_user_type(const ast::TypeName& name) {
  const std::string_view last =
      name.names.empty() ? std::string_view{} : ast::string_of(name.names.back());
  if (const TypePtr type = find_user_type(name, last)) {
    if (!type->is_shell()) return type->id();
    SqlError error = name.array_bounds.empty()
                         ? sql_error(sqlstate::undefined_object, "type \"{}\" is only a shell",
                                     dotted_name(name))
                         : sql_error(sqlstate::undefined_object, "type \"{}[]\" does not exist",
                                     dotted_name(name));
    throw std::move(error).at_position(name.location + 1);
  }
  // pg_type names an array after its element type: _mood is mood[].
  const TypePtr element = last.starts_with('_') ? find_user_type(name, last.substr(1)) : nullptr;
  return element && !element->is_shell() ? array_type(element->id()) : TypeId::none;
}

TypeId ExpressionBinder::bind_type_name(const ast::TypeName& name) {
  if (const Type* info = builtin_type(name)) return info->id;
  const std::string_view schema = schema_of(name);
  if (!schema.empty() && !names_.schema_exists(schema)) {
    throw sql_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema)
        .at_position(name.location + 1);
  }
  if (const TypeId type = bind_user_type(name); type != TypeId::none) return type;
  const bool is_builtin = schema.empty() || schema == "pg_catalog";
  if (is_builtin && !name.names.empty() && is_missing_type(ast::string_of(name.names.back()))) {
    throw sql_error(sqlstate::feature_not_supported, "type {} is not supported",
                    ast::string_of(name.names.back()))
        .at_position(name.location + 1);
  }
  throw sql_error(sqlstate::undefined_object, "type \"{}\" does not exist", dotted_name(name))
      .at_position(name.location + 1);
}

TypeReference ExpressionBinder::bind_type(const ast::TypeName& name) {
  if (name.setof) unsupported("SETOF");
  if (name.pct_type) unsupported("%TYPE");
  const auto standard = standard_domain(name);
  TypeReference reference = standard ? *standard : TypeReference{bind_type_name(name), kNoTypmod};
  const TypeId type = reference.type;
  if (!name.typmods.empty()) {
    const std::vector<std::int32_t> modifiers = modifiers_of(name);
    if (is_user_type(type)) {
      throw sql_error(sqlstate::syntax_error, "type modifier is not allowed for type \"{}\"",
                      dotted_name(name))
          .at_position(name.location + 1);
    }
    try {
      reference.typmod = make_typmod(type, modifiers);
      // An interval's first modifier is its fields.
      const bool has_precision = type != TypeId::interval || modifiers.size() > 1;
      if (has_precision) warn_of_precision(names_, type, modifiers.back());
    } catch (SqlError& error) {
      error.fields().position = name.location + 1;
      throw;
    }
  }
  if (!name.array_bounds.empty()) {
    reference.type = array_type(type);
    if (reference.type == TypeId::none) {
      throw_error(sqlstate::undefined_object, "type \"{}[]\" does not exist", dotted_name(name));
    }
  }
  return reference;
}

void warn_of_precision(NameSource& names, TypeId type, std::int32_t precision) {
  constexpr std::int32_t kMost = 6;
  const bool is_time = type == TypeId::time || type == TypeId::timetz;
  const bool is_timestamp = type == TypeId::timestamp || type == TypeId::timestamptz;
  const bool has_zone = type == TypeId::timetz || type == TypeId::timestamptz;
  const bool is_interval = type == TypeId::interval;
  if (precision <= kMost || (!is_time && !is_timestamp && !is_interval)) return;
  names.warn(sqlstate::invalid_parameter_value,
             fmt::format("{}({}){} precision reduced to maximum allowed, {}",
                         is_time ? "TIME" : (is_timestamp ? "TIMESTAMP" : "INTERVAL"), precision,
                         has_zone ? " WITH TIME ZONE" : "", kMost));
}

}  // namespace swizzle::sql
