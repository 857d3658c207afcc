#include <fmt/format.h>

#include <algorithm>

#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/definitions/databases/database_locale.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/partition_functions.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/partition_text.h"
#include "sql-lite-frontend/statement/names/procedure_names.h"
#include "sql-lite-frontend/statement/names/relation_names.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value text(Execution& execution, std::string_view value) {
  return make_text(execution.row_arena, value);
}
Value always_true(Execution&, Arguments) {
  return Value::from_bool(true);
}
Value always_false(Execution&, Arguments) {
  return Value::from_bool(false);
}
Value always_null(Execution&, Arguments) {
  return Value::null();
}

std::vector<bool> updatable_columns(StatementContext& session, Oid relation) {
  const TablePtr table = session.names.table(relation);
  if (!table) return {};
  Arena arena;
  Binder binder{session.names, arena};
  return binder.updatable_columns(table);
}

/// pg_relation_is_updatable: PostgreSQL's bits of the writes that a relation accepts.
Value relation_updates(Execution& execution, Arguments arguments) {
  constexpr std::int64_t kUpdate = 1U << 2U;
  constexpr std::int64_t kInsert = 1U << 3U;
  constexpr std::int64_t kDelete = 1U << 4U;
  const bool any = !updatable_columns(context_of(execution), arguments[0].as_oid()).empty();
  return Value::from_int(any ? kUpdate | kInsert | kDelete : 0);
}
Value column_is_updatable(Execution& execution, Arguments arguments) {
  const std::vector<bool> updatable =
      updatable_columns(context_of(execution), arguments[0].as_oid());
  const std::int64_t number = arguments[1].as_int8();
  const bool exists = number > 0 && static_cast<std::size_t>(number) <= updatable.size();
  return Value::from_bool(exists && updatable[static_cast<std::size_t>(number) - 1]);
}

Layout layout_from(Arguments arguments, std::size_t position) {
  return arguments.size() > position && arguments[position].as_bool() ? Layout::pretty
                                                                      : Layout::plain;
}

