#include "sql-lite-frontend/execution/steps/sample_rows.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kBadArgument{"2202H"};
constexpr SqlState kBadRepeat{"2202G"};
/// Rows that SYSTEM takes or skips together: about as many as a page has.
constexpr std::uint64_t kRowsOfBlock = 64;
constexpr double kHashes = 4294967296.0;  // 2^32
constexpr int kHashShift = 32;

double percentage_of(Execution& execution, const TableSample& sample) {
  const Value value = sample.percentage->eval(execution);
  if (value.is_null()) throw SqlError{kBadArgument, "TABLESAMPLE parameter cannot be null"};
  const double percentage = value.as_float4();
  if (!(percentage >= 0 && percentage <= 100)) {
    throw SqlError{kBadArgument, "sample percentage must be between 0 and 100"};
  }
  return percentage;
}

}  // namespace

SampleRows::SampleRows(const SampleRows& of, StepCopies& copies)
    : input_(copies.copy(of.input_)), sample_(of.sample_) {}

void SampleRows::open(Execution& execution) {
  const TableSample& sample = *sample_;
  limit_ =
      static_cast<std::uint64_t>(std::llround(percentage_of(execution, sample) / 100 * kHashes));
  if (sample.repeatable) {
    const Value value = sample.repeatable->eval(execution);
    if (value.is_null()) {
      throw SqlError{kBadRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null"};
    }
    const double number = value.as_float8();
    seed_ = hash_integer(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number), 0);
  } else if (seed_run_ != execution.run) {
    // Drawn once per run, so that a rescan in a join sees the same sample.
    execution.functions.session.random_bytes(std::as_writable_bytes(std::span{&seed_, 1}));
    seed_run_ = execution.run;
  }
  place_ = 0;
  input_->open(execution);
}

bool SampleRows::is_taken(std::uint64_t place) const noexcept {
  const bool is_row = sample_->method == TableSample::Method::bernoulli;
  return hash_integer(is_row ? place : place / kRowsOfBlock, seed_) >> kHashShift < limit_;
}

bool SampleRows::next(Execution& execution) {
  while (input_->next(execution)) {
    if (is_taken(place_++)) return true;
    execution.tick();
  }
  return false;
}

namespace {

/// Returns a constant for EXPLAIN, with the type to which it is converted.
std::string shown_argument(const Expr& expr, ExprPrinter::Columns columns) {
  const auto* cast = dynamic_cast<const CastExpr*>(&expr);
  const Expr& given = cast != nullptr ? *cast->operands()[0] : expr;
  const bool is_constant = dynamic_cast<const ConstantExpr*>(&given) != nullptr;
  if (!is_constant) return describe(expr, columns);
  return fmt::format("'{}'::{}", describe(given, columns), format_type(expr.type()));
}

}  // namespace

PlanNote SampleRows::note(ExprPrinter::Columns columns) const {
  PlanNote note = input_->note(columns);
  constexpr std::string_view kScan = "Seq Scan";
  if (note.title.starts_with(kScan)) note.title.replace(0, kScan.size(), "Sample Scan");
  std::string sampling = fmt::format(
      "{} ({})", sample_->method == TableSample::Method::bernoulli ? "bernoulli" : "system",
      shown_argument(*sample_->percentage, columns));
  if (sample_->repeatable) {
    sampling += fmt::format(" REPEATABLE ({})", shown_argument(*sample_->repeatable, columns));
  }
  note.properties.emplace_back("Sampling", std::move(sampling));
  return note;
}

void SampleRows::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  TableSample& sample = sample_.change();
  visit(sample.percentage);
  if (sample.repeatable) visit(sample.repeatable);
}

}  // namespace swizzle::sql
