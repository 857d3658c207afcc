#include <algorithm>
#include <iterator>

#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

// The abbreviations of PostgreSQL's default set with their current offsets, sorted by name; for
// those with several meanings, the zone that determines the offset at a time.
constexpr ZoneAbbreviation kAbbreviations[] = {
    {"acdt", 37800, true},
    {"acsst", 37800, true},
    {"acst", 34200, false},
    {"act", -18000, false},
    {"acwst", 31500, false},
    {"adt", -10800, true},
    {"aedt", 39600, true},
    {"aesst", 39600, true},
    {"aest", 36000, false},
    {"aft", 16200, false},
    {"akdt", -28800, true},
    {"akst", -32400, false},
    {"almst", 25200, true},
    {"almt", 21600, false},
    {"amst", 14400, false, "Asia/Yerevan"},
    {"amt", -14400, false},
    {"anast", 43200, false, "Asia/Anadyr"},
    {"anat", 43200, false, "Asia/Anadyr"},
    {"arst", -10800, false, "America/Argentina/Buenos_Aires"},
    {"art", -10800, false, "America/Argentina/Buenos_Aires"},
    {"ast", -14400, false},
    {"awsst", 32400, true},
    {"awst", 28800, false},
    {"azost", 0, true},
    {"azot", -3600, false},
    {"azst", 14400, false, "Asia/Baku"},
    {"azt", 14400, false, "Asia/Baku"},
    {"bdst", 7200, true},
    {"bdt", 21600, false},
    {"bnt", 28800, false},
    {"bort", 28800, false},
    {"bot", -14400, false},
    {"bra", -10800, false},
    {"brst", -7200, true},
    {"brt", -10800, false},
    {"bst", 3600, true},
    {"btt", 21600, false},
    {"cadt", 37800, true},
    {"cast", 34200, false},
    {"cct", 28800, false},
    {"cdt", -18000, true},
    {"cest", 7200, true},
    {"cet", 3600, false},
    {"cetdst", 7200, true},
    {"chadt", 49500, true},
    {"chast", 45900, false},
    {"chut", 36000, false},
    {"ckt", -36000, false, "Pacific/Rarotonga"},
    {"clst", -10800, true},
    {"clt", -10800, true, "America/Santiago"},
    {"cot", -18000, false},
    {"cst", -21600, false},
    {"cxt", 25200, false},
    {"davt", 25200, false, "Antarctica/Davis"},
    {"ddut", 36000, false},
    {"easst", -18000, true, "Pacific/Easter"},
    {"east", -18000, true, "Pacific/Easter"},
    {"eat", 10800, false},
    {"edt", -14400, true},
    {"eest", 10800, true},
    {"eet", 7200, false},
    {"eetdst", 10800, true},
    {"egst", 0, true},
    {"egt", -3600, false},
    {"est", -18000, false},
    {"fet", 10800, false},
    {"fjst", 46800, true},
    {"fjt", 43200, false},
    {"fkst", -10800, false, "Atlantic/Stanley"},
    {"fkt", -10800, false, "Atlantic/Stanley"},
    {"fnst", -3600, true},
    {"fnt", -7200, false},
    {"galt", -21600, false},
    {"gamt", -32400, false},
    {"gest", 14400, false, "Asia/Tbilisi"},
    {"get", 14400, false, "Asia/Tbilisi"},
    {"gft", -10800, false},
    {"gilt", 43200, false},
    {"gmt", 0, false},
    {"gyt", -14400, false, "America/Guyana"},
    {"hkt", 28800, false},
    {"hst", -36000, false},
    {"ict", 25200, false},
    {"idt", 10800, true},
    {"iot", 21600, false, "Indian/Chagos"},
    {"irkst", 28800, false, "Asia/Irkutsk"},
    {"irkt", 28800, false, "Asia/Irkutsk"},
    {"irt", 12600, false},
    {"ist", 7200, false},
    {"jayt", 32400, false},
    {"jst", 32400, false},
    {"kdt", 36000, true},
    {"kgst", 21600, true},
    {"kgt", 21600, false, "Asia/Bishkek"},
    {"kost", 39600, false, "Pacific/Kosrae"},
    {"krast", 25200, false, "Asia/Krasnoyarsk"},
    {"krat", 25200, false, "Asia/Krasnoyarsk"},
    {"kst", 32400, false},
    {"lhdt", 39600, true, "Australia/Lord_Howe"},
    {"lhst", 37800, false},
    {"ligt", 36000, false},
    {"lint", 50400, false, "Pacific/Kiritimati"},
    {"lkt", 19800, false, "Asia/Colombo"},
    {"magst", 39600, false, "Asia/Magadan"},
    {"magt", 39600, false, "Asia/Magadan"},
    {"mart", -34200, false},
    {"mawt", 18000, false, "Antarctica/Mawson"},
    {"mdt", -21600, true},
    {"mest", 7200, true},
    {"mesz", 7200, true},
    {"met", 3600, false},
    {"metdst", 7200, true},
    {"mez", 3600, false},
    {"mht", 43200, false},
    {"mmt", 23400, false},
    {"mpt", 36000, false},
    {"msd", 14400, true},
    {"msk", 10800, false, "Europe/Moscow"},
    {"mst", -25200, false},
    {"must", 18000, true},
    {"mut", 14400, false},
    {"mvt", 18000, false},
    {"myt", 28800, false},
    {"ndt", -9000, true},
    {"nft", -12600, false},
    {"novst", 25200, false, "Asia/Novosibirsk"},
    {"novt", 25200, false, "Asia/Novosibirsk"},
    {"npt", 20700, false},
    {"nst", -12600, false},
    {"nut", -39600, false, "Pacific/Niue"},
    {"nzdt", 46800, true},
    {"nzst", 43200, false},
    {"nzt", 43200, false},
    {"omsst", 21600, false, "Asia/Omsk"},
    {"omst", 21600, false, "Asia/Omsk"},
    {"pdt", -25200, true},
    {"pet", -18000, false},
    {"petst", 43200, false, "Asia/Kamchatka"},
    {"pett", 43200, false, "Asia/Kamchatka"},
    {"pgt", 36000, false},
    {"pht", 28800, false},
    {"pkst", 21600, true},
    {"pkt", 18000, false},
    {"pmdt", -7200, true},
    {"pmst", -10800, false},
    {"pont", 39600, false},
    {"pst", -28800, false},
    {"pwt", 32400, false},
    {"pyst", -10800, true},
    {"pyt", -10800, false, "America/Asuncion"},
    {"ret", 14400, false},
    {"sadt", 37800, true},
    {"sast", 7200, false},
    {"sct", 14400, false},
    {"sgt", 28800, false, "Asia/Singapore"},
    {"taht", -36000, false},
    {"tft", 18000, false},
    {"tjt", 18000, false},
    {"tkt", 46800, false, "Pacific/Fakaofo"},
    {"tmt", 18000, false, "Asia/Ashgabat"},
    {"tot", 46800, false},
    {"trut", 36000, false},
    {"tvt", 43200, false},
    {"uct", 0, false},
    {"ulast", 32400, true},
    {"ulat", 28800, false, "Asia/Ulaanbaatar"},
    {"ut", 0, false},
    {"utc", 0, false},
    {"uyst", -7200, true},
    {"uyt", -10800, false},
    {"uzst", 21600, true},
    {"uzt", 18000, false},
    {"vet", -14400, false, "America/Caracas"},
    {"vlast", 36000, false, "Asia/Vladivostok"},
    {"vlat", 36000, false, "Asia/Vladivostok"},
    {"volt", 10800, false, "Europe/Volgograd"},
    {"vut", 39600, false},
    {"wadt", 28800, true},
    {"wakt", 43200, false},
    {"wast", 25200, false},
    {"wat", 3600, false},
    {"wdt", 32400, true},
    {"wet", 0, false},
    {"wetdst", 3600, true},
    {"wft", 43200, false},
    {"wgst", -7200, true},
    {"wgt", -10800, false},
    {"xjt", 21600, false},
    {"yakst", 32400, false, "Asia/Yakutsk"},
    {"yakt", 32400, false, "Asia/Yakutsk"},
    {"yapt", 36000, false},
    {"yekst", 21600, true},
    {"yekt", 18000, false, "Asia/Yekaterinburg"},
    {"z", 0, false},
    {"zulu", 0, false},
};
static_assert(std::ranges::is_sorted(kAbbreviations, {}, &ZoneAbbreviation::name));

}  // namespace

