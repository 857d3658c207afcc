#include "server/auth/scram_exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/auth/base64.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

constexpr std::string_view kEndpointBinding = "p=tls-server-end-point";

std::unexpected<Error> malformed(std::string detail) {
  return fail(
      Error{state::protocol_violation, "malformed SCRAM message"}.with_detail(std::move(detail)));
}

/// Takes "<name>=<value>" up to the next comma or the end; the comma goes too.
std::optional<std::string_view> take_attribute(std::string_view& rest, char name) {
  if (rest.size() < 2 || rest[0] != name || rest[1] != '=') return std::nullopt;
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view value = rest.substr(2, comma - 2);
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return value;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace

ScramExchange::ScramExchange(ScramVerifier verifier, std::optional<std::string> endpoint_hash,
                             std::string server_nonce)
    : verifier_(std::move(verifier)),
      endpoint_hash_(std::move(endpoint_hash)),
      nonce_(std::move(server_nonce)) {}

std::string ScramExchange::random_nonce() {
  std::array<std::byte, 18> bytes;
  fill_random(bytes);
  return encode_base64(bytes);
}

Result<> ScramExchange::check_binding_flag(std::string_view mechanism,
                                           std::string_view flag) const {
  const bool is_plus = mechanism == kScramSha256Plus;
  if (!is_plus && mechanism != kScramSha256) {
    return fail(state::protocol_violation,
                "client selected an invalid SASL authentication mechanism");
  }
  if (is_plus && !endpoint_hash_) {
    return malformed("Channel binding was chosen on a connection without TLS.");
  }
  if (flag == "n") {
    if (is_plus) return malformed("SCRAM-SHA-256-PLUS was chosen, but no channel binding data.");
    return {};
  }
  if (flag == "y") {
    // The client supports channel binding and believes that we do not: our offer was removed in
    // transit.
    if (is_plus || endpoint_hash_) {
      return fail(state::invalid_authorization, "SCRAM channel binding negotiation error");
    }
    return {};
  }
  if (flag == kEndpointBinding) {
    if (!is_plus) return malformed("Channel binding data with a mechanism that has none.");
    return {};
  }
  return fail(state::protocol_violation, "unsupported SCRAM channel-binding type");
}

Result<std::string> ScramExchange::begin(std::string_view mechanism,
                                         std::string_view client_first) {
  if (client_first.size() > kMaxMessageBytes) return malformed("The message is too long.");
  const std::size_t flag_end = client_first.find(',');
  if (flag_end == std::string_view::npos) return malformed("No channel-binding flag.");
  RETURN_IF_ERROR(check_binding_flag(mechanism, client_first.substr(0, flag_end)));
  const std::size_t header_end = client_first.find(',', flag_end + 1);
  if (header_end == std::string_view::npos) return malformed("No end of the GS2 header.");
  if (header_end != flag_end + 1) {
    return fail(sqlstate::feature_not_supported,
                "client uses authorization identity, but it is not supported");
  }
  gs2_header_ = std::string{client_first.substr(0, header_end + 1)};
  std::string_view bare = client_first.substr(header_end + 1);
  client_first_bare_ = std::string{bare};
  if (bare.starts_with("m=")) {
    return fail(sqlstate::feature_not_supported, "client requires an unsupported SCRAM extension");
  }
  // The name here is ignored: the start-up packet has named the role.
  if (!take_attribute(bare, 'n')) return malformed("No user name attribute.");
  const auto client_nonce = take_attribute(bare, 'r');
  if (!client_nonce || client_nonce->empty() || !is_printable(*client_nonce)) {
    return malformed("No nonce, or one that is not printable.");
  }
  nonce_.insert(0, *client_nonce);
  server_first_ = fmt::format("r={},s={},i={}", nonce_, encode_base64(as_bytes(verifier_.salt)),
                              verifier_.iterations);
  return server_first_;
}

std::string ScramExchange::expected_binding() const {
  std::string bound = gs2_header_;
  if (gs2_header_.starts_with("p=")) bound += *endpoint_hash_;
  return encode_base64(as_bytes(bound));
}

Result<std::string> ScramExchange::finish(std::string_view client_final) {
  if (client_final.size() > kMaxMessageBytes) return malformed("The message is too long.");
  // The proof comes last and is not part of what is proven.
  const std::size_t proof_at = client_final.rfind(",p=");
  if (proof_at == std::string_view::npos) return malformed("No proof.");
  const std::string_view without_proof = client_final.substr(0, proof_at);
  const auto proof = decode_base64(client_final.substr(proof_at + 3));
  Digest client_key;
  if (!proof || proof->size() != client_key.size()) return malformed("Malformed proof.");
  std::string_view rest = without_proof;
  const auto binding = take_attribute(rest, 'c');
  if (!binding || *binding != expected_binding()) {
    return fail(state::invalid_authorization, "SCRAM channel binding check failed");
  }
  const auto nonce = take_attribute(rest, 'r');
  if (!nonce || *nonce != nonce_) return malformed("Nonce does not match.");

  const std::string signed_text =
      fmt::format("{},{},{}", client_first_bare_, server_first_, without_proof);
  const Digest signature = hmac_sha256(verifier_.stored_key, as_bytes(signed_text));
  for (std::size_t i = 0; i < client_key.size(); ++i) {
    client_key[i] = static_cast<std::byte>((*proof)[i]) ^ signature[i];
  }
  if (!equal_in_constant_time(sha256(client_key), verifier_.stored_key)) {
    return fail(state::invalid_password, "password authentication failed");
  }
  return "v=" + encode_base64(hmac_sha256(verifier_.server_key, as_bytes(signed_text)));
}

}  // namespace swizzle::server
