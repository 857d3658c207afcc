#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sql-lite-frontend/session/refusals.h"
#include "sql-lite-frontend/session/row_view.h"
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/types/time_zone.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidStatementName{"26000"};
constexpr SqlState kDuplicateStatement{"42P05"};
constexpr SqlState kWrongArguments{"42601"};

std::vector<OutputColumn> text_columns(std::span<const std::string_view> names) {
  std::vector<OutputColumn> columns;
  for (const std::string_view name : names) {
    columns.push_back({name, 0, 0, raw(TypeId::text), -1, -1, Format::text});
  }
  return columns;
}

/// The protocol's spelling of settings that are reported when they change.
constexpr std::array kReported = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"application_name", "application_name"},
    {"client_encoding", "client_encoding"},
    {"datestyle", "DateStyle"},
    {"default_transaction_read_only", "default_transaction_read_only"},
    {"in_hot_standby", "in_hot_standby"},
    {"integer_datetimes", "integer_datetimes"},
    {"intervalstyle", "IntervalStyle"},
    {"is_superuser", "is_superuser"},
    {"server_encoding", "server_encoding"},
    {"server_version", "server_version"},
    {"session_authorization", "session_authorization"},
    {"standard_conforming_strings", "standard_conforming_strings"},
    {"timezone", "TimeZone"},
});

/// "ISO, MDY" in any order and case; what is not said stays as it is.
void read_date_style(std::string_view text, FormatSettings& format) {
  std::string word;
  const auto apply = [&] {
    if (word == "iso") format.date_style = DateStyle::iso;
    if (word == "postgres") format.date_style = DateStyle::postgres;
    if (word == "sql") format.date_style = DateStyle::sql;
    if (word == "german") format.date_style = DateStyle::german;
    if (word == "mdy" || word == "us" || word == "noneuropean") format.date_order = DateOrder::mdy;
    if (word == "dmy" || word == "european") format.date_order = DateOrder::dmy;
    if (word == "ymd") format.date_order = DateOrder::ymd;
    word.clear();
  };
  for (const char letter : text) {
    if (letter == ',' || letter == ' ') {
      apply();
    } else {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  apply();
}

std::string date_style_text(const FormatSettings& format) {
  constexpr std::string_view kStyles[] = {"ISO", "Postgres", "SQL", "German"};
  constexpr std::string_view kOrders[] = {"YMD", "DMY", "MDY"};
  return fmt::format("{}, {}", kStyles[static_cast<std::size_t>(format.date_style)],
                     kOrders[static_cast<std::size_t>(format.date_order)]);
}

}  // namespace

void Session::State::notice(ResultSink& sink, Severity severity, SqlState state,
                            std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.state = state;
  diagnostic.message = std::move(message);
  send_notice(sink, std::move(diagnostic));
}

void Session::State::send_notice(ResultSink& sink, Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::notice) {
    const std::string level = settings.text("client_min_messages");
    if (level == "warning" || level == "error") return;
  }
  sink.notice(diagnostic);
}

void Session::State::settings_changed(ResultSink* sink) {
  settings_touched |= transaction != nullptr;
  kept_defaults.revision = 0;
  apply_lock_timeout();
  FormatSettings format;
  read_date_style(settings.text("datestyle"), format);
  const std::string interval = settings.text("intervalstyle");
  if (interval == "postgres_verbose") format.interval_style = IntervalStyle::postgres_verbose;
  if (interval == "sql_standard") format.interval_style = IntervalStyle::sql_standard;
  if (interval == "iso_8601") format.interval_style = IntervalStyle::iso_8601;
  if (settings.text("bytea_output") == "escape") format.bytea_output = ByteaOutput::escape;
  format.extra_float_digits = static_cast<int>(settings.integer("extra_float_digits"));
  format.time_zone = TimeZone::find(settings.text("timezone"));
  session_context.format = std::move(format);

  memory.limit_bytes = static_cast<std::size_t>(settings.integer("session_memory_limit")) << 10U;
  memory.work_bytes = static_cast<std::size_t>(settings.integer("work_mem")) << 10U;
  activity.application.store(settings.text("application_name"));
  bool changed = false;
  for (const auto& [name, wire_name] : kReported) {
    std::string value = value_of(settings.show(name));
    if (name == "session_authorization") value = options.user;
    if (name == "datestyle") value = date_style_text(session_context.format);
    std::string& known = reported[std::string{wire_name}];
    if (known == value) continue;
    known = value;
    changed = true;
    if (sink != nullptr) sink->parameter_status(wire_name, value);
  }
  const std::string path = settings.text("search_path");
  static_cast<void>(changed);
  // Plans depend on the path and on how constants were read.
  ++settings_version;
}

