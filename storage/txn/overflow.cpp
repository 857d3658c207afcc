#include "storage/txn/overflow.h"

#include <fmt/format.h>

#include <cstring>

#include "storage/engine_parts.h"
#include "storage/txn/row_changes.h"

namespace swizzle {
namespace {

using ChunkKey = std::array<std::byte, 12>;
constexpr std::size_t kChunkBytes = Node::kMaxInlineBytes - sizeof(ChunkKey);

ChunkKey chunk_key(std::uint64_t value, std::uint64_t chunk) noexcept {
  ChunkKey key;
  store_big_endian(key.data(), value);
  store_big_endian(key.data() + 8, static_cast<std::uint32_t>(chunk));
  return key;
}

std::uint64_t chunks_of(std::uint64_t size) noexcept {
  return (size + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace

Result<StoredAddress> write_overflow(TransactionState& transaction, Bytes value) {
  RETURN_IF_ERROR(transaction.begin_writing());
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  const OverflowAddress address{transaction.next_overflow_value(), value.size()};
  for (std::uint64_t i = 0; i < chunks_of(value.size()); ++i) {
    const ChunkKey key = chunk_key(address.value, i);
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

Result<> read_overflow(TransactionState& transaction, PointRead::Which which, ValueBuffer& buffer) {
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
    const ChunkKey key = chunk_key(address.value, i);
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

Result<> remove_overflow(TransactionState& transaction, const StoredAddress& stored) {
  const auto address = load<OverflowAddress>(stored.data());
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  for (std::uint64_t i = 0; i < chunks_of(address.size); ++i) {
    const ChunkKey key = chunk_key(address.value, i);
    RowChange change(transaction, kOverflowTree, key, RowChange::Wish::remove, {});
    ASSIGN_OR_RETURN(const bool removed, change.run(*tree));
    INVARIANT(removed);
  }
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
