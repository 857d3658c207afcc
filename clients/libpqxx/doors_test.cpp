// Connections: TLS versions and ciphers, failed logins in the log, the server's user.

#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <regex>
#include <string>
#include <thread>

#include "clients/testing/swizzled_process.h"

namespace swizzle::clients {
namespace {

/// Returns a command's output, both stdout and stderr.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen((command + " 2>&1").c_str(), "r"),
                                                   &::pclose};
  std::string text;
  std::array<char, 4096> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe.get())) {
    text.append(piece.data(), size);
  }
  return text;
}

bool becomes_true(const std::function<bool()>& holds) {
  for (int i = 0; i < 300; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return false;
}

/// Makes a key and a certificate with this name.
void make_certificate_for(const SwizzledProcess& server, const std::string& name) {
  const std::string base = server.data_directory() + "/server";
  const std::string command = "openssl req -new -x509 -days 2 -nodes -subj /CN=" + name +
                              " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout " + base +
                              ".key -out " + base + ".crt && chmod 600 " + base + ".key";
  INFO(command);
  REQUIRE(output_of(command + " && echo made").ends_with("made\n"));
}

/// A server with a certificate.
class TlsServer {
 public:
  explicit TlsServer(const std::string& name) {
    make_certificate_for(server, name);
    tell("ssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n");
    REQUIRE(becomes_true([&] { return subject() == name; }));
  }
  /// Adds to the settings and reloads them.
  void tell(const std::string& settings) {
    std::ofstream{server.data_directory() + "/swizzle.conf", std::ios::app} << settings;
    server.send_signal(SIGHUP);
  }
  /// Returns openssl's report about a handshake.
  [[nodiscard]] std::string handshake(const std::string& options = {}) const {
    return output_of("timeout 10 openssl s_client -starttls postgres -connect 127.0.0.1:" +
                     std::to_string(server.port()) + " " + options + " </dev/null");
  }
  [[nodiscard]] bool speaks(const std::string& options) const {
    const std::string said = handshake(options);
    return said.find("CONNECTED") != std::string::npos &&
           said.find("Cipher is (NONE)") == std::string::npos;
  }
  /// Returns the name in the certificate that the server presents.
  [[nodiscard]] std::string subject() const {
    std::smatch found;
    const std::string said = handshake();
    return std::regex_search(said, found, std::regex{"subject=CN = (\\S+)"}) ? found[1].str()
                                                                             : std::string{};
  }

  SwizzledProcess server{SwizzledProcess::Access::password};
};

TEST_CASE("TLS: nothing old is spoken, and less where the settings say so") {
  TlsServer tls{"one"};
  CHECK(tls.speaks("-tls1_3"));
  CHECK(tls.speaks("-tls1_2"));
  CHECK(tls.speaks("-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256"));
  CHECK(tls.speaks("-tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305"));
  // Refused: CBC mode with HMAC-SHA, and key exchange without forward secrecy.
  CHECK_FALSE(tls.speaks("-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA"));
  CHECK_FALSE(tls.speaks("-tls1_2 -cipher ECDHE-ECDSA-AES256-SHA384"));
  CHECK_FALSE(tls.speaks("-tls1_1 -cipher ALL:@SECLEVEL=0"));

  tls.tell("ssl_ciphers = 'ECDHE+CHACHA20'\n");
  REQUIRE(becomes_true([&] { return !tls.speaks("-tls1_2 -cipher ECDHE+AESGCM"); }));
  CHECK(tls.speaks("-tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305"));
  tls.tell("ssl_min_protocol_version = 'TLSv1.3'\n");
  REQUIRE(becomes_true([&] { return !tls.speaks("-tls1_2"); }));
  CHECK(tls.speaks("-tls1_3"));
  // An unusable value changes nothing.
  tls.tell("ssl_ciphers = 'none of these'\n");
  REQUIRE(
      becomes_true([&] { return tls.server.log().find("none of these") != std::string::npos; }));
  CHECK(tls.speaks("-tls1_3"));
}

TEST_CASE("TLS: the protocol is named, and another one is refused") {
  const TlsServer tls{"one"};
  CHECK(tls.handshake("-alpn postgresql").find("ALPN protocol: postgresql") != std::string::npos);
  CHECK(tls.handshake("-alpn h2,postgresql").find("ALPN protocol: postgresql") !=
        std::string::npos);
  CHECK(tls.handshake().find("No ALPN negotiated") != std::string::npos);
  CHECK_FALSE(tls.speaks("-alpn http/1.1"));
}

TEST_CASE("TLS: a new certificate is for new connections, a broken one for nobody") {
  TlsServer tls{"one"};
  pqxx::connection old{tls.server.tcp_conninfo("sslmode=require")};
  make_certificate_for(tls.server, "two");
  CHECK(tls.subject() == "one");
  tls.tell("");
  REQUIRE(becomes_true([&] { return tls.subject() == "two"; }));
  CHECK(pqxx::nontransaction{old}.exec1("SELECT 1")[0].as<int>() == 1);
  const pqxx::connection bound{tls.server.tcp_conninfo("sslmode=require channel_binding=require")};
  CHECK(bound.is_open());
  for (const char* broken : {"", "not a certificate"}) {
    std::ofstream{tls.server.data_directory() + "/server.crt"} << broken;
    tls.tell("");
    REQUIRE(becomes_true([&] {
      return tls.server.log().find("could not load server certificate") != std::string::npos;
    }));
    CHECK(tls.subject() == "two");
  }
}

TEST_CASE("a failed login leaves who, where from, to what, and its number") {
  const SwizzledProcess server{SwizzledProcess::Access::password,
                               {"log_line_prefix=<%p|%u|%d|%h> "}};
  CHECK_THROWS(pqxx::connection{server.tcp_conninfo("user=mallory dbname=books password=x")});
  const std::regex line{R"(<\d+\|mallory\|books\|127\.0\.0\.1> FATAL:  password authentication )"
                        R"(failed for user "mallory")"};
  REQUIRE(becomes_true([&] { return std::regex_search(server.log(), line); }));
  CHECK(server.log().find(
            R"(DETAIL:  Connection from host "127.0.0.1", user "mallory", database "books", )"
            R"(no encryption matched line )") != std::string::npos);
}

std::string status_line(pid_t process, const std::string& name) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/status"};
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name)) return line;
  }
  return {};
}

