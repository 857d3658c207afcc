// CREATE and DROP CAST.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

SqlError invalid_cast(std::string message) {
  return SqlError{SqlState{"42P17"}, std::move(message)};
}

TypeId type_of_cast(StatementContext& session, const ast::TypeName& name) {
  const SignatureType type = signature_type(session, name, nullptr);
  if (type.relation != kNoOid) {
    throw SqlError{sqlstate::feature_not_supported,
                   "casts of the rows of a relation are not supported"};
  }
  return type.type;
}

bool owns_type(StatementContext& session, TypeId type) {
  const TypePtr made = session.names.user_type(without_array(type));
  return session.rights.owns(made ? made->owner : kBootstrapRole);
}

CastPtr find_cast_between(StatementContext& session, TypeId source, TypeId target) {
  for (CastPtr& cast : session.catalog.all_made<UserCast>()) {
    if (cast->source == source && cast->target == target) return cast;
  }
  return nullptr;
}

bool is_builtin_cast(TypeId source, TypeId target) {
  return std::ranges::any_of(builtin_casts(), [&](const Cast& cast) {
    return cast.source == source && cast.target == target;
  });
}

void require_no_pseudo(StatementContext& session, TypeId type, std::string_view which) {
  if (!is_pseudo_type(type)) return;
  throw_error(sqlstate::wrong_object_type, "{} data type {} is a pseudo-type", which,
              session.names.type_name_of(type));
}

void require_type_owner(StatementContext& session, TypeId source, TypeId target) {
  if (owns_type(session, source) || owns_type(session, target)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of type {} or type {}",
              session.names.type_name_of(source), session.names.type_name_of(target));
}

/// WITH FUNCTION.
void read_cast_function(StatementContext& session, const ast::ObjectWithArgs& object,
                        UserCast& cast) {
  std::vector<TypeId> types;
  if (object.args_unspecified) {
    types.push_back(cast.source);
  } else {
    for (const ast::Node* node : object.objargs) {
      types.push_back(type_of_cast(session, ast::as<ast::TypeName>(node)));
    }
  }
  const FoundFunction function = require_function(session, object.objname, types, Match::exact);
  if (function.arguments.empty() || function.arguments.size() > 3) {
    throw invalid_cast("cast function must take one to three arguments");
  }
  if (!is_binary_coercible(cast.source, function.arguments[0])) {
    throw invalid_cast(
        "argument of cast function must match or be binary-coercible from source data type");
  }
  if (function.arguments.size() > 1 && function.arguments[1] != TypeId::int4) {
    throw invalid_cast("second argument of cast function must be type integer");
  }
  if (function.arguments.size() > 2 && function.arguments[2] != TypeId::bool_) {
    throw invalid_cast("third argument of cast function must be type boolean");
  }
  if (!is_binary_coercible(function.result, cast.target)) {
    throw invalid_cast(
        "return data type of cast function must match or be binary-coercible to target data type");
  }
  if (function.routine && function.routine->kind != RoutineKind::function) {
    throw invalid_cast("cast function must be a normal function");
  }
  if (function.returns_set) throw invalid_cast("cast function must not return a set");
  if (cast.source == cast.target && function.arguments.size() < 2) {
    throw invalid_cast("source data type and target data type are the same");
  }
  cast.function = function.oid;
  cast.method = UserCastMethod::function;
}

/// WITHOUT FUNCTION: throws unless both types have the same binary representation.
void require_same_form(StatementContext& session, const UserCast& cast) {
  if (!session.rights.is_superuser(session.user)) {
    throw SqlError{sqlstate::insufficient_privilege,
                   "must be superuser to create a cast WITHOUT FUNCTION"};
  }
  const bool same_shape = type_size(cast.source) == type_size(cast.target) &&
                          shape_of(cast.source) == shape_of(cast.target);
  if (!same_shape) throw invalid_cast("source and target data types are not physically compatible");
  const auto any = [&](auto is) { return is(cast.source) || is(cast.target); };
  if (any([](TypeId type) { return is_composite(type); })) {
    throw invalid_cast("composite data types are not binary-compatible");
  }
  if (any([](TypeId type) { return is_enum(type); })) {
    throw invalid_cast("enum data types are not binary-compatible");
  }
  if (any([](TypeId type) { return element_type(type) != TypeId::none; })) {
    throw invalid_cast("array data types are not binary-compatible");
  }
  if (any([](TypeId type) { return is_domain(type); })) {
    throw invalid_cast("domain data types must not be marked binary-compatible");
  }
  if (cast.source == cast.target) {
    throw invalid_cast("source data type and target data type are the same");
  }
}

}  // namespace

