// An engine of processes: its schema, two engines that share jobs, tasks of people, dead letters, messages and timers,
// workers outside, processes that move to a newer definition, history and its deletion by batches.
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.flowable.common.engine.api.FlowableException;
import org.flowable.common.engine.api.FlowableOptimisticLockingException;
import org.flowable.engine.ProcessEngine;
import org.flowable.engine.delegate.DelegateExecution;
import org.flowable.engine.delegate.JavaDelegate;
import org.flowable.engine.impl.cfg.ProcessEngineConfigurationImpl;
import org.flowable.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.flowable.engine.impl.util.CommandContextUtil;
import org.flowable.task.api.Task;

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

  static ProcessEngineConfigurationImpl configuration(String name, String update) {
    var made = new StandaloneProcessEngineConfiguration();
    made.setEngineName(name);
    made.setJdbcUrl(url());
    made.setJdbcDriver("org.postgresql.Driver");
    made.setJdbcUsername(System.getenv("PGUSER"));
    made.setJdbcPassword(System.getenv("PGPASSWORD"));
    made.setDatabaseSchemaUpdate(update);
    made.setHistory("full");
    made.setAsyncExecutorActivate(true);
    made.setAsyncExecutorDefaultAsyncJobAcquireWaitTime(100);
    made.setAsyncExecutorDefaultTimerJobAcquireWaitTime(100);
    made.setAsyncFailedJobWaitTime(1);
    return made;
  }

  static String process(String id, String body) {
    return "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' xmlns:flowable='http://flowable.org/bpmn' "
        + "targetNamespace='check'><message id='paid' name='paid'/><process id='" + id + "'>" + body + "</process></definitions>";
  }

  // Nodes in a row.
  static String row(String... nodes) {
    var made = new StringBuilder();
    for (int i = 0; i < nodes.length; ++i) {
      made.append(nodes[i].replaceFirst("^<(\\w+)", "<$1 id='n" + i + "'"));
      if (i > 0) made.append(flow("n" + (i - 1), "n" + i, ""));
    }
    return made.toString();
  }

  static String flow(String from, String to, String condition) {
    return "<sequenceFlow id='f_" + from + "_" + to + "' sourceRef='" + from + "' targetRef='" + to + "'>"
        + (condition.isEmpty() ? "" : "<conditionExpression>" + condition + "</conditionExpression>") + "</sequenceFlow>";
  }

  static String call(String kind) {
    return "<serviceTask flowable:async='true' flowable:class='Check$" + kind + "'/>";
  }

  static ProcessEngine engine, second;

  public static void main(String[] arguments) throws Exception {
    step("schema", () -> engine = configuration("one", "true").buildProcessEngine());
    step("a second engine", () -> {
      second = configuration("two", "false").buildProcessEngine();
      expect(second.getManagementService().getTableCount().containsKey("ACT_RU_EXECUTION"), true);
    });
    var repository = engine.getRepositoryService();
    var runtime = engine.getRuntimeService();
    var tasks = engine.getTaskService();
    var history = engine.getHistoryService();
    var management = engine.getManagementService();
    step("deployments", () -> {
      var order = process("order", "<startEvent id='start'/><userTask id='approve' name='Approve' flowable:candidateGroups='clerks'/>"
          + "<exclusiveGateway id='which'/>" + call("Note").replace("<serviceTask", "<serviceTask id='ship'")
          + "<endEvent id='shipped'/><endEvent id='refused'/>" + flow("start", "approve", "") + flow("approve", "which", "")
          + flow("which", "ship", "${approved}") + flow("which", "refused", "${!approved}") + flow("ship", "shipped", ""));
      var many = process("many", "<startEvent id='start'/><parallelGateway id='fork'/><parallelGateway id='join'/><endEvent id='end'/>"
          + call("Note").replace("<serviceTask", "<serviceTask id='left'") + call("Note").replace("<serviceTask", "<serviceTask id='right'")
          + flow("start", "fork", "") + flow("fork", "left", "") + flow("fork", "right", "") + flow("left", "join", "")
          + flow("right", "join", "") + flow("join", "end", ""));
      var stumble = process("stumble", row("<startEvent/>", call("Stumble"), "<endEvent/>"));
      var wait = process("wait", row("<startEvent/>", "<intermediateCatchEvent><messageEventDefinition messageRef='paid'/></intermediateCatchEvent>",
          "<intermediateCatchEvent><timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition></intermediateCatchEvent>",
          call("Note"), "<endEvent/>"));
      var outside = process("outside", row("<startEvent/>", "<serviceTask flowable:type='external-worker' flowable:topic='weave'/>", "<endEvent/>"));
      var everyone = process("everyone", row("<startEvent/>",
          "<userTask flowable:assignee='${who}'><multiInstanceLoopCharacteristics isSequential='true' flowable:collection='people' flowable:elementVariable='who'/></userTask>",
          "<endEvent/>"));
      repository.createDeployment().name("check").addString("order.bpmn20.xml", order).addString("many.bpmn20.xml", many)
          .addString("stumble.bpmn20.xml", stumble).addString("wait.bpmn20.xml", wait).addString("outside.bpmn20.xml", outside)
          .addString("everyone.bpmn20.xml", everyone).deploy();
      repository.createDeployment().name("check").enableDuplicateFiltering().addString("order.bpmn20.xml", order)
          .addString("many.bpmn20.xml", many).addString("stumble.bpmn20.xml", stumble).addString("wait.bpmn20.xml", wait)
          .addString("outside.bpmn20.xml", outside).addString("everyone.bpmn20.xml", everyone).deploy();
      expect(repository.createDeploymentQuery().count() + " " + repository.createProcessDefinitionQuery().count(), "1 6");
      try {
        repository.createDeployment().addString("bad.bpmn20.xml", process("bad", "<startEvent id='a'/>" + flow("a", "nowhere", ""))).deploy();
        throw new AssertionError("a flow to nowhere");
      } catch (org.flowable.bpmn.exceptions.XMLException right) {
        expect(repository.createDeploymentQuery().count(), 1);
      }
    });
    step("tasks of people", () -> {
      for (int n = 0; n < 20; ++n) {
        runtime.startProcessInstanceByKey("order", "key " + n, new HashMap<>(Map.of("n", n, "who", "Customer " + n % 4, "text", "x".repeat(n * 400))));
      }
      var query = tasks.createTaskQuery().taskCandidateGroup("clerks").processVariableValueEquals("who", "Customer 2");
      expect(query.count(), 5);
      List<Task> page = query.includeProcessVariables().orderByTaskCreateTime().asc().listPage(1, 2);
      expect(page.stream().map(one -> one.getProcessVariables().get("n")).toList(), "[6, 10]");
      expect(tasks.createTaskQuery().or().processInstanceBusinessKey("key 3").processVariableValueLike("who", "%omer 1").endOr().count(), 6);
      expect(tasks.createTaskQuery().processVariableValueGreaterThan("n", 17).count(), 2);
      tasks.claim(page.get(0).getId(), "ada");
      try {
        tasks.claim(page.get(0).getId(), "bo");
        throw new AssertionError("claimed twice");
      } catch (FlowableException right) {
        expect(tasks.createTaskQuery().taskAssignee("ada").count(), 1);
      }
      tasks.addComment(page.get(0).getId(), page.get(0).getProcessInstanceId(), "looks good");
      tasks.createAttachment("text", page.get(0).getId(), null, "proof", "", new java.io.ByteArrayInputStream(new byte[100_000]));
      for (Task one : tasks.createTaskQuery().includeProcessVariables().list()) {
        tasks.complete(one.getId(), Map.of("approved", (Integer) one.getProcessVariables().get("n") % 2 == 0));
      }
      until(30, () -> done.size() == 10);
      until(30, () -> history.createHistoricProcessInstanceQuery().processDefinitionKey("order").finished().count() == 20);
      expect(history.createHistoricActivityInstanceQuery().activityId("refused").count(), 10);
      expect(history.createHistoricVariableInstanceQuery().variableValueEquals("n", 7).count(), 1);
      var long_text = history.createHistoricProcessInstanceQuery().processInstanceBusinessKey("key 19").includeProcessVariables().singleResult();
      expect(((String) long_text.getProcessVariables().get("text")).length(), 19 * 400);
    });
    step("jobs that two engines share", () -> {
      done.clear();
      for (int n = 0; n < 25; ++n) runtime.startProcessInstanceByKey("many", Map.of("n", n));
      until(60, () -> runtime.createProcessInstanceQuery().processDefinitionKey("many").count() == 0);
      if (done.size() < 50) throw new AssertionError("only " + done.size());
    });
    step("a retry, and a dead letter", () -> {
      runtime.startProcessInstanceByKey("stumble");
      until(30, () -> runtime.createProcessInstanceQuery().processDefinitionKey("stumble").count() == 0);
      expect(tries.get(), 2);
      var instance = runtime.startProcessInstanceByKey("stumble", Map.of("always", true));
      until(60, () -> management.createDeadLetterJobQuery().count() == 1);
      var job = management.createDeadLetterJobQuery().withException().singleResult();
      if (!management.getDeadLetterJobExceptionStacktrace(job.getId()).contains("meant")) throw new AssertionError("no trace");
      runtime.removeVariable(instance.getId(), "always");
      management.moveDeadLetterJobToExecutableJob(job.getId(), 1);
      until(30, () -> runtime.createProcessInstanceQuery().processDefinitionKey("stumble").count() == 0);
    });
    step("messages and timers", () -> {
      done.clear();
      for (int n = 0; n < 3; ++n) runtime.startProcessInstanceByKey("wait", "wait " + n, Map.of("n", n));
      for (int n = 1; n < 3; ++n) {
        var execution = runtime.createExecutionQuery().messageEventSubscriptionName("paid").processVariableValueEquals("n", n).singleResult();
        runtime.messageEventReceived("paid", execution.getId(), Map.of("sum", 10.5));
      }
      until(30, () -> done.size() == 2);
      expect(runtime.createEventSubscriptionQuery().eventType("message").count(), 1);
    });
    step("a task for each in turn", () -> {
      runtime.startProcessInstanceByKey("everyone", Map.of("people", List.of("ada", "bo", "cy")));
      for (String name : List.of("ada", "bo", "cy")) tasks.complete(tasks.createTaskQuery().taskAssignee(name).singleResult().getId());
      expect(runtime.createProcessInstanceQuery().processDefinitionKey("everyone").count(), 0);
    });
    step("workers outside", () -> {
      for (int n = 0; n < 40; ++n) runtime.startProcessInstanceByKey("outside", Map.of("n", n));
      var seen = new ConcurrentHashMap<String, String>();
      var twice = new AtomicInteger();
      List<Thread> workers = new ArrayList<>();
      for (String name : List.of("one", "two", "three")) {
        var at = name.equals("two") ? second.getManagementService() : management;
        workers.add(new Thread(() -> {
          for (int round = 0; seen.size() < 40 && round < 1000; ++round) {
            try {
              for (var one : at.createExternalWorkerJobAcquireBuilder().topic("weave", Duration.ofMinutes(5)).acquireAndLock(5, name)) {
                if (seen.put(one.getId(), name) != null) twice.incrementAndGet();
                at.createExternalWorkerCompletionBuilder(one.getId(), name).variable("woven", true).complete();
              }
            } catch (FlowableOptimisticLockingException other) {
              // Another has it.
            }
          }
        }));
      }
      for (Thread worker : workers) worker.start();
      for (Thread worker : workers) worker.join(30000);
      expect(seen.size() + " " + twice.get(), "40 0");
      until(30, () -> runtime.createProcessInstanceQuery().processDefinitionKey("outside").count() == 0);
    });
    step("a change that another has made", () -> {
      var instance = runtime.startProcessInstanceByKey("order", Map.of("n", 1));
      var task = tasks.createTaskQuery().processInstanceId(instance.getId()).singleResult();
      try {
        management.executeCommand(context -> {
          var read = CommandContextUtil.getTaskService().getTask(task.getId());
          var other = new Thread(() -> second.getTaskService().setPriority(task.getId(), 7));
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
      } catch (FlowableOptimisticLockingException right) {
        expect(tasks.createTaskQuery().taskId(task.getId()).singleResult().getPriority(), 7);
      }
    });
    step("a newer definition", () -> {
      var newer = process("order", row("<startEvent/>", "<userTask name='Look'/>", "<userTask name='Sign'/>", "<endEvent/>"));
      repository.createDeployment().addString("order.bpmn20.xml", newer).deploy();
      var instance = runtime.createProcessInstanceQuery().processDefinitionKey("order").singleResult();
      var target = repository.createProcessDefinitionQuery().processDefinitionKey("order").latestVersion().singleResult();
      expect(target.getVersion(), 2);
      engine.getProcessMigrationService().createProcessInstanceMigrationBuilder().migrateToProcessDefinition(target.getId())
          .addActivityMigrationMapping(org.flowable.engine.migration.ActivityMigrationMapping.createMappingFor("approve", "n2"))
          .migrate(instance.getId());
      var task = tasks.createTaskQuery().processInstanceId(instance.getId()).singleResult();
      expect(task.getName(), "Sign");
      tasks.complete(task.getId());
      expect(history.createHistoricProcessInstanceQuery().processInstanceId(instance.getId()).finished().count(), 1);
    });
    step("history and its deletion", () -> {
      var slow = history.createNativeHistoricActivityInstanceQuery().sql("SELECT * FROM " + management.getTableName(
          org.flowable.engine.history.HistoricActivityInstance.class) + " WHERE act_type_ = #{kind} ORDER BY start_time_, id_")
          .parameter("kind", "userTask");
      expect(slow.list().size(), 24);
      expect(slow.listPage(20, 10).size(), 4);
      var finished = history.createHistoricProcessInstanceQuery().finished();
      if (finished.count() < 70) throw new AssertionError("only " + finished.count());
      finished.deleteSequentiallyUsingBatch(15, "meant");
      until(60, () -> history.createHistoricProcessInstanceQuery().finished().count() == 0);
      expect(history.createHistoricVariableInstanceQuery().variableName("approved").count(), 0);
      for (var batch : management.createBatchQuery().list()) management.deleteBatch(batch.getId());
    });
    step("drop and create", () -> {
      for (var one : repository.createDeploymentQuery().list()) repository.deleteDeployment(one.getId(), true);
      expect(runtime.createExecutionQuery().count() + history.createHistoricActivityInstanceQuery().count(), 0);
      second.close();
      engine.close();
      configuration("one", "drop-create").buildProcessEngine().close();
    });
    System.exit(0);
  }
}
