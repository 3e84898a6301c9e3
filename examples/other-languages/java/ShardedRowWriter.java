import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * Calculates the column that a writer adds to a row of Amazon Keyspaces, so that readers of cdk-even-shards find the
 * row.
 *
 * <p>A config is the parsed JSON of bindWriter's environment variable. A row has values that the driver for Java
 * accepts.
 */
@SuppressWarnings("unchecked")
public final class ShardedRowWriter {
  private static final Set<String> FIELDS =
      Set.of("version", "keyspaceName", "tableName", "partitionKey", "shardColumn", "firstShard", "clusteringColumns",
          "columns", "shards", "strategy", "calculatedFrom");

  private ShardedRowWriter() {}

  /**
   * Returns the column to add. The row must have the partition key, and the columns from which a calculated shard is
   * calculated.
   */
  public static Map<String, Integer> shardColumns(Map<String, Object> config, Map<String, Object> row) {
    check(config);
    var shards = (Map<String, Object>) config.get("shards");
    var byValue = (Map<String, Object>) shards.getOrDefault("byValue", Map.of());
    String value = rowText((List<Map<String, Object>>) config.get("partitionKey"), row);
    var count = (Map<String, Number>) byValue.getOrDefault(value, shards.get("default"));
    int write = count.get("write").intValue();
    int shard = switch ((String) config.get("strategy")) {
      case "random" -> ThreadLocalRandom.current().nextInt(write);
      case "product" -> productOfCodePoints(rowText(deciding(config), row), write);
      default -> ShardedIndexWriter.calculatedShard(rowText(deciding(config), row), write);
    };
    return Map.of((String) config.get("shardColumn"), ((Number) config.get("firstShard")).intValue() + shard);
  }

  /** Calculates the shard as another program did that wrote an imported table. */
  private static int productOfCodePoints(String text, int shardCount) {
    return text.codePoints().reduce(1 % shardCount, (product, codePoint) -> (int) ((long) product * codePoint % shardCount));
  }

  /** The clustering columns from which the shard is calculated. */
  private static List<Map<String, Object>> deciding(Map<String, Object> config) {
    var columns = (List<Map<String, Object>>) config.get("clusteringColumns");
    if (!config.containsKey("calculatedFrom")) return columns;
    return ((List<String>) config.get("calculatedFrom"))
        .stream()
        .map(name -> columns.stream().filter(column -> column.get("name").equals(name)).findFirst().orElseThrow())
        .toList();
  }

  /** Throws for a setting that this writer does not support. With such a setting, readers would not find its rows. */
  private static void check(Map<String, Object> config) {
    if (((Number) config.getOrDefault("version", 1)).intValue() != 1) {
      throw new IllegalArgumentException("config.version must be 1 or absent, got " + config.get("version"));
    }
    var unknown = new HashSet<>(config.keySet());
    unknown.removeAll(FIELDS);
    if (!List.of("random", "calculated", "product").contains(config.get("strategy"))) unknown.add("strategy");
    for (String field : unknown) {
      throw new IllegalArgumentException("config." + field + " is not known: update this writer");
    }
    ShardedIndexWriter.checkFirstShard(config, null);
    ShardedIndexWriter.checkCounts((Map<String, Object>) config.get("shards"));
  }

  private static String rowText(List<Map<String, Object>> columns, Map<String, Object> row) {
    return columns.stream().map(column -> columnText(column, row.get(column.get("name")))).collect(Collectors.joining("#"));
  }

  /** Converts a value to its unique text, by the type of its column. */
  private static String columnText(Map<String, Object> column, Object value) {
    String text = textOf((String) column.get("type"), value);
    if (text != null) return text;
    String allowed = " must be given, and be of the type " + column.get("type") + ", got " + value;
    throw new IllegalArgumentException("row." + column.get("name") + allowed);
  }