Value or_null(std::optional<bool> visible) {
  return visible ? Value::from_bool(*visible) : Value::null();
}
Value table_is_visible(Execution& execution, Arguments arguments) {
  return or_null(is_relation_visible(context_of(execution), arguments[0].as_oid()));
}
Value function_is_visible(Execution& execution, Arguments arguments) {
  return or_null(is_function_visible(context_of(execution), arguments[0].as_oid()));
}
Value operator_is_visible(Execution& execution, Arguments arguments) {
  return or_null(is_operator_visible(context_of(execution), arguments[0].as_oid()));
}
Value type_is_visible(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid oid = arguments[0].as_oid();
  const TypeId type{oid};
  if (const TypePtr made = session.names.user_type(without_array(type))) {
    return Value::from_bool(session.names.is_visible(*made));
  }
  if (is_built_in(type)) return Value::from_bool(true);
  for (const TablePtr& table : session.catalog.tables()) {
    if (table->relation.row_type == oid || table->relation.array_type == oid) {
      return Value::from_bool(session.names.is_visible(*table));
    }
  }
  return Value::null();
}
Value user_by_id(Execution& execution, Arguments arguments) {
  const RolePtr role = context_of(execution).catalog.role(arguments[0].as_oid());
  if (!role) return text(execution, fmt::format("unknown (OID={})", arguments[0].as_oid()));
  return text(execution, role->name);
}
Value expression_text(Execution& execution, Arguments arguments) {
  // Columns of catalogs have expressions in plain form already, and bounds of partitions in theirs.
  const std::string_view given = arguments[0].as_text();
  if (layout_from(arguments, 2) == Layout::plain || given == "DEFAULT" ||
      given.starts_with("FOR VALUES ")) {
    return arguments[0];
  }
  const TablePtr table = context_of(execution).names.table(arguments[1].as_oid());
  if (!table) return arguments[0];
  return text(execution, printed_expression(context_of(execution), *table,
                                            std::string{arguments[0].as_text()}, Layout::pretty));
}
Value partition_key(Execution& execution, Arguments arguments) {
  const TablePtr table = context_of(execution).names.table(arguments[0].as_oid());
  if (!table || !table->relation.partition_key) return Value::null();
  return text(execution, shown_partition_key(context_of(execution), *table));
}
Value partition_constraint(Execution& execution, Arguments arguments) {
  const TablePtr table = context_of(execution).names.table(arguments[0].as_oid());
  if (!table || !table->relation.is_partition()) return Value::null();
  const std::string shown = shown_partition_constraint(context_of(execution), *table);
  return shown.empty() ? Value::null() : text(execution, shown);
}
Value root_of_partition(Execution& execution, Arguments arguments) {
  const Oid root = partition_root(context_of(execution), arguments[0].as_oid());
  return root == kNoOid ? Value::null() : Value::from_oid(root);
}
Value constraint_definition(Execution& execution, Arguments arguments) {
  const auto definition = definition_of_constraint(context_of(execution), arguments[0].as_oid(),
                                                   layout_from(arguments, 1));
  return definition ? text(execution, *definition) : Value::null();
}
Value index_definition(Execution& execution, Arguments arguments) {
  const std::int32_t column = arguments.size() > 1 ? arguments[1].as_int4() : 0;
  const auto definition = definition_of_index(context_of(execution), arguments[0].as_oid(), column,
                                              layout_from(arguments, 2));
  return definition ? text(execution, *definition) : Value::null();
}
Value view_definition(Execution& execution, Arguments arguments) {
  // The view is given by number or by name; both arrive as text.
  const std::string_view name = arguments[0].as_text();
  const bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
  const auto oid = is_number
                       ? static_cast<Oid>(std::strtoul(std::string{name}.c_str(), nullptr, 10))
                       : context_of(execution).names.find(TypeId::regclass, name).value_or(kNoOid);
  if (oid == kNoOid && !is_number) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", name);
  }
  const TablePtr view = context_of(execution).names.table(oid);
  if (!view || !has_query(view->relation.kind)) return Value::null();
  Layout layout = Layout::plain;
  int wrap_column = 0;
  if (arguments.size() > 1) {
    // The second argument is a width or the flag `pretty`.
    const std::string_view given = arguments[1].as_text();
    const bool is_flag = given.starts_with('t') || given.starts_with('f');
    if (!given.starts_with('f')) layout = Layout::pretty;
    if (!is_flag)
      wrap_column = static_cast<int>(std::strtol(std::string{given}.c_str(), nullptr, 10));
  }
  return text(execution, definition_of_view(context_of(execution), *view, layout, wrap_column));
}
/// Definition of the rule "_RETURN" that a view is in PostgreSQL, with the view's number.
Value rule_definition(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const TablePtr view = session.names.table(arguments[0].as_oid());
  if (!view || !has_query(view->relation.kind)) return Value::null();
  const Layout layout = layout_from(arguments, 1);
  const std::string name = layout == Layout::pretty
                               ? *session.names.name_of(TypeId::regclass, view->relation.oid)
                               : session.names.qualified_name(*view);
  return text(execution,
              fmt::format("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO {} DO INSTEAD {}", name,
                          definition_of_view(session, *view, layout)));
}

/// Returns PostgreSQL's comment on a built-in collation.
std::string builtin_collation_comment(Oid oid) {
  if (oid == collation_id::by_default) return "database's default collation";
  if (oid == collation_id::c) return "standard C collation";
  if (oid == collation_id::posix) return "standard POSIX collation";
  const std::uint32_t place = oid - collation_id::first_locale;
  const auto locales = builtin_locales();
  return place < locales.size() ? icu_display_name(std::string{locales[place]}) : std::string{};
}

