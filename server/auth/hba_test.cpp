#include "server/auth/hba.h"

#include <catch2/catch.hpp>

namespace swizzle::server {
namespace {

/// Returns the method that the rules choose, or nothing.
std::optional<AuthMethod> chosen(std::string_view rules, const Visitor& visitor) {
  const auto parsed = HbaRules::parse(rules);
  REQUIRE(parsed);
  const HbaRule* rule = parsed->find(visitor);
  if (rule == nullptr) return std::nullopt;
  return rule->method;
}

Visitor local(std::string_view database, std::string_view role) {
  return {.address = std::nullopt, .database = database, .role = role};
}
Visitor from(std::string_view address, Transport transport = Transport::tcp) {
  return {.transport = transport,
          .address = IpAddress::parse(address),
          .database = "db",
          .role = "ann"};
}

TEST_CASE("the first rule that matches decides") {
  constexpr std::string_view rules = R"(
# type  database  user  address  method
local   all       bob            reject
local   sameuser  all            trust
local   db,"all"  all            peer
host    all       all   10.1.0.0/16   scram-sha-256
host    all       all   192.168.7.0 255.255.255.0 reject
hostssl all       all   all      scram-sha-256
hostnossl all     all   ::/0     reject
)";
  CHECK(chosen(rules, local("db", "bob")) == AuthMethod::reject);
  CHECK(chosen(rules, local("ann", "ann")) == AuthMethod::trust);
  CHECK(chosen(rules, local("db", "ann")) == AuthMethod::peer);
  CHECK(chosen(rules, local("all", "ann")) == AuthMethod::peer);
  CHECK(chosen(rules, local("other", "ann")) == std::nullopt);
  CHECK(chosen(rules, from("10.1.200.3")) == AuthMethod::scram_sha_256);
  CHECK(chosen(rules, from("::ffff:10.1.200.3")) == AuthMethod::scram_sha_256);
  CHECK(chosen(rules, from("10.2.0.1")) == std::nullopt);
  CHECK(chosen(rules, from("10.2.0.1", Transport::tls)) == AuthMethod::scram_sha_256);
  CHECK(chosen(rules, from("192.168.7.9")) == AuthMethod::reject);
  CHECK(chosen(rules, from("fe80::1")) == AuthMethod::reject);
  CHECK(chosen(rules, from("fe80::1", Transport::tls)) == AuthMethod::scram_sha_256);
}

TEST_CASE("sameuser and replication are words of the database column alone") {
  constexpr std::string_view rules = R"(
local   all          sameuser      trust
local   all          replication   peer
local   "sameuser"   ann           scram-sha-256
)";
  CHECK(chosen(rules, local("db", "bob")) == std::nullopt);
  CHECK(chosen(rules, local("bob", "bob")) == std::nullopt);
  CHECK(chosen(rules, local("db", "sameuser")) == AuthMethod::trust);
  CHECK(chosen(rules, local("db", "replication")) == AuthMethod::peer);
  CHECK(chosen(rules, local("ann", "ann")) == std::nullopt);
  CHECK(chosen(rules, local("sameuser", "ann")) == AuthMethod::scram_sha_256);
}

TEST_CASE("a server that follows is let in by the word replication alone") {
  constexpr std::string_view rules = R"(
local   all          all           trust
local   postgres     all           trust
local   replication  copier        peer
)";
  Visitor follower = local("postgres", "copier");
  CHECK(chosen(rules, follower) == AuthMethod::trust);
  follower.is_physical_replication = true;
  CHECK(chosen(rules, follower) == AuthMethod::peer);
  follower.role = "bob";
  CHECK(chosen(rules, follower) == std::nullopt);
}

TEST_CASE("what cannot be honoured is refused with its line") {
  for (const char* bad : {
           "local all all",
           "host all all scram-sha-256",
           "host all all 10.0.0.0 scram-sha-256",
           "host all all 10.0.0.0/33 scram-sha-256",
           "host all all 10.0.0.0/x scram-sha-256",
           "host all all 10.0.0.0 255.0.255.0 scram-sha-256",
           "host all all example.com scram-sha-256",
           "host all all samenet scram-sha-256",
           "host all all all md5",
           "host all all all password",
           "host all all all peer",
           "host all all all trust",
           "host all all 0.0.0.0/0 trust",
           "host all all 127.0.0.1/4 trust",
           "hostgssenc all all all scram-sha-256",
           "local +group all trust",
           "local @file all trust",
           "local all all peer map=x",
           "local all \"open trust",
           "remote all all trust",
       }) {
    CAPTURE(bad);
    const auto parsed = HbaRules::parse(std::string{"# comment\n"} + bad + "\n");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().state() == sqlstate::config_file_error);
    CHECK(parsed.error().message().find("line 2") != std::string::npos);
  }
  CHECK(HbaRules::parse("host all all 127.0.0.0/8 trust"));
  CHECK(HbaRules::parse("host all all ::1/128 trust # fine"));
  CHECK(HbaRules::parse(""));
}

}  // namespace
}  // namespace swizzle::server
