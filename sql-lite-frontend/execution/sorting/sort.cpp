#include "sql-lite-frontend/execution/sorting/sort.h"

#include <fmt/format.h>

#include "sql-lite-frontend/execution/steps/step_copies.h"

namespace swizzle::sql {

Sort::Sort(PlanPtr input, std::vector<SortKey> keys)
    : input_(std::move(input)), keys_(std::move(keys)), sorter_(*keys_, input_->output_slots()) {}

Sort::Sort(const Sort& of, StepCopies& copies)
    : input_(copies.copy(of.input_)),
      keys_(of.keys_),
      sorter_(*keys_, input_->output_slots()),
      bound_count_(of.bound_count_),
      bound_offset_(of.bound_offset_) {}

std::size_t Sort::bound(Execution& execution) const {
  if (bound_count_ == nullptr) return RowSorter::kAllRows;
  const Value count = bound_count_->eval(execution);
  if (count.is_null() || count.as_int8() < 0) return RowSorter::kAllRows;
  std::int64_t rows = count.as_int8();
  if (bound_offset_ != nullptr) {
    const Value offset = bound_offset_->eval(execution);
    if (!offset.is_null() && offset.as_int8() > 0 &&
        __builtin_add_overflow(rows, offset.as_int8(), &rows)) {
      return RowSorter::kAllRows;
    }
  }
  return static_cast<std::size_t>(rows);
}

void Sort::open(Execution& execution) {
  const std::size_t wanted = bound(execution);
  sorter_.start(execution, wanted);
  input_->open(execution);
  RowScope scope{execution};
  while (wanted > 0 && input_->next(execution)) {
    sorter_.add(execution);
    scope.rewind();
  }
  input_->close();
  sorter_.finish(execution);
}

void Sort::close() {
  input_->close();
  sorter_.release();
}

std::vector<PlanMeasure> Sort::measured() const {
  using Method = RowSorter::Report::Method;
  const RowSorter::Report& report = sorter_.report();
  std::string method = "quicksort";
  if (report.method == Method::top_n) method = "top-N heapsort";
  const bool on_disk = report.method == Method::external_merge;
  if (on_disk) method = "external merge";
  const std::string type = on_disk ? "Disk" : "Memory";
  const std::uint64_t kilobytes = (report.bytes + 1023) / 1024;
  return {{fmt::format("Sort Method: {}  {}: {}kB", method, type, kilobytes),
           {{"Sort Method", method}, {"Sort Space Used", kilobytes}, {"Sort Space Type", type}}}};
}

}  // namespace swizzle::sql
