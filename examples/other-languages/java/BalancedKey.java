import java.math.BigInteger;

/**
 * The balanced explicit hash keys of cdk-even-shards. For every m, the first m keys are even over the hash key space.
 */
public final class BalancedKey {
  /** The hash key space of Kinesis. */
  public static final BigInteger HASH_KEY_SPACE = BigInteger.ONE.shiftLeft(128);

  private BalancedKey() {}

  /**
   * Returns the nth explicit hash key, counted from 0. The explicitHashKey of a record is balancedKey(n,
   * HASH_KEY_SPACE).toString().
   */
  public static BigInteger balancedKey(long n, BigInteger space) {
    var rest = BigInteger.valueOf(n);
    if (rest.signum() < 0 || rest.compareTo(space) >= 0) {
      throw new IllegalArgumentException("n must be from 0 to " + space.subtract(BigInteger.ONE) + ", got " + n);
    }
    var low = BigInteger.ZERO;
    var high = space;
    while (true) {
      var key = low.add(high).shiftRight(1);
      if (rest.signum() == 0) return key;
      rest = rest.subtract(BigInteger.ONE);
      var left = low.signum() == 0 ? key : key.subtract(low).subtract(BigInteger.ONE);
      var right = high.subtract(key).subtract(BigInteger.ONE);
      var paired = left.min(right);
      boolean goesLeft;
      if (rest.compareTo(paired.shiftLeft(1)) < 0) {
        goesLeft = !rest.testBit(0);
        rest = rest.shiftRight(1);
      } else {
        goesLeft = left.compareTo(right) > 0;
        rest = rest.subtract(paired);
      }
      if (goesLeft) high = key;
      else low = key;
    }
  }
}
