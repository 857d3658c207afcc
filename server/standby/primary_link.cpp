#include "server/standby/primary_link.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <charconv>

namespace swizzle::server {
namespace {

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char letter : name) {
    if (letter == '"') text += letter;
    text += letter;
  }
  return text + '"';
}

std::string position_text(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

/// Reads an LSN as the protocol writes it: two hexadecimal numbers with a slash between. Returns
/// nothing for any other text.
Lsn parse_position(std::string_view text) noexcept {
  constexpr int kHexadecimal = 16;
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, high, kHexadecimal);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '/') return Lsn::none;
  const auto second = std::from_chars(first.ptr + 1, end, low, kHexadecimal);
  if (second.ec != std::errc{}) return Lsn::none;
  return Lsn{(std::uint64_t{high} << 32U) | low};
}

/// Drops a word by which Patroni asks a newer libpq for what an older one, which does not know it,
/// does anyway.
std::string without_unknown_default(std::string conninfo) {
  constexpr std::string_view kName = "sslnegotiation";
  constexpr std::string_view kWord = "sslnegotiation=postgres";
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> known{::PQconndefaults(),
                                                                             ::PQconninfoFree};
  for (const PQconninfoOption* option = known.get();
       option != nullptr && option->keyword != nullptr; ++option)
    if (option->keyword == kName) return conninfo;
  const std::size_t at = conninfo.find(kWord);
  if (at == std::string::npos) return conninfo;
  const std::size_t end = at + kWord.size();
  const bool is_word =
      (at == 0 || conninfo[at - 1] == ' ') && (end == conninfo.size() || conninfo[end] == ' ');
  if (is_word) conninfo.erase(at, kWord.size());
  return conninfo;
}

}  // namespace

Result<std::unique_ptr<PrimaryLink>> PrimaryLink::connect(const std::string& conninfo,
                                                          const LinkInterrupt& interrupt) {
  auto link = ReplicationLink::connect({{"dbname", without_unknown_default(conninfo)},
                                        {"replication", "true"},
                                        {"fallback_application_name", "walreceiver"},
                                        {"options", ""}},
                                       interrupt, "the primary");
  if (!link) {
    return fail(link.error().state(),
                fmt::format("could not connect to the primary server: {}", link.error().message()));
  }
  return std::unique_ptr<PrimaryLink>{new PrimaryLink{*std::move(link)}};
}

Result<PrimaryLink::System> PrimaryLink::identify() {
  ASSIGN_OR_RETURN(const ReplicationLink::Answer answer,
                   link_->run("IDENTIFY_SYSTEM", PGRES_TUPLES_OK));
  System system;
  const std::string_view id = ::PQgetvalue(answer.get(), 0, 0);
  const std::string_view timeline = ::PQgetvalue(answer.get(), 0, 1);
  std::from_chars(id.data(), id.data() + id.size(), system.id);
  std::from_chars(timeline.data(), timeline.data() + timeline.size(), system.timeline);
  system.durable = parse_position(::PQgetvalue(answer.get(), 0, 2));
  return system;
}

Result<std::string> PrimaryLink::history(std::uint32_t timeline) {
  if (timeline == 1) return std::string{};
  ASSIGN_OR_RETURN(const ReplicationLink::Answer answer,
                   link_->run(fmt::format("TIMELINE_HISTORY {}", timeline), PGRES_TUPLES_OK));
  return std::string{::PQgetvalue(answer.get(), 0, 1),
                     static_cast<std::size_t>(::PQgetlength(answer.get(), 0, 1))};
}

Result<> PrimaryLink::create_slot(const std::string& name) {
  RETURN_IF_ERROR(
      link_->run(fmt::format("CREATE_REPLICATION_SLOT {} PHYSICAL RESERVE_WAL", quoted_name(name)),
                 PGRES_TUPLES_OK));
  return {};
}

Result<> PrimaryLink::start_log(const std::string& slot, Lsn from, std::uint32_t timeline) {
  const std::string with =
      slot.empty() ? std::string{} : fmt::format("SLOT {} ", quoted_name(slot));
  RETURN_IF_ERROR(link_->run(fmt::format("START_REPLICATION {}PHYSICAL {} TIMELINE {}", with,
                                         position_text(from), timeline),
                             PGRES_COPY_BOTH));
  return {};
}

Result<> PrimaryLink::start_base_copy() {
  RETURN_IF_ERROR(link_->run("BASE_COPY", PGRES_COPY_OUT));
  return {};
}

Result<> PrimaryLink::tell_page_lsns(std::uint64_t first_page, std::span<const Lsn> lsns) {
  std::string digits;
  for (const Lsn lsn : lsns) digits += fmt::format("{:016x}", raw(lsn));
  RETURN_IF_ERROR(
      link_->run(fmt::format("PAGE_LSNS {} '{}'", first_page, digits), PGRES_COMMAND_OK));
  return {};
}

}  // namespace swizzle::server
