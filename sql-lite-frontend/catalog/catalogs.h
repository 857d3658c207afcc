#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// The catalogs of all databases in an engine. A catalog is opened at the first use of its database
/// and stays open until the database is dropped. Thread-safe.
class Catalogs {
 public:
  /// Opens the catalogs; creates the first one if the engine is empty.
  static std::unique_ptr<Catalogs> open(Engine& engine);

  Catalogs(const Catalogs&) = delete;
  Catalogs& operator=(const Catalogs&) = delete;
  ~Catalogs() = default;

  [[nodiscard]] SharedObjects& shared_objects() noexcept { return shared_; }
  /// Returns the counts of each database that has been used since the start.
  [[nodiscard]] std::map<Oid, CountedRows> counted_rows();

  /// On a standby, when another state of the database is replayed: reads the definitions again if
  /// they have changed, which outdates all plans. Returns true then. Pre: no session uses them.
  bool read_again();

  /// The standby has been promoted, and its engine opened anew: reads everything again, by new
  /// handles of trees, and finishes what the old primary left. Pre: no session uses them.
  void open_promoted();

  /// The catalog of a database that exists, which cannot be dropped while this lives.
  class Use {
   public:
    /// Throws SqlError 3D000 if there is no such database. Waits for a DROP DATABASE in progress,
    /// up to a limit.
    Use(Catalogs& catalogs, Oid database)
        : catalogs_(catalogs), database_(database), catalog_(catalogs.enter(database)) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { catalogs_.leave(database_); }
    [[nodiscard]] Catalog& catalog() const noexcept { return catalog_; }

   private:
    Catalogs& catalogs_;
    Oid database_;
    Catalog& catalog_;
  };

  /// Excludes sessions from a database for its lifetime, unless the database is in use.
  class Closing {
   public:
    Closing(Catalogs& catalogs, Oid database);
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    ~Closing();
    /// Number of uses of the database; if not 0, sessions are not excluded.
    [[nodiscard]] std::size_t users() const noexcept { return users_; }
    /// Discards the in-memory catalog of the dropped database.
    void forget();

   private:
    Catalogs& catalogs_;
    Oid database_;
    std::size_t users_ = 0;
  };

 private:
  Catalogs(Engine& engine, Tree tree) : engine_(engine), shared_(engine, tree) {}
  Catalog& enter(Oid database);
  void leave(Oid database) noexcept;

  struct Entry {
    std::unique_ptr<Catalog> catalog;
    std::size_t users = 0;
    bool opening = false;
    bool closing = false;
  };

  Engine& engine_;
  SharedObjects shared_;
  /// Guards the entries; never held while parked.
  std::mutex mutex_;
  std::map<Oid, Entry> entries_;
  /// On a standby: of the definitions that were read.
  std::uint64_t fingerprint_ = 0;
};

}  // namespace swizzle::sql
