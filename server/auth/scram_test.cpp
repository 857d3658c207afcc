#include <catch2/catch.hpp>
#include <random>

#include "base/simulation/seeded_runs.h"
#include "server/auth/base64.h"
#include "server/auth/scram_exchange.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

using namespace std::string_literals;

bool fails_with(const auto& result, SqlState expected) {
  return !result && result.error().state() == expected;
}

/// Exchange of RFC 7677, section 3.
const std::string kSalt = *decode_base64("W22ZaJ0SNY7soEsUEjb6gQ==");
constexpr std::string_view kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr std::string_view kClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr std::string_view kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr std::string_view kClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr std::string_view kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

ScramExchange rfc_exchange(const ScramVerifier& verifier) {
  return ScramExchange{verifier, std::nullopt, std::string{kServerNonce}};
}

/// A client that knows the password.
std::string client_final(std::string_view password, const ScramVerifier& verifier,
                         std::string_view first_bare, std::string_view server_first,
                         std::string_view without_proof) {
  const Digest salted = pbkdf2_sha256(password, as_bytes(verifier.salt), verifier.iterations);
  const Digest client_key = hmac_sha256(salted, as_bytes("Client Key"));
  const std::string signed_text =
      std::string{first_bare} + "," + std::string{server_first} + "," + std::string{without_proof};
  const Digest signature = hmac_sha256(sha256(client_key), as_bytes(signed_text));
  Digest proof;
  for (std::size_t i = 0; i < proof.size(); ++i) proof[i] = client_key[i] ^ signature[i];
  return std::string{without_proof} + ",p=" + encode_base64(proof);
}

TEST_CASE("the exchange of RFC 7677 gives its messages") {
  const auto verifier = ScramVerifier::derive("pencil", kSalt, 4096);
  ScramExchange exchange = rfc_exchange(verifier);
  CHECK(exchange.begin(kScramSha256, kClientFirst).value() == kServerFirst);
  CHECK(exchange.finish(kClientFinal).value() == kServerFinal);
}

TEST_CASE("a wrong password, and every damaged byte of the final message, is refused") {
  const auto right = ScramVerifier::derive("pencil", kSalt, 4096);
  const auto wrong = ScramVerifier::derive("pencil2", kSalt, 4096);
  ScramExchange refused = rfc_exchange(wrong);
  REQUIRE(refused.begin(kScramSha256, kClientFirst));
  CHECK(fails_with(refused.finish(kClientFinal), state::invalid_password));
  for (std::size_t at = 0; at < kClientFinal.size(); ++at) {
    ScramExchange exchange = rfc_exchange(right);
    REQUIRE(exchange.begin(kScramSha256, kClientFirst));
    std::string damaged{kClientFinal};
    damaged[at] = damaged[at] == 'A' ? 'B' : 'A';
    CHECK_FALSE(exchange.finish(damaged));
    CHECK_FALSE(exchange.finish(kClientFinal.substr(0, at)));
  }
}

TEST_CASE("a final message with another exchange's nonce is refused, though its proof is right") {
  const auto verifier = ScramVerifier::derive("pencil", kSalt, 4096);
  ScramExchange exchange = rfc_exchange(verifier);
  REQUIRE(exchange.begin(kScramSha256, kClientFirst));
  const std::string other =
      client_final("pencil", verifier, kClientFirst.substr(3), kServerFirst,
                   "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k1");
  CHECK_FALSE(exchange.finish(other));
}

TEST_CASE("malformed first messages are refused") {
  const auto verifier = ScramVerifier::derive("pencil", kSalt, 1);
  for (const std::string& message :
       {""s, "n"s, "n,"s, "n,,"s, "n,,n=user"s, "n,,n=user,"s, "n,,r=abc"s, "n,,n=user,r="s,
        "n,,n=user,r=a\x01"s, "x,,n=,r=abc"s, "p=tls-unique,,n=,r=abc"s, "n,a=other,n=,r=abc"s,
        "n,,m=ext,n=,r=abc"s, "n,,n=,r=" + std::string(3000, 'a'),
        "p=tls-server-end-point,,n=,r=abc"s}) {
    CAPTURE(message);
    ScramExchange exchange{verifier, std::nullopt};
    CHECK_FALSE(exchange.begin(kScramSha256, message));
  }
  ScramExchange exchange{verifier, std::nullopt};
  CHECK_FALSE(exchange.begin("PLAIN", kClientFirst));
  CHECK_FALSE(exchange.begin(kScramSha256Plus, "p=tls-server-end-point,,n=,r=abc"));
}

TEST_CASE("random first messages are survived") {
  const auto seed = static_cast<std::uint32_t>(test_seed());
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto verifier = ScramVerifier::derive("pencil", kSalt, 1);
  for (int round = 0; round < 5000; ++round) {
    std::string message{kClientFirst};
    for (auto hits = 1 + random() % 5; hits > 0; --hits) {
      message[random() % message.size()] = ",=nrpyacm\0\xFF"[random() % 11];
    }
    ScramExchange exchange{verifier, "hash"};
    if (exchange.begin(kScramSha256, message)) CHECK_FALSE(exchange.finish(message));
  }
}

