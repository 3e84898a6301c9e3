// Package evenshards calculates the attributes that a writer adds to an item, so that readers of cdk-even-shards find
// the item. It also calculates the key of a single item for a reader, and balanced explicit hash keys.
package evenshards

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Count has the number of shards for writers and for readers.
type Count struct {
	Write, Read int
	Since       *int
}

// Config is the configuration of an index, or of a table that is sharded by its own key.
type Config struct {
	Version                                         *int
	TableName, IndexName, KeyLayout, ValueAttribute string
	ShardAttribute, Strategy                        string
	TableKey, SortKeyAttributes, ShardedBy          []string
	Separator, ShardPlacement                       string
	FirstShard, ShardWidth                          int
	Sparse                                          bool
	LongestWriteSeconds                             *int
	Shards                                          struct {
		Default Count
		ByValue map[string]Count
	}
}

// ParseConfig reads the JSON of bindWriter's or bindReader's environment variable. It returns an error for a setting
// that this writer does not support. With such a setting, readers would not find its items.
func ParseConfig(text []byte) (Config, error) {
	var config Config
	var version struct{ Version *int }
	if err := json.Unmarshal(text, &version); err != nil {
		return config, err
	}
	if version.Version != nil && *version.Version != 1 {
		return config, fmt.Errorf("config.version must be 1 or absent, got %d", *version.Version)
	}
	fields, err := checkFields(text)
	if err != nil {
		return config, err
	}
	config.Separator, config.ShardWidth = "#", 1
	if err := json.Unmarshal(text, &config); err != nil {
		return config, fmt.Errorf("config is not known: update this writer: %w", err)
	}
	for field, word := range map[string][]string{
		"keyLayout":      {config.KeyLayout, "multi-attribute", "single-attribute"},
		"strategy":       {config.Strategy, "random", "calculated"},
		"shardPlacement": {config.ShardPlacement, "", "suffix", "prefix"},
	} {
		if !slices.Contains(word[1:], word[0]) {
			return config, fmt.Errorf("config.%s is not known: update this writer, got %q", field, word[0])
		}
	}
	if seconds := config.LongestWriteSeconds; seconds != nil && (*seconds < 1 || *seconds > 86_400) {
		return config, fmt.Errorf("config.longestWriteSeconds must be a whole number from 1 to 86400, got %d", *seconds)
	}
	return config, checkShardFormat(config, fields)
}

// checkFields returns the fields of a configuration, or an error if the configuration or its counts have an unknown
// field. Package json would accept byvalue as byValue.
func checkFields(text []byte) (map[string]json.RawMessage, error) {
	known := strings.Fields("version tableName tableKey keyLayout valueAttribute shardAttribute sortKeyAttributes shards strategy" +
		" firstShard separator shardWidth shardPlacement indexName")
	fields, err := fieldsOf("config", text, append(known, "shardedBy", "sparse", "longestWriteSeconds"))
	if err != nil {
		return nil, err
	}
	others := []string{"sparse", "longestWriteSeconds"} // a table does not have them
	if fields["indexName"] != nil {
		others = []string{"shardedBy"}
	}
	for _, field := range others {
		if fields[field] != nil {
			return nil, fmt.Errorf("config.%s is not known: update this writer", field)
		}
	}
	if sparse := string(fields["sparse"]); fields["sparse"] != nil && sparse != "true" && sparse != "false" {
		return nil, fmt.Errorf("config.sparse must be true, false or absent, got %s", sparse)
	}
	for _, field := range []string{"firstShard", "shardWidth", "longestWriteSeconds"} {
		if _, err := strconv.Atoi(string(fields[field])); fields[field] != nil && err != nil {
			return nil, fmt.Errorf("config.%s must be a whole number, got %s", field, fields[field])
		}
	}
	shards, err := fieldsOf("config.shards", fields["shards"], []string{"default", "byValue"})
	if err != nil {
		return nil, err
	}
	counts := map[string]json.RawMessage{}
	if shards["byValue"] != nil {
		if err := json.Unmarshal(shards["byValue"], &counts); err != nil {
			return nil, fmt.Errorf("config.shards.byValue: %w", err)
		}
	}
	ofCounts := []string{"write", "read", "since"}
	for value, count := range counts {
		if _, err := fieldsOf("config.shards.byValue["+strconv.Quote(value)+"]", count, ofCounts); err != nil {
			return nil, err
		}
	}
	_, err = fieldsOf("config.shards.default", shards["default"], ofCounts)
	return fields, err
}

