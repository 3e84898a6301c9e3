using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

/// <summary>
/// Calculates the attributes that a writer adds to an item, so that readers of cdk-even-shards find the item. Also
/// calculates the key of a single item for a reader. A config is the JSON of bindWriter's or bindReader's environment
/// variable, parsed into dictionaries, lists, texts and numbers. An item has texts, numbers, and byte arrays by name.
/// </summary>
public static class ShardedIndexWriter
{
    private static readonly HashSet<string> Fields = new HashSet<string> {
        "version", "tableName", "tableKey", "keyLayout", "valueAttribute", "shardAttribute", "sortKeyAttributes", "shards", "strategy",
        "firstShard", "separator", "shardWidth", "shardPlacement"
    };

    private static readonly HashSet<string> IndexFields = new HashSet<string> { "indexName", "sparse", "longestWriteSeconds" };

    private static readonly HashSet<string> TableFields = new HashSet<string> { "shardedBy" };

    private static readonly Random Random = new Random();

    /// <summary>Returns the attributes to add: the attributes of an index, or the partition key of a table that is
    /// sharded by its own key.</summary>
    public static Dictionary<string, object> ShardAttributes(IDictionary<string, object> config, IDictionary<string, object> item)
    {
        var added = ShardAttributesOfUpdate(config, item);
        var isChecked = config.ContainsKey("indexName") && !Equals(Get(config, "sparse"), true);
        if (isChecked && added.Count > 0) CheckSortKey(config, item);
        return added;
    }

    /// <summary>
    /// Returns the attributes to add to an update that sets the value. The item has the table key and the value, and
    /// need not have the sort key of the index.
    /// </summary>
    public static Dictionary<string, object> ShardAttributesOfUpdate(
        IDictionary<string, object> config, IDictionary<string, object> item)
    {
        Check(config);
        var isTable = !config.ContainsKey("indexName");
        string value = null;
        if (config.ContainsKey("valueAttribute"))
        {
            var given = Get(item, (string)config["valueAttribute"]);
            // An item without the value is not in the index.
            if (given == null && !isTable) return new Dictionary<string, object>();
            value = ValueText(config, given);
        }
        var count = Number(CountOf(config, value)["write"]);
        int shard;
        if ((string)config["strategy"] == "random") lock (Random) shard = Random.Next(count);
        else shard = CalculatedShard(ItemText(Texts(config[isTable ? "shardedBy" : "tableKey"]), item), count);
        return new Dictionary<string, object> { [(string)config["shardAttribute"]] = PlaceOf(config, value, shard) };
    }

    /// <summary>Throws for an item that DynamoDB would leave out of the index without an error.</summary>
    private static void CheckSortKey(IDictionary<string, object> config, IDictionary<string, object> item)
    {
        foreach (var name in Texts(config["sortKeyAttributes"]))
        {
            if (!string.IsNullOrEmpty(KeyText(Get(item, name)))) continue;
            throw new ArgumentException(name + " must be a text, a number or binary that is not empty: index "
                + config["indexName"] + " contains no item without it, got " + Get(item, name));
        }
    }

    /// <summary>
    /// Returns all possible keys of an item of a table. The key that writers use is the first. There are several keys
    /// only while the shard count of the table changes. The key argument has the sort key, and the attributes of
    /// shardedBy.
    /// </summary>
    public static List<Dictionary<string, object>> ShardKeys(
        IDictionary<string, object> config, object value, IDictionary<string, object> key)
    {
        Check(config);
        if (config.ContainsKey("indexName") || (string)config["strategy"] == "random")
        {
            throw new ArgumentException(
                "config.strategy must be calculated, and config.indexName absent, to know the key of an item");
        }
        var tableKey = Texts(config["tableKey"]);
        var text = ValueText(config, value);
        var decides = ItemText(Texts(config["shardedBy"]), key);
        ItemText(tableKey.Skip(1), key);
        var count = CountOf(config, text);
        var write = Number(count["write"]);
        var least = count.ContainsKey("since") ? Number(count["since"]) : write;
        var ofWriters = CalculatedShard(decides, write);
        var others = Enumerable.Range(least, Number(count["read"]) - least + 1)
            .Select(shards => CalculatedShard(decides, shards))
            .Where(shard => shard != ofWriters)
            .Distinct()
            .OrderBy(shard => shard);
        return new[] { ofWriters }.Concat(others).Select(shard => new Dictionary<string, object> {
            [tableKey[0]] = PlaceOf(config, text, shard), [tableKey[1]] = key[tableKey[1]]
        }).ToList();
    }

