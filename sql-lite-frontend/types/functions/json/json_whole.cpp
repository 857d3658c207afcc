#include <algorithm>
#include <functional>
#include <optional>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_errors.h"
#include "sql-lite-frontend/types/json/json_order.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"

/// Functions on whole json and jsonb values: comparison, pretty-printing, json_strip_nulls, and
/// members as rows.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Kind = JsonKind;

enum class Shown : std::uint8_t { as_json, as_text };

template <class Holds>
Value compared(FunctionContext& /*context*/, Arguments a) {
  return Value::from_bool(Holds{}(compare_jsonb(json_text(a[0]), json_text(a[1])), 0));
}

Value compare_whole(FunctionContext& /*context*/, Arguments a) {
  const int by = compare_jsonb(json_text(a[0]), json_text(a[1]));
  return Value::from_int(static_cast<int>(by > 0) - static_cast<int>(by < 0));
}

void strip_nulls_in(JsonValue& value, bool in_arrays) {
  check_stack();
  std::erase_if(value.members, [](const auto& member) { return member.second.kind == Kind::null; });
  if (in_arrays)
    std::erase_if(value.items, [](const JsonValue& item) { return item.kind == Kind::null; });
  for (auto& [name, member] : value.members) strip_nulls_in(member, in_arrays);
  for (JsonValue& item : value.items) strip_nulls_in(item, in_arrays);
}

Value strip_nulls(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  strip_nulls_in(value, a[1].as_bool());
  return make_jsonb(context.arena, print_json(value));
}

/// Appends the value indented by four blanks a level, as jsonb_pretty() does.
void print_pretty(const JsonValue& value, std::size_t depth, TextBuilder& out) {
  check_stack();
  const auto line = [&](std::size_t level) {
    out.push_back('\n');
    out.append(level * 4, ' ');
  };
  if (value.kind == Kind::array) {
    out.push_back('[');
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out.push_back(',');
      line(depth + 1);
      print_pretty(value.items[i], depth + 1, out);
    }
    line(depth);
    out.push_back(']');
  } else if (value.kind == Kind::object) {
    out.push_back('{');
    for (std::size_t i = 0; i < value.members.size(); ++i) {
      if (i > 0) out.push_back(',');
      line(depth + 1);
      std::string name;
      append_json_string(value.members[i].first, name);
      out += name;
      out += ": ";
      print_pretty(value.members[i].second, depth + 1, out);
    }
    line(depth);
    out.push_back('}');
  } else {
    out += value.raw;
  }
}

Value pretty(FunctionContext& context, Arguments a) {
  TextBuilder out{context.arena};
  print_pretty(take_json_apart(json_text(a[0]), context.arena.account()), 0, out);
  return out.finish();
}

// Row of a set-returning function. All rows are made at the first call, because the value is in
// memory as a whole.
struct Row {
  std::string key;
  std::optional<std::string> value;
};

class Rows final : public SetCursor {
 public:
  Rows(std::vector<Row> rows, TypeId value_type) : rows_(std::move(rows)), type_(value_type) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == rows_.size()) return std::nullopt;
    const Row& row = rows_[at_++];
    const Value value = row.value ? make_text(context.arena, *row.value) : Value::null();
    const TypeId types[] = {TypeId::text, type_};
    const Value fields[] = {make_text(context.arena, row.key), value};
    return make_record(context.arena, types, fields);
  }

 private:
  std::vector<Row> rows_;
  TypeId type_;
  std::size_t at_ = 0;
};

template <Shown shown>
std::optional<std::string> shown_value(const JsonValue& value) {
  if (shown == Shown::as_json) return std::string{value.raw};
  if (value.kind == Kind::null) return std::nullopt;
  return value.kind == Kind::string ? value.text : std::string{value.raw};
}

template <Shown shown, TypeId type>
std::unique_ptr<SetCursor> each(FunctionContext& context, Arguments a) {
  if constexpr (type == TypeId::json) require_readable_strings(json_text(a[0]));
  const JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.kind != Kind::object) {
    const bool array = value.kind == Kind::array;
    if (type == TypeId::json) {
      throw SqlError{
          sqlstate::invalid_parameter_value,
          array ? "cannot deconstruct an array as an object" : "cannot deconstruct a scalar"};
    }
    throw sql_error(sqlstate::invalid_parameter_value, "cannot call {} on a non-object",
                    shown == Shown::as_text ? "jsonb_each_text" : "jsonb_each");
  }
  std::vector<Row> rows;
  for (const auto& [name, member] : value.members)
    rows.push_back({name, shown_value<shown>(member)});
  return std::make_unique<Rows>(std::move(rows), shown == Shown::as_text ? TypeId::text : type);
}

constexpr ScalarEntry kJsonWholeEntries[] = {
    {"jsonb_eq(jsonb,jsonb)", &compared<std::equal_to<>>},
    {"jsonb_ne(jsonb,jsonb)", &compared<std::not_equal_to<>>},
    {"jsonb_lt(jsonb,jsonb)", &compared<std::less<>>},
    {"jsonb_le(jsonb,jsonb)", &compared<std::less_equal<>>},
    {"jsonb_gt(jsonb,jsonb)", &compared<std::greater<>>},
    {"jsonb_ge(jsonb,jsonb)", &compared<std::greater_equal<>>},
    {"jsonb_cmp(jsonb,jsonb)", &compare_whole},
    {"jsonb_strip_nulls(jsonb,bool)", &strip_nulls},
    {"jsonb_pretty(jsonb)", &pretty},
};

constexpr SetEntry kJsonWholeSets[] = {
    {"json_each(json)", &each<Shown::as_json, TypeId::json>},
    {"json_each_text(json)", &each<Shown::as_text, TypeId::json>},
    {"jsonb_each(jsonb)", &each<Shown::as_json, TypeId::jsonb>},
    {"jsonb_each_text(jsonb)", &each<Shown::as_text, TypeId::jsonb>},
};

}  // namespace

std::span<const ScalarEntry> json_whole_functions() {
  return kJsonWholeEntries;
}
std::span<const SetEntry> json_each_functions() {
  return kJsonWholeSets;
}

}  // namespace swizzle::sql
