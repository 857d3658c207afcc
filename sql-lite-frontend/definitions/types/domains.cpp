// CREATE DOMAIN and ALTER DOMAIN.
#include "sql-lite-frontend/statement/names/domains.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/domain_validation.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void refuse(SqlState state, std::string message) {
  throw SqlError{state, std::move(message)};
}

/// Refuses constraints that only tables can have.
void refuse_kind(const ast::Constraint& constraint) {
  const auto impossible = [](std::string_view what) {
    refuse(sqlstate::syntax_error, fmt::format("{} constraints not possible for domains", what));
  };
  switch (constraint.contype) {
    case ast::ConstrType::unique:
      impossible("unique");
      break;
    case ast::ConstrType::primary:
      impossible("primary key");
      break;
    case ast::ConstrType::exclusion:
      impossible("exclusion");
      break;
    case ast::ConstrType::foreign:
      impossible("foreign key");
      break;
    case ast::ConstrType::attr_deferrable:
    case ast::ConstrType::attr_not_deferrable:
    case ast::ConstrType::attr_deferred:
    case ast::ConstrType::attr_immediate:
      refuse(sqlstate::feature_not_supported,
             "specifying constraint deferrability not supported for domains");
    case ast::ConstrType::attr_enforced:
    case ast::ConstrType::attr_not_enforced:
      throw SqlError{SqlState{"42P17"},
                     "specifying constraint enforceability not supported for domains"}
          .at_position(constraint.location + 1);
    case ast::ConstrType::generated:
      refuse(sqlstate::feature_not_supported, "specifying GENERATED not supported for domains");
    case ast::ConstrType::identity:
      refuse(sqlstate::feature_not_supported, "specifying IDENTITY not supported for domains");
    default:
      return;
  }
}

const DomainCheck* find_check(const UserType& domain, std::string_view name) {
  const auto found = std::ranges::find(domain.checks, name, &DomainCheck::name);
  return found == domain.checks.end() ? nullptr : &*found;
}
DomainCheck* find_check(UserType& domain, std::string_view name) {
  const auto found = std::ranges::find(domain.checks, name, &DomainCheck::name);
  return found == domain.checks.end() ? nullptr : &*found;
}

/// `kind`: the name's last word.
std::string free_constraint_name(const UserType& domain, std::string_view kind) {
  const ObjectName base = object_name(domain.name, {}, kind);
  int number = 0;
  while (find_check(domain, base.numbered(number)) != nullptr) ++number;
  return base.numbered(number);
}

/// Errors in a domain's conditions, and in ALTER DOMAIN, have no position.
template <class Body>
auto without_position(const Body& body) {
  try {
    return body();
  } catch (SqlError& error) {
    error.fields().position = 0;
    throw;
  }
}

/// Returns a constraint without a condition. `name`: empty for a default name, which ends with
/// `kind`.
DomainCheck new_constraint(StatementContext& session, const UserType& domain, std::string_view name,
                           std::string_view kind) {
  if (find_check(domain, name) != nullptr) {
    throw_error(sqlstate::duplicate_object, "constraint \"{}\" for domain \"{}\" already exists",
                name, domain.name);
  }
  DomainCheck constraint;
  constraint.oid = session.catalog.allocate_oid();
  constraint.name = name.empty() ? free_constraint_name(domain, kind) : std::string{name};
  return constraint;
}

void add_not_null(StatementContext& session, UserType& domain, std::string_view name) {
  DomainCheck constraint = new_constraint(session, domain, name, "not_null");
  constraint.is_not_null = true;
  domain.checks.push_back(std::move(constraint));
  domain.not_null = true;
}

DomainCheck& add_check(StatementContext& session, UserType& domain,
                       const ast::Constraint& constraint) {
  DomainCheck check = new_constraint(session, domain, constraint.conname, "check");
  check.validated = !constraint.skip_validation;
  check.sql = without_position([&] {
    return stored_domain_check(session, {domain.base, domain.base_typmod}, constraint.raw_expr);
  });
  return domain.checks.emplace_back(std::move(check));
}

/// Returns the default's stored form; empty for DEFAULT NULL, which is the same as none.
std::string stored_default(StatementContext& session, const UserType& domain,
                           const ast::Node* expression) {
  if (expression == nullptr) return {};
  const auto* constant = ast::try_as<ast::A_Const>(expression);
  if (constant != nullptr && constant->isnull) return {};
  Column like;
  like.name = domain.name;
  like.type = domain.base;
  like.typmod = domain.base_typmod;
  return stored_expression(session, {}, expression, Clause::column_default, &like);
}

