#include "sql-lite-frontend/types/collation/collated_functions.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/collated_orders.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

// Returns the first argument's comparison, for functions without an order of their own.
CompareFunction compare_of(const FunctionContext& context) {
  return compare_function(context.call.arguments[0]);
}
std::uint32_t collation_of(const FunctionContext& context) {
  for (const TypeId type : context.call.arguments) {
    if (is_collated(type)) return collation_of_type(type);
  }
  return collation_id::by_default;
}

template <class Test>
Value test(FunctionContext& context, Arguments a) {
  return Value::from_bool(Test{}(compare_of(context)(a[0], a[1]), 0));
}
Value order(FunctionContext& context, Arguments a) {
  const int by = compare_of(context)(a[0], a[1]);
  return Value::from_int(static_cast<int>(by > 0) - static_cast<int>(by < 0));
}
/// min() and max(): like Extreme of functions/type_functions.h, with the order taken from the call.
template <bool wants_greatest>
struct CollatedExtreme {
  Value best;
  std::byte* buffer = nullptr;
  std::size_t capacity = 0;

  void step(FunctionContext& context, Arena& arena, Arguments a) {
    if (!best.is_null()) {
      const int by = compare_of(context)(a[0], best);
      const bool keeps_first = without_collation(context.call.arguments[0]) == TypeId::bpchar;
      if ((wants_greatest ? by < 0 : by > 0) || (keeps_first && by == 0)) return;
    }
    const Bytes bytes = a[0].as_bytes();
    if (bytes.size() > capacity) {
      capacity = std::max<std::size_t>(bytes.size(), capacity * 2);
      buffer = arena.allocate(capacity);
    }
    if (!bytes.empty()) std::memmove(buffer, bytes.data(), bytes.size());
    best = Value::from_bytes({buffer, bytes.size()});
  }
  [[nodiscard]] Value final(FunctionContext& context) const { return best.copy_to(context.arena); }
};

/// Takes the second of two equal values, except for bpchar.
template <bool wants_greatest>
Value extreme_of_two(FunctionContext& context, Arguments a) {
  const int by = compare_of(context)(a[0], a[1]);
  const bool keeps_first = without_collation(context.call.arguments[0]) == TypeId::bpchar;
  const bool takes_first = (wants_greatest ? by > 0 : by < 0) || (keeps_first && by == 0);
  return takes_first ? a[0] : a[1];
}

std::string text_in_case(std::uint32_t collation, LetterCase wanted, std::string_view text) {
  const CollationRule* rule = find_collation_rule(collation);
  return rule->is_of_bytes() ? unicode_change_case(rule->letters, wanted, text)
                             : icu_change_case(rule->locale, wanted, text);
}

template <LetterCase wanted>
Value change_case(FunctionContext& context, Arguments a) {
  const std::uint32_t collation = collation_of(context);
  constexpr std::string_view kNames[] = {"lower() function", "upper() function",
                                         "initcap() function", "casefold() function"};
  if (collation == collation_id::indeterminate)
    fail_indeterminate(kNames[static_cast<std::size_t>(wanted)]);
  return make_text(context.arena, text_in_case(collation, wanted, a[0].as_text()));
}

/// Operations that are not supported under a nondeterministic collation, because the text found
/// would be undefined.
enum class Unsupported : std::uint8_t { like, ilike, pattern, search, array };
template <Unsupported what>
Value refuse_nondeterministic(FunctionContext&, Arguments) {
  constexpr std::string_view kNames[] = {"LIKE", "ILIKE", "regular expressions",
                                         "substring searches", "searches in arrays"};
  throw_error(sqlstate::feature_not_supported,
              "nondeterministic collations are not supported for {}",
              kNames[static_cast<std::size_t>(what)]);
}
template <Unsupported what>
Value refuse_indeterminate(FunctionContext&, Arguments) {
  constexpr std::string_view kNames[] = {"LIKE", "ILIKE", "regular expression", "string search",
                                         "string comparison"};
  fail_indeterminate(kNames[static_cast<std::size_t>(what)]);
}

const Function& text_like() {
  const auto all = operators_named("~~");
  const auto is_of_text = [](const Operator* op) { return op->left == TypeId::text; };
  return *(*std::ranges::find_if(all, is_of_text))->function;
}

/// As above, for a set-returning function.
template <ScalarFunction refuse>
std::unique_ptr<SetCursor> refuse_rows(FunctionContext& context, Arguments a) {
  static_cast<void>(refuse(context, a));
  return nullptr;
}

