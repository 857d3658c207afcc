#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/settings.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/sequences.h"

namespace swizzle::sql {

struct Database::Shared {
  explicit Shared(Engine& the_engine) : engine(the_engine), sequences(the_engine) {}

  Engine& engine;
  Settings settings;
  std::unique_ptr<Catalog> catalog;
  Sequences sequences;
  std::atomic<std::int64_t> started_at{0};

  /// Sessions by backend pid, for pg_stat_activity and pg_terminate_backend.
  std::mutex sessions_mutex;
  std::map<std::int32_t, Session*> sessions;
};

/// Defines everything that SET and SHOW know.
void define_session_settings(Settings& settings);

}  // namespace swizzle::sql
