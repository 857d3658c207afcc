#include "server/auth/scram_verifier.h"

#include <fmt/format.h>

#include <charconv>

#include "server/auth/base64.h"

namespace swizzle::server {
namespace {

constexpr std::string_view kPrefix = "SCRAM-SHA-256$";

/// Returns the text up to `separator`, and removes both; nothing if there is none.
std::optional<std::string_view> take_until(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  return part;
}

std::optional<std::uint32_t> parse_iterations(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value == 0) return std::nullopt;
  return value;
}

std::optional<Digest> parse_digest(std::string_view base64) {
  const std::optional<std::string> bytes = decode_base64(base64);
  Digest digest;
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::memcpy(digest.data(), bytes->data(), digest.size());
  return digest;
}

}  // namespace

std::string ScramVerifier::text() const {
  return fmt::format("{}{}:{}${}:{}", kPrefix, iterations, encode_base64(as_bytes(salt)),
                     encode_base64(stored_key), encode_base64(server_key));
}

namespace {

/// Accepts any number of iterations.
std::optional<ScramVerifier> parse_verifier(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const auto iterations_text = take_until(text, ':');
  const auto salt_text = iterations_text ? take_until(text, '$') : std::nullopt;
  const auto stored_text = salt_text ? take_until(text, ':') : std::nullopt;
  if (!stored_text) return std::nullopt;
  const auto iterations = parse_iterations(*iterations_text);
  auto salt = decode_base64(*salt_text);
  const auto stored_key = parse_digest(*stored_text);
  const auto server_key = parse_digest(text);
  if (!iterations || !salt || salt->empty() || !stored_key || !server_key) return std::nullopt;
  return ScramVerifier{*iterations, std::move(*salt), *stored_key, *server_key};
}

}  // namespace

std::optional<ScramVerifier> ScramVerifier::from_text(std::string_view text) {
  std::optional<ScramVerifier> verifier = parse_verifier(text);
  if (verifier && verifier->iterations > kMaxScramIterations) return std::nullopt;
  return verifier;
}

std::string ScramVerifier::stored_form(std::string_view password) {
  return parse_verifier(password) ? std::string{password} : derive(password).text();
}

ScramVerifier ScramVerifier::derive(std::string_view password, std::string_view salt,
                                    std::uint32_t iterations) {
  const Digest salted = pbkdf2_sha256(password, as_bytes(salt), iterations);
  const Digest client_key = hmac_sha256(salted, as_bytes("Client Key"));
  return ScramVerifier{iterations, std::string{salt}, sha256(client_key),
                       hmac_sha256(salted, as_bytes("Server Key"))};
}

ScramVerifier ScramVerifier::derive(std::string_view password) {
  std::string salt(kScramSaltBytes, '\0');
  fill_random(std::as_writable_bytes(std::span{salt}));
  return derive(password, salt, kDefaultScramIterations);
}

ScramVerifier ScramVerifier::pretend(std::string_view role, Bytes secret) {
  const Digest from_role = hmac_sha256(secret, as_bytes(role));
  ScramVerifier verifier;
  verifier.salt = std::string{as_text(from_role).substr(0, kScramSaltBytes)};
  // Random keys, which no known password leads to.
  fill_random(verifier.stored_key);
  fill_random(verifier.server_key);
  return verifier;
}

}  // namespace swizzle::server
