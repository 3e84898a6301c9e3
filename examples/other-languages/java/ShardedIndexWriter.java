import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/** What a writer adds to an item so that it appears in a sharded index of cdk-even-shards. */
@SuppressWarnings("unchecked")
public final class ShardedIndexWriter {
  private ShardedIndexWriter() {}

  /** config: the JSON of bindWriter's environment variable, parsed. item: texts, numbers, and byte arrays by name. */
  public static Map<String, Object> shardAttributes(Map<String, Object> config, Map<String, Object> item) {
    if (((Number) config.getOrDefault("version", 1)).intValue() != 1) {
      throw new IllegalArgumentException("config.version must be 1 or absent, got " + config.get("version"));
    }
    Map<String, Object> shards = (Map<String, Object>) config.get("shards");
    Map<String, Object> count = (Map<String, Object>) shards.get("default");
    String prefix = null;
    if (config.containsKey("valueAttribute")) {
      if (!item.containsKey(config.get("valueAttribute"))) return Map.of(); // without the value, it is not in the index
      prefix = keyText(item.get(config.get("valueAttribute")));
      var byValue = (Map<String, Object>) shards.getOrDefault("byValue", Map.of());
      count = (Map<String, Object>) byValue.getOrDefault(prefix, count);
    }
    int write = ((Number) count.get("write")).intValue();
    var key = (List<String>) config.get("tableKey");
    int shard = config.get("strategy").equals("random")
        ? ThreadLocalRandom.current().nextInt(write)
        : calculatedShard(key.stream().map(name -> keyText(item.get(name))).collect(Collectors.joining("#")), write);
    boolean concatenated = config.get("keyLayout").equals("single-attribute") && prefix != null;
    return Map.of((String) config.get("shardAttribute"), concatenated ? prefix + "#" + shard : (Object) shard);
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

  private static byte[] md5(byte[] bytes) {
    try {
      return MessageDigest.getInstance("MD5").digest(bytes);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java platform has MD5
    }
  }

  /** A text is itself, binary is base64, and a number has decimal digits without an exponent or needless zeros. */
  private static String keyText(Object value) {
    if (value instanceof String text) return text;
    if (value instanceof byte[] bytes) return Base64.getEncoder().encodeToString(bytes);
    return new BigDecimal(value.toString()).stripTrailingZeros().toPlainString();
  }
}
