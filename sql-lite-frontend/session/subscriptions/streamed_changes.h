#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/execution/rows/temporary_files.h"

namespace swizzle::sql {

/// Messages of a publisher's transaction that has not ended, in their order: the last ones in
/// memory, those before in a temporary file. Of one thread.
class StreamedChanges {
 public:
  StreamedChanges(TemporaryFiles& files, std::uint32_t transaction) noexcept
      : files_(files), transaction_(transaction) {}

  /// Adds a message of a subtransaction, or of the transaction itself.
  void add(std::uint32_t subtransaction, char kind, Bytes rest);
  /// Removes what has come since the first message of the subtransaction, which has rolled back:
  /// all of that is its own, or of subtransactions within it.
  void take_back(std::uint32_t subtransaction);
  /// Calls `visit` with each message. The bytes are valid until it returns.
  void replay(const std::function<void(Bytes)>& visit);

 private:
  void write_out();

  TemporaryFiles& files_;
  const std::uint32_t transaction_;
  std::unique_ptr<TemporaryFile> file_;
  std::uint64_t in_file_ = 0;  ///< bytes
  std::string tail_;           ///< behind them
  /// Subtransactions, and the position of the first message of each.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> begins_;
};

}  // namespace swizzle::sql
