#include "server/protocol/frontend_messages.h"

#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <string>

#include "base/simulation/seeded_runs.h"
#include "server/protocol/frame.h"
#include "server/protocol/sqlstates.h"
#include "server/protocol/startup.h"

namespace swizzle::server {
namespace {

using namespace std::string_literals;

bool fails_with(const auto& result, SqlState expected) {
  return !result && result.error().state() == expected;
}

/// A named decoder and a payload that it accepts.
struct Sample {
  std::string name;
  std::string payload;
  std::function<bool(Bytes)> accepts;
};

std::vector<Sample> samples() {
  const std::string bind = "portal\0statement\0"s + "\0\2\0\0\0\1"s + "\0\2"s + "\0\0\0\3abc"s +
                           "\xFF\xFF\xFF\xFF"s + "\0\1\0\1"s;
  return {
      {"Query", "select 1\0"s, [](Bytes p) { return decode_query(p).has_value(); }},
      {"Parse", "s1\0select $1\0"s + "\0\1\0\0\0\x17"s,
       [](Bytes p) { return ListDecoder{}.decode_parse(p).has_value(); }},
      {"Bind", bind, [](Bytes p) { return ListDecoder{}.decode_bind(p).has_value(); }},
      {"FunctionCall", "\0\0\3\xB8\0\1\0\1\0\2"s + "\0\0\0\3abc"s + "\xFF\xFF\xFF\xFF\0\1"s,
       [](Bytes p) { return ListDecoder{}.decode_function_call(p).has_value(); }},
      {"Describe", "Sname\0"s, [](Bytes p) { return decode_describe(p).has_value(); }},
      {"Close", "Pname\0"s, [](Bytes p) { return decode_close(p).has_value(); }},
      {"Execute", "p\0\0\0\0\x64"s, [](Bytes p) { return decode_execute(p).has_value(); }},
      {"CopyFail", "why\0"s, [](Bytes p) { return decode_copy_fail(p).has_value(); }},
      {"SASLInitialResponse", "SCRAM-SHA-256\0"s + "\0\0\0\3n,,"s,
       [](Bytes p) { return decode_sasl_initial(p).has_value(); }},
      {"StartupMessage", "\0\3\0\0user\0me\0database\0db\0\0"s,
       [](Bytes p) { return decode_startup(p).has_value(); }},
      {"CancelRequest", "\x04\xD2\x16\x2E\0\0\0\7abcd"s,
       [](Bytes p) { return decode_startup(p).has_value(); }},
  };
}

/// Returns a copy without space after it, so that AddressSanitizer detects a read beyond its end.
std::unique_ptr<std::byte[]> exact_copy(std::string_view text) {
  auto copy = std::make_unique<std::byte[]>(text.size());
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  return copy;
}

TEST_CASE("every message is refused when it is cut short at any byte or has a byte too many") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    CHECK(sample.accepts(as_bytes(sample.payload)));
    for (std::size_t size = 0; size < sample.payload.size(); ++size) {
      const auto copy = exact_copy(std::string_view{sample.payload}.substr(0, size));
      // A CancelRequest with a shorter key, down to four bytes, is valid.
      CHECK_FALSE(sample.accepts(Bytes{copy.get(), size}));
    }
    if (sample.name != "CancelRequest") {  // its key has no fixed length
      CHECK_FALSE(sample.accepts(as_bytes(sample.payload + "x")));
    }
  }
}

TEST_CASE("random damage to any message never reads outside it") {
  const auto seed = static_cast<std::uint32_t>(test_seed());
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (const Sample& sample : samples()) {
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = sample.payload;
      for (auto hits = 1 + random() % 4; hits > 0; --hits) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      const std::size_t size = random() % (damaged.size() + 1);
      const auto copy = exact_copy(std::string_view{damaged}.substr(0, size));
      (void)sample.accepts(Bytes{copy.get(), size});
    }
  }
}

TEST_CASE("Bind decodes formats, values and NULL") {
  ListDecoder decoder;
  const std::string payload = samples()[2].payload;
  const auto bind = decoder.decode_bind(as_bytes(payload));
  REQUIRE(bind);
  CHECK(bind->portal == "portal");
  CHECK(bind->statement == "statement");
  REQUIRE(bind->parameters.size() == 2);
  CHECK(as_text(bind->parameters[0].value()) == "abc");
  CHECK_FALSE(bind->parameters[1].has_value());
  CHECK(bind->parameter_format(0) == sql::Format::text);
  CHECK(bind->parameter_format(1) == sql::Format::binary);
  REQUIRE(bind->result_formats.size() == 1);
  CHECK(bind->result_formats[0] == sql::Format::binary);
}

