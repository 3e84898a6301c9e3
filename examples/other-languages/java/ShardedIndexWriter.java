import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * Calculates the attributes that a writer adds to an item, so that readers of cdk-even-shards find the item. Also
 * calculates the key of a single item for a reader.
 *
 * <p>A config is the parsed JSON of bindWriter's or bindReader's environment variable. An item has texts, numbers, and
 * byte arrays by name.
 */
@SuppressWarnings("unchecked")
public final class ShardedIndexWriter {
  private static final Set<String> FIELDS =
      Set.of("version", "tableName", "tableKey", "keyLayout", "valueAttribute", "shardAttribute", "sortKeyAttributes",
          "shards", "strategy", "firstShard", "separator", "shardWidth", "shardPlacement");
  private static final Set<String> INDEX_FIELDS = Set.of("indexName", "sparse", "longestWriteSeconds");

  private ShardedIndexWriter() {}

  /**
   * Returns the attributes to add: the attributes of an index, or the partition key of a table that is sharded by its
   * own key.
   */
  public static Map<String, Object> shardAttributes(Map<String, Object> config, Map<String, Object> item) {
    var added = shardAttributesOfUpdate(config, item);
    boolean isChecked = config.containsKey("indexName") && !Boolean.TRUE.equals(config.get("sparse"));
    if (isChecked && !added.isEmpty()) checkSortKey(config, item);
    return added;
  }

  /**
   * Returns the attributes to add to an update that sets the value. The item has the table key and the value, and need
   * not have the sort key of the index.
   */
  public static Map<String, Object> shardAttributesOfUpdate(Map<String, Object> config, Map<String, Object> item) {
    check(config);
    boolean isTable = !config.containsKey("indexName");
    String value = null;
    if (config.containsKey("valueAttribute")) {
      Object given = item.get(config.get("valueAttribute"));
      if (given == null && !isTable) return Map.of(); // an item without the value is not in the index
      value = valueText(config, given);
    }
    int count = countOf(config, value).get("write").intValue();
    int shard = config.get("strategy").equals("random")
        ? ThreadLocalRandom.current().nextInt(count)
        : calculatedShard(itemText((List<String>) config.get(isTable ? "shardedBy" : "tableKey"), item), count);
    return Map.of((String) config.get("shardAttribute"), placeOf(config, value, shard));
  }

  /** Throws for an item that DynamoDB would leave out of the index without an error. */
  private static void checkSortKey(Map<String, Object> config, Map<String, Object> item) {
    for (String name : (List<String>) config.get("sortKeyAttributes")) {
      String text = keyText(item.get(name));
      if (text != null && !text.isEmpty()) continue;
      throw new IllegalArgumentException(name + " must be a text, a number or binary that is not empty: index "
          + config.get("indexName") + " contains no item without it, got " + item.get(name));
    }
  }

  /**
   * Returns all possible keys of an item of a table. The key that writers use is the first. There are several keys
   * only while the shard count of the table changes.
   *
   * @param key the sort key, and the attributes of shardedBy
   */
  public static List<Map<String, Object>> shardKeys(Map<String, Object> config, Object value, Map<String, Object> key) {
    check(config);
    if (config.containsKey("indexName") || config.get("strategy").equals("random")) {
      throw new IllegalArgumentException(
          "config.strategy must be calculated, and config.indexName absent, to know the key of an item");
    }
    var tableKey = (List<String>) config.get("tableKey");
    String text = valueText(config, value);
    String decides = itemText((List<String>) config.get("shardedBy"), key);
    itemText(tableKey.subList(1, 2), key);
    Map<String, Number> count = countOf(config, text);
    int write = count.get("write").intValue();
    int ofWriters = calculatedShard(decides, write);
    var others = new TreeSet<Integer>();
    for (int shards = count.getOrDefault("since", write).intValue(); shards <= count.get("read").intValue(); shards++) {
      others.add(calculatedShard(decides, shards));
    }
    others.remove(ofWriters);
    var places = new ArrayList<>(List.of(ofWriters));
    places.addAll(others);
    return places.stream()
        .map(shard -> Map.of(tableKey.get(0), placeOf(config, text, shard), tableKey.get(1), key.get(tableKey.get(1))))
        .toList();
  }

