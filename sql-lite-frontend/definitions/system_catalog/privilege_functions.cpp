#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/catalog/relation_rights.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/user_types.h"

/// has_table_privilege() and related functions. Objects and roles are given as text: a name, or a
/// number in digits.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

std::optional<Oid> number_in(std::string_view text) {
  Oid oid = kNoOid;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), oid);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return oid;
}

/// Returns the role argument, or the current role if there is none.
Oid role_in(StatementContext& session, Arguments arguments, std::size_t with_role) {
  if (arguments.size() < with_role) return session.user;
  const std::string_view text = arguments[0].as_text();
  if (text == "public") return kPublic;
  if (const auto number = number_in(text)) return *number;
  const RolePtr role = session.catalog.role(text);
  if (!role) throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", text);
  return role->oid;
}

struct Question {
  Privileges privilege = 0;
  bool with_grant_option = false;
};

/// A privilege from a list: in capitals, and as given.
struct Word {
  std::string text;
  std::string given;
};

std::vector<Word> words_in(std::string_view list) {
  std::vector<Word> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string word{list.substr(0, comma)};
    list.remove_prefix(std::min(comma + 1, list.size()));
    word.erase(0, word.find_first_not_of(" \t\n"));
    word.erase(word.find_last_not_of(" \t\n") + 1);
    const std::string given = word;
    std::ranges::transform(word, word.begin(), [](unsigned char letter) {
      return static_cast<char>(std::toupper(letter));
    });
    words.push_back({std::move(word), given});
  }
  return words;
}

[[noreturn]] void refuse_privilege(std::string_view given) {
  throw_error(sqlstate::invalid_parameter_value, "unrecognized privilege type: \"{}\"", given);
}

/// "SELECT, UPDATE WITH GRANT OPTION": any of them will do.
std::vector<Question> questions_in(std::string_view text, Privileges known) {
  constexpr std::string_view kOption = " WITH GRANT OPTION";
  std::vector<Question> questions;
  for (auto& [word, given] : words_in(text)) {
    Question question;
    if (word.ends_with(kOption)) {
      question.with_grant_option = true;
      word.resize(word.size() - kOption.size());
    }
    // RULE was a privilege once; no role has it.
    const auto privilege = word == "RULE" ? std::optional<Privileges>{0} : find_privilege(word);
    if (!privilege || (*privilege & ~known) != 0) refuse_privilege(given);
    question.privilege = *privilege;
    questions.push_back(question);
  }
  return questions;
}

bool answer(const AccessList& list, std::span<const Oid> roles, const Question& question) {
  const Privileges have = question.with_grant_option ? list.grantable(roles) : list.allowed(roles);
  return (have & question.privilege) != 0;
}

Value any_of(StatementContext& session, Oid role, const AccessList& list,
             std::span<const Question> questions) {
  if (role != kPublic && session.rights.is_superuser(role)) return Value::from_bool(true);
  const std::vector<Oid> roles =
      role == kPublic ? std::vector{kPublic} : session.rights.roles_of(role);
  return Value::from_bool(std::ranges::any_of(
      questions, [&](const Question& question) { return answer(list, roles, question); }));
}

TablePtr relation_in(StatementContext& session, const Value& argument) {
  const std::string_view text = argument.as_text();
  const auto number = number_in(text);
  const auto oid = number ? number : session.names.find(TypeId::regclass, text);
  if (!oid) throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", text);
  return session.names.table(*oid);
}

Value on_relation(Execution& execution, Arguments arguments, GrantedOn kind) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const TablePtr table = relation_in(session, arguments[arguments.size() - 2]);
  if (!table) return Value::null();
  if (kind == GrantedOn::sequence && table->relation.kind != RelationKind::sequence) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not a sequence", table->relation.name);
  }
  const Privileges known = all_privileges(kind) |
                           (table->relation.kind == RelationKind::sequence ? privilege::kUsage : 0);
  return any_of(session, role, access_list(*table),
                questions_in(arguments.back().as_text(), known));
}
Value on_table(Execution& execution, Arguments arguments) {
  return on_relation(execution, arguments, GrantedOn::table);
}
Value on_sequence(Execution& execution, Arguments arguments) {
  return on_relation(execution, arguments, GrantedOn::sequence);
}

Value on_columns(StatementContext& session, Oid role, const Table& table,
                 std::span<const Column> columns, std::span<const Question> questions) {
  if (any_of(session, role, access_list(table), questions).as_bool()) return Value::from_bool(true);
  for (const Column& column : columns) {
    const AccessList list{column.grants, table.relation.owner, GrantedOn::column};
    if (any_of(session, role, list, questions).as_bool()) return Value::from_bool(true);
  }
  return Value::from_bool(false);
}

