#include "sql-lite-frontend/execution/publish/logged_message.h"

#include <memory>
#include <span>
#include <string>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

/// Inserts and deletes a record under a random key: only a transaction with a change has a commit
/// record in the log, at which readers get the message.
void write_something(Catalog& catalog, Transaction& transaction) {
  const std::uint64_t drawn = Runtime::current().random();
  std::string key = object_key(catalog.database(), RecordKind::logged_message,
                               static_cast<Oid>(drawn & UINT32_MAX));
  append_oid(key, static_cast<Oid>(drawn >> 32U));
  value_of(catalog.tree().insert(transaction, as_bytes(key), {}));
  value_of(catalog.tree().remove(transaction, as_bytes(key)));
}

}  // namespace

Lsn log_message(StatementServices& services, MessageTold told, std::string_view prefix,
                Bytes content) {
  Catalog& catalog = services.catalog_view().of_database();
  LogicalLog& log = catalog.engine().logical_log();
  if (!services.logs_changes()) return log.tail();
  PublishedChange change{.kind = ChangeKind::message};
  change.database = catalog.database();
  change.is_transactional = told == MessageTold::at_commit;
  change.prefix = prefix;
  change.content = content;
  const std::string body = encode_message(change);
  const Bytes part = as_bytes(body);
  const auto note_in = [&](Transaction& transaction) {
    write_something(catalog, transaction);
    value_of(LogicalLog::note(transaction, std::span{&part, 1}));
  };
  if (told == MessageTold::at_commit) {
    note_in(services.engine_transaction());
  } else {
    const auto own = catalog.engine().begin();
    note_in(*own);
    if (told == MessageTold::at_once_durable) {
      value_of(own->commit());
    } else {
      value_of(own->commit_unforced());
    }
  }
  return log.tail();
}

}  // namespace swizzle::sql
