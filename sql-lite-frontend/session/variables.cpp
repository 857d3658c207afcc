#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/ascii.h"
#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/shared/known_settings.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/call_place.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/rights/session_user.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"

/// SET, SHOW and RESET, and the effects of settings on the session.
namespace swizzle::sql {
namespace {

std::vector<OutputColumn> text_columns(std::span<const std::string_view> names) {
  std::vector<OutputColumn> columns;
  for (const std::string_view name : names) {
    columns.push_back({name, 0, 0, raw(TypeId::text), -1, -1, Format::text});
  }
  return columns;
}

/// Settings that are reported when they change.
constexpr std::array kReported = std::to_array<std::string_view>(
    {"application_name", "client_encoding", "datestyle", "default_transaction_read_only",
     "in_hot_standby", "integer_datetimes", "intervalstyle", "is_superuser", "server_encoding",
     "server_version", "session_authorization", "standard_conforming_strings", "timezone"});

/// Reads "ISO, MDY" in any order and case; an absent part is unchanged. Returns the first unknown
/// word, or an empty text.
std::string read_date_style(std::string_view text, FormatSettings& format) {
  constexpr std::string_view kWords[] = {"",   "iso", "postgres",    "sql", "german",   "mdy",
                                         "us", "dmy", "noneuropean", "ymd", "european", "default"};
  std::string unknown;
  std::string word;
  bool has_order = false;
  const auto apply = [&] {
    // PostgreSQL compares only the beginning of these words.
    if (word.starts_with("postgres")) word = "postgres";
    if (word.starts_with("euro")) word = "european";
    if (word.starts_with("noneuro")) word = "noneuropean";
    if (unknown.empty() && std::ranges::find(kWords, word) == std::end(kWords)) unknown = word;
    if (word == "iso") format.date_style = DateStyle::iso;
    if (word == "postgres") format.date_style = DateStyle::postgres;
    if (word == "sql") format.date_style = DateStyle::sql;
    if (word == "german") format.date_style = DateStyle::german;
    has_order |= word == "ymd" || word == "dmy" || word == "mdy" || word == "us" ||
                 word == "european" || word == "noneuropean";
    if (word == "german" && !has_order) format.date_order = DateOrder::dmy;
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
  return unknown;
}

std::string date_style_text(const FormatSettings& format) {
  constexpr std::string_view kStyles[] = {"ISO", "Postgres", "SQL", "German"};
  constexpr std::string_view kOrders[] = {"YMD", "DMY", "MDY"};
  return fmt::format("{}, {}", kStyles[static_cast<std::size_t>(format.date_style)],
                     kOrders[static_cast<std::size_t>(format.date_order)]);
}

/// Returns the name of an encoding that clients may have. As in PostgreSQL, UNICODE stays, which
/// old drivers look for.
std::string canonical_encoding(std::string_view value) {
  const auto encoding = find_encoding(value);
  const auto invalid = [value](SqlState state) {
    return sql_error(state, "invalid value for parameter \"client_encoding\": \"{}\"", value);
  };
  if (!encoding) throw invalid(sqlstate::invalid_parameter_value);
  if (!EncodingTable::is_convertible(*encoding)) {
    throw invalid(sqlstate::feature_not_supported)
        .with_detail(fmt::format("Conversion between {} and UTF8 is not supported.",
                                 encoding_name(*encoding)));
  }
  value_of(EncodingTable::of(*encoding));
  return std::string{value == "UNICODE" ? value : encoding_name(*encoding)};
}

/// Returns the table of the client's encoding, which canonical_encoding() has accepted unless it
/// is a stored setting of a role: what that cannot mean is UTF8.
const EncodingTable* table_of_client(std::string_view name) {
  if (name == "UTF8") return nullptr;
  const auto encoding = find_encoding(name);
  if (!encoding || !EncodingTable::is_convertible(*encoding)) return nullptr;
  const auto table = EncodingTable::of(*encoding);
  return table ? *table : nullptr;
}

}  // namespace

void SessionVariables::make_room(std::size_t bytes) {
  // Name and value, and the old value, with their entries.
  constexpr std::size_t kEntries = 1024;
  const std::size_t kept = session_.settings.kept_bytes();
  // A few settings are not counted: every session has some.
  constexpr std::size_t kUsual = std::size_t{16} << 10U;
  if (kept + bytes > kUsual) share_.set(session_.memory, kept + 3 * bytes + kEntries);
}

void SessionVariables::changed(ResultSink* sink) {
  share_.lower(session_.settings.kept_bytes());
  touched_ |= static_cast<bool>(session_.transaction);
  session_.choose_user();
  session_.transaction.forget_defaults();
  session_.transaction.apply_lock_timeout();
  FormatSettings format;
  static_cast<void>(read_date_style(session_.settings.text("datestyle"), format));
  const std::string interval = session_.settings.text("intervalstyle");
  if (interval == "postgres_verbose") format.interval_style = IntervalStyle::postgres_verbose;
  if (interval == "sql_standard") format.interval_style = IntervalStyle::sql_standard;
  if (interval == "iso_8601") format.interval_style = IntervalStyle::iso_8601;
  if (session_.settings.text("bytea_output") == "escape") format.bytea_output = ByteaOutput::escape;
  if (session_.settings.text("xmlbinary") == "hex") format.xml_binary = XmlBinary::hex;
  format.xml_document = session_.settings.text("xmloption") == "document";
  format.extra_float_digits = static_cast<int>(session_.settings.integer("extra_float_digits"));
  format.time_zone = TimeZone::find(session_.settings.text("timezone"));
  format.client_encoding = table_of_client(session_.settings.text("client_encoding"));
  session_.session_context.format = std::move(format);

  session_.memory.set_limit(
      static_cast<std::size_t>(session_.settings.integer("session_memory_limit")) << 10U);
  const std::int64_t file_limit = session_.settings.integer("temp_file_limit");
  session_.temporary_files.set_limit(
      file_limit < 0 ? TemporaryFiles::kNoLimit : static_cast<std::uint64_t>(file_limit) << 10U);
  session_.memory.work_bytes = static_cast<std::size_t>(session_.settings.integer("work_mem"))
                               << 10U;
  session_.activity.application.store(session_.settings.text("application_name"));
  for (const std::string_view name : kReported) {
    std::string value = value_of(session_.settings.show(name));
    if (name == "session_authorization") value = session_user_name(session_);
    if (name == "is_superuser") value = session_.rights.is_superuser(session_.user) ? "on" : "off";
    if (name == "datestyle") value = date_style_text(session_.session_context.format);
    const std::string_view shown = shown_setting_name(name);
    std::string& known = reported_[std::string{shown}];
    if (known == value) continue;
    known = value;
    if (sink != nullptr) sink->parameter_status(shown, value);
  }
  // Plans depend on the search path and on how constants were read.
  invalidate();
}

void SessionVariables::end_transaction(ResultSink* sink) {
  if (std::exchange(touched_, false)) changed(sink);
}

void SessionVariables::end_savepoint(ResultSink* sink) {
  if (touched_) changed(sink);
}

std::string SessionVariables::canonical_value(std::string_view name, std::string_view value) {
  if (name == "timezone") {
    const auto zone = TimeZone::find(value);
    if (!zone) {
      throw_error(sqlstate::invalid_parameter_value,
                  "invalid value for parameter \"TimeZone\": \"{}\"", value);
    }
    return std::string{zone->name()};
  }
  if (name == "datestyle") {
    FormatSettings format = session_.session_context.format;
    if (const std::string unknown = read_date_style(value, format); !unknown.empty()) {
      throw sql_error(sqlstate::invalid_parameter_value,
                      "invalid value for parameter \"DateStyle\": \"{}\"", value)
          .with_detail(fmt::format("Unrecognized key word: \"{}\".", unknown));
    }
    return date_style_text(format);
  }
  if (name == "default_text_search_config") {
    if (auto config = session_.names.canonical_text_config(value)) return *std::move(config);
    throw_error(sqlstate::invalid_parameter_value,
                "invalid value for parameter \"default_text_search_config\": \"{}\"", value);
  }
  if (name == "client_encoding") return canonical_encoding(value);
  return std::string{value};
}

void SessionVariables::apply(std::string_view name, std::string_view value,
                             SessionSettings::Lifetime lifetime) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  require_may_set(session_, lower);
  make_room(lower.size() + value.size());
  const std::string text = canonical_value(lower, value);
  if (lower == "role" && text != "none") name_current_user(session_, text);
  if (lower == "session_authorization") {
    name_session_user(session_, text);
    value_of(session_.settings.set("role", "none", lifetime));
  }
  value_of(session_.settings.set(lower, text, lifetime));
  if (lower == "transaction_isolation" || lower == "transaction_read_only" ||
      lower == "transaction_deferrable") {
    session_.transaction.set_mode(lower, text);
  }
  changed(session_.sink_for_notices);
}

namespace {

/// Returns the value of SET name = …: a list joined by commas, each as it would be written. An
/// element of a list of names is one name, with any content.
std::string joined_arguments(std::string_view name, ast::NodeList arguments) {
  const bool names = name == "search_path";
  std::string text;
  for (const ast::Node* node : arguments) {
    if (!text.empty()) text += ", ";
    const ast::Node* value = node;
    if (const auto* cast = ast::try_as<ast::TypeCast>(value)) value = cast->arg;
    const auto& constant = ast::as<ast::A_Const>(value);
    if (constant.sval != nullptr) {
      text += names ? quote_identifier(constant.sval->sval) : std::string{constant.sval->sval};
    }
    if (constant.ival != nullptr) text += std::to_string(constant.ival->ival);
    if (constant.fval != nullptr) text += constant.fval->fval;
    if (constant.boolval != nullptr) text += constant.boolval->boolval ? "on" : "off";
  }
  return text;
}

}  // namespace

std::optional<std::string> SessionVariables::stored_value(const ast::VariableSetStmt& change) {
  switch (change.kind) {
    case ast::VariableSetKind::set_value:
      return joined_arguments(change.name, change.args);
    case ast::VariableSetKind::set_current: {
      std::string name{change.name};
      return value_of(session_.settings.show(name));
    }
    case ast::VariableSetKind::set_multi:
      throw_error(sqlstate::feature_not_supported, "SET {} is not supported here", change.name);
    default:
      return std::nullopt;
  }
}

/// SET TRANSACTION and SET SESSION CHARACTERISTICS.
void SessionVariables::set_several(const ast::VariableSetStmt& statement,
                                   SessionSettings::Lifetime lifetime, ResultSink& sink) {
  if (statement.name == "TRANSACTION") {
    if (!session_.transaction.in_block()) {
      session_.notice(sink, Severity::warning, SqlState{"25P01"},
                      "SET TRANSACTION can only be used in transaction blocks");
    }
    session_.transaction.set_modes_by_statement(statement.args);
    return;
  }
  if (statement.name == "TRANSACTION SNAPSHOT") {
    if (!session_.transaction.in_block()) {
      session_.notice(sink, Severity::warning, SqlState{"25P01"},
                      "SET TRANSACTION can only be used in transaction blocks");
    }
    return session_.transaction.import_snapshot(
        ast::as<ast::A_Const>(statement.args[0]).sval->sval);
  }
  if (statement.name != "SESSION CHARACTERISTICS") {
    throw_error(sqlstate::feature_not_supported, "SET {} is not supported", statement.name);
  }
  for (const ast::Node* node : statement.args) {
    const auto& option = ast::as<ast::DefElem>(node);
    const auto& constant = ast::as<ast::A_Const>(option.arg);
    const std::string value =
        constant.sval != nullptr
            ? std::string{constant.sval->sval}
            : (constant.ival != nullptr && constant.ival->ival != 0 ? "on" : "off");
    apply("default_" + std::string{option.defname}, value, lifetime);
  }
}

void SessionVariables::reset_all() {
  // RESET ALL does not change the session's user and role.
  SessionSettings& settings = session_.settings;
  const std::string authorization = settings.text("session_authorization");
  const std::string role = settings.text("role");
  settings.reset_all();
  if (authorization != settings.text("session_authorization")) {
    value_of(
        settings.set("session_authorization", authorization, SessionSettings::Lifetime::session));
  }
  if (role != settings.text("role")) {
    value_of(settings.set("role", role, SessionSettings::Lifetime::session));
  }
}

void SessionVariables::reset(std::string_view name) {
  // Settings of the transaction itself have no earlier value to return to.
  if (name == "transaction_isolation" || name == "transaction_read_only" ||
      name == "transaction_deferrable" || name == "seed") {
    throw_error(sqlstate::feature_not_supported, "parameter \"{}\" cannot be reset", name);
  }
  require_may_set(session_, name);
  value_of(session_.settings.reset(name));
  if (name == "session_authorization") {
    value_of(session_.settings.set("role", "none", SessionSettings::Lifetime::session));
  }
  changed(session_.sink_for_notices);
}

void SessionVariables::set(const ast::VariableSetStmt& statement, ResultSink& sink) {
  using Kind = ast::VariableSetKind;
  const auto lifetime = statement.is_local ? SessionSettings::Lifetime::transaction
                                           : SessionSettings::Lifetime::session;
  switch (statement.kind) {
    case Kind::set_value: {
      if (statement.is_local && !session_.transaction.in_block()) {
        session_.notice(sink, Severity::warning, SqlState{"25P01"},
                        "SET LOCAL can only be used in transaction blocks");
      }
      std::string value = joined_arguments(statement.name, statement.args);
      if (statement.name == "timezone" && !value.empty() &&
          value.find_first_not_of("0123456789.-+") == std::string::npos) {
        value = TimeZone::fixed(static_cast<std::int32_t>(std::atof(value.c_str()) * 3600))->name();
      }
      apply(statement.name, value, lifetime);
      break;
    }
    case Kind::set_default:
    case Kind::reset:
      reset(statement.name);
      break;
    case Kind::set_current:
      break;
    case Kind::set_multi:
      set_several(statement, lifetime, sink);
      break;
    case Kind::reset_all:
      reset_all();
      changed(&sink);
      break;
    case Kind::undefined:
      break;
  }
}

namespace {

/// True if there is a certificate; a reload may change that.
bool offers_tls(const Settings& settings) {
  return settings.find("ssl_cert_file") != nullptr && !settings.text("ssl_cert_file").empty();
}

/// Returns the path of a file that may be relative to the data directory.
std::string whole_path(const Settings& settings, std::string_view setting) {
  const std::filesystem::path file = settings.text(setting);
  if (file.is_absolute() || settings.find("data_directory") == nullptr) return file.string();
  return (std::filesystem::path{settings.text("data_directory")} / file).string();
}

bool archives(const Settings& settings) {
  return settings.find("archive_command") != nullptr && !settings.text("archive_command").empty();
}

}  // namespace

bool SessionRights::may_examine(std::string_view setting) const {
  // PostgreSQL's secret settings. Some do not exist here, which is not revealed either.
  static constexpr std::array<std::string_view, 20> kSecret{"config_file",
                                                            "data_directory",
                                                            "dynamic_library_path",
                                                            "external_pid_file",
                                                            "hba_file",
                                                            "ident_file",
                                                            "jit_provider",
                                                            "krb_server_keyfile",
                                                            "log_directory",
                                                            "log_filename",
                                                            "primary_conninfo",
                                                            "session_preload_libraries",
                                                            "shared_preload_libraries",
                                                            "ssl_ciphers",
                                                            "ssl_dh_params_file",
                                                            "ssl_ecdh_curve",
                                                            "ssl_max_protocol_version",
                                                            "ssl_min_protocol_version",
                                                            "ssl_passphrase_command",
                                                            "unix_socket_directories"};
  const bool secret = std::ranges::find(kSecret, lower_case(setting)) != kSecret.end();
  return !secret || owns(kReadAllSettingsRole);
}

Result<std::string> SessionVariables::shown_value(std::string_view name) const {
  if (!session_.rights.may_examine(name)) {
    return fail(sqlstate::insufficient_privilege,
                fmt::format("must be superuser or have privileges of pg_read_all_settings to "
                            "examine \"{}\"",
                            name));
  }
  if (name == "transaction_isolation") {
    constexpr std::string_view kLevels[] = {"read committed", "repeatable read", "serializable"};
    return std::string{
        session_.transaction.modes().says_uncommitted
            ? "read uncommitted"
            : kLevels[static_cast<std::size_t>(session_.transaction.modes().isolation)]};
  }
  if (name == "transaction_read_only")
    return std::string{session_.transaction.modes().read_only ? "on" : "off"};
  if (name == "transaction_deferrable")
    return std::string{session_.transaction.modes().deferrable ? "on" : "off"};
  if (name == "session_authorization") return session_user_name(session_);
  if (name == "ssl") return std::string{offers_tls(session_.shared.settings) ? "on" : "off"};
  if (name == "archive_mode") return std::string{archives(session_.shared.settings) ? "on" : "off"};
  if (name == "hba_file") return whole_path(session_.shared.settings, "hba_file");
  if (name == "is_superuser")
    return std::string{session_.rights.is_superuser(session_.user) ? "on" : "off"};
  return session_.settings.show(name);
}

void Session::State::send_text_row(ResultSink& sink, std::string_view column,
                                   std::string_view value) {
  const std::string_view columns[] = {column};
  sink.row_description(text_columns(columns));
  const std::optional<std::string> values[] = {std::string{value}};
  sink.data_row(TextRow{values, session_context.format.client_encoding});
}

void SessionVariables::show(const ast::VariableShowStmt& statement, ResultSink& sink) {
  if (statement.name == "all") {
    const std::string_view columns[] = {"name", "setting", "description"};
    sink.row_description(text_columns(columns));
    for (const SettingView& view : session_.settings.all()) {
      if (!session_.rights.may_examine(view.definition->name)) continue;
      const std::optional<std::string> values[] = {
          std::string{shown_setting_name(view.definition->name)},
          show_setting(view.value, view.definition->unit), view.definition->description};
      sink.data_row(TextRow{values, session_.session_context.format.client_encoding});
    }
  } else {
    const std::string value = value_of(shown_value(statement.name));
    session_.send_text_row(sink, shown_setting_name(statement.name), value);
  }
}

}  // namespace swizzle::sql