Value on_column(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 4);
  const TablePtr table = relation_in(session, arguments[arguments.size() - 3]);
  if (!table) return Value::null();
  const std::string_view name = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(name);
  const auto position =
      number ? std::optional<std::size_t>{*number - 1} : table->column_position(name);
  if (!position || *position >= table->relation.columns.size()) {
    if (number) return Value::null();
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist", name,
                table->relation.name);
  }
  if (table->relation.columns[*position].dropped) return Value::null();
  return on_columns(session, role, *table, std::span{table->relation.columns}.subspan(*position, 1),
                    questions_in(arguments.back().as_text(), all_privileges(GrantedOn::column)));
}

Value on_any_column(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const TablePtr table = relation_in(session, arguments[arguments.size() - 2]);
  if (!table) return Value::null();
  return on_columns(session, role, *table, table->relation.columns,
                    questions_in(arguments.back().as_text(), all_privileges(GrantedOn::column)));
}

Value on_schema(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(text);
  const SchemaPtr schema = number ? session.catalog.schema(*number) : session.catalog.schema(text);
  if (!schema) {
    if (number) return Value::null();
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", text);
  }
  return any_of(session, role,
                {schema->grants, schema->owner, GrantedOn::schema, everyone_on_schema(schema->oid)},
                questions_in(arguments.back().as_text(), all_privileges(GrantedOn::schema)));
}

/// Functions that only superusers may call, unlike all others.
bool is_for_superusers(std::string_view name) {
  constexpr std::array<std::string_view, 14> kNames{"lo_export",
                                                    "lo_import",
                                                    "pg_create_restore_point",
                                                    "pg_ls_dir",
                                                    "pg_read_binary_file",
                                                    "pg_read_file",
                                                    "pg_reload_conf",
                                                    "pg_stat_file",
                                                    "pg_stat_reset",
                                                    "pg_stat_reset_single_table_counters",
                                                    "pg_stat_reset_subscription_stats",
                                                    "pg_switch_wal",
                                                    "swizzle_backup",
                                                    "swizzle_verify"};
  return std::ranges::find(kNames, name) != kNames.end();
}

Value on_function(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(text);
  const std::optional<Oid> oid = number ? number : session.names.find(TypeId::regprocedure, text);
  if (!oid) throw_error(sqlstate::undefined_function, "function \"{}\" does not exist", text);
  const std::vector<Question> questions =
      questions_in(arguments.back().as_text(), all_privileges(GrantedOn::function));
  if (const RoutinePtr made = session.catalog.routine(*oid)) {
    return any_of(session, role,
                  {made->grants, made->owner, GrantedOn::function, kEveryoneOnFunction}, questions);
  }
  const Function* builtin = find_function(*oid);
  if (builtin == nullptr) return Value::null();
  const bool is_everybodys = !is_for_superusers(builtin->name);
  return any_of(session, role,
                {{}, kBootstrapRole, GrantedOn::function, is_everybodys ? kEveryoneOnFunction : 0},
                questions);
}

Value on_database(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(text);
  const DatabasePtr database =
      number ? session.catalog.database(*number) : session.catalog.database(text);
  if (!database) {
    if (number) return Value::null();
    throw_error(SqlState{"3D000"}, "database \"{}\" does not exist", text);
  }
  return any_of(session, role,
                {database->grants, database->owner, GrantedOn::database, kEveryoneOnDatabase},
                questions_in(arguments.back().as_text(), all_privileges(GrantedOn::database)));
}

Value on_large_object(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const std::vector<Question> questions =
      questions_in(arguments.back().as_text(), all_privileges(GrantedOn::large_object));
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto object =
      large_objects_of(session).find(*session.transaction, number_in(text).value_or(kNoOid));
  if (!object) return Value::null();
  if (session.settings.boolean("lo_compat_privileges")) return Value::from_bool(true);
  return any_of(session, role, access_list(*object), questions);
}

enum class Belonging : std::uint8_t { usage, member, set, admin };

Belonging belonging_of(const Word& word) {
  if (word.text == "USAGE") return Belonging::usage;
  if (word.text == "MEMBER") return Belonging::member;
  if (word.text == "SET") return Belonging::set;
  constexpr std::string_view kAdmin[] = {"USAGE WITH GRANT OPTION",  "USAGE WITH ADMIN OPTION",
                                         "MEMBER WITH GRANT OPTION", "MEMBER WITH ADMIN OPTION",
                                         "SET WITH GRANT OPTION",    "SET WITH ADMIN OPTION"};
  if (std::ranges::find(kAdmin, word.text) == std::end(kAdmin)) refuse_privilege(word.given);
  return Belonging::admin;
}

