#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Pre: the number of arguments matches the signature (variadic ones are packed into an array,
/// except for "any"); none is NULL if the function is strict. Throws SqlError.
using ScalarFunction = Value (*)(FunctionContext& context, std::span<const Value> arguments);

/// A running call of a set-returning function. Values refer to the context's arena or the cursor's
/// memory, and are valid until the next call of next().
class SetCursor {
 public:
  SetCursor() = default;
  SetCursor(const SetCursor&) = delete;
  SetCursor& operator=(const SetCursor&) = delete;
  virtual ~SetCursor() = default;
  /// Returns the next row, or nothing at the end. A row with several columns is a record.
  virtual std::optional<Value> next(FunctionContext& context) = 0;
};
/// The arguments' bytes must outlive the cursor.
using SetFunction = std::unique_ptr<SetCursor> (*)(FunctionContext& context,
                                                   std::span<const Value> arguments);

/// State machine of an aggregate. The caller owns the state, `state_bytes` of memory aligned to 16,
/// and frees it without a destructor; variable-size data is in an arena of the group.
struct AggregateFunction {
  std::size_t state_bytes = 0;
  void (*init)(std::byte* state) = nullptr;
  /// Adds a row. If `skips_nulls`, the caller skips rows with a NULL argument. `state_arena` lives
  /// as long as the state.
  void (*step)(FunctionContext& context, Arena& state_arena, std::byte* state,
               std::span<const Value> arguments) = nullptr;
  /// Returns the result. More rows may be added to the state afterwards (window frames).
  Value (*final)(FunctionContext& context, const std::byte* state) = nullptr;
  /// Adds another group's state to this one. Null if the aggregate depends on the order of the
  /// rows.
  void (*combine)(FunctionContext& context, Arena& state_arena, std::byte* state,
                  const std::byte* other) = nullptr;
  bool skips_nulls = true;
};

struct CallableRoutine;
struct Execution;

/// Function that needs the session; sessions are defined in higher layers.
using SessionCall = Value (*)(Execution& execution, std::span<const Value> arguments);

enum class FunctionKind : std::uint8_t { scalar, set, aggregate, window };
enum class Volatility : std::uint8_t { immutable, stable, volatile_ };

/// One row of pg_proc with its implementation.
struct Function {
  std::uint32_t oid = 0;
  std::string_view name;
  FunctionKind kind = FunctionKind::scalar;
  Volatility volatility = Volatility::immutable;
  bool strict = true;
  bool returns_set = false;
  TypeId result = TypeId::none;
  TypeId variadic = TypeId::none;  ///< provariadic: the element type, or any, or none
  std::span<const TypeId> arguments;
  std::span<const std::string_view> argument_names;     ///< empty, or one per argument
  std::span<const std::string_view> argument_defaults;  ///< text of the last arguments' defaults
  /// Columns of a set or record result with OUT arguments; empty otherwise.
  std::span<const std::string_view> column_names;
  std::span<const TypeId> column_types;

  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
  const AggregateFunction* aggregate = nullptr;
  SessionCall session = nullptr;
  /// `session` accepts names and oids of objects, both as text.
  bool takes_text = false;
  /// Non-null for a user-defined function (catalog/callable_routine.h): the fields above are unused
  /// then.
  const CallableRoutine* routine = nullptr;
  /// True if the function reads the collation from its arguments' types
  /// (collation/collated_functions.h).
  bool takes_collation = false;
};

/// One row of pg_operator whose function is implemented.
struct Operator {
  std::uint32_t oid = 0;
  std::string_view name;
  TypeId left = TypeId::none;  ///< none for a prefix operator
  TypeId right = TypeId::none;
  TypeId result = TypeId::none;
  const Function* function = nullptr;
  std::uint32_t commutator = 0;  ///< oids; 0 if none
  std::uint32_t negator = 0;
  bool can_merge = false;
  bool can_hash = false;
};

