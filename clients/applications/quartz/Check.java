// A cluster of schedulers that keep jobs and triggers in the database, and lock it to take turns.
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.quartz.CronScheduleBuilder;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.PersistJobDataAfterExecution;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;

public class Check extends Steps {
  static final ConcurrentLinkedQueue<String> done = new ConcurrentLinkedQueue<>();

  public static class Note implements Job {
    public void execute(JobExecutionContext context) {
      done.add(context.getMergedJobDataMap().getString("note"));
    }
  }

  @DisallowConcurrentExecution
  @PersistJobDataAfterExecution
  public static class Count implements Job {
    public void execute(JobExecutionContext context) {
      JobDataMap data = context.getJobDetail().getJobDataMap();
      data.put("count", data.getInt("count") + 1);
    }
  }

  static Scheduler scheduler(String id) throws Exception {
    Properties properties = new Properties();
    String[][] all = {
        {"org.quartz.scheduler.instanceName", "check"}, {"org.quartz.scheduler.instanceId", id},
        {"org.quartz.scheduler.idleWaitTime", "1000"}, {"org.quartz.threadPool.threadCount", "4"},
        {"org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX"},
        {"org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate"},
        {"org.quartz.jobStore.isClustered", "true"}, {"org.quartz.jobStore.clusterCheckinInterval", "500"},
        {"org.quartz.jobStore.dataSource", id}, {"org.quartz.dataSource." + id + ".provider", "hikaricp"},
        {"org.quartz.dataSource." + id + ".driver", "org.postgresql.Driver"}, {"org.quartz.dataSource." + id + ".URL", url()},
        {"org.quartz.dataSource." + id + ".user", System.getenv("PGUSER")}, {"org.quartz.dataSource." + id + ".password", System.getenv("PGPASSWORD")},
        {"org.quartz.dataSource." + id + ".maxConnections", "6"}};
    for (String[] one : all) properties.setProperty(one[0], one[1]);
    Scheduler made = new StdSchedulerFactory(properties).getScheduler();
    // Otherwise the second of the name would be the first.
    org.quartz.impl.SchedulerRepository.getInstance().remove("check");
    return made;
  }

  public static void main(String[] arguments) throws Exception {
    step("tables", () -> {
      try (var script = Check.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_postgres.sql");
          var connection = java.sql.DriverManager.getConnection(url(), System.getenv("PGUSER"), System.getenv("PGPASSWORD"))) {
        connection.createStatement().execute(new String(script.readAllBytes()));
      }
    });
    Scheduler one = scheduler("one");
    step("start", one::start);
    step("jobs", () -> {
      for (int i = 0; i < 20; ++i) {
        one.scheduleJob(JobBuilder.newJob(Note.class).withIdentity("note " + i, "notes").usingJobData("note", "n" + i).build(),
            TriggerBuilder.newTrigger().startNow().build());
      }
      until(15, () -> done.size() == 20);
    });
    step("data that a job keeps", () -> {
      var job = JobBuilder.newJob(Count.class).withIdentity("count").usingJobData("count", 0).storeDurably().build();
      one.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity("often")
          .withSchedule(SimpleScheduleBuilder.repeatSecondlyForTotalCount(3, 1)).startNow().build());
      until(15, () -> one.getJobDetail(JobKey.jobKey("count")).getJobDataMap().getInt("count") == 3);
    });
    Scheduler two = scheduler("two");
    step("a second one takes over", () -> {
      one.addJob(JobBuilder.newJob(Note.class).withIdentity("late").usingJobData("note", "late").storeDurably().requestRecovery().build(), false);
      one.scheduleJob(TriggerBuilder.newTrigger().forJob("late").startAt(new java.util.Date(System.currentTimeMillis() + 4000)).build());
      two.start();
      one.shutdown(true);
      until(15, () -> done.contains("late"));
    });
    step("a calendar's times", () -> {
      two.scheduleJob(TriggerBuilder.newTrigger().withIdentity("nightly").forJob("late")
          .withSchedule(CronScheduleBuilder.dailyAtHourAndMinute(3, 0)).build());
      two.pauseTrigger(TriggerKey.triggerKey("nightly"));
      expect(two.getTriggerState(TriggerKey.triggerKey("nightly")), "PAUSED");
      two.resumeTrigger(TriggerKey.triggerKey("nightly"));
      expect(two.getTriggerState(TriggerKey.triggerKey("nightly")), "NORMAL");
    });
    step("clear", () -> {
      expect(two.getJobKeys(GroupMatcher.anyJobGroup()).size(), 2);
      two.clear();
      expect(two.getJobKeys(GroupMatcher.anyJobGroup()).size(), 0);
      two.shutdown(true);
    });
    System.exit(0);
  }
}