/// pg_has_role: USAGE tests inherited roles, MEMBER also those reachable by SET ROLE. True if any
/// listed privilege is held.
Value has_role(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const Oid group = role_in(session, arguments.subspan(arguments.size() - 2), 2);
  std::vector<Belonging> asked;
  for (const Word& word : words_in(arguments.back().as_text())) {
    asked.push_back(belonging_of(word));
  }
  const bool is_superuser = session.rights.is_superuser(role);
  return Value::from_bool(std::ranges::any_of(asked, [&](Belonging belonging) {
    if (is_superuser) return true;
    if (belonging == Belonging::member) return session.rights.is_member(role, group);
    if (belonging == Belonging::set) return session.rights.may_set_role(role, group);
    if (belonging == Belonging::admin) return session.rights.is_admin_of(role, group);
    const std::vector<Oid> roles = session.rights.roles_of(role);
    return std::ranges::find(roles, group) != roles.end();
  }));
}

/// Kinds of objects on which nothing can be granted here: PUBLIC has its usual right or none.
struct Ungrantable {
  std::string_view noun;
  Privileges right;
  bool (*is_everybodys)(Oid oid);
  /// Finds the object by name; returns 0 if there is none.
  Oid (*find)(StatementContext& session, std::string_view name);
  bool (*exists)(StatementContext& session, Oid oid);
};

bool always(Oid) {
  return true;
}
bool never(Oid) {
  return false;
}
Oid oid_or_none(const std::optional<Oid>& oid) {
  return oid.value_or(kNoOid);
}

const Ungrantable kType{"type", privilege::kUsage, always,
                        [](StatementContext& session, std::string_view name) {
                          return oid_or_none(session.names.find(TypeId::regtype, name));
                        },
                        [](StatementContext& session, Oid oid) {
                          return session.names.name_of(TypeId::regtype, oid).has_value();
                        }};
const Ungrantable kLanguage{
    "language", privilege::kUsage, always,
    [](StatementContext&, std::string_view name) {
      return name == "internal" ? Oid{12} : (name == "c" ? Oid{13} : Oid{name == "sql" ? 14U : 0U});
    },
    [](StatementContext&, Oid oid) { return oid >= 12 && oid <= 14; }};
const Ungrantable kTablespace{
    "tablespace", privilege::kCreate, never,
    [](StatementContext&, std::string_view name) {
      return name == "pg_default" ? Oid{1663} : Oid{name == "pg_global" ? 1664U : 0U};
    },
    [](StatementContext&, Oid oid) { return oid == 1663 || oid == 1664; }};
const Ungrantable kWrapper{"foreign-data wrapper", privilege::kUsage, never,
                           [](StatementContext&, std::string_view) { return kNoOid; },
                           [](StatementContext&, Oid) { return false; }};
const Ungrantable kServer{"server", privilege::kUsage, never,
                          [](StatementContext&, std::string_view) { return kNoOid; },
                          [](StatementContext&, Oid) { return false; }};

template <const Ungrantable& kind>
Value on_ungrantable(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const Oid role = role_in(session, arguments, 3);
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(text);
  const Oid oid = number ? *number : kind.find(session, text);
  if (oid == kNoOid && !number) {
    throw_error(sqlstate::undefined_object, "{} \"{}\" does not exist", kind.noun, text);
  }
  const std::vector<Question> questions = questions_in(arguments.back().as_text(), kind.right);
  if (!kind.exists(session, oid)) return Value::null();
  if (role != kPublic && session.rights.is_superuser(role)) return Value::from_bool(true);
  return Value::from_bool(kind.is_everybodys(oid) &&
                          std::ranges::any_of(questions, [](const Question& question) {
                            return question.privilege == kind.right && !question.with_grant_option;
                          }));
}

Value on_type(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const std::string_view text = arguments[arguments.size() - 2].as_text();
  const auto number = number_in(text);
  const Oid oid = number ? *number : session.names.find(TypeId::regtype, text).value_or(kNoOid);
  // Arrays have the rights of their element type.
  const TypePtr made = session.names.user_type(without_array(TypeId{oid}));
  if (!made) return on_ungrantable<kType>(execution, arguments);
  const std::vector<Question> questions =
      questions_in(arguments.back().as_text(), privilege::kUsage);
  return any_of(session, role_in(session, arguments, 3),
                {made->grants, made->owner, GrantedOn::type, kEveryoneOnType}, questions);
}

}  // namespace

std::span<const SessionEntry> privilege_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"has_table_privilege", on_table, true},
      {"has_sequence_privilege", on_sequence, true},
      {"has_column_privilege", on_column, true},
      {"has_any_column_privilege", on_any_column, true},
      {"has_schema_privilege", on_schema, true},
      {"has_database_privilege", on_database, true},
      {"has_largeobject_privilege", on_large_object, true},
      {"pg_has_role", has_role, true},
      {"has_function_privilege", on_function, true},
      {"has_type_privilege", on_type, true},
      {"has_language_privilege", on_ungrantable<kLanguage>, true},
      {"has_tablespace_privilege", on_ungrantable<kTablespace>, true},
      {"has_foreign_data_wrapper_privilege", on_ungrantable<kWrapper>, true},
      {"has_server_privilege", on_ungrantable<kServer>, true},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
