#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// Indexes that are built and dropped beside readers and writers: CONCURRENTLY.
///
/// Such a statement consists of several transactions. Each commits a state of the index
/// (IndexState) and goes on when nobody uses the table by a definition of before. If the statement
/// fails, the index stays in the last state, which costs readers nothing and is correct for
/// writers.
namespace swizzle::sql {

/// An index by its numbers, since names may mean others after a commit.
struct IndexPlace {
  Oid table = kNoOid;
  Oid index = kNoOid;
};

/// Commits what the statement has done so far, and goes on in a new transaction, which has locked
/// the table against other changes of its definition. Returns its newest definition.
TablePtr commit_and_lock(StatementContext& session, Oid table);

/// Throws 25001 inside a routine that is not within a block.
void prevent_in_routine(const StatementContext& session, std::string_view command);

/// Commits what the statement has done so far, and gives the index, which is `delete_only`, an
/// entry for each row. Returns the table's newest definition, in which the caller makes the index
/// valid. 23505 if rows repeat a key. After an error the index is `delete_only` again.
enum class BesideWriters : std::uint8_t {
  create = 2,
  reindex = 4
};  ///< pg_stat_progress_create_index
TablePtr build_beside_writers(StatementContext& session, IndexPlace place, BesideWriters command);

/// Notes in `table` that older snapshots must not read the index, which is complete now. Call
/// before its definition says that it is valid.
void note_complete(StatementContext& session, const Table& table, Oid index);

/// Commits what the statement has done so far, and drops the index, which is not valid any more.
/// Its last part is committed by the caller.
void drop_beside_users(StatementContext& session, IndexPlace place);

}  // namespace swizzle::sql
