#include "sql-lite-frontend/types/network/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value host(FunctionContext& context, Arguments a) {
  std::string out;
  append_host(network_address(a[0]), out);
  return make_text(context.arena, out);
}
/// text(): always with the prefix length.
Value text_of(FunctionContext& context, Arguments a) {
  const NetworkAddress address = network_address(a[0]);
  std::string out;
  append_host(address, out);
  return make_text(context.arena, out + "/" + std::to_string(address.bits));
}
Value mask_length(FunctionContext&, Arguments a) {
  return Value::from_int(network_address(a[0]).bits);
}
Value family(FunctionContext&, Arguments a) {
  return Value::from_int(family_number(network_address(a[0])));
}

NetworkAddress with_bits(NetworkAddress address, std::size_t bits) {
  address.bits = static_cast<std::uint8_t>(bits);
  return address;
}
std::size_t all_bits(const NetworkAddress& address) {
  return address_bytes(address.family) * 8;
}

Value network(FunctionContext& context, Arguments a) {
  NetworkAddress address = network_address(a[0]);
  address.bytes = network_of(address);
  return make_network(context.arena, address);
}
/// netmask(), hostmask() and broadcast().
Value netmask(FunctionContext& context, Arguments a) {
  NetworkAddress address = network_address(a[0]);
  address.bytes.fill(0xff);
  address.bytes = network_of(address);
  return make_network(context.arena, with_bits(address, all_bits(address)));
}
NetworkAddress inverted(NetworkAddress address) {
  for (std::size_t i = 0; i < address_bytes(address.family); ++i) {
    address.bytes[i] = static_cast<std::uint8_t>(~address.bytes[i]);
  }
  return address;
}
Value hostmask(FunctionContext& context, Arguments a) {
  NetworkAddress address = network_address(a[0]);
  address.bytes.fill(0xff);
  address.bytes = network_of(address);
  return make_network(context.arena, with_bits(inverted(address), all_bits(address)));
}
Value broadcast(FunctionContext& context, Arguments a) {
  NetworkAddress address = network_address(a[0]);
  NetworkAddress mask = address;
  mask.bytes.fill(0xff);
  mask.bytes = network_of(mask);
  for (std::size_t i = 0; i < address_bytes(address.family); ++i) {
    address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] | ~mask.bytes[i]);
  }
  return make_network(context.arena, address);
}
Value set_mask_length(FunctionContext& context, Arguments a) {
  const NetworkAddress address = network_address(a[0]);
  const std::int32_t bits = a[1].as_int4();
  const auto most = static_cast<std::int32_t>(all_bits(address));
  if (bits < -1 || bits > most) {
    throw_error(sqlstate::invalid_parameter_value, "invalid mask length: {}", bits);
  }
  return make_network(context.arena,
                      with_bits(address, static_cast<std::size_t>(bits == -1 ? most : bits)));
}
/// cidr is inet without bits after the mask.
Value to_cidr(FunctionContext& context, Arguments a) {
  return network(context, a);
}
Value set_cidr_mask_length(FunctionContext& context, Arguments a) {
  const Value masked[] = {set_mask_length(context, a)};
  return network(context, masked);
}
/// The smallest network that both are in.
Value merge(FunctionContext& context, Arguments a) {
  NetworkAddress one = network_address(a[0]);
  NetworkAddress other = network_address(a[1]);
  if (one.family != other.family) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "cannot merge addresses from different families"};
  }
  std::uint8_t bits = std::min(one.bits, other.bits);
  const auto differ = [&] {
    one.bits = other.bits = bits;
    return network_of(one) != network_of(other);
  };
  while (differ()) --bits;
  one.bytes = network_of(one);
  return make_network(context.arena, one);
}
/// abbrev(): like the type's output, which omits the prefix length of a single host.
Value abbreviated(FunctionContext& context, Arguments a) {
  std::string out;
  output_text(context, TypeId::inet, a[0], out);
  return make_text(context.arena, out);
}
/// 10.1/16: the octets that the mask covers.
std::string abbreviated_ipv4(const NetworkAddress& address) {
  if (address.bits == 0) return "0/0";
  std::string out;
  const int octets = (address.bits + 7) / 8;
  for (int i = 0; i < octets; ++i) {
    out += fmt::format("{}{}", i > 0 ? "." : "", address.bytes[static_cast<std::size_t>(i)]);
  }
  return out + fmt::format("/{}", address.bits);
}

