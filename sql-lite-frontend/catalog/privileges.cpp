#include "sql-lite-frontend/catalog/privileges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDependentPrivileges{"2BP01"};

constexpr std::array kNames = std::to_array<PrivilegeName>({
    {privilege::kInsert, 'a', "INSERT"},
    {privilege::kSelect, 'r', "SELECT"},
    {privilege::kUpdate, 'w', "UPDATE"},
    {privilege::kDelete, 'd', "DELETE"},
    {privilege::kTruncate, 'D', "TRUNCATE"},
    {privilege::kReferences, 'x', "REFERENCES"},
    {privilege::kTrigger, 't', "TRIGGER"},
    {privilege::kExecute, 'X', "EXECUTE"},
    {privilege::kUsage, 'U', "USAGE"},
    {privilege::kCreate, 'C', "CREATE"},
    {privilege::kTemporary, 'T', "TEMPORARY"},
    {privilege::kConnect, 'c', "CONNECT"},
    {privilege::kMaintain, 'm', "MAINTAIN"},
});

bool contains(std::span<const Oid> roles, Oid role) noexcept {
  return std::ranges::find(roles, role) != roles.end();
}

AccessList::Entry entry_of(const Grant& grant) {
  AccessList::Entry entry{grant.grantee, grant.grantor, 0, 0};
  Privileges last = 0;
  for (const char letter : grant.privileges) {
    if (letter == '*') {
      entry.options |= last;
      continue;
    }
    const auto found = std::ranges::find(kNames, letter, &PrivilegeName::letter);
    last = found == kNames.end() ? 0 : found->bit;
    entry.privileges |= last;
  }
  return entry;
}

/// Returns the rights that pg_read_all_data and pg_write_all_data give.
Privileges given_by_roles(GrantedOn kind, std::span<const Oid> roles) noexcept {
  using namespace privilege;
  const bool reads = contains(roles, kReadAllDataRole);
  const bool writes = contains(roles, kWriteAllDataRole);
  if (kind == GrantedOn::schema) return reads || writes ? kUsage : 0;
  if (kind != GrantedOn::table && kind != GrantedOn::sequence) return 0;
  const bool maintains = kind == GrantedOn::table && contains(roles, kMaintainRole);
  return (maintains ? kMaintain : 0) | (reads ? kSelect : 0) |
         (writes ? kInsert | kUpdate | kDelete : 0);
}

Grant grant_of(const AccessList::Entry& entry) {
  Grant grant{entry.grantee, entry.grantor, {}};
  for (const PrivilegeName& name : kNames) {
    if ((entry.privileges & name.bit) == 0) continue;
    grant.privileges += name.letter;
    if ((entry.options & name.bit) != 0) grant.privileges += '*';
  }
  return grant;
}

}  // namespace

std::span<const PrivilegeName> privilege_names() {
  return kNames;
}

std::optional<Privileges> find_privilege(std::string_view name) {
  std::string upper{name};
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  if (upper == "TEMP") return privilege::kTemporary;
  const auto found = std::ranges::find(kNames, upper, &PrivilegeName::name);
  if (found == kNames.end()) return std::nullopt;
  return found->bit;
}

