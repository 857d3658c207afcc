// uuid-ossp: UUIDs by time, by name and at random (RFC 4122).
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "base/bytes.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/types/functions/text/digests.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Uuid = std::array<std::byte, 16>;

Value uuid_value(FunctionContext& context, const Uuid& uuid) {
  return Value::from_bytes(context.arena.copy(Bytes{uuid}));
}

void mark(Uuid& uuid, unsigned version) {
  uuid[6] = (uuid[6] & std::byte{0x0F}) | static_cast<std::byte>(version << 4U);
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
}

/// Returns a timestamp in units of 100 ns since 15 October 1582, unique in this process.
std::uint64_t next_tick(FunctionContext& context) {
  constexpr std::uint64_t kSecondsTo2000 = 13'165'977'600;
  constexpr std::uint64_t kTicksPerMicrosecond = 10;
  const auto now = static_cast<std::uint64_t>(context.session.clock());
  const std::uint64_t tick = (kSecondsTo2000 * 1'000'000 + now) * kTicksPerMicrosecond;
  static std::atomic<std::uint64_t> last{0};
  std::uint64_t before = last.load(std::memory_order_relaxed);
  std::uint64_t chosen = 0;
  do {
    chosen = std::max(tick, before + 1);
  } while (!last.compare_exchange_weak(before, chosen, std::memory_order_relaxed));
  return chosen;
}

enum class Node : std::uint8_t { of_process, anew };

Value by_time(FunctionContext& context, Node node) {
  Uuid uuid{};
  const std::uint64_t tick = next_tick(context);
  store_big_endian(uuid.data(), static_cast<std::uint32_t>(tick));
  store_big_endian(uuid.data() + 4, static_cast<std::uint16_t>(tick >> 32U));
  store_big_endian(uuid.data() + 6, static_cast<std::uint16_t>(tick >> 48U));
  // Use a random node instead of a network card's address, with the bit that RFC 4122 requires
  // then.
  static const std::array<std::byte, 8> kProcess = [] {
    std::array<std::byte, 8> random{};
    SessionContext::system_random_bytes(random);
    return random;
  }();
  std::array<std::byte, 8> random = kProcess;
  if (node == Node::anew) context.session.random_bytes(random);
  std::ranges::copy(random, uuid.begin() + 8);
  uuid[10] |= std::byte{0x01};
  mark(uuid, 1);
  return uuid_value(context, uuid);
}

Value generate_v1(FunctionContext& context, Arguments /*a*/) {
  return by_time(context, Node::of_process);
}
Value generate_v1mc(FunctionContext& context, Arguments /*a*/) {
  return by_time(context, Node::anew);
}

Value generate_v4(FunctionContext& context, Arguments /*a*/) {
  Uuid uuid{};
  context.session.random_bytes(uuid);
  mark(uuid, 4);
  return uuid_value(context, uuid);
}

Value by_name(FunctionContext& context, Arguments a, const EVP_MD* digest, unsigned version) {
  std::string text{a[0].as_text()};
  text += a[1].as_text();
  const std::string hash = digest_of(digest, as_bytes(text));
  Uuid uuid{};
  std::ranges::copy(as_bytes(hash).first(uuid.size()), uuid.begin());
  mark(uuid, version);
  return uuid_value(context, uuid);
}
Value generate_v3(FunctionContext& context, Arguments a) {
  return by_name(context, a, EVP_md5(), 3);
}
Value generate_v5(FunctionContext& context, Arguments a) {
  return by_name(context, a, EVP_sha1(), 5);
}

Value nil(FunctionContext& context, Arguments /*a*/) {
  return uuid_value(context, Uuid{});
}
/// The name space constants of RFC 4122 differ in one byte.
template <int number>
Value name_space(FunctionContext& context, Arguments /*a*/) {
  constexpr std::array kBytes{0x6b, 0xa7, 0xb8, number, 0x9d, 0xad, 0x11, 0xd1,
                              0x80, 0xb4, 0x00, 0xc0,   0x4f, 0xd4, 0x30, 0xc8};
  Uuid uuid{};
  std::ranges::transform(kBytes, uuid.begin(),
                         [](int byte) { return static_cast<std::byte>(byte); });
  return uuid_value(context, uuid);
}

constexpr ScalarEntry kUuidFunctions[] = {
    {"generate_v1", &generate_v1}, {"generate_v1mc", &generate_v1mc},
    {"generate_v3", &generate_v3}, {"generate_v4", &generate_v4},
    {"generate_v5", &generate_v5}, {"nil", &nil},
    {"ns_dns", &name_space<0x10>}, {"ns_url", &name_space<0x11>},
    {"ns_oid", &name_space<0x12>}, {"ns_x500", &name_space<0x14>},
};

constexpr std::string_view kUuidScript = R"SQL(
CREATE FUNCTION uuid_nil() RETURNS uuid
  AS '$libdir/uuid-ossp', 'nil' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_ns_dns() RETURNS uuid
  AS '$libdir/uuid-ossp', 'ns_dns' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_ns_url() RETURNS uuid
  AS '$libdir/uuid-ossp', 'ns_url' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_ns_oid() RETURNS uuid
  AS '$libdir/uuid-ossp', 'ns_oid' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_ns_x500() RETURNS uuid
  AS '$libdir/uuid-ossp', 'ns_x500' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_generate_v1() RETURNS uuid
  AS '$libdir/uuid-ossp', 'generate_v1' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_generate_v1mc() RETURNS uuid
  AS '$libdir/uuid-ossp', 'generate_v1mc' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_generate_v3(namespace uuid, name text) RETURNS uuid
  AS '$libdir/uuid-ossp', 'generate_v3' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_generate_v4() RETURNS uuid
  AS '$libdir/uuid-ossp', 'generate_v4' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_generate_v5(namespace uuid, name text) RETURNS uuid
  AS '$libdir/uuid-ossp', 'generate_v5' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
)SQL";

}  // namespace

const BundledExtension& uuid_ossp_extension() {
  static constexpr BundledExtension kExtension{
      .name = "uuid-ossp",
      .version = "1.1",
      .comment = "generate universally unique identifiers (UUIDs)",
      .script = kUuidScript,
      .scalars = kUuidFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
