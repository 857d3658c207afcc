#include "sql-lite-frontend/session/auto_analyze.h"

#include <algorithm>
#include <chrono>

#include "sql-lite-frontend/catalog/catalogs.h"
#include "sql-lite-frontend/definitions/tables/analyze.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

constexpr Duration kRoundEvery = std::chrono::seconds{60};

}  // namespace

void AutoAnalyze::start() {
  task_.start("auto analyze", [this] {
    for (;;) {
      task_.pause_until(Runtime::current().now() + kRoundEvery);
      if (task_.is_stopping()) return;
      run_once();
    }
  });
}

namespace {

std::size_t analyze_due(Database& server, const DatabaseEntry& entry, std::string_view role,
                        const BackgroundTask& task) {
  // While this lives the database cannot be dropped.
  const Catalogs::Use use{*server.shared().catalogs, entry.oid};
  // Tables that were never read have not changed.
  std::vector<TablePtr> due = use.catalog().known_tables();
  std::erase_if(due, [](const TablePtr& table) { return !wants_analyze(*table); });
  if (due.empty()) return 0;
  SessionOptions options;
  options.user = role;
  options.database = entry.name;
  options.parameters = {{"application_name", "auto analyze"}, {"lock_timeout", "1s"}};
  options.is_maintenance = true;
  auto session = server.connect(std::move(options));
  if (!session) return 0;
  SilentSink sink;
  std::size_t analyzed = 0;
  for (const TablePtr& table : due) {
    const SchemaPtr schema = use.catalog().schema(table->relation.schema);
    if (!schema || task.is_stopping()) continue;
    const std::string text =
        "ANALYZE " + quote_identifier(schema->name) + "." + quote_identifier(table->relation.name);
    if ((*session)->simple_query(text, sink)) ++analyzed;
  }
  return analyzed;
}

}  // namespace

std::size_t AutoAnalyze::run_once() {
  const SharedObjects& objects = database_.shared().catalogs->shared_objects();
  const RolePtr role = objects.role(kBootstrapRole);
  if (!role) return 0;
  std::size_t analyzed = 0;
  for (const DatabasePtr& entry : objects.databases()) {
    if (entry->is_template || !entry->allow_connections) continue;
    try {
      analyzed += analyze_due(database_, *entry, role->name, task_);
    } catch (const SqlError&) {
      // The table is being dropped.
      continue;
    }
  }
  return analyzed;
}

}  // namespace swizzle::sql
