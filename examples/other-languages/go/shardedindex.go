// Package shardedindex computes what a writer adds to an item so that it appears in a sharded index of cdk-even-shards.
package shardedindex

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Count says how many shards writers use.
type Count struct{ Write int }

// Config is the JSON of bindWriter's environment variable.
type Config struct {
	Version                                             *int
	KeyLayout, ValueAttribute, ShardAttribute, Strategy string
	TableKey                                            []string
	Shards                                              struct {
		Default Count
		ByValue map[string]Count
	}
}

// ShardAttributes returns the attributes to add. The item holds texts, byte slices, int, int64, and float64 by name.
func ShardAttributes(config Config, item map[string]any) (map[string]any, error) {
	if config.Version != nil && *config.Version != 1 {
		return nil, fmt.Errorf("config.version must be 1 or absent, got %d", *config.Version)
	}
	count, prefix := config.Shards.Default, ""
	if config.ValueAttribute != "" {
		value, indexed := item[config.ValueAttribute]
		if !indexed {
			return nil, nil // an item without the value is not in the index
		}
		prefix = keyText(value)
		if own, has := config.Shards.ByValue[prefix]; has {
			count = own
		}
	}
	shard := rand.IntN(count.Write)
	if config.Strategy == "calculated" {
		key := make([]string, len(config.TableKey))
		for at, name := range config.TableKey {
			key[at] = keyText(item[name])
		}
		shard = CalculatedShard(strings.Join(key, "#"), count.Write)
	}
	if config.KeyLayout == "single-attribute" && config.ValueAttribute != "" {
		return map[string]any{config.ShardAttribute: fmt.Sprintf("%s#%d", prefix, shard)}, nil
	}
	return map[string]any{config.ShardAttribute: shard}, nil
}

// CalculatedShard is jump consistent hash (Lamping and Veach, 2014) of the first 8 bytes of the MD5 of the id.
func CalculatedShard(id string, shardCount int) int {
	hash := md5.Sum([]byte(id))
	state := binary.BigEndian.Uint64(hash[:8])
	bucket, following := 0, 0
	for following < shardCount {
		bucket = following
		state = state*2862933555777941757 + 1
		following = int(float64(bucket+1) * (float64(1<<31) / float64(state>>33+1)))
	}
	return bucket
}

// keyText: a text is itself, binary is base64, and a number has decimal digits without an exponent or needless zeros.
func keyText(value any) string {
	switch value := value.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(value)
	case float64:
		return strconv.FormatFloat(value+0, 'f', -1, 64) // -0 + 0 is 0
	default:
		return fmt.Sprint(value)
	}
}
