#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"

/// Access control: the rules of GRANT over an object's list of grants.
namespace swizzle::sql {

/// A set of rights, one bit each, in the order in which an aclitem shows their letters.
using Privileges = std::uint32_t;

namespace privilege {
inline constexpr Privileges kInsert = 1U << 0U;
inline constexpr Privileges kSelect = 1U << 1U;
inline constexpr Privileges kUpdate = 1U << 2U;
inline constexpr Privileges kDelete = 1U << 3U;
inline constexpr Privileges kTruncate = 1U << 4U;
inline constexpr Privileges kReferences = 1U << 5U;
inline constexpr Privileges kTrigger = 1U << 6U;
inline constexpr Privileges kExecute = 1U << 7U;
inline constexpr Privileges kUsage = 1U << 8U;
inline constexpr Privileges kCreate = 1U << 9U;
inline constexpr Privileges kTemporary = 1U << 10U;
inline constexpr Privileges kConnect = 1U << 11U;
inline constexpr Privileges kMaintain = 1U << 12U;
}  // namespace privilege

struct PrivilegeName {
  Privileges bit;
  char letter;
  std::string_view name;  ///< as GRANT has it: "INSERT"
};
std::span<const PrivilegeName> privilege_names();
/// Returns the privilege of that name, in any case; nothing if there is none.
std::optional<Privileges> find_privilege(std::string_view name);
/// "INSERT, SELECT"
std::string list_privileges(Privileges privileges);

enum class GrantedOn : std::uint8_t {
  table,
  column,
  sequence,
  schema,
  database,
  function,
  type,
  large_object,
};
/// Everything that can be granted on such an object.
Privileges all_privileges(GrantedOn kind) noexcept;

/// Rights of PUBLIC on schemas and databases without grants.
Privileges everyone_on_schema(Oid schema) noexcept;
inline constexpr Privileges kEveryoneOnDatabase = privilege::kTemporary | privilege::kConnect;
inline constexpr Privileges kEveryoneOnFunction = privilege::kExecute;
inline constexpr Privileges kEveryoneOnType = privilege::kUsage;

/// The same for what else PUBLIC usually may, whatever the object.
constexpr Privileges everyone_on(GrantedOn kind) noexcept {
  if (kind == GrantedOn::type) return kEveryoneOnType;
  return kind == GrantedOn::function ? kEveryoneOnFunction : 0;
}

/// Gives MAINTAIN to a table's owner that has all other rights, as stored grants of before format
/// 21 say it, which did not know MAINTAIN.
void give_owner_maintain(std::vector<Grant>& grants, Oid owner);

/// Number of PUBLIC.
inline constexpr Oid kPublic = kNoOid;

/// The grants on one object. Without any, the owner has all rights and PUBLIC the usual ones.
class AccessList {
 public:
  enum class GrantOption : std::uint8_t { without, with };
  /// Takes back the rights, or only the option to grant them on.
  enum class Revoked : std::uint8_t { privileges, option };
  enum class Dependents : std::uint8_t { refuse, revoke };

  /// `everyone`: what PUBLIC has as long as nothing has been granted or revoked.
  AccessList(const std::vector<Grant>& grants, Oid owner, GrantedOn kind, Privileges everyone = 0);

  /// No more than `grants`, also where there are none.
  static AccessList exactly(const std::vector<Grant>& grants, Oid owner);

  /// Returns the rights of a user that is a member of all `roles`.
  [[nodiscard]] Privileges allowed(std::span<const Oid> roles) const noexcept;
  /// Returns the privileges that such a user may grant to others: an owner, all.
  [[nodiscard]] Privileges grantable(std::span<const Oid> roles) const noexcept;
  struct Grantor {
    Oid role = kNoOid;
    Privileges may = 0;  ///< of what it is asked for
  };
  /// Returns the role that counts as grantor when a user that is `role` and a member of all `roles`
  /// grants or revokes: the first that may grant the most of `wanted`. Grant options of several
  /// roles do not add up, because each grant depends on the option of one role.
  [[nodiscard]] Grantor grantor_for(Oid role, std::span<const Oid> roles,
                                    Privileges wanted) const noexcept;

  void grant(Oid grantee, Oid grantor, Privileges privileges, GrantOption option);
  /// Throws 2BP01 if privileges of other roles depend on a grant option that `grantee` loses,
  /// unless `dependents` says to revoke them too.
  void revoke(Oid grantee, Oid grantor, Privileges privileges, Revoked what, Dependents dependents);
  /// Sets the function that returns the roles whose rights a role has. With it, a grant option that
  /// a role has through a membership counts when options would be lost or form a circle. Without
  /// it, only a role's own options count.
  using RolesOf = std::function<std::vector<Oid>(Oid)>;
  void set_memberships(RolesOf roles_of) { roles_of_ = std::move(roles_of); }
  /// Adds what `other` has, a table's rights to those on one of its columns.
  void add(const AccessList& other);
  /// Removes the privileges that the roles hold or have granted, and the privileges of others that
  /// depend on them. Returns whether there were any.
  bool forget(std::span<const Oid> roles);
  /// Transfers the privileges that the old owner held and granted to the new one.
  void change_owner(Oid owner);

  [[nodiscard]] Oid owner() const noexcept { return owner_; }
  [[nodiscard]] std::vector<Grant> grants() const;
  /// True if the list is as if nothing had been granted or revoked.
  [[nodiscard]] bool is_usual(GrantedOn kind, Privileges everyone = 0) const;

  struct Entry {
    Oid grantee = kNoOid;
    Oid grantor = kNoOid;
    Privileges privileges = 0;
    Privileges options = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }

 private:
  explicit AccessList(Oid owner) : owner_(owner) {}
  void refuse_circle(Oid grantee, Oid grantor, Privileges privileges) const;
  [[nodiscard]] Privileges grantable_by(Oid role) const;

  std::vector<Entry> entries_;
  Oid owner_;
  RolesOf roles_of_;
  std::optional<GrantedOn> kind_;  ///< none: no object's list, but one to be
};

}  // namespace swizzle::sql
