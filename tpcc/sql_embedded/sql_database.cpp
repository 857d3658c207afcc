#include "tpcc/sql_embedded/sql_database.h"

#include "tpcc/sql_embedded/session_connection.h"

namespace swizzle::tpcc {

Result<std::unique_ptr<SqlDatabase>> SqlDatabase::start(Start start, FileSystem& files,
                                                        const std::filesystem::path& directory,
                                                        const EngineOptions& options) {
  if (start == Start::create) {
    RETURN_IF_ERROR(Engine::create(files, directory, options));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::open(files, directory, options));
  ASSIGN_OR_RETURN(std::unique_ptr<sql::Database> database, sql::Database::open(*engine));
  return std::unique_ptr<SqlDatabase>{new SqlDatabase{std::move(engine), std::move(database)}};
}

Connect SqlDatabase::connect() {
  return [this](Pipelining) { return SessionConnection::open(*database_, ++sessions_); };
}

Result<> SqlDatabase::close() {
  database_.reset();
  return engine_->close();
}

}  // namespace swizzle::tpcc