TEST_CASE("started by root the server becomes the user that it is told, or warns") {
  if (::geteuid() != 0) {
    const auto refused =
        SwizzledProcess::run_swizzled({"init", "-D", "/nowhere", "--peer-only", "--user", "root"});
    CHECK(refused.output == "swizzled: only root can become user \"root\"\n");
    return;
  }
  {
    SwizzledProcess server{SwizzledProcess::Access::peer_only, {}, "nobody"};
    CHECK(server.log().find("runs as root") == std::string::npos);
    for (const char* each : {"Uid:", "Gid:"}) {
      CHECK(std::regex_match(status_line(server.process(), each),
                             std::regex{".*\t65534\t65534\t65534\t65534"}));
    }
    CHECK(status_line(server.process(), "CapEff") == "CapEff:\t0000000000000000");
    {
      pqxx::connection connection{server.conninfo()};
      pqxx::nontransaction work{connection};
      work.exec("CREATE TABLE t AS SELECT 1 AS a");
      work.exec("ALTER SYSTEM SET work_mem = '5MB'");
    }
    server.kill();
    server.start();
    CHECK(server.stop(SIGINT) == 0);
    // The socket and the pid file are removed, though root had created them.
    for (const auto& left : std::filesystem::directory_iterator(server.directory())) {
      CHECK_FALSE(left.path().filename().string().starts_with(".s.PGSQL"));
    }
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(server.data_directory())) {
      CAPTURE(file.path());
      CHECK(file.path().filename() != "swizzled.pid");
      CHECK(output_of("stat -c %U " + file.path().string()) == "nobody\n");
    }
  }
  const SwizzledProcess server;
  CHECK(server.log().find("WARNING:  the server runs as root") != std::string::npos);
  const auto refused =
      SwizzledProcess::run_swizzled({"-D", server.data_directory(), "--user", "no-such-user"});
  CHECK(refused.exit_code != 0);
}

}  // namespace
}  // namespace swizzle::clients
