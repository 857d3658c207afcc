#include "sql-lite-frontend/types/function_registry.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/invariant.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/extension/extension_operators.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/writing_share.h"

namespace swizzle::sql {
namespace {

struct PoolRange {
  std::size_t at;
  std::size_t size;
};

struct FunctionFacts {
  std::uint32_t oid;
  std::string_view signature;
  std::size_t name_size;
  TypeId result;
  TypeId variadic;
  char kind;
  char volatility;
  bool strict;
  bool returns_set;
  PoolRange arguments;
  PoolRange argument_names;
  PoolRange defaults;
  PoolRange column_names;
  PoolRange column_types;
};

struct OperatorFacts {
  std::uint32_t oid;
  std::string_view signature;
  std::size_t name_size;
  TypeId left;
  TypeId right;
  TypeId result;
  std::uint32_t function;
  std::uint32_t commutator;
  std::uint32_t negator;
  bool can_merge;
  bool can_hash;
};

struct CastFacts {
  TypeId source;
  TypeId target;
  std::uint32_t function;
  char context;
  char method;
};

#include "sql-lite-frontend/types/functions/facts.inc"

template <class T, std::size_t N>
std::span<const T> part(const T (&pool)[N], PoolRange range) {
  return std::span<const T>{pool}.subspan(range.at, range.size);
}

struct Additions {
  std::vector<AddedFunctions> added;
  bool closed = false;
};

Additions& additions() {
  static Additions list;
  return list;
}

struct Implementation {
  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
  const AggregateFunction* aggregate = nullptr;
  SessionCall session = nullptr;
  bool takes_text = false;
};

/// Registry of functions, operators and casts, built once from the facts and the implementations;
/// immutable afterwards.
class Registry {
 public:
  Registry() {
    collect();
    build_functions();
    build_operators();
    build_casts();
    // Ends the process: the registry is made before the first session.
    for (const auto& [signature, implementation] : implementations_)
      INVARIANT(used_.contains(signature));
  }

  std::vector<Function> functions;
  std::vector<Operator> operators;
  std::vector<Cast> casts;
  std::unordered_map<std::uint32_t, const Function*> function_by_oid;
  std::unordered_map<std::uint32_t, const Operator*> operator_by_oid;
  std::unordered_map<std::string_view, std::vector<const Function*>> functions_by_name;
  std::unordered_map<std::string_view, std::vector<const Operator*>> operators_by_name;
  std::unordered_map<std::string_view, std::vector<Function>> missing_functions;
  std::unordered_map<std::string_view, int> missing_operators;
  std::unordered_map<std::uint64_t, const Cast*> cast_by_types;

  static std::uint64_t cast_key(TypeId source, TypeId target) noexcept {
    return std::uint64_t{raw(source)} << 32U | raw(target);
  }

 private:
  void collect() {
    additions().closed = true;
    for (const auto entries : {comparison_functions(),
                               integer_functions(),
                               float_functions(),
                               numeric_functions(),
                               random_functions(),
                               cast_functions(),
                               text_functions(),
                               text_format_functions(),
                               encoding_functions(),
                               conversion_functions(),
                               order_functions(),
                               like_functions(),
                               regex_functions(),
                               normal_form_functions(),
                               unicode_escape_functions(),
                               datetime_functions(),
                               datetime_field_functions(),
                               datetime_truncation_functions(),
                               datetime_arithmetic_functions(),
                               formatting_functions(),
                               formatted_input_functions(),
                               array_functions(),
                               array_order_functions(),
                               general_functions(),
                               input_check_functions(),
                               uuid_functions(),
                               name_functions(),
                               byte_size_functions(),
                               value_size_functions(),
                               extreme_functions(),
                               json_functions(),
                               json_access_functions(),
                               network_functions(),
                               enum_functions(),
                               hash_functions(),
                               json_change_functions(),
                               json_whole_functions(),
                               json_from_arrays_functions(),
                               json_populate_functions()})
      for (const ScalarEntry& entry : entries) add({entry.signature}, {entry.function});
    for (const auto entries : {set_functions(), json_set_functions(), json_each_functions(),
                               json_record_functions(), keyword_functions(), zone_functions()}) {
      for (const SetEntry& entry : entries) add(entry.signature, {nullptr, entry.function});
    }
    for (const auto entries : {counting_aggregates(), statistics_aggregates(),
                               collecting_aggregates(), json_aggregates(), ordered_aggregates()})
      for (const AggregateEntry& entry : entries)
        add(entry.signature, {nullptr, nullptr, &entry.function});
    for (const AddedFunctions& added : additions().added) {
      for (const ScalarEntry& entry : added.scalars) add(entry.signature, {entry.function});
      for (const SetEntry& entry : added.sets) add(entry.signature, {nullptr, entry.function});
      for (const SessionEntry& entry : added.sessions) {
        add(entry.signature, {nullptr, nullptr, nullptr, entry.function, entry.takes_text});
      }
    }
    for (const Type* type : builtin_types())
      if (type->functions != nullptr) add_all(*type->functions);
    // An operator is implemented by its function.
    for (const OperatorFacts& facts : kOperatorFacts) {
      const auto found = implementations_.find(facts.signature);
      if (found == implementations_.end()) continue;
      used_[facts.signature] = true;
      by_operator_[facts.function] = found->second;
    }
  }

