#include "sql-lite-frontend/catalog/catalogs.h"

#include "base/checksum.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/bootstrap.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

namespace {

/// True for records that are not kept in memory, and change all the time.
bool is_no_definition(RecordKind kind) {
  return kind == RecordKind::sequence || kind == RecordKind::counter ||
         kind == RecordKind::subscription_position || kind == RecordKind::subscription_table;
}

/// Returns a hash of all definitions.
std::uint64_t fingerprint(Engine& engine, Tree tree) {
  auto transaction = engine.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  std::uint64_t hash = 0;
  {
    Cursor cursor = value_of(tree.scan(*transaction, {}));
    while (value_of(cursor.next())) {
      const auto kind = static_cast<RecordKind>(cursor.key()[sizeof(Oid)]);
      if (is_no_definition(kind)) continue;
      hash = checksum(cursor.value(), checksum(cursor.key(), hash));
    }
  }
  transaction->rollback();
  return hash;
}

}  // namespace

std::unique_ptr<Catalogs> Catalogs::open(Engine& engine) {
  auto tree = engine.tree(Catalog::kTree);
  if (!tree) {
    write_first_catalog(engine, kPostgresDatabase);
    tree = engine.tree(Catalog::kTree);
  }
  Tree opened = value_of(std::move(tree));
  if (!engine.salvages() && !engine.is_standby()) {
    complete_template(engine, opened);
    complete_predefined_roles(engine, opened);
  }
  std::unique_ptr<Catalogs> catalogs{new Catalogs{engine, opened}};
  catalogs->shared_.load();
  if (engine.is_standby()) catalogs->fingerprint_ = fingerprint(engine, opened);
  return catalogs;
}

Catalog& Catalogs::enter(Oid database) {
  // A database is closed only while its contents are removed.
  constexpr Duration kMostWait = std::chrono::seconds{5};
  constexpr Duration kLooksEvery = std::chrono::milliseconds{5};
  Runtime& runtime = Runtime::current();
  const TimePoint began = runtime.now();
  for (;;) {
    bool is_closing = false;
    {
      const std::lock_guard lock{mutex_};
      Entry& entry = entries_[database];
      is_closing = entry.closing;
      if (is_closing && runtime.now() - began >= kMostWait)
        throw SqlError{SqlState{"3D000"}, "the database is being dropped"};
      if (entry.catalog && !is_closing) {
        ++entry.users;
        return *entry.catalog;
      }
      if (!entry.opening && !is_closing) {
        entry.opening = true;
        break;
      }
    }
    // Another session reads it; that takes a moment.
    is_closing ? runtime.sleep_until(runtime.now() + kLooksEvery) : runtime.yield();
  }
  std::unique_ptr<Catalog> catalog;
  try {
    // It may have been dropped since the caller's lookup.
    if (!shared_.database(database))
      throw_error(SqlState{"3D000"}, "database {} does not exist", database);
    catalog = Catalog::open(engine_, shared_, database);
  } catch (...) {
    const std::lock_guard lock{mutex_};
    entries_[database].opening = false;
    throw;
  }
  const std::lock_guard lock{mutex_};
  Entry& entry = entries_[database];
  entry.opening = false;
  entry.catalog = std::move(catalog);
  ++entry.users;
  return *entry.catalog;
}

bool Catalogs::read_again() {
  const std::uint64_t now = fingerprint(engine_, shared_.tree());
  if (now == fingerprint_) return false;
  shared_.read_again();
  const std::lock_guard lock{mutex_};
  for (auto& [database, entry] : entries_)
    if (entry.catalog && shared_.database(database)) entry.catalog->read_again();
  fingerprint_ = now;
  return true;
}

void Catalogs::open_promoted() {
  Tree tree = value_of(engine_.tree(Catalog::kTree));
  complete_template(engine_, tree);
  complete_predefined_roles(engine_, tree);
  shared_.open_promoted(tree);
  const std::lock_guard lock{mutex_};
  for (auto& [database, entry] : entries_)
    if (entry.catalog && shared_.database(database)) entry.catalog->open_promoted(tree);
}

std::map<Oid, CountedRows> Catalogs::counted_rows() {
  std::map<Oid, CountedRows> of;
  const std::lock_guard lock{mutex_};
  for (const auto& [database, entry] : entries_)
    if (entry.catalog) of[database] = entry.catalog->counted_rows();
  return of;
}

void Catalogs::leave(Oid database) noexcept {
  const std::lock_guard lock{mutex_};
  --entries_.find(database)->second.users;
}

Catalogs::Closing::Closing(Catalogs& catalogs, Oid database)
    : catalogs_(catalogs), database_(database) {
  const std::lock_guard lock{catalogs_.mutex_};
  Entry& entry = catalogs_.entries_[database];
  users_ = entry.users + (entry.opening || entry.closing ? 1 : 0);
  if (users_ == 0) entry.closing = true;
}

Catalogs::Closing::~Closing() {
  if (users_ != 0) return;
  const std::lock_guard lock{catalogs_.mutex_};
  const auto entry = catalogs_.entries_.find(database_);
  if (entry != catalogs_.entries_.end()) entry->second.closing = false;
}

void Catalogs::Closing::forget() {
  const std::lock_guard lock{catalogs_.mutex_};
  catalogs_.entries_.erase(database_);
}

}  // namespace swizzle::sql