/// 2001:db8/32: the words that the mask covers, at least two, the longest row of zeros left out.
std::string abbreviated_ipv6(const NetworkAddress& address) {
  if (address.bits == 0) return "::/0";
  const auto& bytes = address.bytes;
  const auto word = [&](int i) {
    const auto at = static_cast<std::size_t>(2 * i);
    return bytes[at] * 256 + bytes[at + 1];
  };
  const int words = std::max((address.bits + 15) / 16, 2);
  int zeros = 0;
  int first_zero = 0;
  for (int i = 0, run = 0; i < words; ++i) {
    run = word(i) == 0 ? run + 1 : 0;
    if (run <= zeros) continue;
    zeros = run;
    first_zero = i + 1 - run;
  }
  const bool holds_ipv4 = zeros != words && first_zero == 0 &&
                          (zeros == 6 || (zeros == 5 && word(5) == 0xffff) ||
                           (zeros == 7 && bytes[14] != 0 && bytes[15] != 1));
  std::string out;
  for (int i = 0; i < words; ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    if (zeros != 0 && i >= first_zero && i < first_zero + zeros) {
      if (i == first_zero) out += ':';
      if (i == words - 1) out += ':';
    } else if (holds_ipv4 && i > 5) {
      out += fmt::format("{}{}", i == 6 ? ':' : '.', bytes[at]);
      // The last octet may lie after the mask.
      if (i != 7 || address.bits > 120) out += fmt::format(".{}", bytes[at + 1]);
    } else {
      out += fmt::format("{}{:x}", out.empty() ? "" : ":", word(i));
    }
  }
  return out + fmt::format("/{}", address.bits);
}
Value abbreviated_network(FunctionContext& context, Arguments a) {
  NetworkAddress address = network_address(a[0]);
  address.bytes = network_of(address);
  return make_text(context.arena,
                   address.family == kIpv4 ? abbreviated_ipv4(address) : abbreviated_ipv6(address));
}
Value same_family(FunctionContext&, Arguments a) {
  return Value::from_bool(network_address(a[0]).family == network_address(a[1]).family);
}

/// True if the network of `inner` is within that of `outer`, with a mask longer by at least
/// `least`.
bool lies_in(const Value& inner, const Value& outer, int least) {
  NetworkAddress one = network_address(inner);
  const NetworkAddress other = network_address(outer);
  if (one.family != other.family || one.bits < other.bits + least) return false;
  one.bits = other.bits;
  return network_of(one) == network_of(other);
}
Value below(FunctionContext&, Arguments a) {
  return Value::from_bool(lies_in(a[0], a[1], 1));
}
Value below_or_equal(FunctionContext&, Arguments a) {
  return Value::from_bool(lies_in(a[0], a[1], 0));
}
Value above(FunctionContext&, Arguments a) {
  return Value::from_bool(lies_in(a[1], a[0], 1));
}
Value above_or_equal(FunctionContext&, Arguments a) {
  return Value::from_bool(lies_in(a[1], a[0], 0));
}
Value overlaps(FunctionContext&, Arguments a) {
  return Value::from_bool(lies_in(a[0], a[1], 0) || lies_in(a[1], a[0], 0));
}

[[noreturn]] void out_of_range() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "result is out of range"};
}

