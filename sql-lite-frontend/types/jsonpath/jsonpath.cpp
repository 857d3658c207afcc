// The type jsonpath, and the functions that run paths.
#include <array>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/jsonpath/path_cache.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

std::shared_ptr<const PathTree> path_tree(const Value& path, MemoryAccount* account) {
  struct Known {
    std::string text;
    std::shared_ptr<const PathTree> tree;
  };
  constexpr std::size_t kKnown = 16;
  constexpr std::size_t kLongest = 1024;
  thread_local std::array<Known, kKnown> known;
  const std::string_view text = path.as_text();
  if (text.size() > kLongest) {
    return std::make_shared<const PathTree>(parse_path(text, account));
  }
  Known& at = known[hash_bytes(path.as_bytes(), 0) % kKnown];
  if (at.tree == nullptr || at.text != text) {
    auto tree = std::make_shared<const PathTree>(parse_path(text, nullptr));
    at = {std::string{text}, std::move(tree)};
  }
  return at.tree;
}

namespace {

using Arguments = std::span<const Value>;
using Zones = PathRun::Zones;

Value path_input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  verify_utf8(text);
  return make_text(context.arena, print_path(parse_path(text, context.arena.account())));
}
void path_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  out += value.as_text();
}
constexpr char kVersion = 1;
Value path_receive(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto version = reader.take<char>();
  if (version != kVersion) {
    throw_error(sqlstate::invalid_binary_representation, "unsupported jsonpath version number: {}",
                int{version});
  }
  return path_input(context, type, typmod, as_text(bytes.subspan(1)));
}
void path_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  out += kVersion;
  out += value.as_text();
}

/// Arguments of a call: the value, the path, and optionally variables and `silent`.
struct PathCall {
  std::shared_ptr<const PathTree> path;
  PathRun run;
  bool silent;

  PathCall(FunctionContext& context, Arguments a, Zones zones)
      : path(path_tree(a[1], context.arena.account())),
        run(context, *path, json_text(a[0]), a.size() > 2 ? json_text(a[2]) : std::string_view{},
            zones),
        silent(a.size() < 4 || a[3].as_bool()) {}

  [[nodiscard]] PathRun::Failures failures() const noexcept {
    return silent ? PathRun::Failures::kept : PathRun::Failures::thrown;
  }
  /// Returns the items found; after a silent failure, those found before it.
  PathItems items() { return run.items(failures()).found; }
};

template <Zones zones>
Value path_exists(FunctionContext& context, Arguments a) {
  PathCall call{context, a, zones};
  const auto found = call.run.exists(call.failures());
  return found ? Value::from_bool(*found) : Value::null();
}

template <Zones zones>
Value path_match(FunctionContext& context, Arguments a) {
  PathCall call{context, a, zones};
  const PathItems items = call.items();
  if (items.size() == 1 && items.front().json != nullptr) {
    const JsonValue& only = *items.front().json;
    if (only.kind == JsonKind::boolean) return Value::from_bool(only.text == "true");
    if (only.kind == JsonKind::null) return Value::null();
  }
  if (call.silent) return Value::null();
  throw SqlError{SqlState{"22038"}, "single boolean result is expected"};
}

template <Zones zones>
Value path_query_array(FunctionContext& context, Arguments a) {
  PathCall call{context, a, zones};
  const PathItems items = call.items();
  std::string out = "[";
  MemoryShare share;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    const std::size_t before = out.size();
    call.run.append(items[i], out);
    yield_point(out.size() - before);
    share.set(context.arena.account(), out.capacity());
  }
  out += ']';
  return make_jsonb(context.arena, out);
}

template <Zones zones>
Value path_query_first(FunctionContext& context, Arguments a) {
  PathCall call{context, a, zones};
  const PathItems items = call.items();
  if (items.empty()) return Value::null();
  std::string out;
  call.run.append(items.front(), out);
  return make_jsonb(context.arena, out);
}

class ItemCursor final : public SetCursor {
 public:
  ItemCursor(FunctionContext& context, Arguments a, Zones zones)
      : call_(context, a, zones), items_(call_.items()) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == items_.size()) return std::nullopt;
    std::string out;
    call_.run.append(items_[next_++], out);
    return make_jsonb(context.arena, out);
  }

 private:
  PathCall call_;
  PathItems items_;
  std::size_t next_ = 0;
};
template <Zones zones>
std::unique_ptr<SetCursor> path_query(FunctionContext& context, Arguments a) {
  return std::make_unique<ItemCursor>(context, a, zones);
}

#define SWIZZLE_PATH(name) name "(jsonb,jsonpath,jsonb,bool)"
constexpr ScalarEntry kScalars[] = {
    {"@?(jsonb,jsonpath)", &path_exists<Zones::refused>},
    {"@@(jsonb,jsonpath)", &path_match<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_exists"), &path_exists<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_exists_tz"), &path_exists<Zones::used>},
    {SWIZZLE_PATH("jsonb_path_match"), &path_match<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_match_tz"), &path_match<Zones::used>},
    {SWIZZLE_PATH("jsonb_path_query_array"), &path_query_array<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_query_array_tz"), &path_query_array<Zones::used>},
    {SWIZZLE_PATH("jsonb_path_query_first"), &path_query_first<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_query_first_tz"), &path_query_first<Zones::used>},
};
constexpr SetEntry kSets[] = {
    {SWIZZLE_PATH("jsonb_path_query"), &path_query<Zones::refused>},
    {SWIZZLE_PATH("jsonb_path_query_tz"), &path_query<Zones::used>},
};
#undef SWIZZLE_PATH
constexpr FunctionsOfType kFunctions{.scalars = kScalars, .sets = kSets};
constexpr TypeCodec kPathCodec{path_input, path_output, path_receive, path_send};

}  // namespace

constinit const Type builtin::jsonpath{.id = builtin_id::jsonpath,
                                       .array = builtin_id::array_of_jsonpath,
                                       .name = "jsonpath",
                                       .sql_name = "jsonpath",
                                       .shape = Shape::text,
                                       .io = kPathCodec,
                                       .order = without_equality(kTextOrder),
                                       .functions = &kFunctions};

}  // namespace swizzle::sql
