#include <arpa/inet.h>

#include <algorithm>

#include "server/auth/hba.h"

namespace swizzle::server {
namespace {

constexpr std::array<std::byte, 12> kMappedPrefix{
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}};

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated{text};
  std::array<std::byte, 16> bytes;
  if (inet_pton(AF_INET, terminated.c_str(), bytes.data()) == 1) {
    return from_bytes(Bytes{bytes}.first(4));
  }
  if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return from_bytes(bytes);
  return std::nullopt;
}

IpAddress IpAddress::from_bytes(Bytes bytes) {
  if (bytes.size() == 16 && std::ranges::equal(bytes.first(12), kMappedPrefix)) {
    bytes = bytes.subspan(12);
  }
  IpAddress address;
  address.size_ = bytes.size();
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer;
  return inet_ntop(size_ == 4 ? AF_INET : AF_INET6, bytes_.data(), buffer.data(), buffer.size());
}

bool IpAddress::is_loopback() const noexcept {
  if (size_ == 4) return bytes_[0] == std::byte{127};
  return bytes_[15] == std::byte{1} &&
         std::all_of(bytes_.begin(), bytes_.begin() + 15,
                     [](std::byte byte) { return byte == std::byte{0}; });
}

std::optional<std::size_t> IpAddress::mask_bits() const noexcept {
  std::size_t ones = 0;
  bool seen_zero = false;
  for (std::size_t bit = 0; bit < bits(); ++bit) {
    const bool is_set = (std::to_integer<unsigned>(bytes_[bit / 8]) & (0x80U >> (bit % 8))) != 0;
    if (is_set && seen_zero) return std::nullopt;
    seen_zero = !is_set;
    ones += is_set ? 1U : 0U;
  }
  return ones;
}

IpAddress IpAddress::network(std::size_t prefix_bits) const noexcept {
  IpAddress network = *this;
  std::fill(network.bytes_.begin() + static_cast<std::ptrdiff_t>(prefix_bits / 8),
            network.bytes_.end(), std::byte{0});
  return network;
}

bool IpAddress::shares_prefix(const IpAddress& other, std::size_t prefix_bits) const noexcept {
  if (size_ != other.size_) return false;
  const std::size_t whole = prefix_bits / 8;
  if (!std::equal(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(whole),
                  other.bytes_.begin())) {
    return false;
  }
  const std::size_t rest = prefix_bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::byte>(0xFFU << (8 - rest));
  return (bytes_[whole] & mask) == (other.bytes_[whole] & mask);
}

}  // namespace swizzle::server
