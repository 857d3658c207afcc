#include "sql-lite-frontend/types/jsonpath/json_table.h"

#include <charconv>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/jsonpath/path_cache.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

/// A path of the table and the items that it found in the current item of its parent path.
struct TablePath {
  std::shared_ptr<const PathTree> tree;
  std::vector<std::size_t> nested;
  std::vector<std::string> items;
  std::size_t next = 0;
  bool has_item = false;  ///< false: columns of this path are NULL
};

class JsonTableCursor final : public SetCursor {
 public:
  JsonTableCursor(FunctionContext& context, std::span<const Value> arguments)
      : shape_(*context.call.row) {
    arena_.count_in(context.arena.account());
    read_paths(context, arguments);
    const std::size_t first = 2 + paths_.size();
    for (std::size_t i = first; i < arguments.size(); ++i) {
      variables_.push_back(arguments[i].copy_to(arena_));
    }
    if (!arguments[0].is_null()) find(context, 0, json_text(arguments[0]));
  }

  std::optional<Value> next(FunctionContext& context) override {
    if (!advance(context, 0)) return std::nullopt;
    std::vector<Value> fields;
    for (const TablePath& path : paths_) {
      if (path.has_item) {
        fields.push_back(Value::from_int(static_cast<std::int64_t>(path.next)));
        fields.push_back(make_jsonb(context.arena, path.items[path.next - 1]));
      } else {
        fields.insert(fields.end(), 2, Value::null());
      }
    }
    fields.insert(fields.end(), variables_.begin(), variables_.end());
    return make_record(context.arena, shape_.types, fields);
  }

 private:
  void read_paths(FunctionContext& context, std::span<const Value> arguments) {
    std::string_view parents = arguments[1].as_text();
    if (parents.starts_with('e')) {
      failures_ = PathRun::Failures::thrown;
      parents.remove_prefix(1);
    }
    while (!parents.empty()) {
      int parent = 0;
      const char* const end = parents.data() + parents.size();
      const auto [behind, error] = std::from_chars(parents.data(), end, parent);
      STATEMENT_INVARIANT(error == std::errc{});
      parents.remove_prefix(static_cast<std::size_t>(behind - parents.data()));
      if (parents.starts_with(',')) parents.remove_prefix(1);
      const std::size_t place = paths_.size();
      STATEMENT_INVARIANT(place + 2 < arguments.size() && parent < static_cast<int>(place));
      if (parent >= 0) paths_[static_cast<std::size_t>(parent)].nested.push_back(place);
      paths_.emplace_back().tree = path_tree(arguments[place + 2], context.arena.account());
    }
    STATEMENT_INVARIANT(!paths_.empty());
  }

  /// Runs a path over an item. Replaces the items that it and its nested paths found before.
  void find(FunctionContext& context, std::size_t place, std::string_view json) {
    TablePath& path = paths_[place];
    for (const std::string& item : path.items) held_bytes_ -= item.capacity() + sizeof(item);
    path.items.clear();
    path.next = 0;
    path.has_item = false;
    PathRun run{context, *path.tree, json, PathRun::NamedVariables{}};
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const std::size_t field = 2 * paths_.size() + i;
      run.add_variable(shape_.names[field], shape_.types[field], variables_[i]);
    }
    const PathRun::Outcome outcome = run.items(failures_);
    if (outcome.failed) return;
    for (const PathItem& item : outcome.found) {
      std::string& text = path.items.emplace_back();
      run.append(item, text);
      held_bytes_ += text.capacity() + sizeof(text);
      share_.set(context.arena.account(), held_bytes_);
    }
  }

  /// Advances a path to its next row: first through the rows of its nested paths, then to its next
  /// item. Returns false at the end.
  bool advance(FunctionContext& context, std::size_t place) {
    check_stack();
    TablePath& path = paths_[place];
    if (path.has_item && advance_nested(context, path)) return true;
    path.has_item = path.next < path.items.size();
    if (!path.has_item) return false;
    const std::string& item = path.items[path.next++];
    for (const std::size_t nested : path.nested) find(context, nested, item);
    advance_nested(context, path);
    return true;
  }

  bool advance_nested(FunctionContext& context, const TablePath& path) {
    for (const std::size_t nested : path.nested) {
      if (advance(context, nested)) return true;
    }
    return false;
  }

  const RowShape& shape_;
  PathRun::Failures failures_ = PathRun::Failures::kept;
  Arena arena_;
  std::vector<TablePath> paths_;
  std::vector<Value> variables_;
  std::size_t held_bytes_ = 0;
  MemoryShare share_;
};

}  // namespace

const Function& json_table_rows() {
  static const Function function = [] {
    Function out;
    out.name = "json_table";
    out.kind = FunctionKind::set;
    out.strict = false;
    out.returns_set = true;
    out.result = TypeId::record;
    out.set = [](FunctionContext& context,
                 std::span<const Value> arguments) -> std::unique_ptr<SetCursor> {
      return std::make_unique<JsonTableCursor>(context, arguments);
    };
    return out;
  }();
  return function;
}

}  // namespace swizzle::sql