TEST_CASE("channel binding binds, and its removal on the way is noticed") {
  const auto verifier = ScramVerifier::derive("pencil", kSalt, 1);
  const std::string hash(32, 'h');
  SECTION("the right certificate") {
    ScramExchange exchange{verifier, hash};
    const auto server_first =
        exchange.begin(kScramSha256Plus, "p=tls-server-end-point,,n=,r=abc").value();
    const std::string nonce = server_first.substr(2, server_first.find(',') - 2);
    const auto final_with = [&](const std::string& bound) {
      const std::string without_proof =
          "c=" + encode_base64(as_bytes("p=tls-server-end-point,," + bound)) + ",r=" + nonce;
      return client_final("pencil", verifier, "n=,r=abc", server_first, without_proof);
    };
    CHECK(fails_with(exchange.finish(final_with("other")), state::invalid_authorization));
    CHECK(exchange.finish(final_with(hash)));
  }
  SECTION("a client that was told we cannot") {
    ScramExchange exchange{verifier, hash};
    CHECK(fails_with(exchange.begin(kScramSha256, "y,,n=,r=abc"), state::invalid_authorization));
  }
  SECTION("without TLS the same client is right") {
    ScramExchange exchange{verifier, std::nullopt};
    CHECK(exchange.begin(kScramSha256, "y,,n=,r=abc"));
  }
  SECTION("a client that cannot bind") {
    ScramExchange exchange{verifier, hash};
    CHECK(exchange.begin(kScramSha256, "n,,n=,r=abc"));
  }
}

TEST_CASE("verifiers have PostgreSQL's text form") {
  // Made by PostgreSQL 15 for the password "x", as sent by psql's \password.
  const std::string text =
      "SCRAM-SHA-256$4096:ldqElURNxc/Kc4GXBLQ9hQ==$IaXhGtezBbtIw9SX/QBv1Co+Lm1oXLpOtffNlXjZJcA=:"
      "MlzcGDf7JdbqiaLPNJW8HFXFrSkdACKMLZYDA1NmX7o=";
  const auto verifier = ScramVerifier::from_text(text);
  REQUIRE(verifier);
  CHECK(verifier->iterations == 4096);
  CHECK(verifier->text() == text);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK_FALSE(ScramVerifier::from_text(text.substr(0, size)));
  }
  for (const char* bad :
       {"md5abc", "SCRAM-SHA-256$0:c2FsdA==$a:b", "SCRAM-SHA-256$-1:c2FsdA==$a:b"}) {
    CHECK_FALSE(ScramVerifier::from_text(bad));
  }
  std::string costly = text;
  costly.replace(costly.find("4096"), 4, "1000001");
  CHECK_FALSE(ScramVerifier::from_text(costly));
  CHECK(ScramVerifier::stored_form(text) == text);
  CHECK(ScramVerifier::stored_form(costly) == costly);
  // A text that only begins like a verifier is a password.
  for (const std::string& password :
       {std::string{"SCRAM-SHA-256$x"}, std::string{"SCRAM-SHA-256$"}, text + "x",
        text.substr(0, text.size() - 1), std::string{"SCRAM-SHA-256$0:c2FsdA==$a:b"}}) {
    CAPTURE(password);
    const std::string stored = ScramVerifier::stored_form(password);
    const auto made = ScramVerifier::from_text(stored);
    REQUIRE(made);
    CHECK(ScramVerifier::derive(password, made->salt, made->iterations).text() == stored);
  }
  const auto fresh = ScramVerifier::derive("secret");
  CHECK(fresh.text().find("secret") == std::string::npos);
  CHECK(ScramVerifier::derive("secret", fresh.salt, fresh.iterations).text() == fresh.text());
}

TEST_CASE("an unknown role gets an exchange of the same shape, the same each time") {
  const auto secret = as_bytes("the server's own");
  const auto real = ScramVerifier::derive("pencil");
  const auto once = ScramVerifier::pretend("nobody", secret);
  const auto again = ScramVerifier::pretend("nobody", secret);
  const auto other = ScramVerifier::pretend("somebody", secret);
  CHECK(once.salt == again.salt);
  CHECK(once.salt != other.salt);
  CHECK(once.salt.size() == real.salt.size());
  CHECK(once.iterations == real.iterations);
  CHECK(once.text().size() == real.text().size());
}

TEST_CASE("base64 is exact") {
  for (const char* text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    CHECK(decode_base64(encode_base64(as_bytes(text))).value() == text);
  }
  CHECK(encode_base64(as_bytes("foob")) == "Zm9vYg==");
  for (const char* bad :
       {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v\n", "Z===", "====", "Zg==Zg=="}) {
    CAPTURE(bad);
    CHECK_FALSE(decode_base64(bad));
  }
}

}  // namespace
}  // namespace swizzle::server