  /** Jump consistent hash (Lamping and Veach, 2014) of the first 8 bytes of the MD5 of the id. */
  public static int calculatedShard(String id, int shardCount) {
    long state = ByteBuffer.wrap(md5(id.getBytes(StandardCharsets.UTF_8))).getLong();
    int bucket = 0;
    long following = 0;
    while (following < shardCount) {
      bucket = (int) following;
      state = state * 2862933555777941757L + 1; // modulo 2^64, as Java multiplies
      following = (long) ((bucket + 1) * ((double) (1L << 31) / ((state >>> 33) + 1)));
    }
    return bucket;
  }

  /** Returns the value of the shard attribute: a number, or a text with the value and the shard. */
  private static Object placeOf(Map<String, Object> config, String value, int shard) {
    int number = ((Number) config.getOrDefault("firstShard", 0)).intValue() + shard;
    if (config.get("keyLayout").equals("multi-attribute") || value == null) return number;
    int width = ((Number) config.getOrDefault("shardWidth", 1)).intValue();
    String digits = String.format(Locale.ROOT, "%0" + width + "d", number);
    Object separator = config.getOrDefault("separator", "#");
    return "prefix".equals(config.get("shardPlacement")) ? digits + separator + value : value + separator + digits;
  }

  /** Returns the number of shards of a value for writers and for readers. */
  private static Map<String, Number> countOf(Map<String, Object> config, String value) {
    var shards = (Map<String, Object>) config.get("shards");
    var byValue = (Map<String, Object>) shards.get("byValue");
    boolean isNamed = byValue != null && value != null && byValue.containsKey(value);
    return (Map<String, Number>) (isNamed ? byValue.get(value) : shards.get("default"));
  }

  /** Throws for a setting that this writer does not support. With such a setting, readers would not find its items. */
  private static void check(Map<String, Object> config) {
    if (((Number) config.getOrDefault("version", 1)).intValue() != 1) {
      throw new IllegalArgumentException("config.version must be 1 or absent, got " + config.get("version"));
    }
    var fields = new HashMap<>(config);
    fields.keySet().removeAll(FIELDS);
    fields.keySet().removeAll(config.containsKey("indexName") ? INDEX_FIELDS : Set.of("shardedBy"));
    if (!fields.isEmpty()) throw unknown(fields.keySet().iterator().next(), "");
    checkWord(config, "keyLayout", Set.of("multi-attribute", "single-attribute"));
    checkWord(config, "strategy", Set.of("random", "calculated"));
    if (config.containsKey("shardPlacement")) checkWord(config, "shardPlacement", Set.of("suffix", "prefix"));
    refuseIf(!(config.getOrDefault("sparse", false) instanceof Boolean), config, "sparse", "true, false or absent");
    boolean isWait = isWhole(config.getOrDefault("longestWriteSeconds", 1), 1, 86_400);
    refuseIf(!isWait, config, "longestWriteSeconds", "a whole number from 1 to 86400");
    checkShardFormat(config);
    checkCounts((Map<String, Object>) config.get("shards"));
  }

  /** Throws for a shard format with which a reader could not read the shard number of a key. */
  private static void checkShardFormat(Map<String, Object> config) {
    checkFirstShard(config, 0);
    boolean isText = config.getOrDefault("separator", "#") instanceof String text && text.matches("(?s)[^0-9]+");
    refuseIf(!isText, config, "separator", "a text without digits that is not empty");
    refuseIf(!isWhole(config.getOrDefault("shardWidth", 1), 1, 10), config, "shardWidth", "a whole number from 1 to 10");
    boolean isBesideValue = config.get("keyLayout").equals("single-attribute") && config.containsKey("valueAttribute");
    for (String field : List.of("separator", "shardWidth", "shardPlacement")) {
      boolean isOdd = !isBesideValue && config.containsKey(field);
      refuseIf(isOdd, config, field, "absent: the shard is a number in an attribute of its own");
    }
    for (String field : List.of("separator", "firstShard")) {
      refuseIf(!config.containsKey("indexName") && !config.containsKey(field), config, field, "given for a table");
    }
  }

