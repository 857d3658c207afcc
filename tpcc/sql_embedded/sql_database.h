#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "sql-lite-frontend/session.h"
#include "storage/engine.h"
#include "tpcc/wire/connection.h"

namespace swizzle::tpcc {

/// An engine with the SQL frontend over it, in this process.
class SqlDatabase {
 public:
  enum class Start : std::uint8_t { create, open };
  static Result<std::unique_ptr<SqlDatabase>> start(Start start, FileSystem& files,
                                                    const std::filesystem::path& directory,
                                                    const EngineOptions& options);

  /// Pre: the connections are closed before close().
  [[nodiscard]] Connect connect();
  Result<> close();

 private:
  SqlDatabase(std::unique_ptr<Engine> engine, std::unique_ptr<sql::Database> database)
      : engine_(std::move(engine)), database_(std::move(database)) {}

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<sql::Database> database_;
  std::atomic<std::int32_t> sessions_{0};
};

}  // namespace swizzle::tpcc