func fieldsOf(path string, text []byte, known []string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for field, content := range fields {
		if !slices.Contains(known, field) {
			return nil, fmt.Errorf("%s.%s is not known: update this writer", path, field)
		}
		if string(content) == "null" {
			return nil, fmt.Errorf("%s.%s must be absent or given, got null", path, field)
		}
	}
	return fields, nil
}

// checkShardFormat returns an error for a shard format with which a reader could not read the shard number of a key.
func checkShardFormat(config Config, fields map[string]json.RawMessage) error {
	refuse := func(field, allowed string) error {
		return fmt.Errorf("config.%s must be %s, got %s", field, allowed, fields[field])
	}
	switch {
	case config.FirstShard < 0:
		return refuse("firstShard", "a whole number of at least 0")
	case config.Separator == "" || strings.ContainsAny(config.Separator, "0123456789"):
		return refuse("separator", "a text without digits that is not empty")
	case config.ShardWidth < 1 || config.ShardWidth > 10:
		return refuse("shardWidth", "a whole number from 1 to 10")
	}
	isBesideValue := config.KeyLayout == "single-attribute" && config.ValueAttribute != ""
	for _, field := range []string{"separator", "shardWidth", "shardPlacement"} {
		if !isBesideValue && fields[field] != nil {
			return refuse(field, "absent: the shard is a number in an attribute of its own")
		}
	}
	for _, field := range []string{"separator", "firstShard"} {
		if config.IndexName == "" && fields[field] == nil {
			return refuse(field, "given for a table")
		}
	}
	return nil
}

// ShardAttributes returns the attributes to add: the attributes of an index, or the partition key of a table that is
// sharded by its own key. The values of the item are texts, byte slices, int, int64, float64, and numbers with a String
// method, such as json.Number.
func ShardAttributes(config Config, item map[string]any) (map[string]any, error) {
	added, err := ShardAttributesOfUpdate(config, item)
	if err == nil && len(added) > 0 && config.IndexName != "" && !config.Sparse {
		err = checkSortKey(config, item)
	}
	if err != nil {
		return nil, err
	}
	return added, nil
}

// ShardAttributesOfUpdate returns the attributes to add to an update that sets the value. The item has the table key
// and the value, and need not have the sort key of the index.
func ShardAttributesOfUpdate(config Config, item map[string]any) (map[string]any, error) {
	isTable, value := config.IndexName == "", ""
	if config.ValueAttribute != "" {
		given, has := item[config.ValueAttribute]
		if !has && !isTable {
			return nil, nil // an item without the value is not in the index
		}
		var err error
		if value, err = valueText(config, given); err != nil {
			return nil, err
		}
	}
	count := countOf(config, value)
	shard := 0
	if config.Strategy == "random" {
		shard = rand.IntN(count.Write)
	} else {
		attributes := config.TableKey
		if isTable {
			attributes = config.ShardedBy
		}
		text, err := itemText(attributes, item)
		if err != nil {
			return nil, err
		}
		shard = CalculatedShard(text, count.Write)
	}
	return map[string]any{config.ShardAttribute: placeOf(config, value, shard)}, nil
}

// checkSortKey returns an error for an item that DynamoDB would leave out of the index without an error.
func checkSortKey(config Config, item map[string]any) error {
	for _, name := range config.SortKeyAttributes {
		if text, err := keyText(item[name]); err != nil || text == "" {
			return fmt.Errorf("%s must be a text, a number or binary that is not empty: index %s contains no item without it, got %v",
				name, config.IndexName, item[name])
		}
	}
	return nil
}

