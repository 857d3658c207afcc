#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/query/bound/row_identity.h"

namespace swizzle::sql {

/// The numbers of rows that a transaction has shown as ctid (query/bound/row_identity.h), and the
/// ctids made of keys by which it has written rows. A number is never reused by any session, so
/// that a stale one never means another row.
class RowIdentities {
 public:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

  explicit RowIdentities(WorkMemory& memory);
  RowIdentities(const RowIdentities&) = delete;
  RowIdentities& operator=(const RowIdentities&) = delete;
  ~RowIdentities() = default;

  /// Returns the number of the row with this identity.
  std::int64_t identify(std::string_view row);
  /// Returns the row with the number, for the run `run`; nothing if another run has written the
  /// row. Throws 0A000 for a number of another origin.
  [[nodiscard]] std::optional<std::string_view> row_of(std::int64_t identity,
                                                       std::uint64_t run) const;
  /// Notes that the row of this number is written in `run`.
  void use_up(std::int64_t identity, std::uint64_t run);

  /// A ctid that is made of a row's key.
  struct Place {
    Oid table = kNoOid;
    std::int64_t tid = 0;
  };
  /// True if another run than `run` has written the row by that ctid.
  [[nodiscard]] bool is_written(const Place& place, std::uint64_t run) const;
  void use_up_place(const Place& place, std::uint64_t run);

  [[nodiscard]] std::size_t mark() const noexcept { return written_.size(); }
  /// Forgets the writes since the mark.
  void roll_back_to(std::size_t mark) noexcept;

 private:
  struct Identity {
    std::int64_t number = 0;
    std::string_view row;
    std::uint64_t written_in = kNobody;
  };
  [[nodiscard]] std::size_t place_of(std::int64_t identity) const;

  KeyTable places_;
  /// Identities by number: later ones are larger.
  CountedVector<Identity> identities_;
  /// Places in `place_writes_`, which has the last run that wrote each.
  KeyTable written_places_;
  CountedVector<std::uint64_t> place_writes_;
  struct Written {
    std::uint32_t at = 0;
    bool is_place = false;  ///< in `place_writes_`, not in `identities_`
  };
  CountedVector<Written> written_;
  Arena rows_;
};

const RowIdentityFunctions& row_identity_functions();

}  // namespace swizzle::sql
