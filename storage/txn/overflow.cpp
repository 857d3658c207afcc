#include "storage/txn/overflow.h"

#include <fmt/format.h>

#include <cstring>

#include "storage/engine_parts.h"
#include "storage/txn/row_changes.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

using ChunkKey = std::array<std::byte, 16>;
constexpr std::size_t kChunkBytes = Node::kMaxInlineBytes - sizeof(ChunkKey);

ChunkKey chunk_key(TreeId owner, std::uint64_t value, std::uint64_t chunk) noexcept {
  ChunkKey key;
  store_big_endian(key.data(), raw(owner));
  store_big_endian(key.data() + 4, value);
  store_big_endian(key.data() + 12, static_cast<std::uint32_t>(chunk));
  return key;
}

std::uint64_t chunks_of(std::uint64_t size) noexcept {
  return (size + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace

Result<StoredAddress> write_overflow(TransactionState& transaction, TreeId owner, Bytes value) {
  RETURN_IF_ERROR(transaction.begin_writing());
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  const OverflowAddress address{transaction.next_overflow_value(), value.size()};
  for (std::uint64_t i = 0; i < chunks_of(value.size()); ++i) {
    const ChunkKey key = chunk_key(owner, address.value, i);
    const Bytes rest = value.subspan(i * kChunkBytes);
    RowChange change(transaction, kOverflowTree, key, RowChange::Wish::insert,
                     {rest.first(std::min(rest.size(), kChunkBytes)), false});
    ASSIGN_OR_RETURN(const bool inserted, change.run(*tree));
    INVARIANT(inserted);
  }
  StoredAddress stored;
  store(stored.data(), address);
  return stored;
}

Result<> read_overflow(TransactionState& transaction, TreeId owner, PointRead::Which which,
                       ValueBuffer& buffer) {
  if (buffer.bytes().size() != sizeof(OverflowAddress))
    return fail(sqlstate::data_corrupted, "an overflow address has the wrong length");
  const auto address = load<OverflowAddress>(buffer.bytes().data());
  if (address.size > Engine::kMaxValueBytes)
    return fail(sqlstate::data_corrupted, "an overflow address has an impossible size");
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  ValueBuffer chunk;
  const MutableBytes to = buffer.prepare(address.size);
  std::size_t filled = 0;
  for (std::uint64_t i = 0; i < chunks_of(address.size); ++i) {
    const ChunkKey key = chunk_key(owner, address.value, i);
    PointRead read(transaction, kOverflowTree, key, which, chunk);
    ASSIGN_OR_RETURN(const bool found, read.run(*tree));
    if (!found || chunk.bytes().size() != std::min(kChunkBytes, to.size() - filled))
      return fail(sqlstate::data_corrupted,
                  fmt::format("chunk {} of large value {} is missing or short", i, address.value));
    std::memcpy(to.data() + filled, chunk.bytes().data(), chunk.bytes().size());
    filled += chunk.bytes().size();
  }
  return {};
}

Result<> remove_overflow(TransactionState& transaction, TreeId owner, const StoredAddress& stored) {
  const auto address = load<OverflowAddress>(stored.data());
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  for (std::uint64_t i = 0; i < chunks_of(address.size); ++i) {
    const ChunkKey key = chunk_key(owner, address.value, i);
    RowChange change(transaction, kOverflowTree, key, RowChange::Wish::remove, {});
    ASSIGN_OR_RETURN(const bool removed, change.run(*tree));
    INVARIANT(removed);
  }
  return {};
}

Result<std::uint64_t> count_overflow_pages(EngineParts& engine, TreeId owner) {
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(kOverflowTree));
  return tree->count_pages(chunk_key(owner, 0, 0),
                           KeyBound::at(chunk_key(TreeId{raw(owner) + 1}, 0, 0)));
}

Result<> remove_overflow_of(EngineParts& engine, TreeId owner) {
  constexpr std::size_t kAtOnce = 1024;
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(kOverflowTree));
  Tree chunks = TransactionAccess::handle(*tree);
  const ChunkKey low = chunk_key(owner, 0, 0);
  const ChunkKey high = chunk_key(TreeId{raw(owner) + 1}, 0, 0);
  std::vector<std::vector<std::byte>> keys;
  do {
    keys.clear();
    const auto transaction = TransactionAccess::begin(engine);
    {
      ASSIGN_OR_RETURN(Cursor cursor, chunks.scan(*transaction, {.low = low, .high = high}));
      while (keys.size() < kAtOnce) {
        ASSIGN_OR_RETURN(const bool found, cursor.next());
        if (!found) break;
        keys.emplace_back(cursor.key().begin(), cursor.key().end());
      }
    }
    for (const auto& key : keys) RETURN_IF_ERROR(chunks.remove(*transaction, key));
    RETURN_IF_ERROR(transaction->commit(Transaction::Durability::asynchronous));
  } while (keys.size() == kAtOnce);
  return {};
}

Result<> check_record(Bytes key, Bytes value) {
  if (key.empty() || key.size() > Engine::kMaxKeyBytes)
    return fail(sqlstate::program_limit_exceeded,
                "index row size exceeds the maximum of 1024 bytes");
  if (value.size() > Engine::kMaxValueBytes)
    return fail(sqlstate::program_limit_exceeded, "a value exceeds the maximum of 256 MB");
  return {};
}

}  // namespace swizzle
