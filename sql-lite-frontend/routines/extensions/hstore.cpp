// hstore's functions; the type is types/extension/hstore.h.
#include "sql-lite-frontend/types/extension/hstore.h"

#include <algorithm>
#include <deque>

#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/routines/extensions/hstore_records.h"
#include "sql-lite-frontend/routines/extensions/hstore_script.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Given = std::span<const Value>;
using Text = std::optional<std::string_view>;

Value text_or_null(const Text& text) {
  return text ? Value::from_text(*text) : Value::null();
}
/// Returns the elements of an array that are not NULL.
std::vector<std::string_view> texts_of(const Value& array) {
  const ArrayView view{array};
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (const Value element = view.element(i); !element.is_null()) {
      texts.push_back(element.as_text());
    }
  }
  return texts;
}

Value fetch_value(FunctionContext& /*context*/, Given a) {
  const HstoreView view{a[0]};
  const auto at = view.find(a[1].as_text());
  return at ? text_or_null(view.pair(*at).value) : Value::null();
}
Value slice_to_array(FunctionContext& context, Given a) {
  const HstoreView view{a[0]};
  const ArrayView keys{a[1]};
  std::vector<Value> values;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys.element(i);
    const auto at = key.is_null() ? std::nullopt : view.find(key.as_text());
    values.push_back(at ? text_or_null(view.pair(*at).value) : Value::null());
  }
  std::vector<ArrayDimension> dimensions;
  for (std::size_t i = 0; i < keys.dimension_count(); ++i) dimensions.push_back(keys.dimension(i));
  return make_array(context.arena, TypeId::text, dimensions, values);
}
Value slice_to_hstore(FunctionContext& context, Given a) {
  const HstoreView view{a[0]};
  std::vector<HstorePair> pairs;
  for (const std::string_view key : texts_of(a[1])) {
    if (const auto at = view.find(key)) pairs.push_back(view.pair(*at));
  }
  return make_hstore(context.arena, std::move(pairs));
}

Value has_key(FunctionContext& /*context*/, Given a) {
  return Value::from_bool(HstoreView{a[0]}.find(a[1].as_text()).has_value());
}
Value has_any_key(FunctionContext& /*context*/, Given a) {
  const HstoreView view{a[0]};
  const auto is_there = [&](std::string_view key) { return view.find(key).has_value(); };
  return Value::from_bool(std::ranges::any_of(texts_of(a[1]), is_there));
}
Value has_all_keys(FunctionContext& /*context*/, Given a) {
  const HstoreView view{a[0]};
  const auto is_there = [&](std::string_view key) { return view.find(key).has_value(); };
  return Value::from_bool(std::ranges::all_of(texts_of(a[1]), is_there));
}
Value has_value(FunctionContext& /*context*/, Given a) {
  const HstoreView view{a[0]};
  const auto at = view.find(a[1].as_text());
  return Value::from_bool(at && view.pair(*at).value);
}

template <class Gone>
Value without_pairs(FunctionContext& context, const Value& from, const Gone& is_gone) {
  std::vector<HstorePair> pairs = HstoreView{from}.pairs();
  std::erase_if(pairs, is_gone);
  return make_hstore(context.arena, std::move(pairs));
}
Value without_key(FunctionContext& context, Given a) {
  return without_pairs(context, a[0],
                       [&](const HstorePair& pair) { return pair.key == a[1].as_text(); });
}
Value without_keys(FunctionContext& context, Given a) {
  std::vector<std::string_view> keys = texts_of(a[1]);
  std::ranges::sort(keys);
  return without_pairs(context, a[0], [&](const HstorePair& pair) {
    return std::ranges::binary_search(keys, pair.key);
  });
}
bool has_pair(const HstoreView& view, const HstorePair& pair) {
  const auto at = view.find(pair.key);
  return at && view.pair(*at).value == pair.value;
}
Value without_same(FunctionContext& context, Given a) {
  const HstoreView other{a[1]};
  return without_pairs(context, a[0],
                       [&](const HstorePair& pair) { return has_pair(other, pair); });
}