  void add_all(const FunctionsOfType& functions_of_type) {
    for (const ScalarEntry& entry : functions_of_type.scalars)
      add(entry.signature, {entry.function});
    for (const SetEntry& entry : functions_of_type.sets)
      add(entry.signature, {nullptr, entry.function});
    for (const AggregateEntry& entry : functions_of_type.aggregates)
      add(entry.signature, {nullptr, nullptr, &entry.function});
  }

  void add(std::string_view signature, Implementation implementation) {
    const bool added = implementations_.emplace(signature, implementation).second;
    // Ends the process: the registry is made before the first session.
    INVARIANT(added);
  }

  const Implementation* implementation_of(const FunctionFacts& facts) {
    for (const std::string_view said : {facts.signature, name_of(facts)}) {
      const auto found = implementations_.find(said);
      if (found == implementations_.end()) continue;
      used_[said] = true;
      return &found->second;
    }
    const auto found = by_operator_.find(facts.oid);
    return found == by_operator_.end() ? nullptr : &found->second;
  }

  static std::string_view name_of(const FunctionFacts& facts) {
    return facts.signature.substr(0, facts.name_size);
  }

  static FunctionKind kind_of(const FunctionFacts& facts) {
    if (facts.kind == 'a') return FunctionKind::aggregate;
    if (facts.kind == 'w') return FunctionKind::window;
    return facts.returns_set ? FunctionKind::set : FunctionKind::scalar;
  }

  void build_functions() {
    functions.reserve(std::size(kFunctionFacts));
    for (const FunctionFacts& facts : kFunctionFacts) {
      const std::string_view name = name_of(facts);
      const Implementation* implementation = implementation_of(facts);
      Function f;
      f.oid = facts.oid;
      f.name = name;
      f.kind = kind_of(facts);
      f.volatility = facts.volatility == 'i'   ? Volatility::immutable
                     : facts.volatility == 's' ? Volatility::stable
                                               : Volatility::volatile_;
      f.strict = facts.strict;
      f.returns_set = facts.returns_set;
      f.result = facts.result;
      f.variadic = facts.variadic;
      f.arguments = part(kTypePool, facts.arguments);
      f.argument_names = part(kTextPool, facts.argument_names);
      f.argument_defaults = part(kTextPool, facts.defaults);
      f.column_names = part(kTextPool, facts.column_names);
      f.column_types = part(kTypePool, facts.column_types);
      if (implementation != nullptr) {
        f.scalar = implementation->scalar;
        f.set = implementation->set;
        f.aggregate = implementation->aggregate;
        f.session = implementation->session;
        f.takes_text = implementation->takes_text;
      }
      // Window functions are implemented by the executor; here they have signatures only.
      if (implementation == nullptr && facts.kind != 'w')
        missing_functions[name].push_back(f);
      else
        functions.push_back(f);
    }
    for (const AddedFunctions& added : additions().added) {
      functions.insert(functions.end(), added.own.begin(), added.own.end());
    }
    std::ranges::sort(functions, {}, &Function::oid);
    for (const Function& f : functions) {
      function_by_oid[f.oid] = &f;
      functions_by_name[f.name].push_back(&f);
    }
  }

  void build_operators() {
    operators.reserve(std::size(kOperatorFacts));
    for (const OperatorFacts& facts : kOperatorFacts) {
      const std::string_view name = facts.signature.substr(0, facts.name_size);
      const auto function = function_by_oid.find(facts.function);
      if (function == function_by_oid.end()) {
        missing_operators[name] = 1;
        continue;
      }
      operators.push_back({facts.oid, name, facts.left, facts.right, facts.result, function->second,
                           facts.commutator, facts.negator, facts.can_merge, facts.can_hash});
    }
    for (const Operator& op : operators) {
      operator_by_oid[op.oid] = &op;
      operators_by_name[op.name].push_back(&op);
    }
    for (const Operator& op : extension_operators()) operators_by_name[op.name].push_back(&op);
  }

