"""The balanced explicit hash keys of cdk-even-shards. For every m, the first m keys are even over the hash key space."""

HASH_KEY_SPACE = 2**128


def balanced_key(n: int, space: int = HASH_KEY_SPACE) -> int:
    """Returns the nth explicit hash key, counted from 0. The ExplicitHashKey of a record is str(balanced_key(n))."""
    if not 0 <= n < space:
        raise ValueError(f"n must be from 0 to {space - 1}, got {n}")
    low, high, rest = 0, space, n
    while True:
        key = (low + high) // 2
        if rest == 0:
            return key
        rest -= 1
        left = key - low - (low != 0)
        right = high - key - 1
        paired = min(left, right)
        if rest < 2 * paired:
            goes_left, rest = rest % 2 == 0, rest // 2
        else:
            goes_left, rest = left > right, rest - paired
        if goes_left:
            high = key
        else:
            low = key