Value concatenated(FunctionContext& context, Given a) {
  // Of pairs with equal keys, the first one wins.
  std::vector<HstorePair> pairs = HstoreView{a[1]}.pairs();
  std::ranges::copy(HstoreView{a[0]}.pairs(), std::back_inserter(pairs));
  return make_hstore(context.arena, std::move(pairs));
}
bool contains_pairs(const Value& whole, const Value& part) {
  const HstoreView view{whole};
  return std::ranges::all_of(HstoreView{part}.pairs(),
                             [&](const HstorePair& pair) { return has_pair(view, pair); });
}
Value contains(FunctionContext& /*context*/, Given a) {
  return Value::from_bool(contains_pairs(a[0], a[1]));
}
Value is_contained(FunctionContext& /*context*/, Given a) {
  return Value::from_bool(contains_pairs(a[1], a[0]));
}

HstorePair pair_of(const Value& key, const Value& value) {
  if (key.is_null()) {
    throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for hstore key"};
  }
  return {key.as_text(), value.is_null() ? Text{} : Text{value.as_text()}};
}
Value from_texts(FunctionContext& context, Given a) {
  if (a[0].is_null()) return a[0];
  return make_hstore(context.arena, {pair_of(a[0], a[1])});
}
[[noreturn]] void refuse_array(std::string_view message) {
  throw SqlError{sqlstate::array_subscript_error, std::string{message}};
}
Value from_two_arrays(FunctionContext& context, Given a) {
  if (a[0].is_null()) return a[0];
  const ArrayView keys{a[0]};
  if (keys.dimension_count() > 1) refuse_array("wrong number of array subscripts");
  std::optional<ArrayView> values;
  if (!a[1].is_null()) {
    values.emplace(a[1]);
    if (values->dimension_count() > 1) refuse_array("wrong number of array subscripts");
    const bool is_alike =
        keys.dimension_count() == values->dimension_count() &&
        (keys.dimension_count() == 0 || keys.dimension(0) == values->dimension(0));
    if (!is_alike) refuse_array("arrays must have same bounds");
  }
  std::vector<HstorePair> pairs;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    pairs.push_back(pair_of(keys.element(i), values ? values->element(i) : Value::null()));
  }
  return make_hstore(context.arena, std::move(pairs));
}
Value from_one_array(FunctionContext& context, Given a) {
  const ArrayView array{a[0]};
  if (array.dimension_count() == 1 && array.size() % 2 != 0) {
    refuse_array("array must have even number of elements");
  }
  if (array.dimension_count() == 2 && array.dimension(1).length != 2) {
    refuse_array("array must have two columns");
  }
  if (array.dimension_count() > 2) refuse_array("wrong number of array subscripts");
  std::vector<HstorePair> pairs;
  for (std::size_t i = 0; i + 1 < array.size(); i += 2) {
    pairs.push_back(pair_of(array.element(i), array.element(i + 1)));
  }
  return make_hstore(context.arena, std::move(pairs));
}

enum class Part : std::uint8_t { keys, values, both };
std::vector<Value> parts_of(const Value& of, Part part) {
  const HstoreView view{of};
  std::vector<Value> parts;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const HstorePair pair = view.pair(i);
    if (part != Part::values) parts.push_back(Value::from_text(pair.key));
    if (part != Part::keys) parts.push_back(text_or_null(pair.value));
  }
  return parts;
}
template <Part part>
Value as_array(FunctionContext& context, Given a) {
  return make_array(context.arena, TypeId::text, parts_of(a[0], part));
}
Value as_matrix(FunctionContext& context, Given a) {
  const std::vector<Value> parts = parts_of(a[0], Part::both);
  if (parts.empty()) return make_array(context.arena, TypeId::text, parts);
  const ArrayDimension dimensions[] = {{static_cast<std::int32_t>(parts.size() / 2)}, {2}};
  return make_array(context.arena, TypeId::text, dimensions, parts);
}

