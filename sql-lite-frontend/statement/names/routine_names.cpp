// Look-up of user-defined routines by name and number, as the session sees them.
#include <algorithm>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

CallablePtr SessionNames::callable_of(const RoutinePtr& routine) {
  if (!routine) return nullptr;
  CallablePtr& known = callables_[routine->oid];
  if (!known || known->routine != routine) known = std::make_shared<CallableRoutine>(routine);
  return known;
}

CallablePtr SessionNames::routine(Oid oid) {
  return callable_of(session_.catalog.routine(oid));
}

std::vector<NameSource::FoundRoutine> SessionNames::find_routines(std::string_view schema,
                                                                  std::string_view name) {
  const std::vector<RoutinePtr> all = session_.catalog.routines_named(name);
  std::vector<FoundRoutine> found;
  if (all.empty()) return found;
  if (!schema.empty()) {
    const bool is_temporary =
        temp_schema != kNoOid && (schema == "pg_temp" || schema == schema_name(temp_schema));
    const SchemaPtr named = is_temporary ? nullptr : session_.catalog.schema(schema);
    if (!named && !is_temporary) return found;
    if (named && !trusts_names) session_.rights.require(*named, privilege::kUsage);
    const Oid place = is_temporary ? temp_schema : named->oid;
    for (const RoutinePtr& routine : all) {
      if (routine->schema == place) found.push_back({callable_of(routine), true});
    }
    return found;
  }
  bool before_builtin = true;
  for (const Oid place : search_path()) {
    if (place == kPgCatalogSchema) before_builtin = false;
    // Temporary functions are called by their schema alone, lest one is called by mistake.
    if (place == temp_schema) continue;
    for (const RoutinePtr& routine : all) {
      if (routine->schema != place) continue;
      const std::vector<TypeId> types = routine->argument_types();
      const bool is_hidden = std::ranges::any_of(found, [&](const FoundRoutine& other) {
        return other.callable->routine->argument_types() == types;
      });
      if (!is_hidden) found.push_back({callable_of(routine), before_builtin});
    }
  }
  return found;
}

bool SessionNames::is_visible(const Routine& routine) {
  for (const FoundRoutine& one : find_routines({}, routine.name)) {
    if (one.callable->routine->oid != routine.oid) continue;
    return one.before_builtin ||
           std::ranges::none_of(functions_named(routine.name), [&](const Function* builtin) {
             return std::ranges::equal(builtin->arguments, routine.argument_types());
           });
  }
  return false;
}

std::optional<std::string> SessionNames::routine_name(std::uint32_t oid) {
  const RoutinePtr found = session_.catalog.routine(oid);
  if (!found) return std::nullopt;
  const std::string name = quote_identifier(found->name);
  if (is_visible(*found)) return name;
  return quote_identifier(schema_name(found->schema)) + "." + name;
}

std::string SessionNames::routine_signature(const Routine& routine) {
  std::string text = routine_name(routine.oid).value_or(quote_identifier(routine.name)) + "(";
  bool first = true;
  for (const TypeId type : routine.argument_types()) {
    if (!first) text += ",";
    first = false;
    text += name_of(TypeId::regtype, raw(type)).value_or(format_type(type));
  }
  return text + ")";
}

}  // namespace swizzle::sql
