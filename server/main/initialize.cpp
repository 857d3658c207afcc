#include "server/main/initialize.h"

#include <fmt/format.h>

#include <array>

#include "base/io/posix_file_system.h"
#include "server/auth/base64.h"
#include "server/auth/crypto.h"
#include "server/auth/scram_verifier.h"
#include "server/main/text_file.h"
#include "sql-lite-frontend/session.h"
#include "storage/engine.h"

namespace swizzle::server {
namespace {

constexpr std::string_view kSettings =
    R"(# Settings of this server. Names are PostgreSQL's where the thing is the same.
# The rules file, TLS, and settings that docs/settings.md says to hold "when the configuration is
# read again" take effect at `swizzled reload`, others at the next start.

#port = 5432
#listen_addresses = 'localhost'        # '' for none, '*' for all
#unix_socket_directories = '/tmp'
#max_connections = 10000
#superuser_reserved_connections = 3
#authentication_timeout = 10s
#ssl_cert_file = ''                     # with ssl_key_file: TLS is offered
#ssl_key_file = ''
#ssl_min_protocol_version = 'TLSv1.2'
#user = ''                              # whose it becomes when root starts it
#hba_file = 'swizzle_hba.conf'

#shared_buffers = 1GB                   # memory for pages; less where memory is less than 4GB
#server_memory_limit = 0                # of all statements; 0: half of what the pages leave
#wal_buffers = 8MB
#max_wal_size = 1GB                     # a checkpoint at least this often
#checkpoint_timeout = 5min
#archive_command = ''                  # such as: test ! -f /archive/%f && cp %p /archive/%f
#reactor_threads = 0                    # 0: one per processor

#metrics_port = 0                       # 9187, say: /metrics for Prometheus, / for people
#metrics_address = '127.0.0.1'
#console_login = loopback                # or off, on
#log_format = plain                     # or json
#log_line_prefix = '%m [%p] '
#log_min_duration_statement = -1        # 1s, say
#log_connections = off

# Any other name is a setting that sessions start with:
#statement_timeout = 0
)";

/// initdb's settings for the locales C and English.
constexpr std::string_view kEnglish =
    R"(
# Words of text search, where no configuration is named:
default_text_search_config = 'pg_catalog.english'
)";

constexpr std::string_view kLocalRules =
    R"(# Who may connect, and how they prove who they are. The first line that matches decides.
# type  database  user  address  method (scram-sha-256, peer, reject; trust on this machine only)

local   all       all            peer
local   replication  all         peer
)";
constexpr std::string_view kPasswordRules = R"(host    all       all   127.0.0.1/32  scram-sha-256
host    all       all   ::1/128       scram-sha-256
host    replication  all  127.0.0.1/32  scram-sha-256
host    replication  all  ::1/128       scram-sha-256
)";

Result<> make_database(const DataDirectory& directory, const InitOptions& options) {
  PosixFileSystem files;
  const EngineOptions engine_options;
  RETURN_IF_ERROR(Engine::create(files, directory.engine(), engine_options));
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, directory.engine(), engine_options));
  {
    ASSIGN_OR_RETURN(const auto database, sql::Database::open(*engine));
    const std::string verifier =
        options.password ? ScramVerifier::derive(*options.password).text() : std::string{};
    RETURN_IF_ERROR(database->set_superuser_verifier(options.user, verifier));
    if (!options.icu_locale.empty()) RETURN_IF_ERROR(database->set_icu_locale(options.icu_locale));
  }
  return engine->close();
}

std::string fresh_secret() {
  std::array<std::byte, 32> bytes;
  fill_random(bytes);
  return encode_base64(bytes);
}

}  // namespace

Result<> initialize(const DataDirectory& directory, const InitOptions& options) {
  if (options.password && options.password->empty()) {
    return fail(sqlstate::invalid_parameter_value, "the password must not be empty");
  }
  if (!options.icu_locale.empty()) RETURN_IF_ERROR(sql::check_icu_locale(options.icu_locale));
  RETURN_IF_ERROR(make_private_directory(directory.path()));
  RETURN_IF_ERROR(make_database(directory, options));
  RETURN_IF_ERROR(write_text_file(directory.secret_file().string(), fresh_secret()));
  std::string rules{kLocalRules};
  if (options.password) rules += kPasswordRules;
  RETURN_IF_ERROR(write_text_file(directory.rules_file().string(), rules));
  std::string settings{kSettings};
  // Few other languages have a text search configuration here: databases and sessions choose one.
  const bool is_english = options.icu_locale.empty() || options.icu_locale.starts_with("en");
  if (is_english) settings += kEnglish;
  // Written last: a settings file means that all other files are there.
  return write_text_file(directory.settings_file().string(), settings);
}

}  // namespace swizzle::server