std::string Session::State::canonical_value(std::string_view name, std::string_view value) {
  if (name == "timezone") {
    const auto zone = TimeZone::find(value);
    if (!zone) {
      throw_error(sqlstate::invalid_parameter_value,
                  "invalid value for parameter \"TimeZone\": \"{}\"", value);
    }
    return std::string{zone->name()};
  }
  if (name == "datestyle") {
    FormatSettings format = session_context.format;
    read_date_style(value, format);
    return date_style_text(format);
  }
  if (name != "client_encoding") return std::string{value};
  // Some drivers quote what they send, and every one spells it in its own way.
  std::string plain;
  for (const char letter : value) {
    if (std::isalnum(static_cast<unsigned char>(letter))) {
      plain += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
  }
  if (plain == "UTF8" || plain == "UNICODE") return "UTF8";
  if (plain == "SQLASCII") return "SQL_ASCII";
  throw_error(sqlstate::feature_not_supported, "client encoding \"{}\" is not supported", value);
}

void Session::State::apply_setting(std::string_view name, std::string_view value,
                                   SessionSettings::Lifetime lifetime) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  const std::string text = canonical_value(lower, value);
  value_of(settings.set(lower, text, lifetime));
  if (lower == "transaction_isolation" || lower == "transaction_read_only" ||
      lower == "transaction_deferrable") {
    set_transaction_mode(lower, text);
  }
  settings_changed(sink_for_notices);
}

namespace {

/// The value of SET name = …: a list joined by commas, each as it would be written.
std::string joined_arguments(ast::NodeList arguments) {
  std::string text;
  for (const ast::Node* node : arguments) {
    if (!text.empty()) text += ", ";
    const ast::Node* value = node;
    if (const auto* cast = ast::try_as<ast::TypeCast>(value)) value = cast->arg;
    const auto& constant = ast::as<ast::A_Const>(value);
    if (constant.sval != nullptr) text += constant.sval->sval;
    if (constant.ival != nullptr) text += std::to_string(constant.ival->ival);
    if (constant.fval != nullptr) text += constant.fval->fval;
    if (constant.boolval != nullptr) text += constant.boolval->boolval ? "on" : "off";
  }
  return text;
}

}  // namespace

std::optional<std::string> Session::State::stored_value(const ast::VariableSetStmt& change) {
  switch (change.kind) {
    case ast::VariableSetKind::set_value:
      return joined_arguments(change.args);
    case ast::VariableSetKind::set_current: {
      std::string name{change.name};
      return value_of(settings.show(name));
    }
    case ast::VariableSetKind::set_multi:
      throw_error(sqlstate::feature_not_supported, "SET {} is not supported here", change.name);
    default:
      return std::nullopt;
  }
}

void Session::State::set_variable(const ast::VariableSetStmt& statement, ResultSink& sink) {
  using Kind = ast::VariableSetKind;
  const auto lifetime = statement.is_local ? SessionSettings::Lifetime::transaction
                                           : SessionSettings::Lifetime::session;
  switch (statement.kind) {
    case Kind::set_value: {
      if (statement.is_local && !in_explicit_block()) {
        notice(sink, Severity::warning, SqlState{"25P01"},
               "SET LOCAL can only be used in transaction blocks");
      }
      std::string value = joined_arguments(statement.args);
      if (statement.name == "timezone" && !value.empty() &&
          value.find_first_not_of("0123456789.-+") == std::string::npos) {
        value = TimeZone::fixed(static_cast<std::int32_t>(std::atof(value.c_str()) * 3600))->name();
      }
      apply_setting(statement.name, value, lifetime);
      break;
    }
    case Kind::set_default:
    case Kind::reset:
      value_of(settings.reset(statement.name));
      settings_changed(&sink);
      break;
    case Kind::set_current:
      break;
    case Kind::set_multi:
      if (statement.name == "TRANSACTION") {
        if (!in_explicit_block()) {
          notice(sink, Severity::warning, SqlState{"25P01"},
                 "SET TRANSACTION can only be used in transaction blocks");
        }
        any_statement = in_explicit_block() && any_statement;
        set_transaction_modes(statement.args);
      } else if (statement.name == "SESSION CHARACTERISTICS") {
        for (const ast::Node* node : statement.args) {
          const auto& option = ast::as<ast::DefElem>(node);
          const auto& constant = ast::as<ast::A_Const>(option.arg);
          const std::string value =
              constant.sval != nullptr
                  ? std::string{constant.sval->sval}
                  : (constant.ival != nullptr && constant.ival->ival != 0 ? "on" : "off");
          apply_setting("default_" + std::string{option.defname}, value, lifetime);
        }
      } else {
        throw_error(sqlstate::feature_not_supported, "SET {} is not supported", statement.name);
      }
      break;
    case Kind::reset_all:
      value_of(settings.reset_all());
      settings_changed(&sink);
      break;
    case Kind::undefined:
      break;
  }
  const bool is_reset = statement.kind == Kind::reset || statement.kind == Kind::reset_all;
  sink.command_complete(is_reset ? "RESET" : "SET");
}