TEST_CASE("Bind refuses counts and lengths that do not fit") {
  ListDecoder decoder;
  const auto bind = [&](const std::string& rest) {
    const std::string payload = "\0\0"s + rest;
    return decoder.decode_bind(as_bytes(payload));
  };
  CHECK(bind("\0\0\0\0\0\0"s));
  SECTION("65,535 parameters claimed, none there") {
    CHECK(fails_with(bind("\0\0\xFF\xFF\0\0"s), state::protocol_violation));
  }
  SECTION("a field of length -2") {
    CHECK(fails_with(bind("\0\0\0\1\xFF\xFF\xFF\xFE\0\0"s), state::protocol_violation));
  }
  SECTION("a field longer than the message") {
    CHECK(fails_with(bind("\0\0\0\1\x7F\xFF\xFF\xFF\0\0"s), state::protocol_violation));
  }
  SECTION("two formats for three values") {
    CHECK(fails_with(bind("\0\2\0\0\0\0\0\3\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0"s),
                     state::protocol_violation));
  }
  SECTION("a format that does not exist") {
    CHECK(fails_with(bind("\0\1\0\2\0\0\0\0"s), sqlstate::invalid_parameter_value));
  }
  SECTION("a text value that is not UTF-8; as binary it passes") {
    CHECK(fails_with(bind("\0\0\0\1\0\0\0\1\xFF\0\0"s), state::character_not_in_repertoire));
    CHECK(bind("\0\1\0\1\0\1\0\0\0\1\xFF\0\0"s));
  }
  SECTION("65,535 parameters are allowed") {
    std::string all = "\0\0\xFF\xFF"s;
    for (int i = 0; i < 65'535; ++i) all += "\xFF\xFF\xFF\xFF";
    all += "\0\0"s;
    const auto message = bind(all);
    REQUIRE(message);
    CHECK(message->parameters.size() == 65'535);
    decoder.shrink();
  }
}

TEST_CASE("a frame's length is judged before anything is kept for it") {
  const FrameLimits limits;
  const auto scan = [&](std::string_view bytes) { return scan_frame(as_bytes(bytes), limits); };
  for (const std::string& length : {"\0\0\0\0"s, "\0\0\0\1"s, "\0\0\0\3"s, "\x7F\xFF\xFF\xFF"s,
                                    "\x80\0\0\0"s, "\xFF\xFF\xFF\xFF"s}) {
    CHECK(fails_with(scan("Q" + length), state::protocol_violation));
  }
  CHECK(fails_with(scan("S\0\0\x7F\xFF"s), state::protocol_violation));  // Sync has no body
  CHECK(fails_with(scan("GET / HTTP/1.1\r\n"), state::protocol_violation));
  CHECK(fails_with(scan("\0"s), state::protocol_violation));

  const auto partial = scan("Q\0\0"s);
  REQUIRE(partial);
  CHECK_FALSE(partial->frame);
  CHECK(partial->needed_bytes == kFrameHeaderBytes);
  const auto header_only = scan("Q\0\0\1\0"s);
  REQUIRE(header_only);
  CHECK_FALSE(header_only->frame);
  CHECK(header_only->needed_bytes == 257);
  const auto whole = scan("S\0\0\0\4Q"s);
  REQUIRE(whole);
  REQUIRE(whole->frame);
  CHECK(whole->frame->kind == FrontendKind::sync);
  CHECK(whole->frame->payload.empty());
}

TEST_CASE("start-up packets are bounded and told apart") {
  const auto scan = [](std::string_view bytes) { return scan_startup(as_bytes(bytes)); };
  CHECK(fails_with(scan("\0\0\0\7"s), state::protocol_violation));
  CHECK(fails_with(scan("\0\0\x27\x11"s), state::protocol_violation));  // 10,001
  CHECK(fails_with(scan("GET / HTTP/1.1"), state::protocol_violation));
  CHECK(scan("\0\0\x27\x10"s)->needed_bytes == 10'000);
  CHECK(scan("\0\0\0\x08\x04\xD2\x16\x2F"s)->packet->size() == 4);

  const auto decode = [](const std::string& packet) { return decode_startup(as_bytes(packet)); };
  CHECK(std::holds_alternative<SslRequest>(*decode("\x04\xD2\x16\x2F"s)));
  CHECK(std::holds_alternative<GssEncryptionRequest>(*decode("\x04\xD2\x16\x30"s)));
  CHECK(fails_with(decode("\0\2\0\0"s), sqlstate::feature_not_supported));
  CHECK(fails_with(decode("\0\3\0\0user\0\xFF\0\0"s), state::character_not_in_repertoire));
  const std::string packet = "\0\3\0\2user\0me\0\0"s;
  const auto startup = decode_startup(as_bytes(packet));
  REQUIRE(startup);
  const auto& message = std::get<StartupMessage>(*startup);
  CHECK(message.version == ProtocolVersion{3, 2});
  CHECK(message.parameter("user") == "me");
  CHECK(message.parameter("database").empty());
}

TEST_CASE("protocol versions are negotiated down to what we speak") {
  CHECK(negotiate({3, 0}) == ProtocolVersion{3, 0});
  CHECK(negotiate({3, 1}) == ProtocolVersion{3, 0});
  CHECK(negotiate({3, 2}) == ProtocolVersion{3, 2});
  CHECK(negotiate({3, 9999}) == ProtocolVersion{3, 2});
}

}  // namespace
}  // namespace swizzle::server