  void build_casts() {
    casts.reserve(std::size(kCastFacts));
    for (const CastFacts& facts : kCastFacts) {
      Cast cast{facts.source, facts.target};
      cast.context = facts.context == 'i'   ? CastContext::implicit
                     : facts.context == 'a' ? CastContext::assignment
                                            : CastContext::explicit_cast;
      cast.method = facts.method == 'b'   ? CastMethod::relabel
                    : facts.method == 'f' ? CastMethod::function
                                          : CastMethod::text_form;
      const auto is_between = [&](Shape from, Shape to) {
        return shape_of(cast.source) == from && shape_of(cast.target) == to;
      };
      const bool changes_sign =
          is_between(Shape::uint32, Shape::int32) || is_between(Shape::int32, Shape::uint32);
      if (cast.method == CastMethod::relabel && changes_sign) cast.method = CastMethod::wrap;
      // A cast of a type to itself is a length coercion, which coerce_length() does.
      if (facts.source == facts.target) continue;
      if (facts.function != 0) {
        const auto function = function_by_oid.find(facts.function);
        if (function == function_by_oid.end()) continue;
        cast.function = function->second;
      }
      casts.push_back(cast);
    }
    for (const Cast& cast : casts) cast_by_types[cast_key(cast.source, cast.target)] = &cast;
  }

