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

/// Pre: as many arguments as the signature says (variadic ones packed into an array, except for
/// "any"); none is NULL if the function is strict. Throws SqlError.
using ScalarFunction = Value (*)(FunctionContext& context, std::span<const Value> arguments);

/// A running call of a set-returning function. Values refer to the context's arena or to memory
/// of the cursor, until the next call of next().
class SetCursor {
 public:
  SetCursor() = default;
  SetCursor(const SetCursor&) = delete;
  SetCursor& operator=(const SetCursor&) = delete;
  virtual ~SetCursor() = default;
  /// The next row, or nothing at the end. A row of several columns is a record.
  virtual std::optional<Value> next(FunctionContext& context) = 0;
};
/// The arguments' bytes must outlive the cursor.
using SetFunction = std::unique_ptr<SetCursor> (*)(FunctionContext& context,
                                                   std::span<const Value> arguments);

/// A state machine over one group. The state is `state_bytes` of memory, aligned to 16, that the
/// caller keeps and forgets without a destructor; memory that grows is in an arena of the group's.
struct AggregateFunction {
  std::size_t state_bytes = 0;
  void (*init)(std::byte* state) = nullptr;
  /// Takes one row. Rows with a NULL argument are left out by the caller if `skips_nulls`.
  /// `state_arena` lives as long as the state.
  void (*step)(FunctionContext& context, Arena& state_arena, std::byte* state,
               std::span<const Value> arguments) = nullptr;
  /// The result so far; the state may go on after it (window frames).
  Value (*final)(FunctionContext& context, const std::byte* state) = nullptr;
  /// Adds another group's state to this one. Null if the aggregate depends on the rows' order.
  void (*combine)(FunctionContext& context, Arena& state_arena, std::byte* state,
                  const std::byte* other) = nullptr;
  bool skips_nulls = true;
};

struct CallableRoutine;
struct Execution;

/// Function that needs the session that runs it; sessions are defined above this folder.
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
  /// `session` takes names and numbers of objects alike, as text.
  bool takes_text = false;
  /// Set where a user made it (catalog/callable_routine.h): nothing above does it then.
  const CallableRoutine* routine = nullptr;
  /// True if it asks the types of its arguments for their collation
  /// (collation/collated_functions.h).
  bool takes_collation = false;
};

/// One row of pg_operator whose function we have.
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
  /// For the few functions that make as long a value as is wanted: bit(n) of a number.
  std::int32_t typmod = kNoTypmod;
  /// Of elements: a string too long for its domain is an error, because the cast is implicit.
  bool is_implied = false;
};

/// Implementation of the function of pg_proc with this signature, spelled with the names of
/// pg_type: "lower(text)". An operator is spelled "+(int4,int4)", "-(int4)" and implements its
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

/// A name alone, "pg_notify", stands for all functions that PostgreSQL has of that name.
struct SessionEntry {
  std::string_view signature;
  SessionCall function;
  bool takes_text = false;
};

/// Functions that the folders above add, which know more than this folder does (catalog, session).
/// The signatures must be PostgreSQL's.
struct AddedFunctions {
  std::span<const ScalarEntry> scalars = {};
  std::span<const SetEntry> sets = {};
  std::span<const SessionEntry> sessions = {};
  /// Functions that PostgreSQL does not have, complete.
  std::span<const Function> own = {};
};
/// At start-up, before the first look at the registry; the spans must stay.
void add_builtin_functions(const AddedFunctions& added);

/// The functions and operators of that name that PostgreSQL has and we do not: a call of one is
/// 0A000. They have no implementation.
std::span<const Function> unsupported_functions(std::string_view name);
/// Names that only functions over types that we do not have bear, and those of such types.
bool is_missing_function(std::string_view name);
bool is_missing_type(std::string_view name);
bool is_unsupported_operator(std::string_view name);

/// Return all built-in functions, operators and casts, functions by number. Immutable and shared.
std::span<const Function> builtin_functions();
std::span<const Operator> builtin_operators();
/// The rows of pg_cast whose function we have.
std::span<const Cast> builtin_casts();

const Function* find_function(std::uint32_t oid);
const Operator* find_operator(std::uint32_t oid);
/// Returns all functions of that name, of any kind.
std::span<const Function* const> functions_named(std::string_view name);
/// True if PostgreSQL has several functions of that name, so that the name alone is ambiguous.
bool is_ambiguous_function(std::string_view name);
std::span<const Operator* const> operators_named(std::string_view name);

/// The way from `source` to `target`, if `context` is strong enough: as pg_cast says, array casts
/// by element, and text forms from any type (assignment) and to any type (explicit).
/// The same type twice gives relabel. A domain is as its base; whether the value may be one of the
/// target's is for the caller to ask (enter_domain).
std::optional<Cast> find_cast(TypeId source, TypeId target, CastContext context);

/// Calls it, aside where the arguments are long. As scalar itself for the rest.
Value call_function(const Function& function, FunctionContext& context,
                    std::span<const Value> arguments);

/// Converts a value that may be NULL; afterwards coerce_length() fits it to a typmod.
Value cast_value(FunctionContext& context, const Cast& cast, const Value& value);

/// The operator by which a type's default btree class orders: "<", "=", ">" over it. Null where it
/// has none. Looks through binary-coercible types (varchar orders as text).
const Operator* equality_operator(TypeId type);
const Operator* less_operator(TypeId type);

}  // namespace swizzle::sql
