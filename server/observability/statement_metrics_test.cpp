#include "server/observability/statement_metrics.h"

#include <catch2/catch.hpp>
#include <thread>

#include "server/observability/metric_families.h"
#include "sql-lite-frontend/statement/testing/statement_samples.h"

using namespace swizzle;
using namespace swizzle::server;
using namespace std::chrono_literals;

TEST_CASE("statements are told apart by their tags", "[observability]") {
  CHECK(kind_of_tag("SELECT 3") == StatementKind::select);
  CHECK(kind_of_tag("INSERT 0 1") == StatementKind::insert);
  CHECK(kind_of_tag("DELETE 0") == StatementKind::remove);
  CHECK(kind_of_tag("START TRANSACTION") == StatementKind::begin);
  CHECK(kind_of_tag("CREATE TABLE") == StatementKind::definition);
  CHECK(kind_of_tag("DROP INDEX") == StatementKind::definition);
  CHECK(kind_of_tag("SET") == StatementKind::other);
  CHECK(kind_of_tag("") == StatementKind::other);
}

TEST_CASE("statements that define something count as definitions, whatever their tag",
          "[observability]") {
  for (const sql::StatementSample& sample : sql::kStatementSamples) {
    INFO(sample.tag);
    // It ends with the tag of its query.
    if (sample.tag == "SELECT INTO") continue;
    CHECK((kind_of_tag(sample.tag) == StatementKind::definition) ==
          (sample.writes || sample.tag == "ALTER SYSTEM"));
  }
}

TEST_CASE("what threads count apart is summed up", "[observability]") {
  StatementMetrics metrics;
  metrics.share_of_this_thread().note(StatementKind::select, 7us);
  std::thread other([&] {
    metrics.share_of_this_thread().note(StatementKind::select, 1s);
    metrics.share_of_this_thread().note_error(SqlState{"40001"});
    metrics.share_of_this_thread().note_error(SqlState{"HV000"});
  });
  other.join();
  CHECK(&metrics.share_of_this_thread() == &metrics.share_of_this_thread());
  const StatementMetrics::Totals totals = metrics.totals();
  CHECK(totals.latencies[0].total() == 2);
  CHECK(totals.latencies[0].sum_ns == 1'000'007'000);
  CHECK(totals.latencies[1].total() == 0);
  CHECK(totals.errors[9] == 1);
  CHECK(totals.errors.back() == 1);
}

TEST_CASE("a histogram's steps add up, and its last is everything", "[observability]") {
  DurationHistogram histogram;
  for (const Duration each : {Duration{3us}, Duration{5us}, Duration{6us}, Duration{1h}}) {
    histogram.record(each);
  }
  MetricFamilies families;
  families.histogram("h", "help", histogram.counts());
  const auto all = families.take();
  REQUIRE(all.size() == 1);
  const auto& shown = all[0].metric.at(0).histogram;
  CHECK(shown.bucket[0].cumulative_count == 2);  // up to and with 5 µs
  CHECK(shown.bucket[1].cumulative_count == 3);
  CHECK(shown.bucket.back().cumulative_count == 4);
  CHECK(shown.sample_count == 4);
  CHECK(shown.sample_sum == Approx(3600.000014));
}

TEST_CASE("values of one name are one family, also with others between them", "[observability]") {
  MetricFamilies families;
  families.counter("a", "help", 1, {{"of", "x"}});
  families.gauge("b", "help", 3);
  families.counter("a", "help", 2, {{"of", "y"}});
  const auto all = families.take();
  REQUIRE(all.size() == 2);
  CHECK(all[0].metric.size() == 2);
  CHECK(all[0].metric[1].label[0].value == "y");
}