/// Runs ILIKE as LIKE on both texts in lower case.
template <bool wants_match>
Value like_any_case(FunctionContext& context, Arguments a) {
  const std::uint32_t collation = collation_of(context);
  static const Function& like = text_like();
  const std::array<Value, 2> both = {
      make_text(context.arena, text_in_case(collation, LetterCase::lower, a[0].as_text())),
      make_text(context.arena, text_in_case(collation, LetterCase::lower, a[1].as_text()))};
  return Value::from_bool(like.scalar(context, both).as_bool() == wants_match);
}

template <bool wants_match>
Value like_in_database(FunctionContext& context, Arguments a) {
  static const Function& plain = **std::ranges::find_if(
      functions_named(wants_match ? "texticlike" : "texticnlike"),
      [](const Function* each) { return each->arguments[0] == TypeId::text; });
  return orders_by_bytes(collation_of(context)) ? plain.scalar(context, a)
                                                : like_any_case<wants_match>(context, a);
}

/// Kind of the function, by its name in pg_proc.
enum class Kind : std::uint8_t {
  text_comparison,
  padded_comparison,
  order,
  as_it_is,  ///< takes the collation from its arguments' types
  test_by_type,
  larger,
  smaller,
  max,
  min,
  lower,
  upper,
  initcap,
  casefold,
  like,
  ilike,
  not_ilike,
  pattern,
  search,
  array_search,
};
struct Entry {
  std::string_view name;
  Kind kind;
  std::string_view op = {};  ///< of a comparison
};
constexpr Entry kEntries[] = {
    {"texteq", Kind::text_comparison, "="},
    {"textne", Kind::text_comparison, "<>"},
    {"text_lt", Kind::text_comparison, "<"},
    {"text_le", Kind::text_comparison, "<="},
    {"text_gt", Kind::text_comparison, ">"},
    {"text_ge", Kind::text_comparison, ">="},
    {"nameeq", Kind::text_comparison, "="},
    {"namene", Kind::text_comparison, "<>"},
    {"namelt", Kind::text_comparison, "<"},
    {"namele", Kind::text_comparison, "<="},
    {"namegt", Kind::text_comparison, ">"},
    {"namege", Kind::text_comparison, ">="},
    {"nameeqtext", Kind::text_comparison, "="},
    {"namenetext", Kind::text_comparison, "<>"},
    {"namelttext", Kind::text_comparison, "<"},
    {"nameletext", Kind::text_comparison, "<="},
    {"namegttext", Kind::text_comparison, ">"},
    {"namegetext", Kind::text_comparison, ">="},
    {"texteqname", Kind::text_comparison, "="},
    {"textnename", Kind::text_comparison, "<>"},
    {"textltname", Kind::text_comparison, "<"},
    {"textlename", Kind::text_comparison, "<="},
    {"textgtname", Kind::text_comparison, ">"},
    {"textgename", Kind::text_comparison, ">="},
    {"bpchareq", Kind::padded_comparison, "="},
    {"bpcharne", Kind::padded_comparison, "<>"},
    {"bpcharlt", Kind::padded_comparison, "<"},
    {"bpcharle", Kind::padded_comparison, "<="},
    {"bpchargt", Kind::padded_comparison, ">"},
    {"bpcharge", Kind::padded_comparison, ">="},
    {"bttextcmp", Kind::order},
    {"btnamecmp", Kind::order},
    {"btnametextcmp", Kind::order},
    {"bttextnamecmp", Kind::order},
    {"bpcharcmp", Kind::order},
    {"btarraycmp", Kind::order},
    {"array_eq", Kind::test_by_type, "="},
    {"array_ne", Kind::test_by_type, "<>"},
    {"array_lt", Kind::test_by_type, "<"},
    {"array_le", Kind::test_by_type, "<="},
    {"array_gt", Kind::test_by_type, ">"},
    {"array_ge", Kind::test_by_type, ">="},
    {"jsonb_lt", Kind::test_by_type, "<"},
    {"jsonb_le", Kind::test_by_type, "<="},
    {"jsonb_gt", Kind::test_by_type, ">"},
    {"jsonb_ge", Kind::test_by_type, ">="},
    {"jsonb_cmp", Kind::order},
    {"citext_eq", Kind::test_by_type, "="},
    {"citext_ne", Kind::test_by_type, "<>"},
    {"citext_lt", Kind::test_by_type, "<"},
    {"citext_le", Kind::test_by_type, "<="},
    {"citext_gt", Kind::test_by_type, ">"},
    {"citext_ge", Kind::test_by_type, ">="},
    {"citext_cmp", Kind::order},
    {"citext_larger", Kind::larger},
    {"citext_smaller", Kind::smaller},
    {"text_larger", Kind::larger},
    {"bpchar_larger", Kind::larger},
    {"array_larger", Kind::larger},
    {"text_smaller", Kind::smaller},
    {"bpchar_smaller", Kind::smaller},
    {"array_smaller", Kind::smaller},
    {"max", Kind::max},
    {"min", Kind::min},
    {"lower", Kind::lower},
    {"upper", Kind::upper},
    {"initcap", Kind::initcap},
    {"casefold", Kind::casefold},
    {"array_sort", Kind::as_it_is},
    {"textlike", Kind::like},
    {"textnlike", Kind::like},
    {"bpcharlike", Kind::like},
    {"bpcharnlike", Kind::like},
    {"namelike", Kind::like},
    {"namenlike", Kind::like},
    {"like", Kind::like},
    {"notlike", Kind::like},
    {"texticlike", Kind::ilike},
    {"bpchariclike", Kind::ilike},
    {"nameiclike", Kind::ilike},
    {"texticnlike", Kind::not_ilike},
    {"bpcharicnlike", Kind::not_ilike},
    {"nameicnlike", Kind::not_ilike},
    {"textregexeq", Kind::pattern},
    {"textregexne", Kind::pattern},
    {"texticregexeq", Kind::pattern},
    {"texticregexne", Kind::pattern},
    {"bpcharregexeq", Kind::pattern},
    {"bpcharregexne", Kind::pattern},
    {"bpcharicregexeq", Kind::pattern},
    {"bpcharicregexne", Kind::pattern},
    {"nameregexeq", Kind::pattern},
    {"nameregexne", Kind::pattern},
    {"nameicregexeq", Kind::pattern},
    {"nameicregexne", Kind::pattern},
    {"regexp_match", Kind::pattern},
    {"regexp_matches", Kind::pattern},
    {"regexp_replace", Kind::pattern},
    {"regexp_split_to_array", Kind::pattern},
    {"regexp_split_to_table", Kind::pattern},
    {"regexp_count", Kind::pattern},
    {"regexp_instr", Kind::pattern},
    {"regexp_like", Kind::pattern},
    {"regexp_substr", Kind::pattern},
    {"textregexsubstr", Kind::pattern},
    {"substring", Kind::pattern},
    {"position", Kind::search},
    {"strpos", Kind::search},
    {"starts_with", Kind::search},
    {"replace", Kind::search},
    {"split_part", Kind::search},
    {"string_to_array", Kind::search},
    {"string_to_table", Kind::search},
    {"arraycontains", Kind::array_search},
    {"arraycontained", Kind::array_search},
    {"arrayoverlap", Kind::array_search},
    {"array_position", Kind::array_search},
    {"array_positions", Kind::array_search},
    {"array_remove", Kind::array_search},
    {"array_replace", Kind::array_search},
    {"width_bucket", Kind::array_search},
    {"hashtext", Kind::array_search},
    {"hashtextextended", Kind::array_search},
    {"hashbpchar", Kind::array_search},
    {"hashbpcharextended", Kind::array_search},
};

