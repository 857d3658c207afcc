#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// hashtext() and related functions. Programs use them for keys of advisory locks and to distribute
/// rows, so they return PostgreSQL's numbers: Bob Jenkins' lookup3, started with PostgreSQL's
/// constants. This server hashes rows with another function (hash.h).
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

class Mixer {
 public:
  Mixer(std::size_t length, std::uint64_t seed) noexcept {
    constexpr std::uint32_t kGolden = 0x9e3779b9;
    constexpr std::uint32_t kInitial = 3'923'095;
    a_ = b_ = c_ = kGolden + static_cast<std::uint32_t>(length) + kInitial;
    if (seed == 0) return;
    a_ += static_cast<std::uint32_t>(seed >> 32U);
    b_ += static_cast<std::uint32_t>(seed);
    mix();
  }

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
    a_ += a;
    b_ += b;
    c_ += c;
  }
  void mix() noexcept {
    a_ -= c_, a_ ^= std::rotl(c_, 4), c_ += b_;
    b_ -= a_, b_ ^= std::rotl(a_, 6), a_ += c_;
    c_ -= b_, c_ ^= std::rotl(b_, 8), b_ += a_;
    a_ -= c_, a_ ^= std::rotl(c_, 16), c_ += b_;
    b_ -= a_, b_ ^= std::rotl(a_, 19), a_ += c_;
    c_ -= b_, c_ ^= std::rotl(b_, 4), b_ += a_;
  }
  /// The lower half alone is the hash of 32 bits.
  std::uint64_t finish() noexcept {
    c_ ^= b_, c_ -= std::rotl(b_, 14);
    a_ ^= c_, a_ -= std::rotl(c_, 11);
    b_ ^= a_, b_ -= std::rotl(a_, 25);
    c_ ^= b_, c_ -= std::rotl(b_, 16);
    a_ ^= c_, a_ -= std::rotl(c_, 4);
    b_ ^= a_, b_ -= std::rotl(a_, 14);
    c_ ^= b_, c_ -= std::rotl(b_, 24);
    return std::uint64_t{b_} << 32U | c_;
  }

 private:
  std::uint32_t a_;
  std::uint32_t b_;
  std::uint32_t c_;
};

std::uint64_t hash_bytes(Bytes bytes, std::uint64_t seed) noexcept {
  constexpr std::size_t kStep = 12;
  Mixer mixer{bytes.size(), seed};
  for (; bytes.size() >= kStep; bytes = bytes.subspan(kStep)) {
    mixer.add(load<std::uint32_t>(bytes.data()), load<std::uint32_t>(bytes.data() + 4),
              load<std::uint32_t>(bytes.data() + 8));
    mixer.mix();
  }
  std::array<std::uint32_t, 3> rest{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // The lowest byte of the third word is reserved for the length.
    const std::size_t at = i < 8 ? i : i + 1;
    rest[at / 4] |= std::to_integer<std::uint32_t>(bytes[i]) << (at % 4 * 8);
  }
  mixer.add(rest[0], rest[1], rest[2]);
  return mixer.finish();
}

std::uint64_t hash_number(std::uint32_t number, std::uint64_t seed) noexcept {
  Mixer mixer{sizeof number, seed};
  mixer.add(number, 0, 0);
  return mixer.finish();
}

}  // namespace

std::uint64_t hash_of_text(const Value& value, std::uint64_t seed) {
  return hash_bytes(value.as_bytes(), seed);
}
std::uint64_t hash_of_padded(const Value& value, std::uint64_t seed) {
  std::string_view text = value.as_text();
  while (text.ends_with(' ')) text.remove_suffix(1);
  return hash_bytes(as_bytes(text), seed);
}
std::uint64_t hash_of_int4(const Value& value, std::uint64_t seed) {
  return hash_number(static_cast<std::uint32_t>(value.as_int8()), seed);
}
/// Equal numbers have equal hashes regardless of their width.
std::uint64_t hash_of_int8(const Value& value, std::uint64_t seed) {
  const std::int64_t number = value.as_int8();
  const auto low = static_cast<std::uint32_t>(number);
  const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> 32U);
  return hash_number(low ^ (number >= 0 ? high : ~high), seed);
}
namespace {
std::uint64_t hash_of_double(double number, std::uint64_t seed) {
  if (number == 0) return seed;
  if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
  std::array<std::byte, sizeof number> bytes{};
  store(bytes.data(), number);
  return hash_bytes(bytes, seed);
}
}  // namespace
std::uint64_t hash_of_float4(const Value& value, std::uint64_t seed) {
  return hash_of_double(static_cast<double>(value.as_float4()), seed);
}
std::uint64_t hash_of_float8(const Value& value, std::uint64_t seed) {
  return hash_of_double(value.as_float8(), seed);
}
std::uint64_t hash_of_numeric(const Value& value, std::uint64_t seed) {
  if (numeric_is_nan(value) || numeric_is_infinite(value)) return seed;
  if (numeric_sign(value) == 0) return seed - 1;
  std::string sent;
  numeric_send(value, sent);
  // Digits to base 10000, of which those that are zero at either end do not count, after four
  // words: their number, the weight of the first, the sign and the scale.
  constexpr std::size_t kWord = 2;
  constexpr std::size_t kHead = 4;
  const auto word = [&](std::size_t at) {
    return load_big_endian<std::uint16_t>(as_bytes(sent).data() + at * kWord);
  };
  auto weight = static_cast<std::int16_t>(word(1));
  std::vector<std::uint16_t> digits;
  for (std::size_t i = 0; i < word(0); ++i) {
    const std::uint16_t digit = word(kHead + i);
    if (!digits.empty() || digit != 0) digits.push_back(digit);
    if (digits.empty()) --weight;
  }
  while (digits.back() == 0) digits.pop_back();
  return hash_bytes(std::as_bytes(std::span{digits}), seed) ^
         static_cast<std::uint64_t>(std::int64_t{weight});
}

