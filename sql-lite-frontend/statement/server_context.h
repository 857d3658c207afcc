#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings/settings.h"
#include "sql-lite-frontend/catalog/catalogs.h"
#include "sql-lite-frontend/catalog/statistics/statement_counters.h"
#include "sql-lite-frontend/catalog/statistics/statistics_store.h"
#include "sql-lite-frontend/execution/publish/table_shapes.h"
#include "sql-lite-frontend/execution/rows/temporary_files.h"
#include "sql-lite-frontend/statement/sequences.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

struct StatementContext;

/// The part of a server that statements of all sessions use.
struct ServerContext {
  explicit ServerContext(Engine& the_engine) : engine(the_engine), sequences(the_engine) {}
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;

  Engine& engine;
  Settings settings;
  /// Memory of the statements of all sessions.
  MemoryTotal memory;
  std::unique_ptr<Catalogs> catalogs;
  std::unique_ptr<TemporaryFiles> temporary_files;
  std::unique_ptr<StatisticsStore> statistics;
  Sequences sequences;
  TableShapes table_shapes;
  std::atomic<std::int64_t> started_at{0};
  StatementRegistry statements;

  /// The server's part of ALTER SYSTEM: stores a setting for the next reload or start. No value:
  /// removes it; no name: removes all. Empty if there is no server.
  std::function<Result<>(std::optional<std::string> name, std::optional<std::string> value)>
      store_server_setting;
  /// Returns the stored form of a password in clear text: a SCRAM-SHA-256 verifier. Takes
  /// milliseconds. Empty if there is no server.
  std::function<std::string(std::string_view password)> stored_password;
  /// Called after a database was dropped: forgets its usage.
  std::function<void(Oid database)> database_dropped;
  /// Makes the other sessions of a database end. Throws 42501, before any does, unless the asking
  /// session may end each of them.
  std::function<void(StatementContext& asking, Oid database)> end_sessions_of;

 protected:
  ~ServerContext() = default;
};

}  // namespace swizzle::sql
