#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

namespace swizzle::bench {

/// LMDB: a copy-on-write B+tree in a memory-mapped file. Readers need no copies or latches. Each
/// Reader keeps one read transaction open, which is LMDB's fastest way.
class LmdbStore {
 public:
  /// `map_bytes` bounds the file. Syncing is off, because LMDB's durability is not measured.
  static Result<LmdbStore> create(const std::filesystem::path& directory, std::uint64_t map_bytes);
  LmdbStore(LmdbStore&&) noexcept = default;
  LmdbStore& operator=(LmdbStore&&) noexcept = default;
  ~LmdbStore() = default;

  /// Appends records in ascending key order until `next` returns false.
  Result<> load(const std::function<bool(Bytes& key, Bytes& value)>& next);

  /// Writes everything to the file, so that its pages can be dropped from memory.
  Result<> sync();

  class Reader {
   public:
    explicit Reader(const LmdbStore& store);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();
    /// Copies the value to `into`. Returns the number of bytes, or 0 if the key does not exist.
    std::size_t get(Bytes key, MutableBytes into) noexcept;

   private:
    MDB_txn* transaction_ = nullptr;
    MDB_cursor* cursor_ = nullptr;
  };

  /// One write transaction for many inserts; one Writer at a time.
  class Writer {
   public:
    explicit Writer(LmdbStore& store);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();
    bool insert(Bytes key, Bytes value) noexcept;

   private:
    MDB_txn* transaction_ = nullptr;
    unsigned table_;
  };

  /// Returns the memory map, for limiting its resident part.
  [[nodiscard]] MutableBytes map() const;

 private:
  struct Close {
    void operator()(MDB_env* environment) const noexcept;
  };
  LmdbStore(MDB_env* environment, unsigned table) : environment_(environment), table_(table) {}

  std::unique_ptr<MDB_env, Close> environment_;
  unsigned table_;
};

}  // namespace swizzle::bench
