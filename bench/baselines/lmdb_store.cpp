#include "bench/baselines/lmdb_store.h"

#include <lmdb.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace swizzle::bench {
namespace {

std::unexpected<Error> failure(const char* what, int code) {
  return fail(sqlstate::io_error, std::string{"LMDB: "} + what + ": " + mdb_strerror(code));
}

// Throws on errors that mean the machine is unfit for the measurement.
void must(const char* what, int code) {
  if (code != 0) throw std::runtime_error(std::string{"LMDB: "} + what + ": " + mdb_strerror(code));
}

MDB_val to_lmdb(Bytes bytes) noexcept {
  // LMDB only reads through this pointer; its C interface has no const form.
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}

}  // namespace

void LmdbStore::Close::operator()(MDB_env* environment) const noexcept {
  mdb_env_close(environment);
}

Result<LmdbStore> LmdbStore::create(const std::filesystem::path& directory,
                                    std::uint64_t map_bytes) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  MDB_env* environment = nullptr;
  if (const int code = mdb_env_create(&environment)) return failure("create", code);
  LmdbStore store{environment, 0};
  mdb_env_set_mapsize(environment, map_bytes);
  constexpr unsigned kFlags = MDB_NOSYNC | MDB_NOMETASYNC | MDB_NOTLS | MDB_NORDAHEAD;
  if (const int code = mdb_env_open(environment, directory.c_str(), kFlags, 0644)) {
    return failure("open", code);
  }
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(environment, nullptr, 0, &transaction)) {
    return failure("begin", code);
  }
  if (const int code = mdb_dbi_open(transaction, nullptr, MDB_CREATE, &store.table_)) {
    return failure("open table", code);
  }
  if (const int code = mdb_txn_commit(transaction)) return failure("commit", code);
  return store;
}

Result<> LmdbStore::load(const std::function<bool(Bytes&, Bytes&)>& next) {
  MDB_txn* transaction = nullptr;
  if (const int code = mdb_txn_begin(environment_.get(), nullptr, 0, &transaction)) {
    return failure("begin", code);
  }
  Bytes key;
  Bytes value;
  while (next(key, value)) {
    MDB_val lmdb_key = to_lmdb(key);
    MDB_val lmdb_value = to_lmdb(value);
    if (const int code = mdb_put(transaction, table_, &lmdb_key, &lmdb_value, MDB_APPEND)) {
      mdb_txn_abort(transaction);
      return failure("put", code);
    }
  }
  if (const int code = mdb_txn_commit(transaction)) return failure("commit", code);
  return {};
}

Result<> LmdbStore::sync() {
  if (const int code = mdb_env_sync(environment_.get(), 1)) return failure("sync", code);
  return {};
}

LmdbStore::Reader::Reader(const LmdbStore& store) {
  must("begin", mdb_txn_begin(store.environment_.get(), nullptr, MDB_RDONLY, &transaction_));
  must("open cursor", mdb_cursor_open(transaction_, store.table_, &cursor_));
}

LmdbStore::Reader::~Reader() {
  mdb_cursor_close(cursor_);
  mdb_txn_abort(transaction_);
}

std::size_t LmdbStore::Reader::get(Bytes key, MutableBytes into) noexcept {
  MDB_val lmdb_key = to_lmdb(key);
  MDB_val value{};
  if (mdb_cursor_get(cursor_, &lmdb_key, &value, MDB_SET) != 0) return 0;
  std::memcpy(into.data(), value.mv_data, value.mv_size);
  return value.mv_size;
}

LmdbStore::Writer::Writer(LmdbStore& store) : table_(store.table_) {
  must("begin", mdb_txn_begin(store.environment_.get(), nullptr, 0, &transaction_));
}

LmdbStore::Writer::~Writer() {
  const int code = mdb_txn_commit(transaction_);
  if (code != 0) std::fprintf(stderr, "LMDB: commit: %s\n", mdb_strerror(code));
}

bool LmdbStore::Writer::insert(Bytes key, Bytes value) noexcept {
  MDB_val lmdb_key = to_lmdb(key);
  MDB_val lmdb_value = to_lmdb(value);
  return mdb_put(transaction_, table_, &lmdb_key, &lmdb_value, MDB_NOOVERWRITE) == 0;
}

MutableBytes LmdbStore::map() const {
  // LMDB reports the map's address only if it was fixed, so ask the kernel.
  const char* path = nullptr;
  must("path", mdb_env_get_path(environment_.get(), &path));
  const std::string file = std::filesystem::absolute(path) / "data.mdb";
  MDB_envinfo info{};
  MDB_stat stat{};
  must("information", mdb_env_info(environment_.get(), &info));
  must("statistics", mdb_env_stat(environment_.get(), &stat));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(file)) continue;
    auto* start = reinterpret_cast<std::byte*>(std::stoull(line, nullptr, 16));
    return {start, (info.me_last_pgno + 1) * stat.ms_psize};
  }
  throw std::runtime_error("no memory map of " + file);
}

}  // namespace swizzle::bench