    /// <summary>Jump consistent hash (Lamping and Veach, 2014) of the first 8 bytes of the MD5 of the id.</summary>
    public static int CalculatedShard(string id, int shardCount)
    {
        ulong state = 0;
        using (var md5 = MD5.Create())
        {
            foreach (var one in md5.ComputeHash(Encoding.UTF8.GetBytes(id)).Take(8)) state = (state << 8) | one;
        }
        int bucket = 0;
        long following = 0;
        while (following < shardCount)
        {
            bucket = (int)following;
            state = unchecked(state * 2862933555777941757UL + 1);
            following = (long)((bucket + 1) * ((double)(1L << 31) / ((state >> 33) + 1)));
        }
        return bucket;
    }

    /// <summary>Returns the value of the shard attribute: a number, or a text with the value and the shard.</summary>
    private static object PlaceOf(IDictionary<string, object> config, string value, int shard)
    {
        var number = Number(Get(config, "firstShard") ?? 0) + shard;
        if ((string)config["keyLayout"] == "multi-attribute" || value == null) return number;
        var digits = number.ToString(CultureInfo.InvariantCulture).PadLeft(Number(Get(config, "shardWidth") ?? 1), '0');
        var separator = (string)Get(config, "separator") ?? "#";
        return (string)Get(config, "shardPlacement") == "prefix" ? digits + separator + value : value + separator + digits;
    }

    /// <summary>Returns the number of shards of a value for writers and for readers.</summary>
    private static IDictionary<string, object> CountOf(IDictionary<string, object> config, string value)
    {
        var shards = (IDictionary<string, object>)config["shards"];
        var byValue = Get(shards, "byValue") as IDictionary<string, object>;
        var isNamed = byValue != null && value != null && byValue.ContainsKey(value);
        return (IDictionary<string, object>)(isNamed ? byValue[value] : shards["default"]);
    }

    /// <summary>Throws for a setting that this writer does not support. With such a setting, readers would not find its
    /// items.</summary>
    private static void Check(IDictionary<string, object> config)
    {
        if (Number(Get(config, "version") ?? 1) != 1)
        {
            throw new ArgumentException("config.version must be 1 or absent, got " + config["version"]);
        }
        var own = config.ContainsKey("indexName") ? IndexFields : TableFields;
        var unknown = config.Keys.FirstOrDefault(field => !own.Contains(field) && !Fields.Contains(field));
        if (unknown != null) throw new ArgumentException("config." + unknown + " is not known: update this writer");
        CheckWord(config, "keyLayout", "multi-attribute", "single-attribute");
        CheckWord(config, "strategy", "random", "calculated");
        CheckWord(config, "shardPlacement", "suffix", "prefix", null);
        RefuseIf(config.ContainsKey("sparse") && !(config["sparse"] is bool), config, "sparse", "true, false or absent");
        var isWait = !config.ContainsKey("longestWriteSeconds") || IsWhole(config["longestWriteSeconds"], 1, 86400);
        RefuseIf(!isWait, config, "longestWriteSeconds", "a whole number from 1 to 86400");
        CheckShardFormat(config);
        CheckCounts((IDictionary<string, object>)config["shards"]);
    }

