#include "sql-lite-frontend/types/key_codec.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

struct Samples {
  TypeId type;
  std::vector<std::string> texts;
};

const std::vector<Samples>& samples() {
  static const std::vector<Samples> all = {
      {TypeId::bool_, {"t", "f"}},
      {TypeId::char_, {"", "a", "z", "~"}},
      {TypeId::int2, {"-32768", "-1", "0", "1", "32767"}},
      {TypeId::int4, {"-2147483648", "-1", "0", "1", "65536", "2147483647"}},
      {TypeId::int8, {"-9223372036854775808", "-1", "0", "1", "9223372036854775807"}},
      {TypeId::oid, {"0", "1", "4294967295"}},
      {TypeId::xid8, {"0", "9223372036854775808", "18446744073709551615"}},
      {TypeId::float4, {"-Infinity", "-1.5", "-0", "0", "1e-40", "1.5", "Infinity", "NaN"}},
      {TypeId::float8, {"-Infinity", "-1e300", "-1e-300", "-0", "0", "2.5", "Infinity", "NaN"}},
      {TypeId::numeric, {"-Infinity",   "-1e200",    "-12345678901234567890.5",
                         "-10000.0001", "-10000",    "-1.5",
                         "-1",          "-0.5",      "-1e-100",
                         "0",           "0.00",      "1e-100",
                         "0.00001",     "0.5",       "0.50",
                         "1",           "1.0",       "1.00001",
                         "9999",        "10000",     "10000.0001",
                         "99999999",    "100000000", "1e200",
                         "1e1000",      "Infinity",  "NaN"}},
      {TypeId::text, {"", "a", "aa", "ab", "b", "a b", "\xc3\xa4", "z\x01", "\x01"}},
      {TypeId::varchar, {"", "a", "ab"}},
      {TypeId::name, {"", "a", "ab"}},
      {TypeId::bpchar, {"", " ", "a", "a  ", "a b", "ab", "b"}},
      {TypeId::bytea,
       {"\\x", "\\x00", "\\x0000", "\\x0001", "\\x01", "\\xff", "\\xff00", "\\xffff"}},
      {TypeId::date, {"-infinity", "4714-11-24 BC", "1999-12-31", "2024-02-29", "infinity"}},
      {TypeId::time, {"00:00:00", "12:34:56.789", "24:00:00"}},
      {TypeId::timetz, {"12:00+00", "13:00+01", "12:00+01", "12:00-08", "00:00+15:59"}},
      {TypeId::timestamp, {"-infinity", "1970-01-01", "2024-02-29 12:34:56.789", "infinity"}},
      {TypeId::timestamptz, {"-infinity", "1970-01-01", "2024-02-29 12:34:56Z", "infinity"}},
      {TypeId::interval,
       {"-178000000 years", "-1 month", "-30 days", "-1 day", "0", "24:00:00", "1 day", "30 days",
        "1 month", "1 month 00:00:00.000001", "178000000 years"}},
      {TypeId::uuid,
       {"00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
      {TypeId::jsonb,
       {"[]",
        "null",
        "\"\"",
        "\"a\"",
        "\"ab\"",
        "-1",
        "0",
        "1",
        "1.0",
        "1.50",
        "10",
        "false",
        "true",
        "[null]",
        "[[]]",
        "[1, 2]",
        "[1.0, 2.0]",
        "[1, 10]",
        "{}",
        "{\"a\": 1}",
        "{\"a\": 1.0}",
        "{\"b\": 0}",
        "{\"a\": 1, \"b\": [{}]}"}},
      {TypeId::int4_array,
       {"{}", "{1}", "{1,2}", "{1,NULL}", "{NULL}", "{{1,2}}", "{{1},{2}}", "[0:1]={1,2}", "{2}",
        "{-1}"}},
      {TypeId::text_array, {"{}", "{\"\"}", "{a}", "{a,b}", "{aa}", "{NULL}"}},
      {kCitextType, {"", "a", "A", "aB", "Ab", "ab c", "b", "Z", "_", "\xc3\xa4"}},
      {kHstoreType,
       {"", "a=>1", "a=>2", "a=>NULL", "a=>\"\"", "a=>12", "a1=>2", "b=>1, a=>1", "a=>1, b=>NULL",
        "\"\"=>\"\"", "\"\"=>NULL", "\"\"=>a", "bb=>1, a=>1"}},
  };
  return all;
}

int sign(int x) {
  return (x > 0) - (x < 0);
}

}  // namespace

TEST_CASE("keys order as values compare", "[types][key]") {
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  for (const Samples& set : samples()) {
    REQUIRE(is_indexable(set.type));
    for (const auto direction : {SortDirection::ascending, SortDirection::descending}) {
      for (const auto nulls : {NullsOrder::first, NullsOrder::last, NullsOrder::absent}) {
        const KeyColumn column{set.type, direction, nulls};
        std::vector<Value> values;
        std::vector<std::string> keys;
        for (const std::string& text : set.texts) {
          values.push_back(input_text(context, set.type, kNoTypmod, text));
          keys.emplace_back();
          append_key(keys.back(), column, values.back());
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          for (std::size_t j = 0; j < values.size(); ++j) {
            int wanted = sign(compare_values(set.type, values[i], values[j]));
            if (direction == SortDirection::descending) wanted = -wanted;
            INFO(format_type(set.type) << ": " << set.texts[i] << " and " << set.texts[j]);
            CHECK(sign(keys[i].compare(keys[j])) == wanted);
            if (wanted == 0)
              CHECK(hash_value(set.type, values[i]) == hash_value(set.type, values[j]));
            // Prefix-free: no key is a prefix of another.
            if (keys[i] != keys[j]) CHECK(!keys[j].starts_with(keys[i]));
          }
          Bytes rest = as_bytes(keys[i]);
          const Value back = take_key(rest, column, arena);
          CHECK(rest.empty());
          INFO(format_type(set.type) << ": " << set.texts[i]);
          CHECK(compare_values(set.type, back, values[i]) == 0);
          if (key_keeps_value(set.type))
            CHECK(to_text(context, set.type, back) == to_text(context, set.type, values[i]));
          Bytes skipped = as_bytes(keys[i]);
          skip_key(skipped, column);
          CHECK(skipped.empty());
        }
        if (nulls == NullsOrder::absent) continue;
        std::string null_key;
        append_key(null_key, column, Value::null());
        for (const std::string& key : keys) CHECK((null_key < key) == (nulls == NullsOrder::first));
        Bytes rest = as_bytes(null_key);
        CHECK(take_key(rest, column, arena).is_null());
      }
    }
  }
}

TEST_CASE("keys of several columns compare column by column", "[types][key]") {
  std::mt19937_64 random{20240229};
  INFO("seed 20240229");
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  for (int round = 0; round < 300; ++round) {
    std::vector<KeyColumn> columns;
    std::vector<Value> left;
    std::vector<Value> right;
    std::string left_key;
    std::string right_key;
    int wanted = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      const Samples& set = samples()[random() % samples().size()];
      const KeyColumn column{
          set.type, random() % 2 == 0 ? SortDirection::ascending : SortDirection::descending,
          random() % 2 == 0 ? NullsOrder::first : NullsOrder::last};
      const auto pick = [&]() {
        if (random() % 5 == 0) return Value::null();
        return input_text(context, set.type, kNoTypmod, set.texts[random() % set.texts.size()]);
      };
      const Value a = pick();
      const Value b = random() % 2 == 0 ? a : pick();
      append_key(left_key, column, a);
      append_key(right_key, column, b);
      if (wanted != 0) continue;
      if (a.is_null() || b.is_null()) {
        wanted = static_cast<int>(a.is_null()) - static_cast<int>(b.is_null());
        if (column.nulls == NullsOrder::first) wanted = -wanted;
      } else {
        wanted = sign(compare_values(set.type, a, b));
        if (column.direction == SortDirection::descending) wanted = -wanted;
      }
    }
    CHECK(sign(left_key.compare(right_key)) == wanted);
  }
}

