#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// inet and cidr: an internet address and the length of its network prefix.
namespace swizzle::sql {

// Address families as in the binary format.
inline constexpr std::uint8_t kIpv4 = 2;
inline constexpr std::uint8_t kIpv6 = 3;

constexpr std::size_t address_bytes(std::uint8_t family) noexcept {
  return family == kIpv4 ? 4 : 16;
}

struct NetworkAddress {
  std::uint8_t family = kIpv4;
  std::uint8_t bits = 0;
  std::array<std::uint8_t, 16> bytes{};
};

/// Decodes a value of these types. Throws XX001 if it is malformed.
NetworkAddress network_address(const Value& value);
Value make_network(Arena& arena, const NetworkAddress& address);
/// Returns the address with the host bits cleared.
std::array<std::uint8_t, 16> network_of(const NetworkAddress& address) noexcept;
/// Appends the address without its prefix length.
void append_host(const NetworkAddress& address, std::string& out);
/// Returns 4 or 6.
int family_number(const NetworkAddress& address) noexcept;

}  // namespace swizzle::sql