class PartRows final : public SetCursor {
 public:
  explicit PartRows(std::vector<Value> values) : values_(std::move(values)) {}
  std::optional<Value> next(FunctionContext& /*context*/) override {
    if (at_ == values_.size()) return std::nullopt;
    return values_[at_++];
  }

 private:
  std::vector<Value> values_;
  std::size_t at_ = 0;
};
template <Part part>
std::unique_ptr<SetCursor> as_rows(FunctionContext& /*context*/, Given a) {
  return std::make_unique<PartRows>(parts_of(a[0], part));
}

class PairRows final : public SetCursor {
 public:
  explicit PairRows(const Value& of) : view_(of) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == view_.size()) return std::nullopt;
    const HstorePair pair = view_.pair(at_++);
    const Value fields[] = {Value::from_text(pair.key), text_or_null(pair.value)};
    static constexpr TypeId kTypes[] = {TypeId::text, TypeId::text};
    static const std::vector<std::string> kNames{"key", "value"};
    return make_record(context.arena, kTypes, fields, kNames);
  }

 private:
  HstoreView view_;
  std::size_t at_ = 0;
};
std::unique_ptr<SetCursor> as_pairs(FunctionContext& /*context*/, Given a) {
  return std::make_unique<PairRows>(a[0]);
}

constexpr ScalarEntry kHstoreFunctions[] = {
    {"hstore_fetchval", &fetch_value},
    {"hstore_slice_to_array", &slice_to_array},
    {"hstore_slice_to_hstore", &slice_to_hstore},
    {"hstore_exists", &has_key},
    {"hstore_exists_any", &has_any_key},
    {"hstore_exists_all", &has_all_keys},
    {"hstore_defined", &has_value},
    {"hstore_delete", &without_key},
    {"hstore_delete_array", &without_keys},
    {"hstore_delete_hstore", &without_same},
    {"hstore_concat", &concatenated},
    {"hstore_contains", &contains},
    {"hstore_contained", &is_contained},
    {"hstore_from_text", &from_texts},
    {"hstore_from_arrays", &from_two_arrays},
    {"hstore_from_array", &from_one_array},
    {"hstore_from_record", &hstore_from_record},
    {"hstore_populate_record", &hstore_populate_record},
    {"hstore_to_json", &hstore_to_json},
    {"hstore_to_json_loose", &hstore_to_json_loose},
    {"hstore_to_jsonb", &hstore_to_jsonb},
    {"hstore_to_jsonb_loose", &hstore_to_jsonb_loose},
    {"hstore_to_array", &as_array<Part::both>},
    {"hstore_to_matrix", &as_matrix},
    {"hstore_akeys", &as_array<Part::keys>},
    {"hstore_avals", &as_array<Part::values>},
    {"hstore_eq", &compare_with<compare_hstores, std::equal_to<>>},
    {"hstore_ne", &compare_with<compare_hstores, std::not_equal_to<>>},
    {"hstore_gt", &compare_with<compare_hstores, std::greater<>>},
    {"hstore_ge", &compare_with<compare_hstores, std::greater_equal<>>},
    {"hstore_lt", &compare_with<compare_hstores, std::less<>>},
    {"hstore_le", &compare_with<compare_hstores, std::less_equal<>>},
    {"hstore_cmp", &order_of_two<compare_hstores>},
    {"hstore_hash", &hashed<hash_whole>},
    {"hstore_hash_extended", &hashed_with_seed<hash_whole>},
};
constexpr SetEntry kHstoreSets[] = {
    {"hstore_skeys", &as_rows<Part::keys>},
    {"hstore_svals", &as_rows<Part::values>},
    {"hstore_each", &as_pairs},
};
constexpr TypeId kHstoreTypes[] = {kHstoreType};

}  // namespace

const BundledExtension& hstore_extension() {
  static constexpr BundledExtension kExtension{
      .name = "hstore",
      .version = "1.8",
      .comment = "data type for storing sets of (key, value) pairs",
      .types = kHstoreTypes,
      .script = kHstoreScript,
      .scalars = kHstoreFunctions,
      .sets = kHstoreSets};
  return kExtension;
}

}  // namespace swizzle::sql
