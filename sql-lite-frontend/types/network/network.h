#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// inet and cidr: an internet address and how many of its bits name the network.
namespace swizzle::sql {

// Families as the binary form has them.
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

/// Decodes a value of the types. XX001 for malformed bytes.
NetworkAddress network_address(const Value& value);
Value make_network(Arena& arena, const NetworkAddress& address);
/// The address with the bits behind the mask cleared.
std::array<std::uint8_t, 16> network_of(const NetworkAddress& address) noexcept;
/// The address without its mask.
void append_host(const NetworkAddress& address, std::string& out);
/// 4 or 6.
int family_number(const NetworkAddress& address) noexcept;

}  // namespace swizzle::sql