TEST_CASE("numbers from all magnitudes keep their order as keys", "[types][key]") {
  std::mt19937_64 random{7};
  INFO("seed 7");
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  const KeyColumn column{TypeId::numeric, SortDirection::ascending, NullsOrder::absent};
  const auto make = [&] {
    std::string text = random() % 2 == 0 ? "-" : "";
    const std::size_t whole = random() % 30;
    const std::size_t fraction = random() % 30;
    for (std::size_t i = 0; i <= whole; ++i)
      text += static_cast<char>('0' + (random() % 3 == 0 ? 0 : random() % 10));
    if (fraction > 0) text += ".";
    for (std::size_t i = 0; i < fraction; ++i)
      text += static_cast<char>('0' + (random() % 3 == 0 ? 0 : random() % 10));
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string a_text = make();
    const std::string b_text =
        random() % 4 == 0 ? a_text + (a_text.find('.') == std::string::npos ? ".0" : "0") : make();
    const Value a = input_text(context, TypeId::numeric, kNoTypmod, a_text);
    const Value b = input_text(context, TypeId::numeric, kNoTypmod, b_text);
    std::string a_key;
    std::string b_key;
    append_key(a_key, column, a);
    append_key(b_key, column, b);
    INFO(a_text << " and " << b_text);
    CHECK(sign(a_key.compare(b_key)) == sign(compare_values(TypeId::numeric, a, b)));
    Bytes rest = as_bytes(a_key);
    CHECK(compare_values(TypeId::numeric, take_key(rest, column, arena), a) == 0);
  }
}

TEST_CASE("a key's successor bounds its continuations", "[types][key]") {
  CHECK(key_successor("ab") == "ac");
  CHECK(key_successor("a\xff") == "b");
  CHECK(key_successor("\xff\xff").empty());
}

TEST_CASE("malformed keys are refused", "[types][key]") {
  Arena arena;
  for (const Samples& set : samples()) {
    const KeyColumn column{set.type, SortDirection::ascending, NullsOrder::last};
    SessionContext session;
    FunctionContext context{arena, session, {}};
    for (const std::string& text : set.texts) {
      std::string key;
      append_key(key, column, input_text(context, set.type, kNoTypmod, text));
      for (std::size_t cut = 0; cut < key.size(); ++cut) {
        Bytes rest = as_bytes(key).first(cut);
        CHECK_THROWS_AS(take_key(rest, column, arena), SqlError);
      }
    }
  }
}

}  // namespace swizzle::sql