std::string builtin_text_search_comment(Oid catalog, Oid oid) {
  if (catalog == class_id::pg_ts_config) {
    const TextConfigInfo* const config = find_text_config(oid);
    if (config == nullptr) return {};
    if (config->name == "simple") return "simple configuration";
    return fmt::format("configuration for {} language", config->name);
  }
  const TextDictionaryInfo* const dictionary =
      catalog == class_id::pg_ts_dict ? find_text_dictionary(oid) : nullptr;
  if (dictionary == nullptr) return {};
  if (dictionary->language.empty())
    return "simple dictionary: just lower case and check for stopword";
  return fmt::format("snowball stemmer for {} language", dictionary->language);
}

/// Returns the comment on a built-in object.
std::string comment_on_builtin(Execution& execution, Oid database, Oid oid,
                               std::string_view catalog) {
  constexpr std::pair<std::string_view, Oid> kClasses[] = {
      {"pg_class", class_id::pg_class},
      {"pg_type", class_id::pg_type},
      {"pg_proc", class_id::pg_proc},
      {"pg_language", class_id::pg_language},
      {"pg_collation", class_id::pg_collation},
      {"pg_am", class_id::pg_am},
      {"pg_tablespace", class_id::pg_tablespace},
      {"pg_ts_config", class_id::pg_ts_config},
      {"pg_ts_dict", class_id::pg_ts_dict},
      {"pg_extension", class_id::pg_extension}};
  Catalog& own = context_of(execution).catalog.of_database();
  for (const auto& [name, number] : kClasses) {
    if (!catalog.empty() && catalog != name) continue;
    std::string text = read_comment(own, *execution.transaction, database, number, oid);
    if (!text.empty()) return text;
    if (number == class_id::pg_collation) {
      if (std::string shown = builtin_collation_comment(oid); !shown.empty()) return shown;
    }
    if (std::string shown = builtin_text_search_comment(number, oid); !shown.empty()) return shown;
    if (number == class_id::pg_extension && oid == kPlpgsqlExtension) {
      return std::string{plpgsql_extension().comment};
    }
  }
  return {};
}