std::int32_t ZoneAbbreviation::at_utc(std::int64_t timestamp) const {
  const auto known = zone.empty() ? nullptr : TimeZone::find(zone);
  if (!known) return seconds_east;
  return known->meaning_of(name, timestamp).value_or(known->at_utc(timestamp).seconds_east);
}

std::int32_t ZoneAbbreviation::at_local(std::int64_t local) const {
  const auto known = zone.empty() ? nullptr : TimeZone::find(zone);
  if (!known) return seconds_east;
  constexpr std::int64_t kMicros = 1'000'000;
  return at_utc(local - known->at_local(local).seconds_east * kMicros);
}

std::span<const ZoneAbbreviation> zone_abbreviations() noexcept {
  return kAbbreviations;
}

const ZoneAbbreviation* find_zone_abbreviation(std::string_view name) noexcept {
  char lower[8];
  if (name.size() > sizeof lower) return nullptr;
  std::ranges::transform(name, lower, to_lower);
  const std::string_view key{lower, name.size()};
  const auto* found = std::ranges::lower_bound(kAbbreviations, key, {}, &ZoneAbbreviation::name);
  return found != std::end(kAbbreviations) && found->name == key ? found : nullptr;
}

std::optional<ZoneAbbreviation> find_zone_abbreviation(const TimeZone& session,
                                                       std::string_view name) noexcept {
  if (auto found = session.abbreviation(name)) return found;
  const ZoneAbbreviation* const found = find_zone_abbreviation(name);
  return found == nullptr ? std::nullopt : std::optional{*found};
}

}  // namespace swizzle::sql
