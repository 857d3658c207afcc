#include "sql-lite-frontend/session/tests/cluster/bank.h"

#include <fmt/format.h>

#include "base/invariant.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql::cluster {
namespace {

std::string numbered(char kind, std::uint64_t number) {
  return fmt::format("{}{:06}", kind, number);
}

std::string value_of_number(std::uint64_t number) {
  return fmt::format("{:010}", number);
}

std::uint64_t number_in(std::string_view text) {
  return std::stoull(std::string{text.substr(0, 10)});
}

/// Reads a number for an update; none: there is no such row.
Result<std::optional<std::uint64_t>> read(Tree& tree, Transaction& transaction,
                                          const std::string& key) {
  ValueBuffer value;
  ASSIGN_OR_RETURN(const bool is_there,
                   tree.get(transaction, as_bytes(key), value, ReadMode::for_update));
  if (!is_there) return std::optional<std::uint64_t>{};
  return std::optional{number_in(as_text(value.bytes()))};
}

Result<> change(Tree& tree, Transaction& transaction, const std::string& key,
                std::uint64_t number) {
  const std::string value = value_of_number(number);
  RETURN_IF_ERROR(tree.update(transaction, as_bytes(key), as_bytes(value)));
  return {};
}

Result<> add(Tree& tree, Transaction& transaction, const std::string& key, std::uint64_t number,
             std::size_t padding) {
  const std::string value = value_of_number(number) + std::string(padding, 'x');
  RETURN_IF_ERROR(tree.insert(transaction, as_bytes(key), as_bytes(value)));
  return {};
}

Result<> make(Tree& tree, Transaction& transaction, std::uint64_t client_number, Random& random) {
  ASSIGN_OR_RETURN(const auto count, read(tree, transaction, "count"));
  ASSIGN_OR_RETURN(const auto made, read(tree, transaction, numbered('i', client_number)));
  if (made) return {};
  const std::uint64_t next = count.value_or(0) + 1;
  RETURN_IF_ERROR(change(tree, transaction, "count", next));
  const std::size_t padding = random.one_in(6) ? random.below(900) : random.below(40);
  RETURN_IF_ERROR(add(tree, transaction, numbered('r', next), client_number, padding));
  RETURN_IF_ERROR(add(tree, transaction, numbered('i', client_number), next, 0));
  const std::string from = numbered('a', random.below(Bank::kAccounts));
  const std::string to = numbered('a', random.below(Bank::kAccounts));
  if (from == to) return {};
  ASSIGN_OR_RETURN(const auto has, read(tree, transaction, from));
  ASSIGN_OR_RETURN(const auto gets, read(tree, transaction, to));
  const std::uint64_t amount = random.below(has.value_or(0) + 1);
  RETURN_IF_ERROR(change(tree, transaction, from, has.value_or(0) - amount));
  return change(tree, transaction, to, gets.value_or(0) + amount);
}

}  // namespace

TreeId Bank::create(Engine& engine) {
  const auto transaction = engine.begin();
  const TreeId id = engine.create_tree(*transaction).value();
  Tree tree = engine.tree(id).value();
  INVARIANT(add(tree, *transaction, "count", 0, 0).has_value());
  for (std::uint64_t n = 0; n < kAccounts; ++n)
    INVARIANT(add(tree, *transaction, numbered('a', n), kEach, 0).has_value());
  INVARIANT(transaction->commit().has_value());
  return id;
}

Result<> Bank::transfer(Engine& engine, TreeId id, std::uint64_t client_number, Random& random) {
  const auto transaction = engine.begin();
  transaction->begin_statement();
  ASSIGN_OR_RETURN(Tree tree, engine.tree(id));
  auto made = make(tree, *transaction, client_number, random);
  if (!made || random.one_in(20)) {
    transaction->rollback();
    if (!made) return made;
    return fail(sqlstate::query_canceled, "rolled back");
  }
  return transaction->commit();
}

void Bank::leave_open(Engine& engine, TreeId id, Random& random, Duration length) {
  const auto transaction = engine.begin();
  transaction->begin_statement();
  auto tree = engine.tree(id);
  const std::string key = numbered('x', random.below(1000));
  if (tree && add(*tree, *transaction, key, 0, random.below(600))) {
    engine.logical_log().flush();
    Runtime::current().sleep_until(Runtime::current().now() + length);
  }
  transaction->rollback();
}

Result<Bank::Seen> Bank::look(Engine& engine, TreeId id) {
  Seen seen;
  const auto transaction = engine.begin(Isolation::repeatable_read, Access::read_only);
  ASSIGN_OR_RETURN(const Tree tree, engine.tree(id));
  {
    ASSIGN_OR_RETURN(Cursor cursor, tree.scan(*transaction, {}));
    for (;;) {
      ASSIGN_OR_RETURN(const bool is_there, cursor.next());
      if (!is_there) break;
      // Redo goes on beside readers, if it may.
      Runtime::current().yield();
      const std::string_view key = as_text(cursor.key());
      if (key[0] == 'x') return fail(sqlstate::internal_error, "a row was never committed");
      const std::uint64_t value = number_in(as_text(cursor.value()));
      if (key == "count") {
        seen.count = value;
        continue;
      }
      const std::uint64_t number = std::stoull(std::string{key.substr(1)});
      if (key[0] == 'a') seen.sum += value;
      if (key[0] == 'r') seen.rows[number] = value;
      if (key[0] == 'i') seen.made[number] = value;
    }
  }
  transaction->rollback();
  return seen;
}

std::string Bank::wrong_with(const Seen& seen) {
  if (seen.sum != kAccounts * kEach) return fmt::format("the sum is {}", seen.sum);
  if (seen.rows.size() != seen.count || seen.made.size() != seen.count)
    return fmt::format("{} commits, {} rows, {} transfers", seen.count, seen.rows.size(),
                       seen.made.size());
  std::uint64_t expected = 1;
  for (const auto& [number, client_number] : seen.rows) {
    if (number != expected++) return fmt::format("commit {} is missing", expected - 1);
    const auto found = seen.made.find(client_number);
    if (found == seen.made.end() || found->second != number)
      return fmt::format("commit {} is not what its transfer says", number);
  }
  return {};
}

}  // namespace swizzle::sql::cluster