/// Returns the comment on an object; `catalog` is the system relation that lists it, or empty.
std::string comment_on(Execution& execution, Oid oid, std::string_view catalog) {
  StatementContext& session = context_of(execution);
  if (catalog == "pg_largeobject") {
    // Their numbers may be those of other objects.
    Catalog& own = session.catalog.of_database();
    return read_comment(own, *execution.transaction, own.database(), class_id::pg_largeobject, oid);
  }
  if (oid < kFirstUserOid && !session.catalog.schema(oid)) {
    return comment_on_builtin(execution, session.catalog.of_database().database(), oid, catalog);
  }
  if (const TablePtr table = session.catalog.table(oid)) return table->relation.comment;
  if (const SchemaPtr schema = session.catalog.schema(oid)) return schema->comment;
  if (const TypePtr type = session.catalog.type(oid)) return type->comment;
  if (const RoutinePtr routine = session.catalog.routine(oid)) return routine->comment;
  if (const OperatorPtr op = session.catalog.made<UserOperator>(oid)) return op->comment;
  if (const CastPtr cast = session.catalog.made<UserCast>(oid)) return cast->comment;
  if (const CollationPtr made = session.catalog.made<UserCollation>(oid)) return made->comment;
  if (const auto made = session.catalog.made<UserTextDictionary>(oid)) return made->comment;
  if (const auto made = session.catalog.made<UserTextConfig>(oid)) return made->comment;
  if (const ExtensionPtr made = session.catalog.made<Extension>(oid)) return made->comment;
  if (const PublicationPtr made = session.catalog.made<Publication>(oid)) return made->comment;
  if (const auto made = session.catalog.made<EventTrigger>(oid)) return made->comment;
  if (catalog == "pg_subscription") {
    Catalog& own = session.catalog.of_database();
    return read_comment(own, *execution.transaction, own.database(), class_id::pg_subscription,
                        oid);
  }
  const bool is_part = catalog.empty() || catalog == "pg_class" || catalog == "pg_constraint" ||
                       catalog == "pg_trigger" || catalog == "pg_policy";
  if (!is_part) return {};
  for (const TypePtr& type : session.catalog.naming<UserType>({oid})) {
    for (const DomainCheck& check : type->checks) {
      if (check.oid == oid) return check.comment;
    }
  }
  for (const TablePtr& table : session.catalog.naming<Table>({oid})) {
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.oid == oid) return trigger.comment;
    }
    for (const Policy& policy : table->relation.policies) {
      if (policy.oid == oid) return policy.comment;
    }
    if (const Index* index = table->index_by_oid(oid)) return index->comment;
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.oid == oid) return constraint.comment;
    }
  }
  return {};
}
Value object_description(Execution& execution, Arguments arguments) {
  const std::string_view catalog =
      arguments.size() > 1 ? arguments[1].as_text() : std::string_view{};
  const std::string comment = comment_on(execution, arguments[0].as_oid(), catalog);
  return comment.empty() ? Value::null() : text(execution, comment);
}
Value shared_description(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  std::string comment;
  if (arguments[1].as_text() == "pg_database") {
    if (const DatabasePtr found = session.catalog.database(arguments[0].as_oid())) {
      comment = found->comment;
    }
  } else if (arguments[1].as_text() == "pg_tablespace") {
    comment = comment_on_builtin(execution, kSharedCatalog, arguments[0].as_oid(), "pg_tablespace");
  } else if (const RolePtr role = session.catalog.role(arguments[0].as_oid())) {
    comment = role->comment;
  }
  return comment.empty() ? Value::null() : text(execution, comment);
}
Value column_description(Execution& execution, Arguments arguments) {
  const TablePtr table = context_of(execution).names.table(arguments[0].as_oid());
  const std::int32_t number = arguments[1].as_int4();
  if (table && table->computed != nullptr && number > 0) {
    Catalog& own = context_of(execution).catalog.of_database();
    const std::string comment =
        read_comment(own, *execution.transaction, own.database(), class_id::pg_class,
                     arguments[0].as_oid(), static_cast<std::uint32_t>(number));
    return comment.empty() ? Value::null() : text(execution, comment);
  }
  const TypePtr type =
      table ? nullptr : context_of(execution).names.composite_of(arguments[0].as_oid());
  if (!table && !type) return Value::null();
  const std::vector<Column>& columns = table ? table->relation.columns : type->attributes;
  if (number < 1 || static_cast<std::size_t>(number) > columns.size()) return Value::null();
  const std::string& comment = columns[static_cast<std::size_t>(number) - 1].comment;
  return comment.empty() ? Value::null() : text(execution, comment);
}

Value encoding_name(Execution& execution, Arguments arguments) {
  const auto encoding = find_encoding(std::int64_t{arguments[0].as_int4()});
  return text(execution, encoding ? swizzle::encoding_name(*encoding) : std::string_view{});
}
Value encoding_number(Execution&, Arguments arguments) {
  const auto encoding = find_encoding(arguments[0].as_text());
  return Value::from_int(encoding ? static_cast<std::int64_t>(*encoding) : -1);
}
Value client_encoding(Execution& execution, Arguments) {
  const EncodingTable* const table = execution.functions.session.format.client_encoding;
  const std::string name = context_of(execution).settings.text("client_encoding");
  const auto encoding = find_encoding(name);
  if (table != nullptr) return text(execution, swizzle::encoding_name(table->encoding()));
  return text(execution, encoding == Encoding::sql_ascii ? "SQL_ASCII" : "UTF8");
}
Value database_encoding(Execution& execution, Arguments) {
  return text(execution, "UTF8");
}

