#include "sql-lite-frontend/execution/steps/gate.h"

#include <algorithm>

namespace swizzle::sql {

void Gate::open(Execution& execution) {
  is_open_ = std::ranges::all_of(
      conditions_, [&](const ExprPtr& condition) { return holds(*condition, execution); });
  if (is_open_) input_->open(execution);
}

void Gate::close() {
  is_open_ = false;
  input_->close();
}

}  // namespace swizzle::sql
