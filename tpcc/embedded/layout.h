#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/invariant.h"
#include "tpcc/inputs.h"
#include "tpcc/schema.h"

/// Encoding of rows in trees without SQL: a fixed part, copied as it is, and after it at most one
/// text of variable length (the specification's …_DATA columns). Keys are not repeated in values.
namespace swizzle::tpcc {

/// A short text within a record.
template <std::size_t Capacity>
struct ShortText {
  std::uint8_t size = 0;
  std::array<char, Capacity> data{};

  ShortText() = default;
  ShortText(const std::string& text)  // NOLINT(google-explicit-constructor): a text is a text
      : size(static_cast<std::uint8_t>(text.size())) {
    INVARIANT(text.size() <= Capacity);
    std::ranges::copy(text, data.begin());
  }
  [[nodiscard]] std::string_view view() const noexcept {
    return {data.data(), size < Capacity ? size : Capacity};
  }
};

struct AddressRecord {
  ShortText<20> street_1;
  ShortText<20> street_2;
  ShortText<20> city;
  ShortText<2> state;
  ShortText<9> zip;

  AddressRecord() = default;
  explicit AddressRecord(const Address& address)
      : street_1(address.street_1),
        street_2(address.street_2),
        city(address.city),
        state(address.state),
        zip(address.zip) {}
};

struct WarehouseRecord {
  Cents ytd = 0;
  Rate tax = 0;
  ShortText<10> name;
  AddressRecord address;
};

struct DistrictRecord {
  Cents ytd = 0;
  Rate tax = 0;
  std::uint32_t next_order = 0;
  ShortText<10> name;
  AddressRecord address;
};

/// Followed by the customer's data.
struct CustomerRecord {
  Cents balance = 0;
  Cents ytd_payment = 0;
  Cents credit_limit = 0;
  Microseconds since = 0;
  Rate discount = 0;
  std::uint32_t payment_count = 0;
  std::uint32_t delivery_count = 0;
  ShortText<2> credit;
  ShortText<16> first;
  ShortText<2> middle;
  ShortText<16> last;
  ShortText<16> phone;
  AddressRecord address;
};

/// Followed by the payment's data.
struct HistoryRecord {
  Microseconds date = 0;
  Cents amount = 0;
  std::uint32_t customer = 0;
  std::uint32_t customer_warehouse = 0;
  std::uint32_t warehouse = 0;
  std::uint8_t customer_district = 0;
  std::uint8_t district = 0;
};

struct OrderRecord {
  Microseconds entry_date = 0;
  std::uint32_t customer = 0;
  std::uint8_t carrier = 0;
  std::uint8_t line_count = 0;
  std::uint8_t all_local = 0;
};

struct OrderLineRecord {
  Microseconds delivery_date = 0;
  Cents amount = 0;
  std::uint32_t item = 0;
  std::uint32_t supply_warehouse = 0;
  std::uint32_t quantity = 0;
  std::array<char, 24> district_info{};
};

/// Followed by the item's data.
struct ItemRecord {
  Cents price = 0;
  std::uint32_t image = 0;
  ShortText<24> name;
};

/// Followed by the stock's data.
struct StockRecord {
  std::uint64_t ytd = 0;
  std::int32_t quantity = 0;
  std::uint32_t order_count = 0;
  std::uint32_t remote_count = 0;
  std::array<std::array<char, 24>, 10> district_info{};
};

/// Builds a key part by part. Keys are ordered as their numbers and texts.
class Key {
 public:
  Key& number(std::uint32_t value) noexcept {
    store_big_endian(bytes_.data() + size_, value);
    size_ += sizeof value;
    return *this;
  }
  Key& wide(std::uint64_t value) noexcept {
    store_big_endian(bytes_.data() + size_, value);
    size_ += sizeof value;
    return *this;
  }
  /// Appends a district or the number of an order line.
  Key& small(std::uint32_t value) noexcept {
    bytes_[size_++] = static_cast<std::byte>(value);
    return *this;
  }
  /// Appends a name of at most 16 bytes, padded with zeros.
  Key& name(std::string_view text) noexcept {
    std::ranges::copy(as_bytes(text), bytes_.begin() + size_);
    size_ += 16;
    return *this;
  }
  /// Makes it greater than every key that begins with it: an upper bound of scans.
  Key& end() noexcept {
    std::memset(bytes_.data() + size_, 0xFF, kRoom - size_);
    size_ = kRoom;
    return *this;
  }
  [[nodiscard]] Bytes bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  static constexpr std::size_t kRoom = 48;
  std::array<std::byte, kRoom> bytes_{};
  std::size_t size_ = 0;
};

/// Keys that are looked up together, for Tree::prefetch().
class KeyList {
 public:
  static constexpr std::size_t kMost = 16;

  KeyList() = default;
  KeyList(const KeyList&) = delete;
  KeyList& operator=(const KeyList&) = delete;

  /// Pre: fewer than kMost.
  void add(const Key& key) noexcept {
    keys_[count_] = key;
    bytes_[count_] = keys_[count_].bytes();
    ++count_;
  }
  [[nodiscard]] std::span<const Bytes> all() const noexcept { return {bytes_.data(), count_}; }
  [[nodiscard]] const Key* begin() const noexcept { return keys_.data(); }
  [[nodiscard]] const Key* end() const noexcept { return keys_.data() + count_; }

 private:
  std::array<Key, kMost> keys_;
  std::array<Bytes, kMost> bytes_;
  std::size_t count_ = 0;
};
static_assert(KeyList::kMost >= NewOrderInput::kMaxLines);

/// A value under construction: a record and its text.
class Image {
 public:
  template <class Record>
    requires std::is_trivially_copyable_v<Record>
  explicit Image(const Record& record, std::string_view text = {}) noexcept
      : size_(sizeof record + text.size()) {
    INVARIANT(size_ <= bytes_.size());
    store(bytes_.data(), record);
    std::ranges::copy(as_bytes(text), bytes_.begin() + sizeof record);
  }
  [[nodiscard]] Bytes bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, 832> bytes_;
  std::size_t size_;
};

/// Returns the text after a record.
template <class Record>
std::string_view text_of(Bytes value) noexcept {
  return as_text(value.subspan(sizeof(Record)));
}

}  // namespace swizzle::tpcc