bool is_stringlike(TypeId type) noexcept {
  return is_collatable(type) || follows_database(type) || type == TypeId::anyarray ||
         type == TypeId::anycompatiblearray;
}

/// Returns the entry of a function over texts or arrays; names may be overloaded.
const Entry* find_entry(const Function& function) {
  if (function.arguments.empty() || !is_stringlike(function.arguments[0])) return nullptr;
  const auto found = std::ranges::find(kEntries, function.name, &Entry::name);
  if (found == std::end(kEntries)) return nullptr;
  // substring() exists with positions, too.
  const bool is_of_positions = function.name == "substring" && function.arguments.size() > 1 &&
                               function.arguments[1] != TypeId::text;
  return is_of_positions ? nullptr : &*found;
}

ScalarFunction test_by_type(std::string_view op) {
  if (op == "=") return &test<std::equal_to<>>;
  if (op == "<>") return &test<std::not_equal_to<>>;
  if (op == "<") return &test<std::less<>>;
  if (op == "<=") return &test<std::less_equal<>>;
  return op == ">" ? &test<std::greater<>> : &test<std::greater_equal<>>;
}

constexpr AggregateFunction kGreatest = aggregate_of<CollatedExtreme<true>>();
constexpr AggregateFunction kLeast = aggregate_of<CollatedExtreme<false>>();

/// Functions that replace an unsupported one and throw; null if it is supported.
struct Refusal {
  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
};
template <Unsupported what>
Refusal refusal(std::uint32_t collation) {
  constexpr ScalarFunction kIndeterminate = &refuse_indeterminate<what>;
  constexpr ScalarFunction kNondeterministic = &refuse_nondeterministic<what>;
  const bool asks_nothing = what == Unsupported::like || what == Unsupported::search;
  if (collation == collation_id::indeterminate)
    return asks_nothing ? Refusal{} : Refusal{kIndeterminate, &refuse_rows<kIndeterminate>};
  return is_nondeterministic(collation)
             ? Refusal{kNondeterministic, &refuse_rows<kNondeterministic>}
             : Refusal{};
}

