#include "sql-lite-frontend/statement/names/domains.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/or_stored_text.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Returns the type of VALUE.
TypeId type_of_value(const UserType& domain) {
  const bool has_own = domain.collation != kNoOid && !is_domain(domain.base);
  return has_own ? with_collation(domain.base, domain.collation) : domain.base;
}

}  // namespace

DomainRules::DomainRules(StatementContext& session, const UserType& domain)
    : oid_(domain.oid),
      name_(domain.name),
      schema_(session.names.schema_name(domain.schema)),
      scratch_(session.new_scratch()) {
  Binder binder{session.names, scratch_->arena};
  value_ = binder.new_slot();
  add_checks(session, binder, domain);
  calls_ = binder.routines_called();
  scratch_->execution.slots.resize(binder.slot_count());
  scratch_->execution.names = &session.names;
}

void DomainRules::add_checks(StatementContext& session, Binder& binder, const UserType& domain) {
  check_stack();
  if (const TypePtr below = session.names.user_type(domain.base); below && is_domain(domain.base)) {
    add_checks(session, binder, *below);
  }
  not_null_ |= domain.not_null;
  std::vector<const DomainCheck*> own;
  for (const DomainCheck& check : domain.checks) {
    if (!check.is_not_null) own.push_back(&check);
  }
  std::ranges::sort(own, {}, &DomainCheck::name);
  for (const DomainCheck* check : own) {
    Scope scope = binder.domain_scope({type_of_value(domain), domain.base_typmod}, value_);
    ExprPtr expr = binder.bind_stored(check->sql, scope);
    expr =
        binder.coerce(std::move(expr), TypeId::bool_, kNoTypmod, Binder::Implicitness::assignment);
    checks_.push_back({check->name, std::move(expr)});
  }
}

/// Throws 42501 unless the current role may execute the functions that the checks call.
void DomainRules::require_calls(StatementContext& session) {
  const RoleStamp now = session.role_stamp();
  if (calls_.empty() || allowed_under_ == now) return;
  for (const RoutinePtr& called : calls_) session.rights.require_execute(*called);
  allowed_under_ = now;
}

SqlError DomainRules::failure(SqlError error, const std::string& constraint) const {
  error.fields().schema = schema_;
  error.fields().data_type = name_;
  error.fields().constraint = constraint;
  return error;
}

std::string DomainRules::shown_name(StatementContext& session) const {
  return session.names.user_type_name(TypeId{oid_}).value_or(name_);
}

std::optional<SqlError> DomainRules::refusal(StatementContext& session, const Value& value) {
  if (value.is_null() && not_null_) {
    return failure(sql_error(sqlstate::not_null_violation, "domain {} does not allow null values",
                             shown_name(session)),
                   {});
  }
  if (checks_.empty()) return std::nullopt;
  if (is_running_) {
    const TypePtr domain = session.names.user_type(TypeId{oid_});
    return domain ? DomainRules{session, *domain}.refusal(session, value) : std::nullopt;
  }
  require_calls(session);
  struct Running {
    bool& flag;
    ~Running() { flag = false; }
  };
  is_running_ = true;
  const Running running{is_running_};
  Execution& execution = scratch_->execution;
  const RowScope scope{execution};
  execution.transaction = session.transaction.get();
  execution.run = session.new_run();
  execution.slots[value_] = value;
  for (const Check& check : checks_) {
    const Value holds = check.expr->eval(execution);
    if (holds.is_null() || holds.as_bool()) continue;
    return failure(
        sql_error(sqlstate::check_violation, "value for domain {} violates check constraint \"{}\"",
                  shown_name(session), check.name),
        check.name);
  }
  return std::nullopt;
}

void SessionNames::check_domain(TypeId domain, const Value& value) {
  check_stack();
  if (domain_stamp_ != session_.catalog.stamp()) {
    known_domains_.clear();
    domain_stamp_ = session_.catalog.stamp();
  }
  // A check may change definitions, which clears this cache: keep the rules alive.
  std::shared_ptr<DomainRules> rules = known_domains_[domain];
  if (!rules) {
    const TypePtr type = user_type(domain);
    if (!type) {
      throw_error(sqlstate::undefined_object, "type with OID {} does not exist", raw(domain));
    }
    // Bind before the insertion: binding a check may look up other domains.
    rules = std::make_shared<DomainRules>(session_, *type);
    known_domains_[domain] = rules;
  }
  if (auto refusal = rules->refusal(session_, value)) throw std::move(*refusal);
}

std::string stored_domain_check(StatementContext& session, TypeReference base,
                                const ast::Node* node) {
  Arena arena;
  Binder binder{session.names, arena};
  Scope scope = binder.domain_scope(base, binder.new_slot());
  const ExprPtr expr = binder.bind_condition(node, scope, "CHECK");
  hold_named(session, binder.routines_read());
  require_type_usage(session, binder.types_read());
  ExprPrinter printer{.out = {}, .is_kept = true};
  printer.print(*expr);
  return std::move(printer.out);
}

std::string shown_domain_default(StatementContext& session, const UserType& domain) {
  if (domain.default_sql.empty()) return {};
  return or_stored_text(domain.default_sql, [&] {
    Arena arena;
    Binder binder{session.names, arena};
    const ExprPtr expr = binder.bind_stored_expression(domain.default_sql);
    ExprPrinter printer{.out = {}, .context = &session.session_context};
    printer.print(*expr);
    return std::move(printer.out);
  });
}

std::string shown_domain_check(StatementContext& session, const UserType& domain,
                               const DomainCheck& check, bool pretty) {
  if (check.is_not_null) return "NOT NULL";
  const std::string condition = or_stored_text(check.sql, [&] {
    Arena arena;
    Binder binder{session.names, arena};
    Scope scope =
        binder.domain_scope({type_of_value(domain), domain.base_typmod}, binder.new_slot());
    const ExprPtr expr = binder.bind_stored(check.sql, scope);
    ExprPrinter printer{
        .out = {}, .context = &session.session_context, .is_pretty = pretty, .breaks_lines = true};
    printer.print(*expr);
    return std::move(printer.out);
  });
  return fmt::format("CHECK ({}){}", condition, check.validated ? "" : " NOT VALID");
}

}  // namespace swizzle::sql