// ShardKeys returns all possible keys of an item of a table. The key that writers use is the first. There are several
// keys only while the shard count of the table changes. The key argument has the sort key, and the attributes of
// shardedBy.
func ShardKeys(config Config, value any, key map[string]any) ([]map[string]any, error) {
	if config.IndexName != "" || config.Strategy == "random" {
		return nil, errors.New("config.strategy must be calculated, and config.indexName absent, to know the key of an item")
	}
	text, err := valueText(config, value)
	if err != nil {
		return nil, err
	}
	decides, err := itemText(config.ShardedBy, key)
	if err != nil {
		return nil, err
	}
	if _, err := itemText(config.TableKey[1:], key); err != nil {
		return nil, err
	}
	count := countOf(config, text)
	least := count.Write
	if count.Since != nil {
		least = *count.Since
	}
	shards := []int{CalculatedShard(decides, count.Write)}
	// With a higher count, an item stays in its shard or moves to one of the new shards.
	for shardCount := least; shardCount <= count.Read; shardCount++ {
		if shard := CalculatedShard(decides, shardCount); !slices.Contains(shards, shard) {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards[1:])
	keys := make([]map[string]any, len(shards))
	for at, shard := range shards {
		keys[at] = map[string]any{
			config.TableKey[0]: placeOf(config, text, shard),
			config.TableKey[1]: key[config.TableKey[1]],
		}
	}
	return keys, nil
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

// placeOf returns the value of the shard attribute: a number, or a text with the value and the shard.
func placeOf(config Config, value string, shard int) any {
	number := config.FirstShard + shard
	if config.KeyLayout == "multi-attribute" || config.ValueAttribute == "" {
		return number
	}
	digits := fmt.Sprintf("%0*d", config.ShardWidth, number)
	if config.ShardPlacement == "prefix" {
		return digits + config.Separator + value
	}
	return value + config.Separator + digits
}

// countOf returns the number of shards of a value.
func countOf(config Config, value string) Count {
	if own, has := config.Shards.ByValue[value]; has {
		return own
	}
	return config.Shards.Default
}

// valueText returns the value of an item as a text, in the format of partition keys and of the counts by value.
func valueText(config Config, value any) (string, error) {
	text, err := keyText(value)
	if _, binary := value.([]byte); binary || err != nil || text == "" {
		return "", fmt.Errorf("%s must be a number or a text that is not empty, got %v", config.ValueAttribute, value)
	}
	if config.IndexName == "" && strings.Contains(text, config.Separator) {
		return "", fmt.Errorf("%s must not contain %q, got %v", config.ValueAttribute, config.Separator, value)
	}
	return text, nil
}

// itemText returns the text from which the shard is calculated.
func itemText(attributes []string, item map[string]any) (string, error) {
	texts := make([]string, len(attributes))
	for at, name := range attributes {
		var err error
		if texts[at], err = keyText(item[name]); err != nil {
			return "", fmt.Errorf("%s must be a text, a number or binary: it decides the shard, got %v", name, item[name])
		}
	}
	return strings.Join(texts, "#"), nil
}

// keyText converts a key value: a text stays unchanged, binary becomes base64, and a number becomes decimal digits
// without an exponent and without unnecessary zeros.
func keyText(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case []byte:
		return base64.StdEncoding.EncodeToString(value), nil
	case int, int64:
		return fmt.Sprint(value), nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return "", errors.New("not a number")
		}
		return strconv.FormatFloat(value+0, 'f', -1, 64), nil // -0 + 0 is 0
	case fmt.Stringer:
		number, is := new(big.Rat).SetString(value.String())
		if !is {
			return "", errors.New("not a number")
		}
		digits := number.FloatString(130) // DynamoDB has no more behind the point
		return strings.TrimSuffix(strings.TrimRight(digits, "0"), "."), nil
	default:
		return "", errors.New("not a key")
	}
}