Result<std::string> Session::State::show_setting_value(std::string_view name) const {
  if (name == "transaction_isolation") {
    constexpr std::string_view kLevels[] = {"read committed", "repeatable read", "serializable"};
    return std::string{says_uncommitted ? "read uncommitted"
                                        : kLevels[static_cast<std::size_t>(isolation)]};
  }
  if (name == "transaction_read_only") return std::string{read_only ? "on" : "off"};
  if (name == "transaction_deferrable") return std::string{deferrable ? "on" : "off"};
  if (name == "session_authorization") return options.user;
  return settings.show(name);
}

void Session::State::send_text_row(ResultSink& sink, std::string_view column,
                                   std::string_view value) {
  const std::string_view names[] = {column};
  sink.row_description(text_columns(names));
  const std::optional<std::string> values[] = {std::string{value}};
  sink.data_row(TextRow{values});
}

void Session::State::show_variable(const ast::VariableShowStmt& statement, ResultSink& sink) {
  if (statement.name == "all") {
    const std::string_view names[] = {"name", "setting", "description"};
    sink.row_description(text_columns(names));
    for (const SettingView& view : settings.all()) {
      const std::optional<std::string> values[] = {view.definition->name,
                                                   show_setting(view.value, view.definition->unit),
                                                   view.definition->description};
      sink.data_row(TextRow{values});
    }
  } else {
    const std::string value = value_of(show_setting_value(statement.name));
    std::string name{statement.name};
    for (const auto& [plain, wire_name] : kReported) {
      if (plain == statement.name) name = wire_name;
    }
    send_text_row(sink, name, value);
  }
  sink.command_complete("SHOW");
}

void Session::State::prepare_statement(const ast::PrepareStmt& prepare, const Statement& whole,
                                       ResultSink& sink) {
  if (statements.contains(prepare.name)) {
    throw_error(kDuplicateStatement, "prepared statement \"{}\" already exists", prepare.name);
  }
  // The tree is the script's: parse again so that the statement owns its own.
  StatementPtr statement = std::make_shared<Statement>();
  statement->text = whole.text;
  const auto list = parse_script(statement->parse_arena, statement->text);
  for (const ast::RawStmt* raw : list) {
    const auto* found = ast::try_as<ast::PrepareStmt>(raw->stmt);
    if (found == nullptr || found->name != prepare.name) continue;
    statement->node = found->query;
    Arena arena;
    Binder binder{*this, arena};
    for (const ast::Node* type : found->argtypes) {
      statement->declared_types.push_back(binder.bind_type(ast::as<ast::TypeName>(type)).type);
    }
  }
  if (!is_plannable(statement->node)) {
    throw_error(sqlstate::feature_not_supported, "PREPARE of {} is not supported",
                statement_name(statement->node));
  }
  statement->from_sql = true;
  statement->prepared_at = session_context.statement_timestamp;
  analyze(*statement);
  statements[std::string{prepare.name}] = std::move(statement);
  sink.command_complete("PREPARE");
}

void Session::State::execute_statement(const ast::ExecuteStmt& execute, ResultSink& sink) {
  const auto found = statements.find(execute.name);
  if (found == statements.end()) {
    throw_error(kInvalidStatementName, "prepared statement \"{}\" does not exist", execute.name);
  }
  const StatementPtr statement = found->second;
  analyze(*statement);
  const std::size_t expected = statement->parameter_types.size();
  if (execute.params.size() != expected) {
    throw sql_error(kWrongArguments, "wrong number of parameters for prepared statement \"{}\"",
                    execute.name)
        .with_detail(
            fmt::format("Expected {} parameters but got {}.", expected, execute.params.size()));
  }
  const std::unique_ptr<Plan> scratch = new_plan();
  Binder binder{*this, scratch->arena};
  std::vector<Value> values;
  Scope scope;
  scope.clause = Clause::execute_argument;
  std::vector<ExprPtr> arguments;
  for (std::size_t i = 0; i < expected; ++i) {
    arguments.push_back(binder.coerce(binder.bind_expression(execute.params[i], scope),
                                      statement->parameter_types[i], kNoTypmod,
                                      Binder::Implicitness::assignment));
  }
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = transaction.get();
  for (const ExprPtr& argument : arguments) values.push_back(argument->eval(scratch->execution));
  const PortalPtr portal = make_portal(statement, values);
  // In the extended protocol Describe has told the columns already.
  portal->formats.assign(utility_formats.begin(), utility_formats.end());
  describe_columns(*portal, sink);
  run_portal(*portal, 0, sink);
}

