// An engine of processes: its schema, tasks of people, jobs that it takes and tries again, workers, messages, history.
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.camunda.bpm.engine.OptimisticLockingException;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.ProcessEngineConfiguration;
import org.camunda.bpm.engine.delegate.DelegateExecution;
import org.camunda.bpm.engine.delegate.JavaDelegate;
import org.camunda.bpm.engine.externaltask.LockedExternalTask;
import org.camunda.bpm.engine.impl.cfg.ProcessEngineConfigurationImpl;
import org.camunda.bpm.engine.task.Task;
import org.camunda.bpm.model.bpmn.Bpmn;

public class Check extends Steps {
  static final ConcurrentLinkedQueue<Object> done = new ConcurrentLinkedQueue<>();
  static final AtomicInteger tries = new AtomicInteger();

  public static class Note implements JavaDelegate {
    public void execute(DelegateExecution execution) {
      done.add(execution.getVariable("n"));
    }
  }

  public static class Stumble implements JavaDelegate {
    public void execute(DelegateExecution execution) {
      if (execution.hasVariable("always") || tries.incrementAndGet() < 2) throw new IllegalStateException("meant");
    }
  }

  static ProcessEngine engine;

  static ProcessEngineConfigurationImpl configuration(String update) {
    var made = (ProcessEngineConfigurationImpl) ProcessEngineConfiguration.createStandaloneProcessEngineConfiguration();
    made.setJdbcUrl(url());
    made.setJdbcDriver("org.postgresql.Driver");
    made.setJdbcUsername(System.getenv("PGUSER"));
    made.setJdbcPassword(System.getenv("PGPASSWORD"));
    made.setDatabaseSchemaUpdate(update);
    made.setHistory(ProcessEngineConfiguration.HISTORY_FULL);
    made.setJobExecutorActivate(true);
    made.setEnforceHistoryTimeToLive(false);
    made.setInitializeTelemetry(false);
    return made;
  }

