#include "storage/btree/records.h"

#include <cstring>

#include "storage/btree/node_layout.h"
#include "storage/buffer/page_layout.h"

namespace swizzle::payload {
namespace {

/// Appends fixed-size fields to the head of a payload.
class HeadWriter {
 public:
  template <class T>
  HeadWriter& put(T value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    store(head_.bytes.data() + head_.size, value);
    head_.size += sizeof value;
    return *this;
  }
  HeadWriter& put_size(Bytes bytes) noexcept {
    return put(static_cast<std::uint16_t>(bytes.size()));
  }
  [[nodiscard]] Head done() const noexcept { return head_; }

 private:
  Head head_;
};

/// Reads fields from the front of a payload; remembers if it was too short.
class Reader {
 public:
  explicit Reader(Bytes bytes) noexcept : rest_(bytes) {}

  template <class T>
  T take() noexcept {
    if (rest_.size() < sizeof(T)) {
      is_short_ = true;
      return T{};
    }
    const T value = load<T>(rest_.data());
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  Bytes take_bytes(std::size_t size) noexcept {
    if (rest_.size() < size) {
      is_short_ = true;
      return {};
    }
    const Bytes bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  [[nodiscard]] bool has_more() const noexcept { return !is_short_ && !rest_.empty(); }
  Bytes take_rest() noexcept { return std::exchange(rest_, {}); }

  template <class Payload>
  Result<Payload> finish(Payload payload, const char* what) const {
    if (is_short_ || !rest_.empty())
      return fail(sqlstate::data_corrupted, std::string("malformed log record: ") + what);
    return payload;
  }

 private:
  Bytes rest_;
  bool is_short_ = false;
};

constexpr std::uint8_t kInfinite = 1;
constexpr std::uint8_t kOldOverflow = 1;
constexpr std::uint8_t kNewOverflow = 2;

}  // namespace

Head head_of(const LeafRow& of) noexcept {
  return HeadWriter().put_size(of.key).put(static_cast<std::uint8_t>(of.overflow ? 1 : 0)).done();
}
Head head_of(const LeafUpdate& of) noexcept {
  const auto flags = static_cast<std::uint8_t>((of.old_overflow ? kOldOverflow : 0) |
                                               (of.new_overflow ? kNewOverflow : 0));
  return HeadWriter().put_size(of.key).put(of.offset).put_size(of.old_part).put(flags).done();
}
Head head_of(const KeyAndPage& of) noexcept {
  return HeadWriter().put(raw(of.page)).put_size(of.key).done();
}
Head head_of(const Deadoption& of) noexcept {
  const auto flags = static_cast<std::uint8_t>(of.chain_high.is_infinite() ? kInfinite : 0);
  return HeadWriter().put(raw(of.child)).put_size(of.key).put(flags).done();
}

Result<LeafRow> decode_leaf_row(Bytes payload) {
  Reader reader(payload);
  LeafRow insert;
  const auto key_size = reader.take<std::uint16_t>();
  insert.overflow = (reader.take<std::uint8_t>() & 1U) != 0;
  insert.key = reader.take_bytes(key_size);
  insert.value = reader.take_rest();
  return reader.finish(insert, "row");
}

Result<LeafUpdate> decode_leaf_update(Bytes payload) {
  Reader reader(payload);
  LeafUpdate update;
  const auto key_size = reader.take<std::uint16_t>();
  update.offset = reader.take<std::uint16_t>();
  const auto old_size = reader.take<std::uint16_t>();
  const auto flags = reader.take<std::uint8_t>();
  update.old_overflow = (flags & kOldOverflow) != 0;
  update.new_overflow = (flags & kNewOverflow) != 0;
  update.key = reader.take_bytes(key_size);
  update.old_part = reader.take_bytes(old_size);
  update.new_part = reader.take_rest();
  return reader.finish(update, "update");
}

std::byte* put_removal(std::byte* into, Bytes key, Bytes value) noexcept {
  store(into, static_cast<std::uint16_t>(key.size()));
  store(into + sizeof(std::uint16_t), static_cast<std::uint16_t>(value.size()));
  into += kRemovalHeadBytes;
  for (const Bytes part : {key, value}) {
    if (!part.empty()) std::memcpy(into, part.data(), part.size());
    into += part.size();
  }
  return into;
}

Result<std::vector<LeafRow>> decode_leaf_rows(Bytes payload) {
  Reader reader(payload);
  std::vector<LeafRow> rows;
  do {
    LeafRow row;
    const auto key_size = reader.take<std::uint16_t>();
    const auto value_size = reader.take<std::uint16_t>();
    row.key = reader.take_bytes(key_size);
    row.value = reader.take_bytes(value_size);
    rows.push_back(row);
  } while (reader.has_more());
  return reader.finish(std::move(rows), "rows");
}

std::uint64_t count_leaf_rows(Bytes payload) noexcept {
  constexpr std::size_t kSizes = 2 * sizeof(std::uint16_t);
  std::uint64_t rows = 0;
  for (std::size_t at = 0; at + kSizes <= payload.size(); ++rows)
    at += kSizes + load<std::uint16_t>(payload.data() + at) +
          load<std::uint16_t>(payload.data() + at + sizeof(std::uint16_t));
  return rows;
}

Result<KeyAndPage> decode_key_and_page(Bytes payload) {
  Reader reader(payload);
  KeyAndPage both;
  both.page = PageId{reader.take<std::uint64_t>()};
  both.key = reader.take_bytes(reader.take<std::uint16_t>());
  return reader.finish(both, "adoption");
}

Result<Deadoption> decode_deadoption(Bytes payload) {
  Reader reader(payload);
  Deadoption both;
  both.child = PageId{reader.take<std::uint64_t>()};
  const auto key_size = reader.take<std::uint16_t>();
  const bool infinite = (reader.take<std::uint8_t>() & kInfinite) != 0;
  both.key = reader.take_bytes(key_size);
  const Bytes high = reader.take_rest();
  both.chain_high = infinite ? KeyBound::infinite() : KeyBound::at(high);
  return reader.finish(both, "de-adoption");
}

PageImagePayload::PageImagePayload(const std::byte* page) noexcept {
  alignas(8) std::array<std::byte, kPageBytes> copy;
  std::memcpy(copy.data(), page, kPageBytes);
  unswizzle_copy(node_layout(), copy.data());
  const Node::Gap gap = Node::of(copy.data()).gap();
  store(bytes_.data(), static_cast<std::uint16_t>(gap.begin));
  std::memcpy(bytes_.data() + 2, copy.data(), gap.begin);
  std::memcpy(bytes_.data() + 2 + gap.begin, copy.data() + gap.end, kPageBytes - gap.end);
  size_ = 2 + gap.begin + (kPageBytes - gap.end);
}

Result<Bytes> restore_image(Bytes payload, std::byte* page) {
  Reader reader(payload);
  const auto before_gap = reader.take<std::uint16_t>();
  const Bytes before = reader.take_bytes(before_gap);
  if (before.size() < Node::kHeaderBytes || before.size() > kPageBytes)
    return fail(sqlstate::data_corrupted, "malformed log record: page image");
  std::memset(page, 0, kPageBytes);
  std::memcpy(page, before.data(), before.size());
  const std::size_t gap_end = Node::of(page).gap().end;
  if (gap_end < before.size() || gap_end > kPageBytes)
    return fail(sqlstate::data_corrupted, "malformed log record: page image");
  const Bytes after = reader.take_bytes(kPageBytes - gap_end);
  if (after.size() != kPageBytes - gap_end)
    return fail(sqlstate::data_corrupted, "malformed log record: page image");
  if (!after.empty()) std::memcpy(page + gap_end, after.data(), after.size());
  return reader.take_rest();
}

}  // namespace swizzle::payload