Value collation_is_visible(Execution& execution, Arguments arguments) {
  SessionNames& names = context_of(execution).names;
  const Oid oid = arguments[0].as_oid();
  if (const CollationPtr made = context_of(execution).catalog.made<UserCollation>(oid))
    return Value::from_bool(names.is_visible(*made));
  const std::string name = builtin_collation_name(oid);
  return name.empty() ? Value::null() : Value::from_bool(names.find_collation({}, name) == oid);
}
template <TypeId kind>
Value text_search_is_visible(Execution& execution, Arguments arguments) {
  return or_null(context_of(execution).names.is_visible_text_search(kind, arguments[0].as_oid()));
}
Value collation_version(Execution& execution, Arguments arguments) {
  const Oid oid = arguments[0].as_oid();
  const CollationPtr made = context_of(execution).catalog.made<UserCollation>(oid);
  const bool is_known = made != nullptr || !builtin_collation_name(oid).empty();
  if (!is_known)
    throw_error(sqlstate::undefined_object, "collation with OID {} does not exist", oid);
  const CollationRule* rule = find_collation_rule(oid);
  const bool is_of_builtin =
      made ? made->provider == 'b'
           : oid == collation_id::ucs_basic || rule->letters != Letters::ascii;
  if (is_of_builtin) return text(execution, "1");
  return rule->is_of_bytes() ? Value::null() : text(execution, icu_version(rule->locale));
}

Value database_collation_version(Execution& execution, Arguments arguments) {
  const Oid oid = arguments[0].as_oid();
  const DatabasePtr database = context_of(execution).catalog.database(oid);
  if (!database)
    throw_error(sqlstate::undefined_object, "database with OID {} does not exist", oid);
  // The order of the C locale has no version.
  const std::string version = actual_collation_version(*database);
  return version.empty() ? Value::null() : text(execution, version);
}

}  // namespace

std::span<const SessionEntry> catalog_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_function_is_visible", function_is_visible},
      {"pg_operator_is_visible", operator_is_visible},
      {"pg_opclass_is_visible", always_true},
      {"pg_opfamily_is_visible", always_true},
      {"pg_collation_is_visible", collation_is_visible},
      {"pg_conversion_is_visible", always_true},
      {"pg_statistics_obj_is_visible", always_true},
      {"pg_ts_config_is_visible", text_search_is_visible<builtin_id::regconfig>},
      {"pg_ts_dict_is_visible", text_search_is_visible<builtin_id::regdictionary>},
      {"pg_ts_parser_is_visible", always_true},
      {"pg_ts_template_is_visible", always_true},
      {"pg_table_is_visible", table_is_visible},
      {"pg_type_is_visible", type_is_visible},
      {"pg_get_userbyid", user_by_id},
      {"pg_get_expr", expression_text},
      {"pg_get_constraintdef", constraint_definition},
      {"pg_get_indexdef", index_definition},
      {"pg_get_viewdef", view_definition, true},
      {"pg_get_statisticsobjdef", always_null},
      {"pg_get_statisticsobjdef_columns", always_null},
      {"pg_tablespace_location", always_null},
      {"pg_get_ruledef", rule_definition},
      {"pg_get_partkeydef", partition_key},
      {"pg_partition_root", root_of_partition},
      {"pg_get_partition_constraintdef", partition_constraint},
      {"pg_collation_actual_version", collation_version},
      {"pg_database_collation_actual_version", database_collation_version},
      {"obj_description", object_description},
      {"col_description", column_description},
      {"shobj_description", shared_description},
      {"pg_encoding_to_char", encoding_name},
      {"pg_char_to_encoding", encoding_number},
      {"getdatabaseencoding", database_encoding},
      {"pg_client_encoding", client_encoding},
      {"pg_is_other_temp_schema", always_false},
      {"pg_relation_is_updatable", relation_updates},
      {"pg_column_is_updatable", column_is_updatable},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