void set_comparison(Function& function, const Entry& entry, std::uint32_t collation) {
  const bool is_padded = entry.kind == Kind::padded_comparison;
  const CollatedForm form = is_padded ? CollatedForm::padded : CollatedForm::text;
  const TypeId type = with_collation(is_padded ? TypeId::bpchar : TypeId::text, collation);
  const std::size_t order = order_of_compare(compare_function(type), form);
  function.scalar = collated_comparison(order, form, entry.op);
}

/// False if the function does the same under any collation.
bool change(Function& function, const Entry& entry, std::uint32_t collation) {
  ScalarFunction scalar = nullptr;
  Refusal refused;
  switch (entry.kind) {
    case Kind::text_comparison:
    case Kind::padded_comparison:
      set_comparison(function, entry, collation);
      return true;
    case Kind::order:
      scalar = &order;
      break;
    case Kind::test_by_type:
      scalar = test_by_type(entry.op);
      break;
    case Kind::larger:
      scalar = &extreme_of_two<true>;
      break;
    case Kind::smaller:
      scalar = &extreme_of_two<false>;
      break;
    case Kind::max:
    case Kind::min:
      function.aggregate = entry.kind == Kind::max ? &kGreatest : &kLeast;
      break;
    case Kind::lower:
      scalar = &change_case<LetterCase::lower>;
      break;
    case Kind::upper:
      scalar = &change_case<LetterCase::upper>;
      break;
    case Kind::initcap:
      scalar = &change_case<LetterCase::initial>;
      break;
    case Kind::casefold:
      scalar = &change_case<LetterCase::folded>;
      break;
    case Kind::as_it_is:
      scalar = function.scalar;
      break;
    case Kind::like:
      refused = refusal<Unsupported::like>(collation);
      break;
    case Kind::ilike:
    case Kind::not_ilike:
      refused = refusal<Unsupported::ilike>(collation);
      if (refused.scalar == nullptr)
        scalar = entry.kind == Kind::ilike ? &like_any_case<true> : &like_any_case<false>;
      break;
    case Kind::pattern:
      refused = refusal<Unsupported::pattern>(collation);
      // Its classes are those of the collation.
      if (refused.scalar == nullptr) {
        function.takes_collation = true;
        return true;
      }
      break;
    case Kind::search:
      refused = refusal<Unsupported::search>(collation);
      break;
    case Kind::array_search:
      refused = refusal<Unsupported::array>(collation);
      break;
  }
  if (refused.scalar != nullptr) scalar = refused.scalar;
  if (scalar == nullptr && function.aggregate == nullptr) return false;
  if (function.set != nullptr) {
    function.set = refused.set;
  } else {
    function.scalar = scalar;
  }
  function.takes_collation = true;
  return true;
}

bool depends_on_letters(Kind kind) noexcept {
  switch (kind) {
    case Kind::lower:
    case Kind::upper:
    case Kind::initcap:
    case Kind::casefold:
    case Kind::ilike:
    case Kind::not_ilike:
    case Kind::pattern:
      return true;
    default:
      return false;
  }
}

/// Variants made so far, by function id and collation.
template <class Object>
struct Variants {
  std::mutex mutex;
  std::map<std::pair<const Object*, std::uint32_t>, std::unique_ptr<const Object>> known;
};

}  // namespace

ScalarFunction as_database_orders(const Function& function) {
  const Entry* const entry = find_entry(function);
  if (entry == nullptr) return nullptr;
  if (entry->kind == Kind::ilike) return &like_in_database<true>;
  return entry->kind == Kind::not_ilike ? &like_in_database<false> : nullptr;
}

const Function& under_collation(const Function& function, std::uint32_t collation) {
  if (is_plain_collation(collation)) return function;
  const Entry* entry = find_entry(function);
  if (entry == nullptr) return function;
  if (orders_by_bytes(collation) && !depends_on_letters(entry->kind)) return function;
  static Variants<Function> variants;
  const std::scoped_lock lock{variants.mutex};
  auto& known = variants.known[{&function, collation}];
  if (known == nullptr) {
    auto changed = std::make_unique<Function>(function);
    if (!change(*changed, *entry, collation)) *changed = function;
    known = std::move(changed);
  }
  return known->takes_collation || known->scalar != function.scalar ? *known : function;
}

const Operator& under_collation(const Operator& op, std::uint32_t collation) {
  const Function& function = under_collation(*op.function, collation);
  if (&function == op.function) return op;
  static Variants<Operator> variants;
  const std::scoped_lock lock{variants.mutex};
  auto& known = variants.known[{&op, collation}];
  if (known == nullptr) {
    auto changed = std::make_unique<Operator>(op);
    changed->function = &function;
    known = std::move(changed);
  }
  return *known;
}

}  // namespace swizzle::sql