Value moved(FunctionContext& context, const Value& from, std::int64_t by) {
  NetworkAddress address = network_address(from);
  // Adds byte by byte from the right; the carry beyond the first byte must be only the sign.
  std::int64_t rest = by;
  int carry = 0;
  for (std::size_t i = address_bytes(address.family); i-- > 0;) {
    const int sum = address.bytes[i] + static_cast<int>(rest & 0xff) + carry;
    address.bytes[i] = static_cast<std::uint8_t>(sum & 0xff);
    carry = sum >> 8;
    rest >>= 8;
  }
  const bool fits = (rest == 0 && carry == 0) || (rest == -1 && carry == 1);
  if (!fits) out_of_range();
  return make_network(context.arena, address);
}
Value plus(FunctionContext& context, Arguments a) {
  return moved(context, a[0], a[1].as_int8());
}
Value plus_reversed(FunctionContext& context, Arguments a) {
  return moved(context, a[1], a[0].as_int8());
}
Value minus(FunctionContext& context, Arguments a) {
  if (a[1].as_int8() == INT64_MIN) out_of_range();
  return moved(context, a[0], -a[1].as_int8());
}
Value distance(FunctionContext&, Arguments a) {
  const NetworkAddress one = network_address(a[0]);
  const NetworkAddress other = network_address(a[1]);
  if (one.family != other.family) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "cannot subtract inet values of different sizes"};
  }
  std::int64_t result = 0;
  int carry = 1;
  const std::size_t size = address_bytes(one.family);
  for (std::size_t at = 0; at < size; ++at) {
    const std::size_t i = size - 1 - at;
    const int sum = one.bytes[i] + static_cast<std::uint8_t>(~other.bytes[i]) + carry;
    carry = sum >> 8;
    const auto byte = static_cast<std::uint64_t>(sum & 0xff);
    if (at < sizeof result) {
      result = static_cast<std::int64_t>(static_cast<std::uint64_t>(result) | byte << (at * 8));
    } else if (byte != (result < 0 ? 0xffU : 0U)) {
      out_of_range();
    }
  }
  if (carry == 0 && size < sizeof result) {
    result = static_cast<std::int64_t>(static_cast<std::uint64_t>(result) | ~std::uint64_t{0}
                                                                                << (size * 8));
  }
  return Value::from_int(result);
}

/// The two bit by bit; the mask is the longer one.
template <class Operation>
Value bitwise(FunctionContext& context, Arguments a, std::string_view verb, Operation operation) {
  NetworkAddress one = network_address(a[0]);
  const NetworkAddress other = network_address(a[1]);
  if (one.family != other.family) {
    throw_error(sqlstate::invalid_parameter_value, "cannot {} inet values of different sizes",
                verb);
  }
  for (std::size_t i = 0; i < address_bytes(one.family); ++i) {
    one.bytes[i] = operation(one.bytes[i], other.bytes[i]);
  }
  return make_network(context.arena, with_bits(one, std::max(one.bits, other.bits)));
}
Value bit_and(FunctionContext& context, Arguments a) {
  return bitwise(context, a, "AND",
                 [](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(x & y); });
}
Value bit_or(FunctionContext& context, Arguments a) {
  return bitwise(context, a, "OR",
                 [](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(x | y); });
}
Value bit_not(FunctionContext& context, Arguments a) {
  return make_network(context.arena, inverted(network_address(a[0])));
}

constexpr ScalarEntry kNetworkEntries[] = {
    {"network(inet)", &network},
    {"netmask(inet)", &netmask},
    {"hostmask(inet)", &hostmask},
    {"broadcast(inet)", &broadcast},
    {"set_masklen(inet,int4)", &set_mask_length},
    {"set_masklen(cidr,int4)", &set_cidr_mask_length},
    {"cidr(inet)", &to_cidr},
    {"inet_merge(inet,inet)", &merge},
    {"abbrev(inet)", &abbreviated},
    {"abbrev(cidr)", &abbreviated_network},
    {"inet_same_family(inet,inet)", &same_family},
    {"<<(inet,inet)", &below},
    {"<<=(inet,inet)", &below_or_equal},
    {">>(inet,inet)", &above},
    {">>=(inet,inet)", &above_or_equal},
    {"&&(inet,inet)", &overlaps},
    {"+(inet,int8)", &plus},
    {"+(int8,inet)", &plus_reversed},
    {"-(inet,int8)", &minus},
    {"-(inet,inet)", &distance},
    {"&(inet,inet)", &bit_and},
    {"|(inet,inet)", &bit_or},
    {"~(inet)", &bit_not},
    {"host(inet)", &host},
    {"text(inet)", &text_of},
    {"masklen(inet)", &mask_length},
    {"family(inet)", &family},
};

}  // namespace

std::span<const ScalarEntry> network_functions() {
  return kNetworkEntries;
}

}  // namespace swizzle::sql