void Session::State::discard(const ast::DiscardStmt& statement, ResultSink& sink) {
  switch (statement.target) {
    case ast::DiscardMode::all:
      prevent_in_block("DISCARD ALL");
      drop_portals();
      value_of(settings.reset_all());
      settings_changed(&sink);
      pending.resolve(PendingNotifications::Resolution::unlisten_all, {});
      shared.advisory_locks.unlock_all(options.backend_pid, AdvisoryScope::session);
      statements.clear();
      text_cache.clear();
      drop_owned_temporaries();
      sequence_values.clear();
      last_sequence.reset();
      sink.command_complete("DISCARD ALL");
      return;
    case ast::DiscardMode::plans:
      text_cache.clear();
      sink.command_complete("DISCARD PLANS");
      return;
    case ast::DiscardMode::sequences:
      sequence_values.clear();
      last_sequence.reset();
      sink.command_complete("DISCARD SEQUENCES");
      return;
    default:
      drop_owned_temporaries();
      sink.command_complete("DISCARD TEMP");
      return;
  }
}

void Session::State::run_utility(const ast::Node* node, Statement& statement,
                                 std::span<const Value> parameters, ResultSink& sink) {
  using Kind = ast::NodeKind;
  const auto definition = [&](std::string_view command) {
    require_read_write(command);
    begin_statement();
  };
  switch (node->node_kind) {
    case Kind::variable_set_stmt:
      return set_variable(ast::as<ast::VariableSetStmt>(node), sink);
    case Kind::variable_show_stmt:
      return show_variable(ast::as<ast::VariableShowStmt>(node), sink);
    case Kind::prepare_stmt:
      return prepare_statement(ast::as<ast::PrepareStmt>(node), statement, sink);
    case Kind::execute_stmt:
      return execute_statement(ast::as<ast::ExecuteStmt>(node), sink);
    case Kind::deallocate_stmt: {
      const auto& deallocate = ast::as<ast::DeallocateStmt>(node);
      if (deallocate.name.empty()) {
        statements.clear();
        sink.command_complete("DEALLOCATE ALL");
      } else {
        const auto found = statements.find(deallocate.name);
        if (found == statements.end()) {
          throw_error(kInvalidStatementName, "prepared statement \"{}\" does not exist",
                      deallocate.name);
        }
        statements.erase(found);
        sink.command_complete("DEALLOCATE");
      }
      return;
    }
    case Kind::discard_stmt:
      return discard(ast::as<ast::DiscardStmt>(node), sink);
    case Kind::explain_stmt:
      return explain(ast::as<ast::ExplainStmt>(node), sink);
    case Kind::declare_cursor_stmt:
      return declare_cursor(ast::as<ast::DeclareCursorStmt>(node), sink, parameters, statement);
    case Kind::fetch_stmt:
      return fetch(ast::as<ast::FetchStmt>(node), sink);
    case Kind::close_portal_stmt:
      return close_cursor(ast::as<ast::ClosePortalStmt>(node), sink);
    case Kind::copy_stmt:
      return copy(ast::as<ast::CopyStmt>(node), sink);
    case Kind::constraints_set_stmt: {
      const auto& modes = ast::as<ast::ConstraintsSetStmt>(node);
      if (!in_explicit_block()) {
        notice(sink, Severity::warning, SqlState{"25P01"},
               "SET CONSTRAINTS can only be used in transaction blocks");
      }
      if (modes.constraints.empty()) {
        all_deferred = modes.deferred;
        constraint_modes.clear();
      }
      for (const ast::Node* name : modes.constraints) {
        const auto& range = ast::as<ast::RangeVar>(name);
        bool found = false;
        for (const TablePtr& table : catalog.tables()) {
          const Constraint* constraint = table->constraint_named(range.relname);
          if (constraint == nullptr) continue;
          if (!constraint->deferrable) {
            throw_error(sqlstate::wrong_object_type, "constraint \"{}\" is not deferrable",
                        range.relname);
          }
          found = true;
          constraint_modes[constraint->oid] = modes.deferred;
        }
        if (!found) {
          throw_error(sqlstate::undefined_object, "constraint \"{}\" does not exist",
                      range.relname);
        }
      }
      if (!modes.deferred) run_deferred_checks(0);
      sink.command_complete("SET CONSTRAINTS");
      return;
    }
    case Kind::vacuum_stmt:
      return vacuum(ast::as<ast::VacuumStmt>(node), sink);
    case Kind::check_point_stmt:
      value_of(shared.engine.checkpoint());
      sink.command_complete("CHECKPOINT");
      return;
    case Kind::lock_stmt:
      return lock_table(ast::as<ast::LockStmt>(node), sink);
    case Kind::listen_stmt:
    case Kind::unlisten_stmt:
      return resolve_to_listen(*node, sink);
    case Kind::notify_stmt: {
      const auto& said = ast::as<ast::NotifyStmt>(node);
      notify(said.conditionname, said.payload);
      sink.command_complete("NOTIFY");
      return;
    }
    case Kind::create_stmt:
      definition("CREATE TABLE");
      return create_table(ast::as<ast::CreateStmt>(node), sink);
    case Kind::create_table_as_stmt:
      definition("CREATE TABLE AS");
      return create_table_as(ast::as<ast::CreateTableAsStmt>(node), sink, statement);
    case Kind::index_stmt:
      definition("CREATE INDEX");
      return create_index(ast::as<ast::IndexStmt>(node), sink);
    case Kind::view_stmt:
      definition("CREATE VIEW");
      return create_view(ast::as<ast::ViewStmt>(node), statement, sink);
    case Kind::create_seq_stmt:
      definition("CREATE SEQUENCE");
      return create_sequence(ast::as<ast::CreateSeqStmt>(node), sink);
    case Kind::alter_seq_stmt:
      definition("ALTER SEQUENCE");
      return alter_sequence(ast::as<ast::AlterSeqStmt>(node), sink);
    case Kind::create_schema_stmt:
      definition("CREATE SCHEMA");
      return create_schema(ast::as<ast::CreateSchemaStmt>(node), sink);
    case Kind::drop_stmt:
      definition("DROP");
      return drop(ast::as<ast::DropStmt>(node), sink);
    case Kind::truncate_stmt:
      definition("TRUNCATE TABLE");
      return truncate(ast::as<ast::TruncateStmt>(node), sink);
    case Kind::refresh_mat_view_stmt:
      definition("REFRESH MATERIALIZED VIEW");
      return refresh(ast::as<ast::RefreshMatViewStmt>(node), sink);
    case Kind::alter_table_stmt:
      definition("ALTER TABLE");
      return alter_table(ast::as<ast::AlterTableStmt>(node), sink);
    case Kind::rename_stmt:
      definition("ALTER");
      return rename(ast::as<ast::RenameStmt>(node), sink);
    case Kind::alter_owner_stmt:
      definition("ALTER");
      return set_owner(ast::as<ast::AlterOwnerStmt>(node), sink);
    case Kind::alter_object_schema_stmt:
      definition("ALTER");
      return set_schema(ast::as<ast::AlterObjectSchemaStmt>(node), sink);
    case Kind::comment_stmt:
      definition("COMMENT");
      return comment(ast::as<ast::CommentStmt>(node), sink);
    case Kind::create_role_stmt:
      definition("CREATE ROLE");
      return create_role(ast::as<ast::CreateRoleStmt>(node), sink);
    case Kind::alter_role_stmt:
      definition("ALTER ROLE");
      return alter_role(ast::as<ast::AlterRoleStmt>(node), sink);
    case Kind::drop_role_stmt:
      definition("DROP ROLE");
      return drop_role(ast::as<ast::DropRoleStmt>(node), sink);
    case Kind::alter_role_set_stmt:
      definition("ALTER ROLE");
      return alter_role_settings(ast::as<ast::AlterRoleSetStmt>(node), sink);
    case Kind::alter_database_set_stmt:
      definition("ALTER DATABASE");
      return alter_database_settings(ast::as<ast::AlterDatabaseSetStmt>(node), sink);
    case Kind::alter_system_stmt:
      return alter_system(ast::as<ast::AlterSystemStmt>(node), sink);
    default:
      refuse_statement(*node);
  }
}

}  // namespace swizzle::sql
