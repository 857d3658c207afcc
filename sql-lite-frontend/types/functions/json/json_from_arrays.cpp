#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/sql_error.h"

/// json_object and jsonb_object, which make objects of arrays of text, and json_strip_nulls, whose
/// result is not in jsonb's spelling.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

enum class Spelling : std::uint8_t { json, jsonb };

template <Spelling spelling>
class Object {
 public:
  void add(const Value& key, const Value& value) {
    if (key.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for object key"};
    }
    text_ += text_.size() > 1 ? ", " : "";
    append_json_string(key.as_text(), text_);
    text_ += " : ";
    if (value.is_null()) {
      text_ += "null";
    } else {
      append_json_string(value.as_text(), text_);
    }
  }
  Value finish(Arena& arena) {
    text_ += "}";
    return spelling == Spelling::jsonb ? make_jsonb(arena, canonical_json(text_))
                                       : make_text(arena, text_);
  }

 private:
  std::string text_ = "{";
};

[[noreturn]] void refuse_array(std::string_view why) {
  throw SqlError{sqlstate::array_subscript_error, std::string{why}};
}

/// Makes an object of one array: alternating keys and values, or pairs of them.
template <Spelling spelling>
Value from_array(FunctionContext& context, Arguments a) {
  const ArrayView all{a[0]};
  switch (all.dimension_count()) {
    case 0:
      break;
    case 1:
      if (all.size() % 2 != 0) refuse_array("array must have even number of elements");
      break;
    case 2:
      if (all.dimension(1).length != 2) refuse_array("array must have two columns");
      break;
    default:
      refuse_array("wrong number of array subscripts");
  }
  Object<spelling> object;
  for (std::size_t i = 0; i < all.size(); i += 2) object.add(all.element(i), all.element(i + 1));
  return object.finish(context.arena);
}

template <Spelling spelling>
Value from_two_arrays(FunctionContext& context, Arguments a) {
  const ArrayView keys{a[0]};
  const ArrayView values{a[1]};
  if (keys.dimension_count() > 1 || keys.dimension_count() != values.dimension_count()) {
    refuse_array("wrong number of array subscripts");
  }
  if (keys.size() != values.size()) refuse_array("mismatched array dimensions");
  Object<spelling> object;
  for (std::size_t i = 0; i < keys.size(); ++i) object.add(keys.element(i), values.element(i));
  return object.finish(context.arena);
}

/// Appends the value without members (and elements, if so) that are null and without blanks;
/// strings are escaped anew.
void append_without_nulls(const JsonValue& json, bool in_arrays, std::string& out) {
  check_stack();
  switch (json.kind) {
    case JsonKind::object: {
      out += '{';
      bool any = false;
      for (const auto& [name, member] : json.members) {
        if (member.kind == JsonKind::null) continue;
        if (std::exchange(any, true)) out += ',';
        append_json_string(name, out);
        out += ':';
        append_without_nulls(member, in_arrays, out);
      }
      out += '}';
      break;
    }
    case JsonKind::array: {
      out += '[';
      bool any = false;
      for (const JsonValue& element : json.items) {
        if (in_arrays && element.kind == JsonKind::null) continue;
        if (std::exchange(any, true)) out += ',';
        append_without_nulls(element, in_arrays, out);
      }
      out += ']';
      break;
    }
    case JsonKind::string:
      append_json_string(json.text, out);
      break;
    case JsonKind::number:
    case JsonKind::boolean:
    case JsonKind::null:
      out += json.text;
  }
}

Value strip_nulls(FunctionContext& context, Arguments a) {
  std::string out;
  append_without_nulls(take_json_apart(a[0].as_text(), context.arena.account()), a[1].as_bool(),
                       out);
  return make_text(context.arena, out);
}

constexpr ScalarEntry kEntries[] = {
    {"json_object(_text)", &from_array<Spelling::json>},
    {"json_object(_text,_text)", &from_two_arrays<Spelling::json>},
    {"jsonb_object(_text)", &from_array<Spelling::jsonb>},
    {"jsonb_object(_text,_text)", &from_two_arrays<Spelling::jsonb>},
    {"json_strip_nulls(json,bool)", &strip_nulls},
};

}  // namespace

std::span<const ScalarEntry> json_from_arrays_functions() {
  return kEntries;
}

}  // namespace swizzle::sql