std::string list_privileges(Privileges privileges) {
  std::string text;
  for (const PrivilegeName& name : kNames) {
    if ((privileges & name.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += name.name;
  }
  return text;
}

void give_owner_maintain(std::vector<Grant>& grants, Oid owner) {
  const Privileges others = all_privileges(GrantedOn::table) & ~privilege::kMaintain;
  for (Grant& grant : grants) {
    if (grant.grantee != owner || grant.grantor != owner) continue;
    const AccessList::Entry entry = entry_of(grant);
    if (entry.privileges != others) continue;
    grant.privileges += entry.options == others ? "m*" : "m";
  }
}

Privileges all_privileges(GrantedOn kind) noexcept {
  using namespace privilege;
  switch (kind) {
    case GrantedOn::table:
      return kInsert | kSelect | kUpdate | kDelete | kTruncate | kReferences | kTrigger | kMaintain;
    case GrantedOn::column:
      return kInsert | kSelect | kUpdate | kReferences;
    case GrantedOn::sequence:
      return kSelect | kUpdate | kUsage;
    case GrantedOn::schema:
      return kUsage | kCreate;
    case GrantedOn::database:
      return kCreate | kTemporary | kConnect;
    case GrantedOn::function:
      return kExecute;
    case GrantedOn::type:
      return kUsage;
    case GrantedOn::large_object:
      return kSelect | kUpdate;
  }
  return 0;
}

Privileges everyone_on_schema(Oid schema) noexcept {
  const bool open =
      schema == kPublicSchema || schema == kPgCatalogSchema || schema == kInformationSchema;
  return open ? privilege::kUsage : 0;
}

AccessList::AccessList(const std::vector<Grant>& grants, Oid owner, GrantedOn kind,
                       Privileges everyone)
    : owner_(owner), kind_(kind) {
  for (const Grant& grant : grants) entries_.push_back(entry_of(grant));
  // A column without grants gives no rights: only the table's list applies.
  if (!grants.empty() || kind == GrantedOn::column) return;
  if (everyone != 0) entries_.push_back({kPublic, owner, everyone, 0});
  entries_.push_back({owner, owner, all_privileges(kind), 0});
}

AccessList AccessList::exactly(const std::vector<Grant>& grants, Oid owner) {
  AccessList list{owner};
  for (const Grant& grant : grants) list.entries_.push_back(entry_of(grant));
  return list;
}

bool AccessList::is_usual(GrantedOn kind, Privileges everyone) const {
  const AccessList usual{{}, owner_, kind, everyone};
  return std::ranges::is_permutation(entries_, usual.entries_);
}

Privileges AccessList::allowed(std::span<const Oid> roles) const noexcept {
  Privileges found = 0;
  for (const Entry& entry : entries_) {
    if (contains(roles, entry.grantee)) found |= entry.privileges;
  }
  return kind_ ? found | given_by_roles(*kind_, roles) : found;
}

Privileges AccessList::grantable(std::span<const Oid> roles) const noexcept {
  if (contains(roles, owner_)) return ~Privileges{0};
  Privileges found = 0;
  for (const Entry& entry : entries_) {
    if (entry.grantee != kPublic && contains(roles, entry.grantee)) found |= entry.options;
  }
  return found;
}

Privileges AccessList::grantable_by(Oid role) const {
  return grantable(roles_of_ ? roles_of_(role) : std::vector{role});
}

AccessList::Grantor AccessList::grantor_for(Oid role, std::span<const Oid> roles,
                                            Privileges wanted) const noexcept {
  Grantor best{role, 0};
  for (const Oid one : roles) {
    if (one == kPublic) continue;
    const Privileges may = grantable({&one, 1}) & wanted;
    if (std::popcount(may) > std::popcount(best.may)) best = {one, may};
  }
  return best;
}

void AccessList::add(const AccessList& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

void AccessList::grant(Oid grantee, Oid grantor, Privileges privileges, GrantOption option) {
  if (privileges == 0) return;
  if (option == GrantOption::with) refuse_circle(grantee, grantor, privileges);
  const auto same = [&](const Entry& entry) {
    return entry.grantee == grantee && entry.grantor == grantor;
  };
  auto entry = std::ranges::find_if(entries_, same);
  if (entry == entries_.end()) entry = entries_.insert(entry, {grantee, grantor, 0, 0});
  entry->privileges |= privileges;
  if (option == GrantOption::with) entry->options |= privileges;
}

/// Throws if a grant option would depend on itself through its grantees. Computes which rights the
/// grantor would have left if the grantee had no options.
void AccessList::refuse_circle(Oid grantee, Oid grantor, Privileges privileges) const {
  if (grantor == owner_) return;
  AccessList without = *this;
  for (bool again = true; again;) {
    again = false;
    for (const Entry& entry : without.entries_) {
      if (entry.grantee != grantee || entry.options == 0) continue;
      without.revoke(grantee, entry.grantor, entry.options, Revoked::option, Dependents::revoke);
      again = true;
      break;
    }
  }
  if ((privileges & ~without.grantable_by(grantor)) == 0) return;
  throw SqlError{sqlstate::invalid_grant_operation,
                 "grant options cannot be granted back to your own grantor"};
}

void AccessList::revoke(Oid grantee, Oid grantor, Privileges privileges, Revoked what,
                        Dependents dependents) {
  // A work list, not recursion: grants may be passed on in chains of thousands.
  std::vector<Entry> pending{
      {grantee, grantor, what == Revoked::privileges ? privileges : 0, privileges}};
  while (!pending.empty()) {
    const Entry taken = pending.back();
    pending.pop_back();
    yield_point(entries_.size());
    Privileges lost = 0;
    for (Entry& entry : entries_) {
      if (entry.grantee != taken.grantee || entry.grantor != taken.grantor) continue;
      lost |= entry.options & taken.options;
      entry.options &= ~taken.options;
      entry.privileges &= ~taken.privileges;
    }
    // The grantee may have the same option from another grantor.
    if (lost != 0) lost &= ~grantable_by(taken.grantee);
    if (lost == 0) continue;
    for (const Entry& entry : entries_) {
      const Privileges passed_on = entry.privileges & lost;
      if (entry.grantor != taken.grantee || passed_on == 0) continue;
      if (dependents == Dependents::refuse) {
        throw SqlError{kDependentPrivileges, "dependent privileges exist"}.with_hint(
            "Use CASCADE to revoke them too.");
      }
      pending.push_back({entry.grantee, entry.grantor, passed_on, passed_on});
    }
  }
  std::erase_if(entries_, [](const Entry& entry) { return entry.privileges == 0; });
}

bool AccessList::forget(std::span<const Oid> roles) {
  const auto is_theirs = [&](const Entry& entry) {
    return contains(roles, entry.grantee) || contains(roles, entry.grantor);
  };
  bool found = false;
  for (auto entry = std::ranges::find_if(entries_, is_theirs); entry != entries_.end();
       entry = std::ranges::find_if(entries_, is_theirs)) {
    const Entry taken = *entry;
    revoke(taken.grantee, taken.grantor, ~Privileges{0}, Revoked::privileges, Dependents::revoke);
    found = true;
  }
  return found;
}

void AccessList::change_owner(Oid owner) {
  const Oid before = std::exchange(owner_, owner);
  std::vector<Entry> entries;
  for (Entry entry : std::exchange(entries_, {})) {
    if (entry.grantor == before) entry.grantor = owner;
    if (entry.grantee == before) entry.grantee = owner;
    // Merge with grants that the new owner already has.
    const auto known = std::ranges::find_if(entries, [&](const Entry& other) {
      return other.grantee == entry.grantee && other.grantor == entry.grantor;
    });
    if (known == entries.end()) {
      entries.push_back(entry);
    } else {
      known->privileges |= entry.privileges;
      known->options |= entry.options;
    }
  }
  entries_ = std::move(entries);
}

std::vector<Grant> AccessList::grants() const {
  std::vector<Grant> grants;
  for (const Entry& entry : entries_) grants.push_back(grant_of(entry));
  // Keep one empty entry: an empty list would mean the built-in default grants.
  if (grants.empty()) grants.push_back({owner_, owner_, {}});
  return grants;
}

}  // namespace swizzle::sql
