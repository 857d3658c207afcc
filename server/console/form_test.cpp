#include "server/console/form.h"

#include <catch2/catch.hpp>

using namespace swizzle::server;

TEST_CASE("fields of a form are decoded, and what is no text is none", "[console]") {
  const std::string form = "user=ann+lee&password=a%26b%3D%C3%A4&empty=&bad=%zz&nul=%00&latin=%E4";
  CHECK(form_value(form, "user") == "ann lee");
  CHECK(form_value(form, "password") == "a&b=\xC3\xA4");
  CHECK(form_value(form, "empty") == "");
  for (const char* name : {"bad", "nul", "latin", "missing", "use", "ser"}) {
    CAPTURE(name);
    CHECK_FALSE(form_value(form, name));
  }
  CHECK_FALSE(form_value("", "user"));
  CHECK_FALSE(form_value("user", "user"));
  CHECK_FALSE(form_value("user=%4", "user"));
}

TEST_CASE("requests of other sites' pages, and names made to point here, are known", "[console]") {
  CHECK_FALSE(is_of_another_site("", "localhost:9187"));
  CHECK_FALSE(is_of_another_site("http://localhost:9187", "localhost:9187"));
  CHECK(is_of_another_site("http://localhost:9188", "localhost:9187"));
  CHECK(is_of_another_site("http://evil.example", "localhost:9187"));
  CHECK(is_of_another_site("null", "localhost:9187"));
  for (const char* host :
       {"localhost:9187", "localhost", "127.0.0.1:9187", "127.3.2.1", "[::1]:9187"}) {
    CAPTURE(host);
    CHECK(is_loopback_name(host_name(host)));
  }
  for (const char* host :
       {"evil.example:9187", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]:1", "[::1"}) {
    CAPTURE(host);
    CHECK_FALSE(is_loopback_name(host_name(host)));
  }
}