  static void checkFirstShard(Map<String, Object> config, Object usual) {
    boolean isNumber = isWhole(config.getOrDefault("firstShard", usual), 0, 1L << 53);
    refuseIf(!isNumber, config, "firstShard", "a whole number of at least 0");
  }

  /** Accepts int, long and double, because JSON parsers return different types for a number. */
  private static boolean isWhole(Object value, long least, long most) {
    return value instanceof Number number
        && number.doubleValue() == Math.rint(number.doubleValue())
        && number.doubleValue() >= least
        && number.doubleValue() <= most;
  }

  private static void refuseIf(boolean wrong, Map<String, Object> config, String field, String allowed) {
    if (!wrong) return;
    throw new IllegalArgumentException("config." + field + " must be " + allowed + ", got " + config.get(field));
  }

  /**
   * Throws for an unknown field. If this writer ignored the field, it could put items into shards that readers do not
   * query.
   */
  static void checkCounts(Map<String, Object> shards) {
    var fields = new HashSet<>(shards.keySet());
    fields.removeAll(Set.of("default", "byValue"));
    var counts = new ArrayList<>(((Map<String, Object>) shards.getOrDefault("byValue", Map.of())).values());
    counts.add(shards.get("default"));
    for (Object count : counts) fields.addAll(((Map<String, Object>) count).keySet());
    fields.removeAll(Set.of("write", "read", "since"));
    if (!fields.isEmpty()) throw unknown("shards." + fields.iterator().next(), "");
  }

  private static void checkWord(Map<String, Object> config, String field, Set<String> words) {
    if (!(config.get(field) instanceof String word) || !words.contains(word)) {
      throw unknown(field, ", got " + config.get(field));
    }
  }

  private static IllegalArgumentException unknown(String field, String got) {
    return new IllegalArgumentException("config." + field + " is not known: update this writer" + got);
  }

  /** Returns the value of an item as a text, in the format of partition keys and of the counts by value. */
  private static String valueText(Map<String, Object> config, Object value) {
    String text = value instanceof byte[] ? null : keyText(value);
    if (text == null || text.isEmpty()) {
      throw new IllegalArgumentException(
          config.get("valueAttribute") + " must be a number or a text that is not empty, got " + value);
    }
    if (!config.containsKey("indexName") && text.contains((String) config.get("separator"))) {
      throw new IllegalArgumentException(
          config.get("valueAttribute") + " must not contain " + config.get("separator") + ", got " + value);
    }
    return text;
  }

  /** Returns the text from which the shard is calculated. */
  private static String itemText(List<String> attributes, Map<String, Object> item) {
    return attributes.stream().map(name -> {
      String text = keyText(item.get(name));
      if (text != null) return text;
      throw new IllegalArgumentException(
          name + " must be a text, a number or binary: it decides the shard, got " + item.get(name));
    }).collect(Collectors.joining("#"));
  }

  /**
   * Converts a key value: a text stays unchanged, binary becomes base64, and a number becomes decimal digits without an
   * exponent and without unnecessary zeros.
   */
  private static String keyText(Object value) {
    if (value instanceof String text) return text;
    if (value instanceof byte[] bytes) return Base64.getEncoder().encodeToString(bytes);
    return value instanceof Number number ? new BigDecimal(number.toString()).stripTrailingZeros().toPlainString() : null;
  }

  private static byte[] md5(byte[] bytes) {
    try {
      return MessageDigest.getInstance("MD5").digest(bytes);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java platform has MD5
    }
  }
}
