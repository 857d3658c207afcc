import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Properties;

/**
 * Debezium's engine as scripts/change-events starts it: SETTINGS-FILE EVENTS-FILE. Appends each event
 * to the file as a line, `destination TAB key TAB value` in JSON, and tells the engine that it has it
 * only then. Runs until it is killed, or its connector gives up.
 */
public final class Events {
  public static void main(String[] arguments) throws Exception {
    Properties settings = new Properties();
    try (var in = Files.newInputStream(Path.of(arguments[0]))) {
      settings.load(in);
    }
    try (BufferedWriter out = Files.newBufferedWriter(
            Path.of(arguments[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      // The program before this one may have been killed within a line.
      out.write('\n');
      DebeziumEngine<ChangeEvent<String, String>> engine =
          DebeziumEngine.create(Json.class)
              .using(settings)
              .using((success, message, error) -> {
                System.err.println("engine ended: " + message);
                if (error != null) error.printStackTrace();
              })
              .notifying((records, committer) -> take(records, committer, out))
              .build();
      engine.run();
    }
    System.exit(1);
  }

  private static void take(
      List<ChangeEvent<String, String>> records,
      DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer,
      BufferedWriter out)
      throws InterruptedException {
    try {
      for (ChangeEvent<String, String> record : records) {
        out.write(record.destination() + '\t' + record.key() + '\t' + record.value() + '\n');
      }
      out.flush();
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
    for (ChangeEvent<String, String> record : records) committer.markProcessed(record);
    committer.markBatchFinished();
  }
}
