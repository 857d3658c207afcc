#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/network/network.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

struct ReadAddress {
  NetworkAddress address;
  std::size_t given = 16;  ///< bytes in the text; IPv4 networks may leave out the last ones
};
/// Removes leading zeros, which inet_pton() refuses and PostgreSQL accepts.
std::string without_leading_zeros(std::string_view dotted) {
  std::string plain;
  for (std::size_t i = 0; i < dotted.size(); ++i) {
    const bool begins = plain.empty() || plain.back() == '.';
    const bool goes_on = i + 1 < dotted.size() && dotted[i + 1] >= '0' && dotted[i + 1] <= '9';
    if (dotted[i] != '0' || !begins || !goes_on) plain += dotted[i];
  }
  return plain;
}

/// Returns nothing if the text is no address.
std::optional<ReadAddress> read_address(std::string plain) {
  ReadAddress read;
  NetworkAddress& address = read.address;
  if (plain.find(':') != std::string::npos) {
    address.family = kIpv6;
    if (::inet_pton(AF_INET6, plain.c_str(), address.bytes.data()) != 1) return std::nullopt;
    return read;
  }
  address.family = kIpv4;
  plain = without_leading_zeros(plain);
  read.given = static_cast<std::size_t>(std::ranges::count(plain, '.')) + 1;
  for (std::size_t i = read.given; i < 4; ++i) plain += ".0";
  if (::inet_pton(AF_INET, plain.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return read;
}

/// Returns the netmask length of a network written without one: that of its address class, but at
/// least the bits of the bytes given.
std::size_t bits_of_class(const NetworkAddress& address, std::size_t given) noexcept {
  const std::uint8_t first = address.bytes[0];
  std::size_t bits = first >= 240   ? 32
                     : first >= 224 ? 8
                     : first >= 192 ? 24
                     : first >= 128 ? 16
                                    : 8;
  bits = std::max(bits, given * 8);
  return bits == 8 && first == 224 ? 4 : bits;
}

Value network_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto read = read_address(std::string{text.substr(0, slash)});
  if (!read) throw_invalid_syntax(type, text);
  NetworkAddress address = read->address;
  const std::size_t most = address_bytes(address.family) * 8;
  std::size_t bits = most;
  if (slash != std::string_view::npos) {
    const std::string_view mask = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(mask.data(), mask.data() + mask.size(), bits);
    const bool is_number = error == std::errc{} && end == mask.data() + mask.size();
    if (!is_number || bits > most || (type == TypeId::inet && bits / 8 > read->given)) {
      throw_invalid_syntax(type, text);
    }
  } else if (read->given < address_bytes(address.family)) {
    if (type != TypeId::cidr) throw_invalid_syntax(type, text);
    bits = bits_of_class(address, read->given);
  }
  address.bits = static_cast<std::uint8_t>(bits);
  if (type == TypeId::cidr && network_of(address) != address.bytes) {
    throw sql_error(sqlstate::invalid_text_representation, "invalid cidr value: \"{}\"", text)
        .with_detail("Value has bits set to right of mask.");
  }
  return make_network(context.arena, address);
}

void network_output(FunctionContext&, TypeId type, const Value& value, std::string& out) {
  const NetworkAddress address = network_address(value);
  append_host(address, out);
  if (type == TypeId::cidr || address.bits != address_bytes(address.family) * 8) {
    out += '/';
    out += std::to_string(address.bits);
  }
}

Value network_receive(FunctionContext& context, TypeId type, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  NetworkAddress address;
  address.family = reader.take<std::uint8_t>();
  address.bits = reader.take<std::uint8_t>();
  reader.take<std::uint8_t>();  // is_cidr flag, which the type implies
  const auto size = reader.take<std::uint8_t>();
  const bool is_known = address.family == kIpv4 || address.family == kIpv6;
  if (!is_known || size != address_bytes(address.family) || address.bits > size * 8U) {
    throw_error(SqlState{"22P03"}, "invalid address in external \"{}\" value", format_type(type));
  }
  const Bytes from = reader.take_bytes(size);
  reader.finish();
  std::ranges::transform(from, address.bytes.begin(),
                         [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return make_network(context.arena, address);
}

void network_send(FunctionContext&, TypeId type, const Value& value, std::string& out) {
  const NetworkAddress address = network_address(value);
  const std::size_t size = address_bytes(address.family);
  out += static_cast<char>(address.family);
  out += static_cast<char>(address.bits);
  out += type == TypeId::cidr ? '\1' : '\0';
  out += static_cast<char>(size);
  out.append(reinterpret_cast<const char*>(address.bytes.data()), size);
}

}  // namespace

std::array<std::uint8_t, 16> network_of(const NetworkAddress& address) noexcept {
  std::array<std::uint8_t, 16> network = address.bytes;
  for (unsigned bit = address.bits; bit < address_bytes(address.family) * 8; ++bit) {
    network[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> bit % 8));
  }
  return network;
}

/// Stores family, network, mask length and address. Compared byte by byte, that is PostgreSQL's
/// order, because a network's bits after its mask are zero.
Value make_network(Arena& arena, const NetworkAddress& address) {
  const std::size_t size = address_bytes(address.family);
  std::string bytes;
  const auto add = [&](const std::array<std::uint8_t, 16>& from) {
    bytes.append(reinterpret_cast<const char*>(from.data()), size);
  };
  bytes += static_cast<char>(address.family);
  add(network_of(address));
  bytes += static_cast<char>(address.bits);
  add(address.bytes);
  return make_bytes(arena, as_bytes(bytes));
}

NetworkAddress network_address(const Value& value) {
  const Bytes bytes = value.as_bytes();
  NetworkAddress address;
  if (!bytes.empty()) address.family = std::to_integer<std::uint8_t>(bytes[0]);
  const std::size_t size = address_bytes(address.family);
  if (bytes.size() != 2 + 2 * size) {
    throw SqlError{SqlState{"XX001"}, "a stored network address is malformed"};
  }
  address.bits = std::to_integer<std::uint8_t>(bytes[1 + size]);
  for (std::size_t i = 0; i < size; ++i) {
    address.bytes[i] = std::to_integer<std::uint8_t>(bytes[2 + size + i]);
  }
  return address;
}

void append_host(const NetworkAddress& address, std::string& out) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.family == kIpv4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(),
              text.size());
  out += text.data();
}

int family_number(const NetworkAddress& address) noexcept {
  return address.family == kIpv4 ? 4 : 6;
}

constexpr TypeCodec kNetworkCodec{network_input, network_output, network_receive, network_send};

namespace {

constexpr Type network_type(TypeId id, TypeId array, std::string_view name) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .category = 'I',
          .storage = 'm',
          .in_btree_gist = true,
          .shape = Shape::bytes,
          .io = kNetworkCodec,
          .order = kBytesOrder};
}
constexpr Type inet_type() {
  Type type = network_type(TypeId::inet, TypeId::inet_array, "inet");
  type.preferred = true;
  return type;
}

}  // namespace

constinit const Type builtin::inet = inet_type();
constinit const Type builtin::cidr = network_type(TypeId::cidr, TypeId::cidr_array, "cidr");

}  // namespace swizzle::sql
