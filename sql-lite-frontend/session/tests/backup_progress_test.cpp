#include <catch2/catch.hpp>
#include <filesystem>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

TEST_CASE("pg_stat_progress_basebackup says how far a backup is", "[sql][backup]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text)");
  db.run("INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i");
  const auto watcher = db.connect();
  const std::string view = "FROM pg_stat_progress_basebackup";
  CHECK(db.run(*watcher, "SELECT * " + view) == "SELECT 0");

  const std::filesystem::path target = db.directory().string() + ".backup";
  std::filesystem::remove_all(target);
  std::vector<std::string> phases;
  std::int64_t streamed = 0;
  db.database().shared().back_up = [&](const std::string& to, const std::string& since,
                                       const RecoveryObserver& observer) -> Result<std::string> {
    const auto watch = [&](const RecoveryProgress& now) {
      observer(now);
      const std::string phase =
          db.run(*watcher,
                 "SELECT pid = 1, phase, backup_total IS NULL, tablespaces_total, "
                 "tablespaces_streamed, backup_streamed <= backup_total " +
                     view);
      if (phases.empty() || phases.back() != phase) phases.push_back(phase);
      streamed = std::stoll(db.run(*watcher, "SELECT backup_streamed " + view));
    };
    RETURN_IF_ERROR(since.empty() ? db.engine().back_up(to, watch)
                                  : db.engine().back_up_changes(since, to, watch));
    return "done";
  };
  db.run("SELECT swizzle_backup('" + target.string() + "')");
  CHECK(phases == std::vector<std::string>{
                      "t|waiting for checkpoint to finish|t|0|0|NULL SELECT 1",
                      "t|streaming database files|f|1|0|t SELECT 1",
                      "t|transferring wal files|f|1|1|t SELECT 1",
                  });
  CHECK(streamed > 20000 * 100);
  CHECK(db.run(*watcher, "SELECT * " + view) == "SELECT 0");
  const std::filesystem::path changes = target.string() + ".changes";
  std::filesystem::remove_all(changes);
  CHECK(db.run("SELECT swizzle_backup('" + changes.string() + "', '" + target.string() + "')")
            .find("done SELECT 1") != std::string::npos);
  CHECK(db.run("SELECT swizzle_backup('" + changes.string() + "2', '" + db.directory().string() +
               "')")
            .find("is no whole backup") != std::string::npos);
  std::filesystem::remove_all(changes);
  std::filesystem::remove_all(target);
}

TEST_CASE("pg_create_restore_point gives an LSN, to superusers", "[sql][backup]") {
  TestDatabase db;
  CHECK(db.run("SELECT pg_create_restore_point('before the change') > '0/0', "
               "pg_create_restore_point(repeat('n', 63)) <= pg_current_wal_lsn(), "
               "pg_typeof(pg_create_restore_point(''))") == "t|t|pg_lsn SELECT 1");
  CHECK(db.run("SELECT pg_create_restore_point(NULL)") == "NULL SELECT 1");
  CHECK(db.run("SELECT pg_create_restore_point(repeat('n', 64))") ==
        "22023 value too long for restore point (maximum 63 characters)");
  CHECK(db.run("SELECT has_function_privilege('pg_read_all_data', 'pg_create_restore_point(text)', "
               "'execute')") == "f SELECT 1");
  db.run("CREATE ROLE ann LOGIN");
  db.run("SET ROLE ann");
  CHECK(db.run("SELECT pg_create_restore_point('p')") ==
        "42501 permission denied for function pg_create_restore_point");
}

TEST_CASE("pg_switch_wal closes a segment that something was written to", "[sql][backup]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  const auto segment = [&] { return db.rows("SELECT pg_walfile_name(pg_current_wal_lsn())"); };
  const auto before = segment();
  CHECK(db.run("SELECT pg_switch_wal() <= pg_current_wal_lsn()") == "t SELECT 1");
  const auto after = segment();
  CHECK(after != before);
  CHECK(db.run("SELECT pg_switch_wal() <= pg_current_wal_lsn()") == "t SELECT 1");
  CHECK(segment() == after);
  db.run("CREATE ROLE ann LOGIN");
  db.run("SET ROLE ann");
  CHECK(db.run("SELECT pg_switch_wal()") == "42501 permission denied for function pg_switch_wal");
}

}  // namespace swizzle::sql