/// Parses the part of CREATE DOMAIN after the type.
class DomainWords {
 public:
  DomainWords(StatementContext& session, UserType& domain) : session_(session), domain_(domain) {}

  void read(const ast::Constraint& constraint) {
    try {
      take(constraint);
    } catch (SqlError& error) {
      if (error.fields().position == 0) error.fields().position = constraint.location + 1;
      throw;
    }
  }

  void finish() {
    for (const ast::Constraint* constraint : constraints_) {
      if (constraint->contype == ast::ConstrType::check) {
        add_check(session_, domain_, *constraint);
      } else {
        add_not_null(session_, domain_, constraint->conname);
      }
    }
  }

 private:
  void take(const ast::Constraint& constraint) {
    refuse_kind(constraint);
    switch (constraint.contype) {
      case ast::ConstrType::default_:
        if (has_default_) refuse(sqlstate::syntax_error, "multiple default expressions");
        has_default_ = true;
        domain_.default_sql = stored_default(session_, domain_, constraint.raw_expr);
        return;
      case ast::ConstrType::notnull:
        if (constraint.is_no_inherit) {
          refuse(SqlState{"42P17"}, "not-null constraints for domains cannot be marked NO INHERIT");
        }
        if (said_null_ == false) {
          refuse(SqlState{"42P17"}, "redundant NOT NULL constraint definition");
        }
        constraints_.push_back(&constraint);
        return set_nullable(false);
      case ast::ConstrType::null:
        return set_nullable(true);
      case ast::ConstrType::check:
        if (constraint.is_no_inherit) {
          refuse(SqlState{"42P17"}, "check constraints for domains cannot be marked NO INHERIT");
        }
        constraints_.push_back(&constraint);
        return;
      default:
        refuse(sqlstate::feature_not_supported, "this constraint is not supported for domains");
    }
  }

  void set_nullable(bool nullable) {
    if (said_null_ && *said_null_ != nullable) {
      refuse(sqlstate::syntax_error, "conflicting NULL/NOT NULL constraints");
    }
    said_null_ = nullable;
  }

  StatementContext& session_;
  UserType& domain_;
  bool has_default_ = false;
  std::optional<bool> said_null_;
  std::vector<const ast::Constraint*> constraints_;  ///< CHECK and NOT NULL
};

/// Returns a domain without rules. Rules to be checked against existing values are added to it; the
/// domain's other rules hold already.
UserType only(const UserType& domain) {
  UserType rules = domain;
  rules.base = base_type(domain.base);
  rules.not_null = false;
  rules.checks.clear();
  return rules;
}

/// Does nothing if the domain is NOT NULL already.
void set_not_null(StatementContext& session, UserType& domain, std::string_view name) {
  if (domain.not_null) return;
  add_not_null(session, domain, name);
  UserType rules = only(domain);
  rules.not_null = true;
  validate_domain(session, domain, rules);
}

void drop_not_null(UserType& domain) {
  std::erase_if(domain.checks, [](const DomainCheck& check) { return check.is_not_null; });
  domain.not_null = false;
}

void add_constraint(StatementContext& session, UserType& domain,
                    const ast::Constraint& constraint) {
  refuse_kind(constraint);
  if (constraint.contype == ast::ConstrType::notnull) {
    return set_not_null(session, domain, constraint.conname);
  }
  const DomainCheck& check = add_check(session, domain, constraint);
  if (!check.validated) return;
  UserType rules = only(domain);
  rules.checks.push_back(check);
  validate_domain(session, domain, rules);
}

void validate(StatementContext& session, UserType& domain, std::string_view name) {
  DomainCheck* const check = find_check(domain, name);
  if (check == nullptr) {
    throw_error(sqlstate::undefined_object, "constraint \"{}\" of domain \"{}\" does not exist",
                name, domain.name);
  }
  if (check->is_not_null) {
    throw_error(sqlstate::wrong_object_type,
                "constraint \"{}\" of domain \"{}\" is not a check constraint", name, domain.name);
  }
  if (check->validated) return;
  UserType rules = only(domain);
  rules.checks.push_back(*check);
  validate_domain(session, domain, rules);
  check->validated = true;
}