std::string described(StatementContext& session, const UserCast& cast) {
  return fmt::format("cast from {} to {}", session.names.type_name_of(cast.source),
                     session.names.type_name_of(cast.target));
}

void create_cast(StatementContext& session, const ast::CreateCastStmt& statement,
                 ResultSink& sink) {
  UserCast cast;
  cast.source = type_of_cast(session, *statement.sourcetype);
  cast.target = type_of_cast(session, *statement.targettype);
  require_no_pseudo(session, cast.source, "source");
  require_no_pseudo(session, cast.target, "target");
  require_type_owner(session, cast.source, cast.target);
  hold_type(session, cast.source);
  hold_type(session, cast.target);
  for (const auto& [type, which] : {std::pair{cast.source, "source"}, {cast.target, "target"}}) {
    if (!is_domain(type)) continue;
    session.notice(sink, Severity::warning, sqlstate::wrong_object_type,
                   fmt::format("cast will be ignored because the {} data type is a domain", which));
  }
  if (statement.func != nullptr) {
    read_cast_function(session, *statement.func, cast);
  } else if (statement.inout) {
    cast.method = UserCastMethod::text_form;
  } else {
    cast.method = UserCastMethod::binary;
    require_same_form(session, cast);
  }
  cast.context = statement.context == ast::CoercionContext::implicit     ? 'i'
                 : statement.context == ast::CoercionContext::assignment ? 'a'
                                                                         : 'e';
  if (is_builtin_cast(cast.source, cast.target) ||
      find_cast_between(session, cast.source, cast.target)) {
    throw_error(sqlstate::duplicate_object, "cast from type {} to type {} already exists",
                session.names.type_name_of(cast.source), session.names.type_name_of(cast.target));
  }
  cast.name = cast_name(cast.source, cast.target);
  cast.oid = session.catalog.allocate_oid();
  session.catalog.create(*session.transaction, std::move(cast));
}

void drop_casts(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const ast::NodeList types = ast::as<ast::List>(node).items;
    TypeId source = TypeId::none;
    TypeId target = TypeId::none;
    try {
      source = type_of_cast(session, ast::as<ast::TypeName>(types[0]));
      target = type_of_cast(session, ast::as<ast::TypeName>(types[1]));
    } catch (const SqlError& error) {
      const bool is_missing = error.state() == sqlstate::undefined_object ||
                              error.state() == sqlstate::invalid_schema_name;
      if (!statement.missing_ok || !is_missing) throw;
      notice_skipped(session, sink, error.error().message());
      continue;
    }
    const std::string names =
        fmt::format("cast from type {} to type {}", session.names.type_name_of(source),
                    session.names.type_name_of(target));
    const CastPtr cast = find_cast_between(session, source, target);
    if (!cast && is_builtin_cast(source, target)) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop cast from {} to {} because it is required by the database system",
                  session.names.type_name_of(source), session.names.type_name_of(target));
    }
    if (!cast && !statement.missing_ok) {
      throw_error(sqlstate::undefined_object, "{} does not exist", names);
    }
    if (!cast) {
      notice_missing(session, sink, names);
      continue;
    }
    require_type_owner(session, source, target);
    refuse_extension_member(session, {class_id::pg_cast, cast->oid}, described(session, *cast));
    session.catalog.remove(*session.transaction, *cast);
  }
}

void comment_on_cast(StatementContext& session, ast::NodeList types, std::string_view text) {
  const TypeId source = type_of_cast(session, ast::as<ast::TypeName>(types[0]));
  const TypeId target = type_of_cast(session, ast::as<ast::TypeName>(types[1]));
  const CastPtr cast = find_cast_between(session, source, target);
  if (!cast) {
    throw_error(sqlstate::undefined_object, "cast from type {} to type {} does not exist",
                session.names.type_name_of(source), session.names.type_name_of(target));
  }
  require_type_owner(session, source, target);
  UserCast changed = *cast;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *cast, std::move(changed));
}

}  // namespace swizzle::sql