enum class CastContext : std::uint8_t { implicit, assignment, explicit_cast };
enum class CastMethod : std::uint8_t {
  relabel,    ///< the same bytes mean the same: no work
  wrap,       ///< the same 32 bits with and without a sign: oid and int4
  function,   ///< `function` does it
  text_form,  ///< through the text form: output of the one, input of the other
  elements,   ///< an array: each element by the cast of `element`
};

constexpr bool keeps_bits(CastMethod method) noexcept {
  return method == CastMethod::relabel || method == CastMethod::wrap;
}

struct Cast {
  TypeId source = TypeId::none;
  TypeId target = TypeId::none;
  CastContext context = CastContext::explicit_cast;  ///< the weakest context that may use it
  CastMethod method = CastMethod::relabel;
  const Function* function = nullptr;
  /// For the few functions whose result length depends on the typmod: bit(n) of a number.
  std::int32_t typmod = kNoTypmod;
  /// For elements: a string longer than their domain allows is an error, because the cast is
  /// implicit.
  bool is_implied = false;
};

/// Implementation of the function in pg_proc with this signature, with type names of pg_type:
/// "lower(text)". An operator is written "+(int4,int4)", "-(int4)"; the entry implements its
/// function.
struct ScalarEntry {
  std::string_view signature;
  ScalarFunction function;
};
struct SetEntry {
  std::string_view signature;
  SetFunction function;
};
struct AggregateEntry {
  std::string_view signature;
  AggregateFunction function;
};

/// A bare name, "pg_notify", means all functions of PostgreSQL with that name.
struct SessionEntry {
  std::string_view signature;
  SessionCall function;
  bool takes_text = false;
};

/// Functions that higher layers add, because they need the catalog or session. Their signatures
/// must be PostgreSQL's.
struct AddedFunctions {
  std::span<const ScalarEntry> scalars = {};
  std::span<const SetEntry> sets = {};
  std::span<const SessionEntry> sessions = {};
  /// Functions that PostgreSQL does not have, with their whole definition.
  std::span<const Function> own = {};
};
/// Must be called at start-up, before the first use of the registry; the spans must remain valid.
void add_builtin_functions(const AddedFunctions& added);

/// Returns the functions and operators of PostgreSQL with that name that are not implemented: calls
/// fail with 0A000.
std::span<const Function> unsupported_functions(std::string_view name);
/// True for names of functions that exist only for unsupported types, and for names of such types.
bool is_missing_function(std::string_view name);
bool is_missing_type(std::string_view name);
bool is_unsupported_operator(std::string_view name);

/// Return all built-in functions, operators and casts; functions sorted by oid. Immutable, shared.
std::span<const Function> builtin_functions();
std::span<const Operator> builtin_operators();
/// Returns the rows of pg_cast whose function is implemented.
std::span<const Cast> builtin_casts();

const Function* find_function(std::uint32_t oid);
const Operator* find_operator(std::uint32_t oid);
/// Returns all functions with that name, of any kind.
std::span<const Function* const> functions_named(std::string_view name);
/// True if PostgreSQL has several functions with that name, so that the name alone is ambiguous.
bool is_ambiguous_function(std::string_view name);
std::span<const Operator* const> operators_named(std::string_view name);

/// Finds the cast from `source` to `target` if `context` allows it: as in pg_cast, for arrays by
/// element, and by text conversion from any type (assignment) and to any type (explicit). Equal
/// types give relabel. A domain counts as its base type; the caller must check its constraints
/// (enter_domain).
std::optional<Cast> find_cast(TypeId source, TypeId target, CastContext context);

/// Calls the function, on a thread for blocking work if the arguments are long. Otherwise like
/// scalar.
Value call_function(const Function& function, FunctionContext& context,
                    std::span<const Value> arguments);

/// Converts a value that may be NULL. The caller applies the typmod afterwards by coerce_length().
Value cast_value(FunctionContext& context, const Cast& cast, const Value& value);

/// Returns the operator "<", "=" or ">" of the type's default btree class; null if it has none.
/// Looks through binary-coercible types (varchar is ordered as text).
const Operator* equality_operator(TypeId type);
const Operator* less_operator(TypeId type);

}  // namespace swizzle::sql