  private static String textOf(String type, Object value) {
    return switch (type) {
      case "ascii" -> value instanceof String text && StandardCharsets.US_ASCII.newEncoder().canEncode(text) ? text : null;
      case "text", "varchar" -> value instanceof String text && isWhole(text) ? text : null;
      case "tinyint" -> value instanceof Byte ? value.toString() : null;
      case "smallint" -> value instanceof Short ? value.toString() : null;
      case "int" -> value instanceof Integer ? value.toString() : null;
      case "bigint" -> value instanceof Long ? value.toString() : null;
      case "varint" -> value instanceof BigInteger ? value.toString() : null;
      case "boolean" -> value instanceof Boolean ? value.toString() : null;
      case "decimal" -> value instanceof BigDecimal number ? decimalText(number) : null;
      case "double" -> value instanceof Double number ? doubleText(number) : null;
      case "float" -> value instanceof Float number ? doubleText(number) : null;
      case "blob" -> value instanceof ByteBuffer bytes ? blobText(bytes) : null;
      case "date" -> value instanceof LocalDate day ? dateText(day) : null;
      case "time" -> value instanceof LocalTime time ? timeText(time) : null;
      case "timestamp" -> value instanceof Instant time ? timestampText(time) : null;
      case "uuid" -> value instanceof UUID ? value.toString() : null;
      case "timeuuid" -> value instanceof UUID id && id.version() == 1 ? value.toString() : null;
      default -> throw new IllegalArgumentException("the type " + type + " is not known: update this writer");
    };
  }

  /** Rejects a text with half a surrogate pair, which UTF-8 cannot represent. */
  private static boolean isWhole(String text) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return true;
    } catch (CharacterCodingException half) {
      return false;
    }
  }

  private static String blobText(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    return Base64.getEncoder().encodeToString(copy);
  }

  /** Returns only digits, or digits with an exponent if the text would otherwise have more than 2,000 zeros. */
  private static String decimalText(BigDecimal given) {
    BigDecimal number = given.stripTrailingZeros();
    if (number.signum() == 0) return "0";
    long zerosBehind = -(long) number.scale();
    long zerosBefore = (long) number.scale() - number.precision();
    boolean isLong = Math.max(zerosBefore, zerosBehind) > 2_000;
    return isLong ? number.unscaledValue() + "E" + zerosBehind : number.toPlainString();
  }

  /**
   * Returns the shortest digits that represent the number exactly, in the format of JavaScript. Double.toString can
   * return more digits.
   */
  private static String doubleText(double number) {
    if (Double.isNaN(number) || Double.isInfinite(number)) return Double.toString(number);
    String minus = 1 / number < 0 || number < 0 ? "-" : "";
    if (number == 0) return minus + "0";
    BigDecimal shortest = shortest(Math.abs(number)).stripTrailingZeros();
    int point = shortest.precision() - shortest.scale();
    if (-6 < point && point <= 21) return minus + shortest.toPlainString();
    String digits = shortest.unscaledValue().toString();
    String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
    return minus + digits.charAt(0) + fraction + "e" + (point > 0 ? "+" : "-") + Math.abs(point - 1);
  }

  private static BigDecimal shortest(double number) {
    BigDecimal exact = new BigDecimal(number);
    for (int digits = 1;; digits++) {
      BigDecimal below = exact.round(new MathContext(digits, RoundingMode.DOWN));
      BigDecimal above = exact.round(new MathContext(digits, RoundingMode.UP));
      boolean isBelowNearer = exact.subtract(below).compareTo(above.subtract(exact)) <= 0;
      BigDecimal nearer = isBelowNearer ? below : above;
      BigDecimal other = isBelowNearer ? above : below;
      if (nearer.doubleValue() == number) return nearer;
      if (other.doubleValue() == number) return other;
    }
  }

  /**
   * The maximum number of days before or after 1970 that a JavaScript Date supports. Outside this range, the text of a
   * date is the number of days.
   */
  private static final long MAX_DAYS = 100_000_000;

  private static String dateText(LocalDate day) {
    if (Math.abs(day.toEpochDay()) > MAX_DAYS) return Long.toString(day.toEpochDay());
    int year = day.getYear();
    boolean isShort = 0 <= year && year <= 9999;
    String written = String.format(Locale.ROOT, isShort ? "%04d" : "%+07d", year);
    return written + String.format(Locale.ROOT, "-%02d-%02d", day.getMonthValue(), day.getDayOfMonth());
  }

  private static String timeText(LocalTime time) {
    int[] parts = {time.getHour(), time.getMinute(), time.getSecond(), time.getNano()};
    return String.format(Locale.ROOT, "%02d:%02d:%02d.%09d", parts[0], parts[1], parts[2], parts[3]);
  }

  /** Rejects a value with microseconds, because Cassandra stores whole milliseconds and drivers round differently. */
  private static String timestampText(Instant time) {
    if (time.getNano() % 1_000_000 != 0) return null;
    long milliseconds = time.toEpochMilli();
    if (Math.abs(milliseconds) > MAX_DAYS * 86_400_000) return Long.toString(milliseconds);
    var utc = time.atOffset(ZoneOffset.UTC);
    return dateText(utc.toLocalDate()) + "T" + timeText(utc.toLocalTime()).substring(0, 12) + "Z";
  }
}
