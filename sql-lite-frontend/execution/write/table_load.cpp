#include "sql-lite-frontend/execution/write/table_load.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kWorkOfEntry = 500;

}  // namespace

std::unique_ptr<TableLoad> TableLoad::start(Execution& execution, const Table& table) {
  constexpr auto kOwn = Engine::Loadable::new_tree;
  Engine& engine = execution.services.storage_engine();
  Transaction& transaction = *execution.transaction;
  auto rows = value_of(engine.start_load(transaction, table.relation.tree, kOwn));
  if (rows == nullptr) return nullptr;
  std::unique_ptr<TableLoad> load{new TableLoad{std::move(rows)}};
  const WorkSpace sorting = execution.services.maintenance_space();
  for (const IndexAccess& access : table.indexes) {
    load->indexes_.push_back(nullptr);
    if (!access.takes_entries() || access.index->unique || access.index->excludes()) continue;
    auto tree = value_of(engine.start_load(transaction, access.index->tree, kOwn));
    if (tree == nullptr) continue;
    load->indexes_.back().reset(new IndexLoad{std::move(tree), EntrySorter{sorting}});
  }
  return load;
}

bool TableLoad::add(std::string_view key, std::string_view row) {
  return value_of(rows_->add(as_bytes(key), as_bytes(row)));
}

bool TableLoad::add_entry(std::size_t index, std::string_view key, std::string_view value) {
  if (indexes_[index] == nullptr) return false;
  indexes_[index]->entries.add(key, value);
  return true;
}

void TableLoad::finish() {
  value_of(rows_->finish());
  for (const auto& index : indexes_) {
    if (index == nullptr) continue;
    index->entries.finish();
    while (const auto entry = index->entries.next()) {
      yield_point(kWorkOfEntry);
      // The entry contains the row's key, so it is unique.
      const bool added = value_of(index->tree->add(as_bytes(entry->key), as_bytes(entry->value)));
      STATEMENT_INVARIANT(added);
    }
    value_of(index->tree->finish());
  }
}

void HeldRows::add(std::string_view key, std::string_view row) {
  const std::size_t begin = bytes_.size();
  bytes_ += key;
  bytes_ += row;
  rows_.push_back({begin, begin + key.size(), bytes_.size()});
}

std::string_view HeldRows::key(std::size_t index) const noexcept {
  const Place& at = rows_[index];
  return std::string_view{bytes_}.substr(at.key, at.row - at.key);
}

std::string_view HeldRows::row(std::size_t index) const noexcept {
  const Place& at = rows_[index];
  return std::string_view{bytes_}.substr(at.row, at.end - at.row);
}

void HeldRows::clear() noexcept {
  bytes_.clear();
  rows_.clear();
}

}  // namespace swizzle::sql
