import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;

/**
 * How far the engine is, in a file that is replaced as a whole: the library's own is written in place, and is
 * empty where the program is killed meanwhile, so that the engine begins with a snapshot again.
 */
public final class WholeOffsets extends MemoryOffsetBackingStore {
  private Path path;

  @Override
  public void configure(WorkerConfig config) {
    super.configure(config);
    path = Path.of(config.originalsStrings().get("offset.storage.file.filename"));
  }

  @Override
  public synchronized void start() {
    super.start();
    if (!Files.exists(path)) return;
    try {
      for (String line : Files.readAllLines(path)) {
        String[] words = line.split(" ", 2);
        data.put(decoded(words[0]), decoded(words[1]));
      }
    } catch (IOException error) {
      throw new ConnectException(error);
    }
  }

  @Override
  protected void save() {
    StringBuilder text = new StringBuilder();
    data.forEach((key, value) -> text.append(encoded(key)).append(' ').append(encoded(value)).append('\n'));
    Path unfinished = Path.of(path + ".new");
    try {
      Files.writeString(unfinished, text, StandardCharsets.US_ASCII);
      Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException error) {
      throw new ConnectException(error);
    }
  }

  @Override
  public Set<Map<String, Object>> connectorPartitions(String connector) {
    return Set.of();
  }

  private static String encoded(ByteBuffer bytes) {
    return bytes == null ? "" : Base64.getEncoder().encodeToString(bytes.array());
  }

  private static ByteBuffer decoded(String text) {
    return text.isEmpty() ? null : ByteBuffer.wrap(Base64.getDecoder().decode(text));
  }
}
