#include "sql-lite-frontend/definitions/system_catalog/partition_functions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Cursor = std::unique_ptr<SetCursor>;

/// A table or index of a partition tree.
struct Part {
  Oid oid = kNoOid;
  Oid parent = kNoOid;
  bool is_divided = false;
  std::vector<Oid> parts;
};

Part table_part(const Table& table) {
  const Relation& relation = table.relation;
  return {relation.oid, relation.partition_of, relation.is_partitioned(), relation.partitions};
}

Part index_part(const StatementContext& session, const Table& table, const Index& index) {
  Part part{index.oid, index.parent, table.relation.is_partitioned(), {}};
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition = session.catalog.table(oid);
    if (!partition) continue;
    for (const Index& below : partition->relation.indexes) {
      if (below.parent == index.oid) part.parts.push_back(below.oid);
    }
  }
  return part;
}

std::optional<Part> part_of(const StatementContext& session, Oid oid) {
  std::optional<Part> part;
  if (const TablePtr table = session.catalog.table(oid)) {
    part = table_part(*table);
  } else if (const TablePtr owner = session.catalog.table_with_index(oid)) {
    part = index_part(session, *owner, *owner->index_by_oid(oid));
  }
  if (part && part->parent == kNoOid && !part->is_divided) return std::nullopt;
  return part;
}

/// Cursor over rows that are all computed at the start.
class PartCursor final : public SetCursor {
 public:
  struct Row {
    Part part;
    std::int64_t level = 0;
  };
  enum class Shows : std::uint8_t { number, whole };
  PartCursor(std::vector<Row> rows, Shows shows) : rows_(std::move(rows)), shows_(shows) {}

  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == rows_.size()) return std::nullopt;
    const Row& row = rows_[next_++];
    if (shows_ == Shows::number) return Value::from_oid(row.part.oid);
    const TypeId types[] = {TypeId::regclass, TypeId::regclass, TypeId::bool_, TypeId::int4};
    const Value fields[] = {
        Value::from_oid(row.part.oid),
        row.part.parent == kNoOid ? Value::null() : Value::from_oid(row.part.parent),
        Value::from_bool(!row.part.is_divided), Value::from_int(row.level)};
    return make_record(context.arena, types, fields);
  }

 private:
  std::vector<Row> rows_;
  Shows shows_;
  std::size_t next_ = 0;
};

void add_level(const StatementContext& session, std::span<const Oid> oids, std::int64_t level,
               std::vector<PartCursor::Row>& rows) {
  check_stack();
  std::vector<Oid> sorted{oids.begin(), oids.end()};
  std::ranges::sort(sorted);
  std::vector<Oid> below;
  for (const Oid oid : sorted) {
    auto part = part_of(session, oid);
    if (!part) continue;
    below.insert(below.end(), part->parts.begin(), part->parts.end());
    rows.push_back({std::move(*part), level});
  }
  if (!below.empty()) add_level(session, below, level + 1, rows);
}

Cursor partition_tree(FunctionContext& context, Arguments arguments) {
  std::vector<PartCursor::Row> rows;
  const Oid root[] = {arguments[0].as_oid()};
  if (const auto* session = SessionNames::context_of(context.session)) {
    add_level(*session, root, 0, rows);
  }
  return std::make_unique<PartCursor>(std::move(rows), PartCursor::Shows::whole);
}

Cursor partition_ancestors(FunctionContext& context, Arguments arguments) {
  std::vector<PartCursor::Row> rows;
  const auto* session = SessionNames::context_of(context.session);
  Oid oid = arguments[0].as_oid();
  while (session != nullptr && oid != kNoOid) {
    auto part = part_of(*session, oid);
    if (!part) break;
    oid = part->parent;
    rows.push_back({std::move(*part), 0});
  }
  return std::make_unique<PartCursor>(std::move(rows), PartCursor::Shows::number);
}

}  // namespace

Oid partition_root(const StatementContext& session, Oid relation) {
  Oid root = kNoOid;
  for (auto part = part_of(session, relation); part; part = part_of(session, part->parent)) {
    root = part->oid;
    if (part->parent == kNoOid) break;
  }
  return root;
}

void add_partition_sets() {
  static constexpr SetEntry kSets[] = {{"pg_partition_tree(regclass)", partition_tree},
                                       {"pg_partition_ancestors(regclass)", partition_ancestors}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
