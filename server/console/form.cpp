#include "server/console/form.h"

#include <algorithm>

#include "base/utf8.h"
#include "server/auth/hba.h"

namespace swizzle::server {
namespace {

int digit_of(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

/// Returns nothing for an invalid escape.
std::optional<std::string> decode(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      decoded += ' ';
    } else if (text[at] != '%') {
      decoded += text[at];
    } else {
      if (at + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[at + 1]);
      const int low = digit_of(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      at += 2;
    }
  }
  return decoded;
}

}  // namespace

std::optional<std::string> form_value(std::string_view form, std::string_view name) {
  while (!form.empty()) {
    const std::string_view field = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(form.size(), field.size() + 1));
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos || field.substr(0, equals) != name) continue;
    std::optional<std::string> value = decode(field.substr(equals + 1));
    if (!value || value->find('\0') != std::string::npos || valid_utf8(*value) != value->size()) {
      return std::nullopt;
    }
    return value;
  }
  return std::nullopt;
}

std::string_view host_name(std::string_view host) noexcept {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view{} : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_loopback_name(std::string_view name) {
  if (name == "localhost") return true;
  const auto address = IpAddress::parse(name);
  return address && address->is_loopback();
}

bool is_of_another_site(std::string_view origin, std::string_view host) noexcept {
  if (origin.empty()) return false;
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos || origin.substr(scheme + 3) != host;
}

}  // namespace swizzle::server
