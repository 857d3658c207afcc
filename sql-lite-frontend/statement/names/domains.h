#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Constraints of domains.
namespace swizzle::sql {

/// NOT NULL and the checks of a domain and of the domains that it is based on, ready to be
/// evaluated. Evaluation may recurse: a check may call a function that uses the domain.
class DomainRules {
 public:
  DomainRules(StatementContext& session, const UserType& domain);

  /// Returns the error, 23502 or 23514, in the name of the domain itself; nothing if the value is
  /// valid.
  std::optional<SqlError> refusal(StatementContext& session, const Value& value);

 private:
  struct Check {
    std::string name;
    ExprPtr expr;
  };
  void add_checks(StatementContext& session, Binder& binder, const UserType& domain);
  /// 42501 if a function of the checks may not be called.
  void require_calls(StatementContext& session);
  [[nodiscard]] std::string shown_name(StatementContext& session) const;
  [[nodiscard]] SqlError failure(SqlError error, const std::string& constraint) const;

  Oid oid_;
  std::string name_;
  std::string schema_;
  bool not_null_ = false;
  std::vector<Check> checks_;  ///< those of base domains first, then by name
  std::vector<RoutinePtr> calls_;
  RoleStamp allowed_under_;
  Slot value_ = 0;
  std::unique_ptr<Scratch> scratch_;
  bool is_running_ = false;
};

/// Returns the stored form of a CHECK's condition; throws for conditions that PostgreSQL refuses.
std::string stored_domain_check(StatementContext& session, TypeReference base,
                                const ast::Node* node);
/// Returns the check as pg_get_constraintdef shows it.
std::string shown_domain_check(StatementContext& session, const UserType& domain,
                               const DomainCheck& check, bool pretty);

/// Returns the domain's default as pg_type shows it; empty if it has none.
std::string shown_domain_default(StatementContext& session, const UserType& domain);

}  // namespace swizzle::sql
