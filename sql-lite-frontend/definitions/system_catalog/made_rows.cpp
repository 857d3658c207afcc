// pg_aggregate, pg_operator, pg_cast, pg_extension and the available extensions: user-defined
// objects beside the built-in ones.
#include <algorithm>

#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

namespace swizzle::sql {
namespace {

Value optional_text(Execution& execution, const std::optional<std::string>& text) {
  return text ? text_value(execution, *text) : Value::null();
}

void emit_builtin_aggregate(const EmitRow& emit, const Function& function) {
  const bool is_ordered_set = function.name == "percentile_cont" ||
                              function.name == "percentile_disc" || function.name == "mode";
  const Value none = Value::from_oid(kNoOid);
  const Value row[] = {Value::from_oid(function.oid),
                       letter(is_ordered_set ? 'o' : 'n'),
                       Value::from_int(is_ordered_set && function.name != "mode" ? 1 : 0),
                       none,
                       none,
                       none,
                       none,
                       none,
                       none,
                       none,
                       none,
                       flag(false),
                       flag(false),
                       letter('r'),
                       letter('r'),
                       none,
                       none,
                       Value::from_int(0),
                       none,
                       Value::from_int(0),
                       Value::null(),
                       Value::null()};
  emit(row);
}

void emit_aggregate(Execution& execution, const EmitRow& emit, const Routine& routine) {
  const AggregateDefinition& made = *routine.aggregate;
  const Value row[] = {Value::from_oid(routine.oid),
                       letter('n'),
                       Value::from_int(0),
                       Value::from_oid(made.transition),
                       Value::from_oid(made.final),
                       Value::from_oid(made.combine),
                       Value::from_oid(made.serialize),
                       Value::from_oid(made.deserialize),
                       Value::from_oid(made.moving_transition),
                       Value::from_oid(made.moving_inverse),
                       Value::from_oid(made.moving_final),
                       flag(made.final_extra),
                       flag(made.moving_extra),
                       letter(made.final_modifies),
                       letter(made.moving_modifies),
                       Value::from_oid(made.sort_operator),
                       Value::from_oid(raw(made.state)),
                       Value::from_int(made.state_bytes),
                       Value::from_oid(raw(made.moving_state)),
                       Value::from_int(made.moving_bytes),
                       optional_text(execution, made.initial),
                       optional_text(execution, made.moving_initial)};
  emit(row);
}

/// Returns the installed version of an extension; plpgsql is installed in every database.
std::string installed_version(Execution& execution, const BundledExtension& bundled) {
  if (bundled.name == "plpgsql") return std::string{bundled.version};
  const ExtensionPtr extension = context_of(execution).catalog.extension(bundled.name);
  return extension ? extension->version : std::string{};
}

}  // namespace

void aggregate_rows(Execution& execution, const EmitRow& emit) {
  for (const Function& function : builtin_functions()) {
    if (function.kind == FunctionKind::aggregate) emit_builtin_aggregate(emit, function);
  }
  for (const RoutinePtr& routine : context_of(execution).catalog.routines()) {
    if (routine->aggregate) emit_aggregate(execution, emit, *routine);
  }
}

void operator_rows(Execution& execution, const EmitRow& emit) {
  for (const Operator& op : builtin_operators()) {
    const Value row[] = {Value::from_oid(op.oid),
                         text_value(execution, op.name),
                         Value::from_oid(kPgCatalogSchema),
                         Value::from_oid(kBootstrapRole),
                         letter(op.left == TypeId::none ? 'l' : 'b'),
                         flag(op.can_merge),
                         flag(op.can_hash),
                         Value::from_oid(raw(op.left)),
                         Value::from_oid(raw(op.right)),
                         Value::from_oid(raw(op.result)),
                         Value::from_oid(op.commutator),
                         Value::from_oid(op.negator),
                         Value::from_oid(op.function != nullptr ? op.function->oid : kNoOid),
                         Value::from_oid(kNoOid),
                         Value::from_oid(kNoOid)};
    emit(row);
  }
  for (const OperatorPtr& op : context_of(execution).catalog.all_made<UserOperator>()) {
    const Value row[] = {Value::from_oid(op->oid),
                         text_value(execution, op->name),
                         Value::from_oid(op->schema),
                         Value::from_oid(op->owner),
                         letter(op->left == TypeId::none ? 'l' : 'b'),
                         flag(op->can_merge),
                         flag(op->can_hash),
                         Value::from_oid(raw(op->left)),
                         Value::from_oid(raw(op->right)),
                         Value::from_oid(raw(op->result)),
                         Value::from_oid(op->commutator),
                         Value::from_oid(op->negator),
                         Value::from_oid(op->function),
                         Value::from_oid(op->restriction),
                         Value::from_oid(op->join)};
    emit(row);
  }
}

void cast_rows(Execution& execution, const EmitRow& emit) {
  Oid oid = 10200;
  for (const Cast& cast : builtin_casts()) {
    constexpr char kContexts[] = {'i', 'a', 'e'};
    const bool by_function = cast.method == CastMethod::function && cast.function != nullptr;
    const Value row[] = {
        Value::from_oid(oid++),
        Value::from_oid(raw(cast.source)),
        Value::from_oid(raw(cast.target)),
        Value::from_oid(by_function ? cast.function->oid : kNoOid),
        letter(kContexts[static_cast<std::size_t>(cast.context)]),
        letter(by_function ? 'f' : (cast.method == CastMethod::relabel ? 'b' : 'i'))};
    emit(row);
  }
  for (const CastPtr& cast : context_of(execution).catalog.all_made<UserCast>()) {
    const Value row[] = {Value::from_oid(cast->oid),
                         Value::from_oid(raw(cast->source)),
                         Value::from_oid(raw(cast->target)),
                         Value::from_oid(cast->function),
                         letter(cast->context),
                         letter(static_cast<char>(cast->method))};
    emit(row);
  }
}

void extension_rows(Execution& execution, const EmitRow& emit) {
  const auto emit_one = [&](Oid oid, std::string_view name, Oid owner, Oid schema, bool relocatable,
                            std::string_view version) {
    const Value row[] = {Value::from_oid(oid),   text_value(execution, name),
                         Value::from_oid(owner), Value::from_oid(schema),
                         flag(relocatable),      text_value(execution, version),
                         Value::null(),          Value::null()};
    emit(row);
  };
  const BundledExtension& language = plpgsql_extension();
  emit_one(kPlpgsqlExtension, language.name, kBootstrapRole, kPgCatalogSchema, language.relocatable,
           language.version);
  for (const ExtensionPtr& one : context_of(execution).catalog.all_made<Extension>()) {
    const BundledExtension* const bundled = find_bundled_extension(one->name);
    emit_one(one->oid, one->name, one->owner, one->schema,
             bundled == nullptr || bundled->relocatable, one->version);
  }
}

void available_extension_rows(Execution& execution, const EmitRow& emit) {
  for (const BundledExtension* bundled : bundled_extensions()) {
    const std::string installed = installed_version(execution, *bundled);
    const Value row[] = {text_value(execution, bundled->name),
                         text_value(execution, bundled->version),
                         installed.empty() ? Value::null() : text_value(execution, installed),
                         text_value(execution, bundled->comment)};
    emit(row);
  }
}

void extension_version_rows(Execution& execution, const EmitRow& emit) {
  for (const BundledExtension* bundled : bundled_extensions()) {
    const bool is_installed = installed_version(execution, *bundled) == bundled->version;
    const Value row[] = {
        text_value(execution, bundled->name),
        text_value(execution, bundled->version),
        flag(is_installed),
        flag(true),
        flag(bundled->trusted),
        flag(bundled->relocatable),
        bundled->schema.empty() ? Value::null() : text_value(execution, bundled->schema),
        Value::null(),
        text_value(execution, bundled->comment)};
    emit(row);
  }
}

}  // namespace swizzle::sql
