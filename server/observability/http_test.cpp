#include "server/observability/http.h"

#include <catch2/catch.hpp>

using namespace swizzle::server;

TEST_CASE("a request is complete when its head is", "[observability]") {
  CHECK_FALSE(is_complete_request("GET / HTTP/1.1\r\nHost: a\r\n"));
  CHECK(is_complete_request("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK(is_complete_request("GET / HTTP/1.0\n\n"));
}

TEST_CASE("method and path are taken from the first line", "[observability]") {
  const auto request = parse_request("GET /metrics?name=up HTTP/1.1\r\n\r\n");
  REQUIRE(request);
  CHECK(request->method == "GET");
  CHECK(request->path == "/metrics");
}

TEST_CASE("what is not HTTP is no request", "[observability]") {
  for (const char* text : {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n",
                           "GET metrics HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_request(text));
  }
}

TEST_CASE("a response says how long it is and that it is the last", "[observability]") {
  const std::string text = encode_response({.status = 404, .body = "no\n"}, "GET");
  CHECK(text.starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK(text.find("Content-Length: 3\r\n") != std::string::npos);
  CHECK(text.find("Connection: close\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\nno\n"));
}

TEST_CASE("HEAD gets the head alone", "[observability]") {
  const std::string text = encode_response({.body = "body"}, "HEAD");
  CHECK(text.find("Content-Length: 4\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n"));
}
