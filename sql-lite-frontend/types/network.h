#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// inet and cidr: an internet address and how many of its bits name the network.
namespace swizzle::sql {

constexpr TypeId kInet{869};
constexpr TypeId kCidr{650};

struct NetworkAddress {
  std::uint8_t family = 2;  ///< as in the binary form: 2 is IPv4, 3 is IPv6
  std::uint8_t bits = 0;
  std::array<std::uint8_t, 16> bytes{};
};

/// What a value of the types means. XX001 for malformed bytes.
NetworkAddress network_address(const Value& value);
/// The address without its mask.
void append_host(const NetworkAddress& address, std::string& out);
/// 4 or 6.
int family_number(const NetworkAddress& address) noexcept;

}  // namespace swizzle::sql
