// Fuzz target of COPY FROM STDIN: the first byte selects the format, the rest is the client's data.

#include <memory>

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "base/simulation/simulated_disk.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"
#include "storage/engine.h"

namespace swizzle::sql {
namespace {

/// A database with a table whose rows are rolled back after each input.
class Copying {
 public:
  Copying() {
    EngineOptions options;
    options.pool_bytes = std::size_t{16} << 20U;
    INVARIANT(Engine::create(disk_, "/database", options));
    auto engine = Engine::open(disk_, "/database", options);
    INVARIANT(engine);
    engine_ = std::move(*engine);
    auto database = Database::open(*engine_);
    INVARIANT(database);
    database_ = std::move(*database);
    SessionOptions who;
    who.backend_pid = 1;
    auto session = database_->connect(who);
    INVARIANT(session);
    session_ = std::move(*session);
    INVARIANT(
        session_->simple_query("CREATE TABLE t (a int, b text, c numeric, d timestamptz, e int[], "
                               "f jsonb, g bytea, h uuid, "
                               "i interval, j inet, k varchar(3), l bool, m float8)",
                               sink_));
  }

  void copy(Bytes bytes) {
    if (bytes.empty()) return;
    static constexpr std::array<const char*, 3> kFormats{"binary", "text", "csv, header"};
    const std::size_t format = std::to_integer<std::size_t>(bytes[0]) % kFormats.size();
    sink_.clear();
    sink_.copy_input = as_text(bytes.subspan(1));
    run("BEGIN");
    run("COPY t FROM STDIN WITH (FORMAT " + std::string{kFormats[format]} + ")");
    run("COPY t TO STDOUT WITH (FORMAT " + std::string{kFormats[format]} + ")");
    run("ROLLBACK");
  }

 private:
  void run(const std::string& sql) {
    const Outcome outcome = session_->simple_query(sql, sink_);
    INVARIANT(outcome || outcome.error().state != sqlstate::internal_error);
  }

  SimulatedDisk disk_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  TestSink sink_;
  std::unique_ptr<Session> session_;
};

}  // namespace
}  // namespace swizzle::sql

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto* const copying = new swizzle::sql::Copying;
  copying->copy(swizzle::fuzzing::as_bytes_of(data, size));
  return 0;
}