Hash hash_of_values(TypeId type) {
  constexpr std::pair<TypeId, Hash> kHashes[] = {
      {TypeId::int2, &hash_of_int4},       {TypeId::int4, &hash_of_int4},
      {TypeId::date, &hash_of_int4},       {TypeId::oid, &hash_of_int4},
      {TypeId::int8, &hash_of_int8},       {TypeId::time, &hash_of_int8},
      {TypeId::timestamp, &hash_of_int8},  {TypeId::timestamptz, &hash_of_int8},
      {TypeId::float4, &hash_of_float4},   {TypeId::float8, &hash_of_float8},
      {TypeId::numeric, &hash_of_numeric}, {TypeId::text, &hash_of_text},
      {TypeId::varchar, &hash_of_text},    {TypeId::name, &hash_of_text},
      {TypeId::uuid, &hash_of_text},       {TypeId::bpchar, &hash_of_padded},
  };
  // Types that this server hashes and PostgreSQL does not.
  constexpr TypeId kWithout[] = {builtin_id::bit, builtin_id::varbit, builtin_id::money,
                                 builtin_id::tsvector, builtin_id::tsquery};
  const TypeId plain = base_type(type);
  if (hash_function(type) == nullptr || std::ranges::find(kWithout, plain) != std::end(kWithout)) {
    throw_error(sqlstate::undefined_function, "could not identify a hash function for type {}",
                format_type(plain));
  }
  const auto found = std::ranges::find(kHashes, plain, &std::pair<TypeId, Hash>::first);
  const bool by_bytes = !is_collated(type) || !is_nondeterministic(collation_of_type(type));
  if (found == std::end(kHashes) || !by_bytes) {
    throw_error(sqlstate::feature_not_supported, "the hash function of type {} is not supported",
                format_type(plain));
  }
  return found->second;
}

namespace {

constexpr ScalarEntry kHashEntries[] = {
    SWIZZLE_HASHES("hashtext", "hashtextextended", "text", hash_of_text),
    SWIZZLE_HASHES("hashbpchar", "hashbpcharextended", "bpchar", hash_of_padded),
    SWIZZLE_HASHES("hashname", "hashnameextended", "name", hash_of_text),
    SWIZZLE_HASHES("hashchar", "hashcharextended", "char", hash_of_int4),
    SWIZZLE_HASHES("hashint2", "hashint2extended", "int2", hash_of_int4),
    SWIZZLE_HASHES("hashint4", "hashint4extended", "int4", hash_of_int4),
    SWIZZLE_HASHES("hashint8", "hashint8extended", "int8", hash_of_int8),
    SWIZZLE_HASHES("hashoid", "hashoidextended", "oid", hash_of_int4),
    SWIZZLE_HASHES("hashfloat4", "hashfloat4extended", "float4", hash_of_float4),
    SWIZZLE_HASHES("hashfloat8", "hashfloat8extended", "float8", hash_of_float8),
    SWIZZLE_HASHES("hash_numeric", "hash_numeric_extended", "numeric", hash_of_numeric),
    SWIZZLE_HASHES("uuid_hash", "uuid_hash_extended", "uuid", hash_of_text),
    SWIZZLE_HASHES("time_hash", "time_hash_extended", "time", hash_of_int8),
    SWIZZLE_HASHES("timestamp_hash", "timestamp_hash_extended", "timestamp", hash_of_int8),
};

}  // namespace

std::span<const ScalarEntry> hash_functions() {
  return kHashEntries;
}

}  // namespace swizzle::sql
