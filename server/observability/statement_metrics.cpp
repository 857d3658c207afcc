#include "server/observability/statement_metrics.h"

#include <algorithm>

namespace swizzle::server {

std::string_view name_of(StatementKind kind) noexcept {
  constexpr std::array<std::string_view, kStatementKinds> kNames{
      "select", "insert", "update",   "delete",     "copy",
      "begin",  "commit", "rollback", "definition", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

StatementKind kind_of_tag(std::string_view tag) noexcept {
  const std::string_view word = tag.substr(0, tag.find(' '));
  switch (word.empty() ? '\0' : word.front()) {
    case 'S':
      if (word == "SELECT") return StatementKind::select;
      if (word == "START") return StatementKind::begin;
      if (word == "SECURITY") return StatementKind::definition;
      break;
    case 'F':
      if (word == "FETCH") return StatementKind::select;
      break;
    case 'G':
      if (word == "GRANT") return StatementKind::definition;
      break;
    case 'I':
      if (word == "INSERT") return StatementKind::insert;
      if (word == "IMPORT") return StatementKind::definition;
      break;
    case 'U':
      if (word == "UPDATE") return StatementKind::update;
      break;
    case 'D':
      if (word == "DELETE") return StatementKind::remove;
      if (word == "DROP") return StatementKind::definition;
      break;
    case 'C':
      if (word == "COMMIT") return StatementKind::commit;
      if (word == "COPY") return StatementKind::copy;
      if (word == "CREATE" || word == "COMMENT") return StatementKind::definition;
      break;
    case 'B':
      if (word == "BEGIN") return StatementKind::begin;
      break;
    case 'R':
      if (word == "ROLLBACK") return StatementKind::rollback;
      if (word == "REVOKE" || word == "REFRESH" || word == "REASSIGN")
        return StatementKind::definition;
      break;
    case 'A':
      if (word == "ALTER") return StatementKind::definition;
      break;
    case 'T':
      if (word == "TRUNCATE") return StatementKind::definition;
      break;
    default:
      break;
  }
  return StatementKind::other;
}

void StatementMetrics::Share::note_error(SqlState state) noexcept {
  const auto found = std::ranges::find(kErrorClasses, state.code().substr(0, 2));
  std::atomic<std::uint64_t>& counter =
      errors_[static_cast<std::size_t>(found - kErrorClasses.begin())];
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

StatementMetrics::Share& StatementMetrics::share_of_this_thread() {
  const std::scoped_lock lock{mutex_};
  std::unique_ptr<Share>& share = shares_[std::this_thread::get_id()];
  if (!share) share = std::make_unique<Share>();
  return *share;
}

StatementMetrics::Totals StatementMetrics::totals() const {
  const std::scoped_lock lock{mutex_};
  Totals totals;
  for (const auto& [thread, share] : shares_) {
    for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
      totals.latencies[kind] += share->latencies_[kind].counts();
    }
    for (std::size_t i = 0; i < totals.errors.size(); ++i) {
      totals.errors[i] += share->errors_[i].load(std::memory_order_relaxed);
    }
  }
  return totals;
}

}  // namespace swizzle::server
