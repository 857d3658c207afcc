#pragma once

#include <memory>
#include <optional>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/command_progress.h"

namespace swizzle::sql {

/// Origin of the data of COPY FROM: the client, a file or a program.
class CopySource {
 public:
  CopySource() = default;
  CopySource(const CopySource&) = delete;
  CopySource& operator=(const CopySource&) = delete;
  virtual ~CopySource() = default;

  virtual void begin(const CopyDescription& description) = 0;
  /// Returns the next piece, cut anywhere and valid until the next call; none at the end.
  virtual std::optional<Bytes> next() = 0;
  /// True if all data must be read, even those after the mark that ends them.
  [[nodiscard]] virtual bool must_be_read_out() const noexcept = 0;
  /// Throws if the program has failed.
  virtual void finish() = 0;
};

/// Destination of the data of COPY TO.
class CopyTarget {
 public:
  CopyTarget() = default;
  CopyTarget(const CopyTarget&) = delete;
  CopyTarget& operator=(const CopyTarget&) = delete;
  virtual ~CopyTarget() = default;

  virtual void begin(const CopyDescription& description) = 0;
  /// Takes a row, or what is before or after all.
  virtual void write(Bytes data) = 0;
  /// Throws if the data cannot be written, or the program has failed.
  virtual void finish() = 0;
};

/// Refuses COPY from or to files and programs to roles without the right, with 42501.
void require_copy_allowed(const Session::State& session, const ast::CopyStmt& copy);

/// Tells the kind of the other end.
void tell_kind(const ast::CopyStmt& copy, CommandProgress& progress) noexcept;

/// Opens the file or starts the program.
std::unique_ptr<CopySource> open_copy_source(Session::State& session, const ast::CopyStmt& copy,
                                             ResultSink& sink, CommandProgress& progress);
std::unique_ptr<CopyTarget> open_copy_target(Session::State& session, const ast::CopyStmt& copy,
                                             ResultSink& sink);

}  // namespace swizzle::sql
