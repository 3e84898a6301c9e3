package evenshards

import (
	"fmt"
	"math/big"
)

// HashKeySpace is the size of the hash key space of Kinesis.
var HashKeySpace = new(big.Int).Lsh(big.NewInt(1), 128)

// BalancedKey returns the nth explicit hash key, counted from 0. For every m, the first m keys are even over the hash
// key space. The String of a key is the ExplicitHashKey of a record.
func BalancedKey(n uint64, space *big.Int) (*big.Int, error) {
	one := big.NewInt(1)
	rest := new(big.Int).SetUint64(n)
	if rest.Cmp(space) >= 0 {
		return nil, fmt.Errorf("n must be below %v, got %d", space, n)
	}
	low, high := new(big.Int), new(big.Int).Set(space)
	for {
		key := new(big.Int).Add(low, high)
		key.Rsh(key, 1)
		if rest.Sign() == 0 {
			return key, nil
		}
		rest.Sub(rest, one)
		left := new(big.Int).Sub(key, low)
		if low.Sign() != 0 {
			left.Sub(left, one)
		}
		right := new(big.Int).Sub(high, key)
		right.Sub(right, one)
		paired := left
		if right.Cmp(left) < 0 {
			paired = right
		}
		goesLeft := left.Cmp(right) > 0
		if rest.Cmp(new(big.Int).Lsh(paired, 1)) < 0 {
			goesLeft = rest.Bit(0) == 0
			rest.Rsh(rest, 1)
		} else {
			rest.Sub(rest, paired)
		}
		if goesLeft {
			high = key
		} else {
			low = key
		}
	}
}
