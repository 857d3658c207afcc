// Roles and databases, shared by all databases.
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

constexpr Oid kDefaultTablespace = 1663;

Value timestamp_or_null(Execution& execution, const std::string& text) {
  if (text.empty()) return Value::null();
  FunctionContext context{execution.row_arena, context_of(execution).session_context, {}};
  return input_text(context, TypeId::timestamptz, kNoTypmod, text);
}

}  // namespace

namespace {

Value verifier_of(Execution& execution, const Role& role) {
  if (role.password_verifier.empty()) return Value::null();
  return text_value(execution, role.password_verifier);
}

/// pg_authid, readable by superusers only, shows passwords. pg_roles hides them and has one more
/// column.
enum class Password : std::uint8_t { hidden, shown };
void emit_roles(Execution& execution, const EmitRow& emit, Password password) {
  for (const RolePtr& role : context_of(execution).catalog.roles()) {
    const Value row[] = {Value::from_oid(role->oid),
                         text_value(execution, role->name),
                         flag(role->superuser),
                         flag(role->inherit),
                         flag(role->create_role),
                         flag(role->create_database),
                         flag(role->can_login),
                         flag(role->replication),
                         Value::from_int(role->connection_limit),
                         password == Password::shown ? verifier_of(execution, *role)
                                                     : text_value(execution, "********"),
                         timestamp_or_null(execution, role->valid_until),
                         flag(role->bypass_rls),
                         options_value(execution, role->settings)};
    emit(row);
  }
}

}  // namespace

void role_rows(Execution& execution, const EmitRow& emit) {
  emit_roles(execution, emit, Password::hidden);
}
void authid_rows(Execution& execution, const EmitRow& emit) {
  emit_roles(execution, emit, Password::shown);
}

void role_member_rows(Execution& execution, const EmitRow& emit) {
  for (const RolePtr& role : context_of(execution).catalog.roles()) {
    for (const Membership& membership : role->member_of) {
      const Value row[] = {Value::from_oid(membership.oid), Value::from_oid(membership.group),
                           Value::from_oid(role->oid),      Value::from_oid(membership.grantor),
                           flag(membership.admin_option),   flag(membership.inherit_option),
                           flag(membership.set_option)};
      emit(row);
    }
  }
}

void database_rows(Execution& execution, const EmitRow& emit) {
  for (const DatabasePtr& database : context_of(execution).catalog.databases()) {
    const Value row[] = {
        Value::from_oid(database->oid),
        text_value(execution, database->name),
        Value::from_oid(database->owner),
        Value::from_int(6),
        letter(database->icu_locale ? 'i' : 'c'),
        flag(database->is_template),
        flag(database->allow_connections),
        Value::from_int(database->connection_limit),
        Value::from_oid(kDefaultTablespace),
        text_value(execution, "C"),
        text_value(execution, "C"),
        database->icu_locale ? text_value(execution, *database->icu_locale) : Value::null(),
        database->collation_version.empty() ? Value::null()
                                            : text_value(execution, database->collation_version),
        acl_value(execution, database->grants)};
    emit(row);
  }
}

void shared_description_rows(Execution& execution, const EmitRow& emit) {
  const auto describe = [&](Oid oid, Oid catalog, const std::string& comment) {
    if (comment.empty()) return;
    const Value row[] = {Value::from_oid(oid), Value::from_oid(catalog),
                         text_value(execution, comment)};
    emit(row);
  };
  for (const DatabasePtr& database : context_of(execution).catalog.databases()) {
    describe(database->oid, class_id::pg_database, database->comment);
  }
  for (const RolePtr& role : context_of(execution).catalog.roles()) {
    describe(role->oid, class_id::pg_authid, role->comment);
  }
  for (const Comment& comment : read_comments(context_of(execution).catalog.of_database(),
                                              *execution.transaction, kSharedCatalog)) {
    describe(comment.object, comment.catalog, comment.text);
  }
}

void role_setting_rows(Execution& execution, const EmitRow& emit) {
  for (const RolePtr& role : context_of(execution).catalog.roles()) {
    if (role->settings.empty()) continue;
    const Value row[] = {Value::from_oid(kNoOid), Value::from_oid(role->oid),
                         options_value(execution, role->settings)};
    emit(row);
  }
  for (const DatabasePtr& database : context_of(execution).catalog.databases()) {
    if (database->settings.empty()) continue;
    const Value row[] = {Value::from_oid(database->oid), Value::from_oid(kNoOid),
                         options_value(execution, database->settings)};
    emit(row);
  }
}

}  // namespace swizzle::sql