  public static void main(String[] arguments) throws Exception {
    step("schema", () -> engine = configuration("true").buildProcessEngine());
    step("schema is known", () -> {
      engine.close();
      engine = configuration("true").buildProcessEngine();
      expect(engine.getManagementService().getTableCount().containsKey("ACT_RU_EXECUTION"), true);
    });
    var repository = engine.getRepositoryService();
    var runtime = engine.getRuntimeService();
    var tasks = engine.getTaskService();
    var history = engine.getHistoryService();
    var management = engine.getManagementService();
    step("deployments", () -> {
      var order = Bpmn.createExecutableProcess("order").startEvent().userTask("approve").camundaCandidateGroups("clerks")
          .exclusiveGateway().condition("yes", "${approved}").serviceTask("ship").camundaAsyncBefore().camundaClass(Note.class.getName())
          .endEvent().moveToLastGateway().condition("no", "${!approved}").endEvent("refused").done();
      var many = Bpmn.createExecutableProcess("many").startEvent().parallelGateway("fork").serviceTask("left").camundaAsyncBefore()
          .camundaClass(Note.class.getName()).parallelGateway("join").endEvent().moveToNode("fork").serviceTask("right").camundaAsyncBefore()
          .camundaClass(Note.class.getName()).connectTo("join").done();
      var stumble = Bpmn.createExecutableProcess("stumble").startEvent().serviceTask().camundaAsyncBefore()
          .camundaFailedJobRetryTimeCycle("R2/PT0S").camundaClass(Stumble.class.getName()).endEvent().done();
      var wait = Bpmn.createExecutableProcess("wait").startEvent().intermediateCatchEvent().message("paid").intermediateCatchEvent()
          .timerWithDuration("PT1S").serviceTask().camundaClass(Note.class.getName()).endEvent().done();
      var outside = Bpmn.createExecutableProcess("outside").startEvent().serviceTask().camundaExternalTask("weave").endEvent().done();
      repository.createDeployment().name("check").addModelInstance("order.bpmn", order).addModelInstance("many.bpmn", many)
          .addModelInstance("stumble.bpmn", stumble).addModelInstance("wait.bpmn", wait).addModelInstance("outside.bpmn", outside).deploy();
      repository.createDeployment().name("check").enableDuplicateFiltering(true).addModelInstance("order.bpmn", order)
          .addModelInstance("many.bpmn", many).deploy();
      expect(repository.createProcessDefinitionQuery().latestVersion().count(), 5);
    });
    step("tasks of people", () -> {
      for (int n = 0; n < 20; ++n) runtime.startProcessInstanceByKey("order", "key " + n, Map.of("n", n, "who", "Customer " + n % 4));
      var query = tasks.createTaskQuery().taskCandidateGroup("clerks").processVariableValueEquals("who", "Customer 2");
      expect(query.count(), 5);
      List<Task> page = query.orderByProcessVariable("n", org.camunda.bpm.engine.variable.type.ValueType.INTEGER).desc().listPage(1, 2);
      expect(page.stream().map(one -> runtime.getVariable(one.getExecutionId(), "n")).toList(), "[14, 10]");
      tasks.claim(page.get(0).getId(), "ada");
      expect(tasks.createTaskQuery().taskAssignee("ada").count(), 1);
      for (Task one : tasks.createTaskQuery().list()) {
        int n = (Integer) runtime.getVariable(one.getExecutionId(), "n");
        tasks.complete(one.getId(), Map.of("approved", n % 2 == 0));
      }
      until(30, () -> done.size() == 10);
      until(30, () -> history.createHistoricProcessInstanceQuery().processDefinitionKey("order").finished().count() == 20);
      expect(history.createHistoricActivityInstanceQuery().activityId("refused").count(), 10);
      expect(history.createHistoricVariableInstanceQuery().variableValueEquals("n", 7).count(), 1);
    });
    step("jobs side by side", () -> {
      done.clear();
      for (int n = 0; n < 25; ++n) runtime.startProcessInstanceByKey("many", Map.of("n", n));
      until(30, () -> runtime.createProcessInstanceQuery().processDefinitionKey("many").count() == 0);
      if (done.size() < 50) throw new AssertionError("only " + done.size());
    });
    step("a retry, and an incident", () -> {
      runtime.startProcessInstanceByKey("stumble");
      until(30, () -> runtime.createProcessInstanceQuery().processDefinitionKey("stumble").count() == 0);
      expect(tries.get(), 2);
      runtime.startProcessInstanceByKey("stumble", Map.of("always", true));
      until(30, () -> runtime.createIncidentQuery().count() == 1);
      var job = management.createJobQuery().noRetriesLeft().singleResult();
      if (!management.getJobExceptionStacktrace(job.getId()).contains("meant")) throw new AssertionError("no trace");
      runtime.removeVariable(job.getExecutionId(), "always");
      management.setJobRetries(job.getId(), 1);
      until(30, () -> runtime.createIncidentQuery().count() == 0);
    });
    step("messages and timers", () -> {
      done.clear();
      for (int n = 0; n < 3; ++n) runtime.startProcessInstanceByKey("wait", "wait " + n, Map.of("n", n));
      runtime.createMessageCorrelation("paid").processInstanceBusinessKey("wait 1").correlate();
      runtime.createMessageCorrelation("paid").processInstanceVariableEquals("n", 2).correlate();
      until(30, () -> done.size() == 2);
      expect(runtime.createEventSubscriptionQuery().eventType("message").count(), 1);
    });
    step("workers outside", () -> {
      for (int n = 0; n < 40; ++n) runtime.startProcessInstanceByKey("outside", Map.of("n", n));
      var external = engine.getExternalTaskService();
      var seen = new ConcurrentHashMap<String, String>();
      var twice = new AtomicInteger();
      List<Thread> workers = new ArrayList<>();
      for (String name : List.of("one", "two", "three")) {
        workers.add(new Thread(() -> {
          while (seen.size() < 40) {
            try {
              for (LockedExternalTask one : external.fetchAndLock(5, name, true).topic("weave", 60000).variables("n").execute()) {
                if (seen.put(one.getId(), name) != null) twice.incrementAndGet();
                external.complete(one.getId(), name);
              }
            } catch (OptimisticLockingException other) {
              // Another has it.
            }
          }
        }));
      }
      for (Thread worker : workers) worker.start();
      for (Thread worker : workers) worker.join(30000);
      expect(seen.size() + " " + twice.get(), "40 0");
      expect(runtime.createProcessInstanceQuery().processDefinitionKey("outside").count(), 0);
    });
    step("a change that another has made", () -> {
      var instance = runtime.startProcessInstanceByKey("order", Map.of("n", 1));
      var task = tasks.createTaskQuery().processInstanceId(instance.getId()).singleResult();
      var commands = ((ProcessEngineConfigurationImpl) engine.getProcessEngineConfiguration()).getCommandExecutorTxRequired();
      try {
        commands.execute(context -> {
          var read = context.getTaskManager().findTaskById(task.getId());
          var other = new Thread(() -> tasks.setPriority(task.getId(), 7));
          other.start();
          try {
            other.join();
          } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
          }
          read.setPriority(8);
          return null;
        });
        throw new AssertionError("both changed it");
      } catch (OptimisticLockingException right) {
        expect(tasks.createTaskQuery().taskId(task.getId()).singleResult().getPriority(), 7);
      }
    });
    step("reports and a batch", () -> {
      var report = history.createHistoricProcessInstanceReport().processDefinitionKeyIn("order").duration(
          org.camunda.bpm.engine.query.PeriodUnit.MONTH);
      if (report.isEmpty()) throw new AssertionError("no report");
      expect(history.createHistoricTaskInstanceReport().countByTaskName().size(), 1);
      var finished = history.createHistoricProcessInstanceQuery().finished();
      history.deleteHistoricProcessInstancesAsync(finished, "meant");
      // The engine looks after a batch every 30 s.
      until(100, () -> finished.count() == 0 && management.createBatchQuery().count() == 0);
    });
    step("drop and create", () -> {
      for (var one : repository.createDeploymentQuery().list()) repository.deleteDeployment(one.getId(), true);
      expect(runtime.createExecutionQuery().count() + history.createHistoricActivityInstanceQuery().count(), 0);
      engine.close();
      configuration("drop-create").buildProcessEngine().close();
    });
    System.exit(0);
  }
}
