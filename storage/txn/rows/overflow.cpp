#include "storage/txn/rows/overflow.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

/// Key of a chunk: {owner, value, chunk}. If the value's number has more bits than `value`, {owner,
/// value, beyond, chunk}.
class ChunkKey {
 public:
  static constexpr std::size_t kUsualBytes = 16;

  ChunkKey(TreeId owner, const OverflowAddress& address, std::uint64_t chunk) noexcept {
    store_big_endian(bytes_.data(), raw(owner));
    store_big_endian(bytes_.data() + 4, address.value);
    if (address.beyond != 0) {
      store_big_endian(bytes_.data() + 12, address.beyond);
      size_ += sizeof address.beyond;
    }
    store_big_endian(bytes_.data() + size_ - 4, static_cast<std::uint32_t>(chunk));
  }
  /// A key below all keys of an owner.
  explicit ChunkKey(TreeId owner) noexcept : ChunkKey(owner, {}, 0) {}

  // NOLINTNEXTLINE(google-explicit-constructor): it is a key
  operator Bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, kUsualBytes + 4> bytes_{};
  std::size_t size_ = kUsualBytes;
};

std::size_t chunk_bytes(const OverflowAddress& address) noexcept {
  return Node::kMaxInlineBytes - Bytes(ChunkKey({}, address, 0)).size();
}

std::uint64_t chunks_of(const OverflowAddress& address) noexcept {
  return (address.size + chunk_bytes(address) - 1) / chunk_bytes(address);
}

}  // namespace

Result<OverflowAddress> OverflowAddress::make(TxnId writer, std::uint64_t ordinal,
                                              std::uint64_t size) {
  constexpr unsigned kOrdinalBits = 24;
  constexpr unsigned kWriterBits = 64 - kOrdinalBits;
  constexpr unsigned kOrdinalBitsBeyond = 32 - (64 - kWriterBits);
  if (ordinal >> (kOrdinalBits + kOrdinalBitsBeyond) != 0)
    return fail(sqlstate::program_limit_exceeded,
                "a transaction cannot write more than 4294967296 large values");
  // The shift drops the writer's upper bits.
  const std::uint64_t low = ordinal & ((std::uint64_t{1} << kOrdinalBits) - 1);
  const std::uint64_t beyond =
      raw(writer) >> kWriterBits << kOrdinalBitsBeyond | ordinal >> kOrdinalBits;
  return OverflowAddress{raw(writer) << kOrdinalBits | low, static_cast<std::uint32_t>(size),
                         static_cast<std::uint32_t>(beyond)};
}

Result<StoredAddress> write_overflow(TransactionState& transaction, TreeId owner, Bytes value) {
  RETURN_IF_ERROR(transaction.begin_writing());
  ASSIGN_OR_RETURN(AnyTree* const tree, transaction.engine.trees->find(kOverflowTree));
  ASSIGN_OR_RETURN(const OverflowAddress address,
                   OverflowAddress::make(transaction.slot.chain.id.load(std::memory_order_relaxed),
                                         transaction.large_values++, value.size()));
  const std::size_t in_chunk = chunk_bytes(address);
  for (std::uint64_t i = 0; i < chunks_of(address); ++i) {
    const ChunkKey key(owner, address, i);
    const Bytes rest = value.subspan(i * in_chunk);
    RowChange change(transaction, kOverflowTree, key, RowChange::Wish::insert,
                     {rest.first(std::min(rest.size(), in_chunk)), false});
    ASSIGN_OR_RETURN(const bool inserted, change.run(*tree));
    if (!inserted)
      return fail(sqlstate::data_corrupted,
                  fmt::format("chunk {} of large value {} is there already", i, address.value));
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
  for (std::uint64_t i = 0; i < chunks_of(address); ++i) {
    const ChunkKey key(owner, address, i);
    PointRead read(transaction, kOverflowTree, key, which, chunk);
    ASSIGN_OR_RETURN(const bool found, read.run(*tree));
    if (!found || chunk.bytes().size() != std::min(chunk_bytes(address), to.size() - filled))
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
  for (std::uint64_t i = 0; i < chunks_of(address); ++i) {
    const ChunkKey key(owner, address, i);
    RowChange change(transaction, kOverflowTree, key, RowChange::Wish::remove, {});
    ASSIGN_OR_RETURN(const bool removed, change.run(*tree));
    if (!removed)
      return fail(sqlstate::data_corrupted,
                  fmt::format("chunk {} of large value {} is missing", i, address.value));
  }
  return {};
}

Result<std::uint64_t> count_overflow_pages(EngineParts& engine, TreeId owner) {
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(kOverflowTree));
  const ChunkKey low(owner);
  const ChunkKey high(TreeId{raw(owner) + 1});
  return tree->count_pages(low, KeyBound::at(high));
}

KeyRanges::Range overflow_range_of(TreeId owner) {
  const ChunkKey low(owner);
  const ChunkKey high(TreeId{raw(owner) + 1});
  return {kOverflowTree, std::string(as_text(low)), std::string(as_text(high))};
}

namespace {

Result<> discard_all_chunks(EngineParts& engine, TreeId owner, const GoesOn& goes_on) {
  constexpr std::uint32_t kLeavesAtOnce = 8;
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(kOverflowTree));
  const ChunkKey high(TreeId{raw(owner) + 1});
  const ChunkKey first(owner);
  const Bytes begin = first;
  std::vector<std::byte> low(begin.begin(), begin.end());
  std::uint64_t discarded = 0;
  for (std::uint32_t leaves = 1;; ++leaves) {
    ASSIGN_OR_RETURN(DiscardedLeaf leaf, tree->discard(low, high));
    discarded += leaf.records;
    if (!leaf.next) break;
    low = std::move(*leaf.next);
    if (leaves % kLeavesAtOnce == 0 && goes_on && !goes_on())
      return fail(sqlstate::query_canceled, "large values are left of the tree");
  }
  // Leaves that others had latched, and the last leaf of each parent, are left to the tidier.
  if (discarded != 0) engine.tidier->hint(kOverflowTree, first, high);
  return {};
}

}  // namespace

Result<> remove_overflow_of(EngineParts& engine, TreeId owner, const GoesOn& goes_on) {
  auto removed = discard_all_chunks(engine, owner, goes_on);
  if (removed || !is_unreadable(removed.error())) return removed;
  spdlog::warn("large values of tree {}, which goes, cannot be removed: {}", raw(owner),
               removed.error().message());
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