void drop_constraint(StatementContext& session, UserType& domain,
                     const ast::AlterDomainStmt& statement, ResultSink& sink) {
  if (find_check(domain, statement.name) == nullptr) {
    std::string message = fmt::format("constraint \"{}\" of domain \"{}\" does not exist",
                                      statement.name, domain.name);
    if (!statement.missing_ok) refuse(sqlstate::undefined_object, std::move(message));
    return notice_skipped(session, sink, message);
  }
  std::erase_if(domain.checks,
                [&](const DomainCheck& check) { return check.name == statement.name; });
  domain.not_null = std::ranges::any_of(domain.checks, &DomainCheck::is_not_null);
}

}  // namespace

void create_domain(StatementContext& session, const ast::CreateDomainStmt& statement) {
  UserType domain = new_type(session, type_named(statement.domainname));
  Arena arena;
  Binder binder{session.names, arena};
  const TypeReference base = binder.bind_type(*statement.type_name);
  const std::int32_t position = statement.type_name->location + 1;
  if (is_pseudo_type(base.type)) {
    throw sql_error(SqlState{"42804"}, "\"{}\" is not a valid base type for a domain",
                    format_type(base.type))
        .at_position(position);
  }
  hold_type(session, base.type);
  domain.base = base.type;
  domain.base_typmod = base.typmod;
  try {
    domain.collation = collation_of_column(session, statement.coll_clause, base.type);
  } catch (SqlError& error) {
    error.fields().position = error.state() == sqlstate::datatype_mismatch ? position : 0;
    throw;
  }
  if (const TypePtr below = session.names.user_type(base.type))
    domain.default_sql = below->default_sql;
  DomainWords words{session, domain};
  for (const ast::Node* node : statement.constraints) words.read(ast::as<ast::Constraint>(node));
  words.finish();
  domain.oid = allocate_type(session, kFirstDomain);
  session.catalog.create(*session.transaction, std::move(domain));
}

void alter_domain(StatementContext& session, const ast::AlterDomainStmt& statement,
                  ResultSink& sink) {
  const TypePtr old = lock_own_domain(session, type_named(statement.type_name));
  UserType domain = *old;
  switch (statement.subtype.empty() ? '\0' : statement.subtype[0]) {
    case 'T':
      domain.default_sql =
          without_position([&] { return stored_default(session, domain, statement.def); });
      break;
    case 'N':
      drop_not_null(domain);
      break;
    case 'O':
      set_not_null(session, domain, {});
      break;
    case 'C':
      add_constraint(session, domain, ast::as<ast::Constraint>(statement.def));
      break;
    case 'X':
      drop_constraint(session, domain, statement, sink);
      break;
    case 'V':
      validate(session, domain, statement.name);
      break;
    default:
      refuse(sqlstate::feature_not_supported, "this form of ALTER DOMAIN is not supported");
  }
  replace_type(session, *old, std::move(domain));
}

void rename_domain_check(StatementContext& session, const ast::RenameStmt& statement) {
  const TypePtr old =
      lock_own_domain(session, type_named(ast::as<ast::List>(statement.object).items));
  UserType domain = *old;
  const std::string shown = session.names.user_type_name(domain.id()).value_or(domain.name);
  DomainCheck* const check = find_check(domain, statement.subname);
  if (check == nullptr) {
    throw_error(sqlstate::undefined_object, "constraint \"{}\" for domain {} does not exist",
                statement.subname, shown);
  }
  if (find_check(domain, statement.newname) != nullptr) {
    throw_error(sqlstate::duplicate_object, "constraint \"{}\" for domain {} already exists",
                statement.newname, shown);
  }
  check->name = statement.newname;
  replace_type(session, *old, std::move(domain));
}

void comment_on_domain_check(StatementContext& session, ast::NodeList names,
                             const std::string& text) {
  const auto& type = ast::as<ast::TypeName>(names[0]);
  const std::string_view name = ast::string_of(names[1]);
  const TypePtr old = lock_own_domain(session, type_named(type.names));
  UserType domain = *old;
  DomainCheck* const check = find_check(domain, name);
  if (check == nullptr) {
    throw_error(sqlstate::undefined_object, "constraint \"{}\" for domain {} does not exist", name,
                session.names.user_type_name(domain.id()).value_or(domain.name));
  }
  check->comment = text;
  replace_type(session, *old, std::move(domain));
}

}  // namespace swizzle::sql
