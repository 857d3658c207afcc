#include "sql-lite-frontend/types/row_codec.h"

#include <catch2/catch.hpp>
#include <random>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

const std::vector<std::pair<TypeId, std::vector<std::string>>> kColumns = {
    {TypeId::int4, {"1", "-5"}},
    {TypeId::text, {"", "hello", std::string(300, 'x')}},
    {TypeId::numeric, {"0", "12.50", "-1", "123456789012345678901234567890", "NaN", "-128", "128"}},
    {TypeId::bool_, {"t", "f"}},
    {TypeId::timestamptz, {"2024-02-29 12:00:00+00"}},
    {TypeId::interval, {"1 year 2 mons 3 days 04:05:06"}},
    {TypeId::uuid, {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
    {TypeId::timetz, {"12:34:56+02"}},
    {TypeId::int4_array, {"{1,2,NULL}", "{}"}},
    {TypeId::float4, {"1.5", "NaN"}},
    {TypeId::bytea, {"\\x00ff"}},
    {TypeId::char_, {"a"}},
    {TypeId::int2, {"-7"}},
    {TypeId::oid, {"4294967295"}},
};

}  // namespace

TEST_CASE("rows give back what went in", "[types][row]") {
  std::mt19937 random{42};
  INFO("seed 42");
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  for (int round = 0; round < 500; ++round) {
    std::vector<TypeId> types;
    std::vector<Value> values;
    std::vector<std::string> texts;
    const std::size_t count = random() % 20;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [type, samples] = kColumns[random() % kColumns.size()];
      types.push_back(type);
      const bool null = random() % 4 == 0;
      values.push_back(
          null ? Value::null()
               : input_text(context, type, kNoTypmod, samples[random() % samples.size()]));
      texts.push_back(null ? "NULL" : to_text(context, type, values.back()));
    }
    const RowLayout layout{types};
    std::string row;
    append_row(row, layout, values);
    const RowReader reader{layout, as_bytes(row)};
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(reader.is_null(i) == values[i].is_null());
      const Value back = reader.column(i);
      CHECK((back.is_null() ? "NULL" : to_text(context, types[i], back)) == texts[i]);
    }
  }
}

TEST_CASE("rows longer than 64 KiB use wide offsets", "[types][row]") {
  const std::vector<TypeId> types{TypeId::text, TypeId::int4, TypeId::text};
  const RowLayout layout{types};
  const std::string large(100000, 'y');
  const Value values[3] = {Value::from_text(large), Value::from_int(7), Value::from_text("end")};
  std::string row;
  append_row(row, layout, values);
  const RowReader reader{layout, as_bytes(row)};
  CHECK(reader.column(0).as_text() == large);
  CHECK(reader.column(1).as_int4() == 7);
  CHECK(reader.column(2).as_text() == "end");
}

TEST_CASE("columns added later read as their default", "[types][row]") {
  const std::vector<TypeId> before{TypeId::int4, TypeId::text};
  const RowLayout old_layout{before};
  const Value values[2] = {Value::from_int(1), Value::from_text("a")};
  std::string row;
  append_row(row, old_layout, values);

  const std::vector<TypeId> after{TypeId::int4, TypeId::text, TypeId::int8, TypeId::text,
                                  TypeId::bool_};
  RowLayout layout{after};
  layout.set_default(2, Value::from_int(42));
  layout.set_default(3, Value::from_text("default"));
  const RowReader reader{layout, as_bytes(row)};
  CHECK(reader.column(0).as_int4() == 1);
  CHECK(reader.column(1).as_text() == "a");
  CHECK(reader.column(2).as_int8() == 42);
  CHECK(reader.column(3).as_text() == "default");
  CHECK(reader.column(4).is_null());
}

TEST_CASE("cut rows are refused or read within bounds", "[types][row]") {
  const std::vector<TypeId> types{TypeId::int4, TypeId::text, TypeId::numeric, TypeId::int4_array};
  const RowLayout layout{types};
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  const Value values[4] = {Value::from_int(1), Value::from_text("hello"),
                           input_text(context, TypeId::numeric, kNoTypmod, "1e30"),
                           input_text(context, TypeId::int4_array, kNoTypmod, "{1,2}")};
  std::string row;
  append_row(row, layout, values);
  for (std::size_t cut = 0; cut < row.size(); ++cut) {
    try {
      const RowReader reader{layout, as_bytes(row).first(cut)};
      Value out[4];
      reader.columns(out);
      CHECK(false);
    } catch (const SqlError& error) {
      CHECK(error.state() == sqlstate::data_corrupted);
    }
  }
}

}  // namespace swizzle::sql
