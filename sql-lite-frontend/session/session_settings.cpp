#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/shared/known_settings.h"
#include "sql-lite-frontend/session/shared/postgres_version.h"
#include "sql-lite-frontend/session/shared/sync_rule.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kClient = "Client Connection Defaults / Statement Behavior";
constexpr std::string_view kLocale = "Client Connection Defaults / Locale and Formatting";
constexpr std::string_view kPreset = "Preset Options";
constexpr std::string_view kPlanner = "Query Tuning / Planner Method Configuration";
constexpr std::string_view kCompatibility = "Version and Platform Compatibility";

void preset(Settings& settings, std::string name, std::string value, std::string description) {
  settings.define(string_setting(std::move(name), std::move(value), SettingContext::internal,
                                 std::string{kPreset}, std::move(description)));
}

/// Defines settings that monitors query and that have no effect here; their descriptions say so.
void define_absences(Settings& settings) {
  preset(settings, "autovacuum", "off",
         "Shows whether tables are vacuumed: storage tidies itself.");
  preset(settings, "autovacuum_freeze_max_age", "2000000000",
         "Shows at which age tables are frozen: none needs it.");
  preset(settings, "autovacuum_max_workers", "0", "Shows how many tables are vacuumed at once.");
  settings.define(integer_setting(
      "max_worker_processes", 0, {0, 262'143}, SettingUnit::none, SettingContext::postmaster,
      "Resource Usage / Asynchronous Behavior", "Has no effect: there is one process."));
  for (const char* name : {"max_parallel_workers", "max_parallel_workers_per_gather"}) {
    settings.define(integer_setting(name, 0, {0, 1024}, SettingUnit::none, SettingContext::user,
                                    "Resource Usage / Asynchronous Behavior",
                                    "Has no effect: each statement runs on one thread."));
  }
  settings.define(integer_setting(
      "max_parallel_maintenance_workers", 0, {0, 1024}, SettingUnit::none, SettingContext::user,
      "Resource Usage / Asynchronous Behavior", "Has no effect: an index is built on one thread."));
  preset(settings, "track_activity_query_size", "1024",
         "Shows how many bytes of a statement pg_stat_activity has.");
  preset(settings, "track_wal_io_timing", "on", "Shows whether writes of the log are timed.");
  preset(settings, "log_destination", "stderr", "Shows where the log goes.");
  preset(settings, "logging_collector", "off", "Shows whether the log goes to files: it does not.");
  settings.define(boolean_setting("hot_standby", false, SettingContext::postmaster,
                                  "Replication / Standby Servers",
                                  "Allows connections and queries during recovery."));
  settings.define(integer_setting(
      "max_standby_streaming_delay", 30'000, {-1, INT32_MAX}, SettingUnit::milliseconds,
      SettingContext::sighup, "Replication / Standby Servers",
      "Sets the maximum delay before canceling queries when a hot standby server is processing "
      "streamed WAL data. -1 waits forever."));
  preset(settings, "shared_preload_libraries", "",
         "Shows which libraries were loaded: none can be.");
  preset(settings, "external_pid_file", "", "Shows where else the process id stands: nowhere.");
}

/// Defines the standby's settings, which it reads before it has a database
/// (server/standby/standby_settings.cpp).
void define_standby(Settings& settings) {
  const char* const category = "Replication / Standby Servers";
  const auto at_reload = SettingContext::sighup;
  settings.define(string_setting("primary_conninfo", "", at_reload, category,
                                 "Connection string of the server that a standby follows."));
  settings.define(string_setting("restore_command", "", at_reload,
                                 "Write-Ahead Log / Archive Recovery",
                                 "Shell command by which a standby fetches a log segment from the "
                                 "archive if its primary lacks it: %f is its name, %p its place. "
                                 "Read at the start for page_repair_backup."));
  settings.define(string_setting("primary_slot_name", "", at_reload, category,
                                 "Replication slot that a standby uses there."));
  settings.define(integer_setting("wal_receiver_timeout", 60'000, {0, INT32_MAX},
                                  SettingUnit::milliseconds, at_reload, category,
                                  "Silence of its primary, or of a subscription's publisher, after "
                                  "which a standby or a worker connects anew."));
  settings.define(integer_setting(
      "wal_receiver_status_interval", 10, {0, 2'147'483}, SettingUnit::seconds, at_reload, category,
      "Time between two reports of a standby or of a subscription's worker, "
      "at most."));
  settings.define(integer_setting("wal_retrieve_retry_interval", 5'000, {1, INT32_MAX},
                                  SettingUnit::milliseconds, at_reload, category,
                                  "Time before a standby tries again to connect, and before a "
                                  "subscription's worker is started again."));
}

/// Settings of replication.
void define_replication(Settings& settings) {
  define_standby(settings);
  const std::string category = "Replication / Sending Servers";
  const auto at_start = SettingContext::postmaster;
  settings.define(enumeration_setting("wal_level", "replica", {"replica", "logical"}, at_start,
                                      "Write-Ahead Log / Settings",
                                      "Sets the level of information written to the WAL."));
  settings.define(integer_setting("max_wal_senders", 10, {0, 262'143}, SettingUnit::none, at_start,
                                  category,
                                  "Sets the maximum number of simultaneously running WAL sender "
                                  "processes."));
  settings.define(integer_setting("max_replication_slots", 10, {0, 262'143}, SettingUnit::none,
                                  at_start, category,
                                  "Sets the maximum number of simultaneously defined replication "
                                  "slots."));
  settings.define(integer_setting("wal_keep_size", 0, {0, INT32_MAX}, SettingUnit::megabytes,
                                  SettingContext::sighup, category,
                                  "Sets the size of WAL files held for standby servers."));
  settings.define(integer_setting("max_slot_wal_keep_size", -1, {-1, INT32_MAX},
                                  SettingUnit::megabytes, SettingContext::sighup, category,
                                  "Sets the maximum WAL size that can be reserved by replication "
                                  "slots."));
  settings.define(integer_setting("max_logical_replication_workers", 4, {0, 262'143},
                                  SettingUnit::none, at_start, "Replication / Subscribers",
                                  "Maximum number of logical replication worker processes."));
  settings.define(integer_setting("max_sync_workers_per_subscription", 2, {0, 262'143},
                                  SettingUnit::none, SettingContext::sighup,
                                  "Replication / Subscribers",
                                  "Maximum number of table synchronization workers per "
                                  "subscription."));
  SettingDefinition names = string_setting(
      "synchronous_standby_names", "", SettingContext::sighup, "Replication / Primary Server",
      "Number of synchronous standbys and list of names of potential synchronous ones.");
  names.check = [](const SettingValue& value) -> Result<> {
    RETURN_IF_ERROR(SyncRule::parse(std::get<std::string>(value)));
    return {};
  };
  settings.define(std::move(names));
  settings.define(integer_setting("wal_sender_timeout", 60'000, {0, INT32_MAX},
                                  SettingUnit::milliseconds, SettingContext::user, category,
                                  "Sets the maximum time to wait for WAL replication."));
  settings.define(integer_setting("logical_decoding_work_mem", 65'536, {64, INT32_MAX},
                                  SettingUnit::kilobytes, SettingContext::user,
                                  "Resource Usage / Memory",
                                  "Sets the maximum memory to be used for logical decoding."));
}

void define_presets(Settings& settings, std::string_view in_hot_standby) {
  preset(settings, "server_version", server_version(), "Shows the server version.");
  preset(settings, "server_version_num", std::string{kPostgresVersionNumber},
         "Shows the server version as an integer.");
  preset(settings, "server_encoding", "UTF8",
         "Shows the server (database) character set encoding.");
  preset(settings, "integer_datetimes", "on", "Shows whether datetimes are integer based.");
  preset(settings, "in_hot_standby", std::string{in_hot_standby},
         "Shows whether hot standby is currently active.");
  preset(settings, "lc_collate", "C", "Shows the collation order locale.");
  preset(settings, "lc_ctype", "C",
         "Shows the character classification and case conversion locale.");
  preset(settings, "block_size", "8192", "Shows the size of a disk block.");
  preset(settings, "max_identifier_length", "63", "Shows the maximum identifier length.");
  preset(settings, "max_index_keys", "32", "Shows the maximum number of index keys.");
  preset(settings, "max_function_args", "100", "Shows the maximum number of function arguments.");
  preset(settings, "is_superuser", "on", "Shows whether the current user is a superuser.");
  preset(settings, "ssl", "off", "Shows whether TLS is offered.");
  preset(settings, "data_checksums", "on", "Shows whether pages have checksums: all have.");
  preset(settings, "data_directory_mode", "0700",
         "Shows the mode of the data directory: it is its owner's alone.");
  preset(settings, "fsync", "on", "Shows whether what is committed is forced to disk: always.");
  preset(
      settings, "full_page_writes", "on",
      "Shows whether pages survive torn writes: all are written to the double-write area first.");
  preset(settings, "archive_mode", "off", "Shows whether archive_command is set.");
  define_absences(settings);
  define_replication(settings);
}

void define_formats(Settings& settings) {
  const std::string category{kLocale};
  const auto user = SettingContext::user;
  settings.define(string_setting("client_encoding", "UTF8", user, category,
                                 "Sets the client's character set encoding."));
  settings.define(string_setting("datestyle", "ISO, MDY", user, category,
                                 "Sets the display format for date and time values."));
  settings.define(enumeration_setting(
      "intervalstyle", "postgres", {"postgres", "postgres_verbose", "sql_standard", "iso_8601"},
      user, category, "Sets the display format for interval values."));
  settings.define(
      string_setting("timezone", "UTC", user, category,
                     "Sets the time zone for displaying and interpreting time stamps."));
  settings.define(
      integer_setting("extra_float_digits", 1, {-15, 3}, SettingUnit::none, user, category,
                      "Sets the number of digits displayed for floating-point values."));
  settings.define(enumeration_setting("bytea_output", "hex", {"escape", "hex"}, user, category,
                                      "Sets the output format for bytea."));
  for (const char* name : {"lc_messages", "lc_monetary", "lc_numeric", "lc_time"}) {
    settings.define(only({"C", "POSIX"}, string_setting(name, "C", user, category,
                                                        "The locale for formatting is always C.")));
  }
  settings.define(default_only(string_setting("timezone_abbreviations", "Default", user, category,
                                              "Which abbreviations of time zones are known.")));
  settings.define(string_setting("default_text_search_config", "pg_catalog.simple", user, category,
                                 "Sets the configuration of text search where none is named."));
}

void define_behavior(Settings& settings) {
  const std::string category{kClient};
  const auto user = SettingContext::user;
  SettingDefinition self_grant =
      string_setting("createrole_self_grant", "", user, category,
                     "Sets whether a CREATEROLE user automatically grants the role to themselves, "
                     "and with which options.");
  self_grant.check = [](const SettingValue& value) -> Result<> {
    RETURN_IF_ERROR(self_grant_options(std::get<std::string>(value)));
    return {};
  };
  settings.define(std::move(self_grant));
  const std::vector<std::string> levels{"serializable", "repeatable read", "read committed",
                                        "read uncommitted"};
  settings.define(string_setting("application_name", "", user, "Reporting and Logging",
                                 "Sets the application name to be reported in statistics."));
  settings.define(string_setting("search_path", "\"$user\", public", user, category,
                                 "Sets the schema search order for names that are not qualified."));
  settings.define(enumeration_setting("default_transaction_isolation", "read committed", levels,
                                      user, category,
                                      "Sets the isolation level of each new transaction."));
  settings.define(boolean_setting("default_transaction_read_only", false, user, category,
                                  "Sets the read-only status of new transactions."));
  settings.define(boolean_setting("default_transaction_deferrable", false, user, category,
                                  "Sets the deferrable status of new transactions."));
  settings.define(enumeration_setting("session_replication_role", "origin",
                                      {"origin", "replica", "local"}, SettingContext::superuser,
                                      category, "Sets the session's behavior for triggers."));
  settings.define(enumeration_setting("transaction_isolation", "read committed", levels, user,
                                      category, "Sets the current transaction's isolation level."));
  settings.define(enumeration_setting(
      "serializable_method", "snapshot", {"snapshot", "locking"}, user, "Lock Management",
      "Sets how SERIALIZABLE transactions are kept apart: by conflicts of snapshots, as in "
      "PostgreSQL, or by locks on what they read."));
  settings.define(boolean_setting("transaction_read_only", false, user, category,
                                  "Sets the current transaction's read-only status."));
  settings.define(boolean_setting("transaction_deferrable", false, user, category,
                                  "Whether to defer a read-only serializable transaction."));
  for (const char* name :
       {"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
        "idle_session_timeout", "transaction_timeout"}) {
    settings.define(integer_setting(name, 0, {0, INT32_MAX}, SettingUnit::milliseconds, user,
                                    category, "Sets a limit in time; 0 is none."));
  }
  settings.define(integer_setting(
      "deadlock_timeout", 0, {0, INT32_MAX}, SettingUnit::milliseconds, SettingContext::superuser,
      "Lock Management",
      "Sets the time to wait on a lock before checking for deadlock; 0 checks at once."));
  settings.define(enumeration_setting(
      "client_min_messages", "notice",
      {"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"}, user,
      category, "Sets the message levels that are sent to the client."));
  settings.define(enumeration_setting(
      "icu_validation_level", "warning",
      {"disabled", "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning",
       "error"},
      user, category, "Sets the level of messages about ICU locales of unknown languages."));
  settings.define(default_only(
      enumeration_setting("password_encryption", "scram-sha-256", {"md5", "scram-sha-256"}, user,
                          "Connections and Authentication / Authentication",
                          "Passwords are always kept as SCRAM verifiers.")));
  settings.define(enumeration_setting(
      "synchronous_commit", "on", {"local", "remote_write", "remote_apply", "on", "off"}, user,
      "Write-Ahead Log / Settings", "Sets the current transaction's synchronization level."));
  settings.define(integer_setting("work_mem", 4096, {64, INT32_MAX}, SettingUnit::kilobytes, user,
                                  "Resource Usage / Memory",
                                  "Sets the maximum memory to be used for query workspaces."));
  settings.define(
      integer_setting("max_prepared_transactions", 0, {0, 262'143}, SettingUnit::none,
                      SettingContext::postmaster, "Resource Usage / Memory",
                      "Sets the maximum number of simultaneously prepared transactions."));
  settings.define(integer_setting("maintenance_work_mem", 65536, {64, INT32_MAX},
                                  SettingUnit::kilobytes, user, "Resource Usage / Memory",
                                  "Sets the maximum memory for maintenance operations."));
  settings.define(
      integer_setting("session_memory_limit", 1 << 20, {1024, INT32_MAX}, SettingUnit::kilobytes,
                      SettingContext::superuser, "Resource Usage / Memory",
                      "Sets the memory that the rows kept by one session's statements may take."));
  settings.define(
      integer_setting("temp_file_limit", -1, {-1, INT32_MAX}, SettingUnit::kilobytes,
                      SettingContext::superuser, "Resource Usage / Disk",
                      "Limits the total size of all temporary files used by each process."));
  settings.define(string_setting("role", "none", user, category, "Sets the current role."));
  settings.define(
      string_setting("session_authorization", "", user, category, "Sets the session user name."));
  settings.define(only({"", "pg_default"}, string_setting("default_tablespace", "", user, category,
                                                          "There is one tablespace, pg_default.")));
  settings.define(default_only(string_setting("default_table_access_method", "heap", user, category,
                                              "There is one table access method.")));
  settings.define(boolean_setting("check_function_bodies", true, user, category,
                                  "Checks the bodies of routines when they are created."));
  settings.define(boolean_setting("event_triggers", true, SettingContext::superuser, category,
                                  "Lets event triggers run."));
  settings.define(boolean_setting("lo_compat_privileges", false, SettingContext::superuser,
                                  std::string{kCompatibility},
                                  "Everybody may read and change large objects."));
  settings.define(
      boolean_setting("row_security", true, user, category,
                      "Has policies choose rows; off, what they would change fails instead."));
}

/// Defines PL/pgSQL's settings. A function has those that hold when it is read.
void define_plpgsql(Settings& settings) {
  const std::string category = "Customized Options";
  const auto user = SettingContext::user;
  settings.define(boolean_setting("plpgsql.check_asserts", true, user, category,
                                  "Perform checks given in ASSERT statements."));
  settings.define(boolean_setting("plpgsql.print_strict_params", false, user, category,
                                  "Print information about parameters in the DETAIL part of the "
                                  "error messages generated on INTO ... STRICT failures."));
  settings.define(enumeration_setting(
      "plpgsql.variable_conflict", "error", {"error", "use_variable", "use_column"},
      SettingContext::superuser, category,
      "Sets handling of conflicts between PL/pgSQL variable names and table column names."));
  for (const char* name : {"plpgsql.extra_errors", "plpgsql.extra_warnings"}) {
    settings.define(only({"none", ""}, string_setting(name, "none", user, category,
                                                      "There are no additional checks.")));
  }
}

/// Defines settings that dumps and drivers set and that have no effect, because the objects that
/// they concern cannot exist. Any value is accepted.
void define_pointless(Settings& settings) {
  const std::string category{kClient};
  const auto user = SettingContext::user;
  // Both values hold here: every scan begins at the beginning.
  settings.define(boolean_setting("synchronize_seqscans", true, user, std::string{kCompatibility},
                                  "Every scan begins at the beginning, whatever this says."));
  settings.define(enumeration_setting("xmlbinary", "base64", {"base64", "hex"}, user, category,
                                      "Sets how binary values are to be encoded in XML."));
  settings.define(enumeration_setting("xmloption", "content", {"content", "document"}, user,
                                      category,
                                      "Sets whether XML data in implicit parsing and "
                                      "serialization operations is to be considered as documents "
                                      "or content fragments."));
  settings.define(boolean_setting(
      "escape_string_warning", true, user, std::string{kCompatibility},
      "Ordinary strings have no backslash escapes, so there is nothing to warn about."));
}

void define_planning(Settings& settings) {
  const auto user = SettingContext::user;
  settings.define(default_only(boolean_setting("jit", false, user, std::string{kPlanner},
                                               "Nothing is compiled to machine code.")));
  settings.define(only(
      {"auto", "force_generic_plan"},
      enumeration_setting(
          "plan_cache_mode", "auto", {"auto", "force_generic_plan", "force_custom_plan"}, user,
          std::string{kPlanner},
          "Whether parameters' values are planned with where they tell which index to read.")));
  for (const std::string_view name : planner_settings()) {
    settings.define(boolean_setting(std::string{name}, true, user, std::string{kPlanner},
                                    "Enables the planner's use of a kind of step."));
  }
  settings.define(integer_setting(
      "shared_plans", 2000, {0, 1'000'000}, SettingUnit::none, SettingContext::sighup,
      "Resource Usage / Memory",
      "Sets how many plans, and as many parsed texts, are kept for all sessions; 0 is none."));
  for (const char* name :
       {"enable_async_append", "enable_bitmapscan", "enable_distinct_reordering",
        "enable_gathermerge", "enable_group_by_reordering", "enable_incremental_sort",
        "enable_memoize", "enable_parallel_append", "enable_parallel_hash",
        "enable_presorted_aggregate", "enable_self_join_elimination", "enable_tidscan"}) {
    settings.define(boolean_setting(name, true, user, std::string{kPlanner},
                                    "There are no such steps, which could be used."));
  }
  for (const char* name : {"enable_partitionwise_aggregate", "enable_partitionwise_join"}) {
    settings.define(boolean_setting(name, false, user, std::string{kPlanner},
                                    "There are no such steps, which could be used."));
  }
  settings.define(default_only(
      boolean_setting("standard_conforming_strings", true, user, std::string{kCompatibility},
                      "'...' strings treat backslashes literally, always.")));
  settings.define(default_only(boolean_setting("transform_null_equals", false, user,
                                               std::string{kCompatibility},
                                               "\"expr=NULL\" is not \"expr IS NULL\", ever.")));
  settings.define(default_only(boolean_setting("quote_all_identifiers", false, user,
                                               std::string{kCompatibility},
                                               "Definitions quote the identifiers that need it.")));
}

}  // namespace

std::span<const std::string_view> planner_settings() noexcept {
  static constexpr std::string_view kNames[] = {
      "enable_seqscan",  "enable_indexscan",        "enable_indexonlyscan", "enable_mergejoin",
      "enable_hashjoin", "enable_nestloop",         "enable_material",      "enable_sort",
      "enable_hashagg",  "enable_partition_pruning"};
  return kNames;
}

std::span<const std::string_view> format_settings() noexcept {
  static constexpr std::string_view kNames[] = {"datestyle",          "intervalstyle", "timezone",
                                                "extra_float_digits", "bytea_output",  "xmloption",
                                                "xmlbinary"};
  return kNames;
}

void define_session_settings(Settings& settings, std::string_view in_hot_standby) {
  define_presets(settings, in_hot_standby);
  define_formats(settings);
  define_behavior(settings);
  define_plpgsql(settings);
  define_pointless(settings);
  define_planning(settings);
  define_known_settings(settings);
}

}  // namespace swizzle::sql
