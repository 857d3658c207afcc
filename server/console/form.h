#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::server {

/// Returns the value of a field of application/x-www-form-urlencoded text; nothing if it is not
/// there, or no UTF-8 without NUL.
[[nodiscard]] std::optional<std::string> form_value(std::string_view form, std::string_view name);

/// Returns the name or address in a Host header, or in an origin after its scheme, without the
/// port.
[[nodiscard]] std::string_view host_name(std::string_view host) noexcept;
/// True for the names and addresses of this machine's loopback interface.
[[nodiscard]] bool is_loopback_name(std::string_view name);
/// True if a browser says that the request comes from a page of another origin. `origin` is empty
/// if it says nothing.
[[nodiscard]] bool is_of_another_site(std::string_view origin, std::string_view host) noexcept;

}  // namespace swizzle::server
