#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/statement/transactions/advisory_locks.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Note that the engine keeps with a prepared transaction. After a restart nothing else is known of
/// the transaction; its form on disk never changes.
struct PreparedNote {
  Oid owner = kNoOid;  ///< role that has prepared it
  Oid database = kNoOid;
  bool has_definitions = false;  ///< it has changed the catalog's records
  /// Positions of sequences that are free after its commit, and after its rollback.
  std::vector<Oid> left_by_commit;
  std::vector<Oid> left_by_rollback;
  struct AdvisoryLock {
    AdvisoryKey key;
    AdvisoryMode mode;
  };
  std::vector<AdvisoryLock> locks;
  std::int64_t number = 0;  ///< as pg_current_xact_id() gave it; 0: none
};

std::vector<std::byte> encode(const PreparedNote& note);
/// Returns nothing if the bytes are no such note.
std::optional<PreparedNote> decode_note(Bytes bytes);

/// Returns the number of prepared transactions of a database.
std::size_t count_prepared_in(const Engine& engine, Oid database);

}  // namespace swizzle::sql