  std::unordered_map<std::string_view, Implementation> implementations_;
  std::unordered_map<std::string_view, bool> used_;
  std::unordered_map<std::uint32_t, Implementation> by_operator_;
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

void add_builtin_functions(const AddedFunctions& added) {
  // Ends the process: a static initializer calls this.
  INVARIANT(!additions().closed);
  additions().added.push_back(added);
}

std::span<const Function> builtin_functions() {
  return registry().functions;
}
std::span<const Operator> builtin_operators() {
  return registry().operators;
}
std::span<const Cast> builtin_casts() {
  return registry().casts;
}

const Function* find_function(std::uint32_t oid) {
  const auto found = registry().function_by_oid.find(oid);
  return found == registry().function_by_oid.end() ? nullptr : found->second;
}

const Operator* find_operator(std::uint32_t oid) {
  const auto found = registry().operator_by_oid.find(oid);
  return found == registry().operator_by_oid.end() ? nullptr : found->second;
}

std::span<const Function* const> functions_named(std::string_view name) {
  const auto found = registry().functions_by_name.find(name);
  if (found == registry().functions_by_name.end()) return {};
  return found->second;
}

std::span<const Operator* const> operators_named(std::string_view name) {
  const auto found = registry().operators_by_name.find(name);
  if (found == registry().operators_by_name.end()) return {};
  return found->second;
}

std::span<const Function> unsupported_functions(std::string_view name) {
  const auto found = registry().missing_functions.find(name);
  if (found == registry().missing_functions.end()) return {};
  return found->second;
}
bool is_ambiguous_function(std::string_view name) {
  return functions_named(name).size() + unsupported_functions(name).size() > 1;
}
bool is_missing_function(std::string_view name) {
  return std::ranges::binary_search(kMissingFunctionNames, name);
}
bool is_missing_type(std::string_view name) {
  return std::ranges::binary_search(kMissingTypeNames, name);
}
bool is_unsupported_operator(std::string_view name) {
  return registry().missing_operators.contains(name);
}

std::optional<Cast> find_cast(TypeId source, TypeId target, CastContext context) {
  if (is_collated(source)) source = without_collation(source);
  if (is_collated(target)) target = without_collation(target);
  if (source == target) return Cast{source, target, CastContext::implicit, CastMethod::relabel};
  if (is_domain(source) || is_domain(target)) {
    auto cast = find_cast(base_type(source), base_type(target), context);
    if (cast) cast->source = source;
    if (cast) cast->target = target;
    return cast;
  }
  const auto found = registry().cast_by_types.find(Registry::cast_key(source, target));
  if (found != registry().cast_by_types.end())
    return found->second->context <= context ? std::optional{*found->second} : std::nullopt;
  if (multirange_of_range(source) == target && context == CastContext::explicit_cast)
    return Cast{source, target, CastContext::explicit_cast, CastMethod::function,
                functions_named("multirange").front()};
  // A composite value holds its fields, like an anonymous row.
  if (is_composite(source) && target == TypeId::record)
    return Cast{source, target, CastContext::implicit, CastMethod::relabel};
  if (is_array(source) && is_array(target)) {
    auto element = find_cast(element_type(source), element_type(target), context);
    if (!element) return std::nullopt;
    return Cast{source, target, element->context, CastMethod::elements, element->function};
  }
  // The vectors are arrays under another name.
  if ((source == TypeId::int2vector && target == TypeId::int2_array) ||
      (source == TypeId::oidvector && target == TypeId::oid_array))
    return Cast{source, target, CastContext::implicit, CastMethod::relabel};
  const bool is_vector = source == TypeId::int2vector || source == TypeId::oidvector;
  if (is_vector && is_array(target)) {
    const auto element = find_cast(element_type(source), element_type(target), context);
    if (element)
      return Cast{source, target, element->context, CastMethod::elements, element->function};
  }
  const Type* from = find_type(source);
  const Type* to = find_type(target);
  if (to != nullptr && to->category == 'S' && has_io(source) && context >= CastContext::assignment)
    return Cast{source, target, CastContext::assignment, CastMethod::text_form};
  if (from != nullptr && (from->category == 'S' || source == TypeId::unknown) && has_io(target) &&
      context == CastContext::explicit_cast)
    return Cast{source, target, CastContext::explicit_cast, CastMethod::text_form};
  return std::nullopt;
}

namespace {

Value cast_elements(FunctionContext& context, const Cast& cast, const Value& value) {
  const ArrayView view{value};
  const TypeId target = element_type(cast.target);
  auto element = find_cast(view.element_type(), target, CastContext::explicit_cast);
  STATEMENT_INVARIANT(element);
  element->typmod = cast.typmod;
  element->is_implied = cast.is_implied;
  const Coercion coercion = cast.is_implied ? Coercion::assignment : Coercion::explicit_cast;
  std::vector<Value> elements(view.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    yield_point(20);
    elements[i] = cast_value(context, *element, view.element(i));
    if (is_domain(target)) elements[i] = enter_domain(context, target, elements[i], coercion);
  }
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::size_t i = 0; i < view.dimension_count(); ++i) dimensions[i] = view.dimension(i);
  return make_array(context.arena, target, {dimensions, view.dimension_count()}, elements);
}

/// Pre: not NULL.
Value convert(FunctionContext& context, const Cast& cast, const Value& value) {
  switch (cast.method) {
    case CastMethod::relabel:
      return value;
    case CastMethod::wrap: {
      const auto bits = static_cast<std::uint32_t>(value.as_int8());
      if (shape_of(cast.target) == Shape::uint32) return Value::from_oid(bits);
      return Value::from_int(static_cast<std::int32_t>(bits));
    }
    case CastMethod::function: {
      // Length coercions take a typmod and an explicit flag besides the value.
      const Value arguments[3] = {value, Value::from_int(cast.typmod), Value::from_bool(true)};
      return cast.function->scalar(context,
                                   std::span{arguments}.first(cast.function->arguments.size()));
    }
    case CastMethod::text_form: {
      const WritingShare share{context, 2 * bytes_of({&value, 1})};
      const std::string text = to_text(context, cast.source, value);
      return input_text(context, base_type(cast.target), kNoTypmod, text);
    }
    case CastMethod::elements:
      return cast_elements(context, cast, value);
  }
  return value;
}

}  // namespace

Value call_function(const Function& function, FunctionContext& context,
                    std::span<const Value> arguments) {
  return for_bytes(bytes_of(arguments), [&] { return function.scalar(context, arguments); });
}

Value cast_value(FunctionContext& context, const Cast& cast, const Value& value) {
  if (value.is_null() || cast.method == CastMethod::relabel) return value;
  return for_bytes(bytes_of({&value, 1}), [&] { return convert(context, cast, value); });
}

namespace {

/// Returns the type whose operators a type uses.
TypeId operator_type(TypeId type) {
  const TypeId other = value_type(type).operators_of;
  return other == TypeId::none ? base_type(type) : other;
}

const Operator* operator_over(std::string_view name, TypeId type) {
  const TypeId over = operator_type(type);
  for (const Operator* op : operators_named(name))
    if (op->left == over && op->right == over) return op;
  return nullptr;
}

}  // namespace

const Operator* equality_operator(TypeId type) {
  return operator_over("=", type);
}
const Operator* less_operator(TypeId type) {
  return operator_over("<", type);
}

}  // namespace swizzle::sql
