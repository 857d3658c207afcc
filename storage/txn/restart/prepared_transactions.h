#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/engine.h"

namespace swizzle {

struct TransactionState;

/// The prepared transactions, which belong to no session. Thread-safe; no function parks.
class PreparedTransactions {
 public:
  struct Entry {
    PreparedTransaction shown;
    std::unique_ptr<TransactionState> state;  ///< null while it is being prepared, or finished
  };

  PreparedTransactions();
  PreparedTransactions(const PreparedTransactions&) = delete;
  PreparedTransactions& operator=(const PreparedTransactions&) = delete;
  ~PreparedTransactions();

  /// Reserves an entry, which is busy until put(). 42710 when the identifier is taken, 53200 when
  /// there are `most` already.
  Result<Entry*> reserve(PreparedTransaction transaction,
                         std::size_t most = Transaction::kAnyNumber);
  /// Puts the state into its entry: from now on the transaction can be finished.
  void put(Entry& entry, std::unique_ptr<TransactionState> state);
  /// Takes the state out of its entry. 42704 for an unknown identifier, 55000 for a busy entry.
  Result<std::unique_ptr<TransactionState>> take(std::string_view gid);
  /// Removes a transaction that is finished, or was not prepared after all.
  void forget(Entry& entry) noexcept;

  [[nodiscard]] std::vector<PreparedTransaction> list() const;
  [[nodiscard]] std::size_t count() const;
  /// Returns the identifier of a prepared transaction; empty if none has that number.
  [[nodiscard]] std::string gid_of(TxnId id) const;
  /// Returns true if a prepared transaction that is not busy has dropped the tree.
  [[nodiscard]] bool has_dropped(TreeId tree) const;
  /// Returns the trees that prepared transactions which are not busy have created.
  [[nodiscard]] std::set<TreeId> created_trees() const;
  /// Releases their memory when the engine stops, as in a crash: they stay prepared in the log.
  void abandon() noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace swizzle
