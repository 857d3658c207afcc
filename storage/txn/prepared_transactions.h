#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/engine.h"

namespace swizzle {

struct TransactionState;

/// The prepared transactions, which belong to no session. Thread-safe; nothing parks.
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

  /// Reserves an entry, busy until put(). 42710 when the identifier is taken, 53200 when there are
  /// `most` already.
  Result<Entry*> reserve(PreparedTransaction transaction,
                         std::size_t most = Transaction::kAnyNumber);
  /// Makes the transaction wait from now on.
  void put(Entry& entry, std::unique_ptr<TransactionState> state);
  /// 42704, 55000.
  Result<std::unique_ptr<TransactionState>> take(std::string_view gid);
  /// Removes a transaction that is finished, or was not prepared after all.
  void forget(Entry& entry) noexcept;

  [[nodiscard]] std::vector<PreparedTransaction> list() const;
  [[nodiscard]] std::size_t count() const;
  /// Empty: no prepared transaction has that number.
  [[nodiscard]] std::string gid_of(TxnId id) const;
  /// True if a waiting one has dropped the tree.
  [[nodiscard]] bool has_dropped(TreeId tree) const;
  /// Releases their memory when the engine stops, as in a crash: they stay in the log.
  void abandon() noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace swizzle