    /// <summary>Throws for a shard format with which a reader could not read the shard number of a key.</summary>
    private static void CheckShardFormat(IDictionary<string, object> config)
    {
        var separator = (config.ContainsKey("separator") ? config["separator"] : "#") as string;
        var isText = !string.IsNullOrEmpty(separator) && separator.IndexOfAny("0123456789".ToCharArray()) == -1;
        var isFirst = !config.ContainsKey("firstShard") || IsWhole(config["firstShard"], 0, 1L << 53);
        var isWidth = !config.ContainsKey("shardWidth") || IsWhole(config["shardWidth"], 1, 10);
        RefuseIf(!isFirst, config, "firstShard", "a whole number of at least 0");
        RefuseIf(!isText, config, "separator", "a text without digits that is not empty");
        RefuseIf(!isWidth, config, "shardWidth", "a whole number from 1 to 10");
        var isBesideValue = (string)config["keyLayout"] == "single-attribute" && config.ContainsKey("valueAttribute");
        foreach (var field in new[] { "separator", "shardWidth", "shardPlacement" })
        {
            var isOdd = !isBesideValue && config.ContainsKey(field);
            RefuseIf(isOdd, config, field, "absent: the shard is a number in an attribute of its own");
        }
        foreach (var field in new[] { "separator", "firstShard" })
        {
            RefuseIf(!config.ContainsKey("indexName") && !config.ContainsKey(field), config, field, "given for a table");
        }
    }

    private static bool IsWhole(object value, long least, long most)
    {
        if (!(value is int || value is long || value is double || value is decimal)) return false;
        var number = Convert.ToDouble(value, CultureInfo.InvariantCulture);
        return number == Math.Floor(number) && number >= least && number <= most;
    }

    private static void RefuseIf(bool wrong, IDictionary<string, object> config, string field, string allowed)
    {
        if (wrong) throw new ArgumentException("config." + field + " must be " + allowed + ", got " + Get(config, field));
    }

    /// <summary>Throws for an unknown field. If this writer ignored the field, it could put items into shards that
    /// readers do not query.</summary>
    private static void CheckCounts(IDictionary<string, object> shards)
    {
        var byValue = Get(shards, "byValue") as IDictionary<string, object>;
        var counts = (byValue == null ? Enumerable.Empty<object>() : byValue.Values).Concat(new[] { shards["default"] });
        var fields = counts.SelectMany(count => ((IDictionary<string, object>)count).Keys).Except(new[] { "write", "read", "since" });
        var unknown = shards.Keys.Except(new[] { "default", "byValue" }).Concat(fields).FirstOrDefault();
        if (unknown != null) throw new ArgumentException("config.shards." + unknown + " is not known: update this writer");
    }

    private static void CheckWord(IDictionary<string, object> config, string field, params string[] words)
    {
        var word = Get(config, field);
        if (words.Contains(word as string) && (word == null || word is string)) return;
        throw new ArgumentException("config." + field + " is not known: update this writer, got " + word);
    }

    /// <summary>Returns the value of an item as a text, in the format of partition keys and of the counts by
    /// value.</summary>
    private static string ValueText(IDictionary<string, object> config, object value)
    {
        var text = value is byte[] ? null : KeyText(value);
        if (string.IsNullOrEmpty(text))
        {
            throw new ArgumentException(
                config["valueAttribute"] + " must be a number or a text that is not empty, got " + value);
        }
        if (!config.ContainsKey("indexName") && text.Contains((string)config["separator"]))
        {
            throw new ArgumentException(
                config["valueAttribute"] + " must not contain " + config["separator"] + ", got " + value);
        }
        return text;
    }

    /// <summary>Returns the text from which the shard is calculated.</summary>
    private static string ItemText(IEnumerable<string> attributes, IDictionary<string, object> item)
    {
        return string.Join("#", attributes.Select(name => KeyText(Get(item, name)) ?? throw new ArgumentException(
            name + " must be a text, a number or binary: it decides the shard, got " + Get(item, name))));
    }

    /// <summary>Converts a key value: a text stays unchanged, binary becomes base64, and a number becomes decimal
    /// digits without an exponent and without unnecessary zeros.</summary>
    private static string KeyText(object value)
    {
        if (value is string text) return text;
        if (value is byte[] bytes) return Convert.ToBase64String(bytes);
        if (value is int || value is long || value is short) return Convert.ToString(value, CultureInfo.InvariantCulture);
        if (value is decimal number) return number.ToString("0.############################", CultureInfo.InvariantCulture);
        return null;
    }

    private static object Get(IDictionary<string, object> from, string name)
    {
        return from.TryGetValue(name, out var value) ? value : null;
    }

    private static int Number(object value) => Convert.ToInt32(value, CultureInfo.InvariantCulture);

    private static List<string> Texts(object list) => ((IEnumerable<object>)list).Cast<string>().ToList();
}
