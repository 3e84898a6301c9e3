import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import {
  type AttributeValue,
  type DynamoDbItem,
  type ShardedConfig,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../lib/core';
import { plainDecimal } from '../../../lib/core/kernel/decimal';
import { balancedKeyVectors } from '../../../scripts/vectors/balanced-keys';
import { attributesInNotation, given, shardedItemVectors } from '../../../scripts/vectors/sharded-items';
import { shardedRowVectors } from '../../../scripts/vectors/sharded-rows';
import { describeWhere } from '../../support/describe-where';
import { succeeds } from '../../support/fetched';

/**
 * Tests the writers of examples/other-languages whose language is installed. Compares them with the vectors in docs, and with the core
 * for random items. A program reads each case as a line of JSON, and prints its result as a line of DynamoDB JSON.
 */

const N = (number: number): AttributeValue => ({ N: plainDecimal(String(number)) });
const anyText = fc.oneof(
  fc.constantFrom('a', 'Zürich', '東京', 'a#7', '😀'),
  fc.string({ unit: 'grapheme', minLength: 1 }),
);
const anyNumber = fc.oneof(fc.constantFrom(0, 7, 0.5, -3.25, 1e6, 0.000001, 2 ** 53, 1e21), fc.integer());
const anyValue: fc.Arbitrary<AttributeValue> = fc.oneof(
  anyText.map((S) => ({ S })),
  anyNumber.map(N),
);
const anyKey: fc.Arbitrary<AttributeValue> = fc.oneof(
  anyValue,
  fc.uint8Array().map((B) => ({ B })),
);
const anyCount = fc.integer({ min: 1, max: 10_000 }).map((count) => ({ write: count, read: count }));

interface Case {
  config: ShardedConfig;
  item: DynamoDbItem;
}

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    isInOneAttribute: fc.boolean(),
    value: fc.option(anyValue, { nil: undefined }),
    isIndexedByValue: fc.boolean(),
    id: anyKey,
    range: fc.option(anyKey, { nil: undefined }),
    others: anyCount,
    own: fc.option(anyCount, { nil: undefined }),
    firstShard: fc.constantFrom(undefined, 0, 1, 12),
    names: fc.record(
      {
        separator: fc.constantFrom('-', '#', '::', '😀'),
        shardWidth: fc.integer({ min: 1, max: 10 }),
        shardPlacement: fc.constantFrom('suffix' as const, 'prefix' as const),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ isInOneAttribute, value, isIndexedByValue, id, range, others, own, firstShard, names }) => {
    const config: ShardedIndexConfig = {
      tableName: 'T',
      indexName: 'byStatus',
      tableKey: range === undefined ? ['id'] : ['id', 'range'],
      keyLayout: isInOneAttribute ? 'single-attribute' : 'multi-attribute',
      ...(isIndexedByValue && { valueAttribute: 'status' }),
      shardAttribute: 'byStatusShard',
      sortKeyAttributes: [],
      shards: { default: others, byValue: own && value !== undefined ? { [Object.values(value)[0]]: own } : {} },
      strategy: 'calculated',
      ...(firstShard !== undefined && { firstShard }),
      ...(isInOneAttribute && isIndexedByValue && names),
    };
    return { config, item: { id, ...(range && { range }), ...(value && { status: value }) } };
  });

const { configs, vectors, updates, keys, refused } = shardedItemVectors();
const random = fc.sample(anyCase, { numRuns: 200, seed: 42 });
const balanced = balancedKeyVectors().vectors.flatMap(({ space, keys: ofSpace }) =>
  Object.entries(ofSpace).map(([n, key]) => ({ n: Number(n), space, key })),
);

/**
 * The cases for a program. With `native`, the program uses the number types of its language for numbers that these
 * types can represent exactly.
 */
const QUESTIONS: object[] = [
  ...vectors.map(({ config, item }) => ({ config: configs[config], item })),
  ...updates.map(({ config, item }) => ({ config: configs[config], item, update: true })),
  ...random.map(({ config, item }) => ({ config, item, native: true })),
  ...keys.map(({ config, value, key }) => ({ config: configs[config], value, item: key })),
  ...refused.map(({ config, item }) => ({ config, item })),
  ...balanced.map(({ n, space }) => ({ n, space })),
];
const ANSWERS: unknown[] = [
  ...[...vectors, ...updates].map(({ attributes }) => inJson(attributes)),
  ...random.map(({ config, item }) => inJson(attributesInNotation(shardAttributes(config, given(item))))),
  ...keys.map((vector) => inJson(vector.keys)),
  ...refused.map(({ field }) => ({ error: expect.stringMatching(`\\b${field}\\b`) })),
  ...balanced.map(({ key }) => key),
];

const rows = shardedRowVectors();

/** The cases for writers of rows, in Python and in Java. */
const ROW_QUESTIONS: object[] = [
  ...rows.vectors.map(({ config, row }) => ({ config: rows.configs[config], row })),
  ...rows.refused.map(({ config, row }) => ({ config, row })),
];
const ROW_ANSWERS: unknown[] = [
  ...rows.vectors.map(({ columns: { shard } }) => ({ shard: { N: String(shard) } })),
  ...rows.refused.map(({ field }) => ({ error: expect.stringMatching(`\\b${field}\\b`) })),
];

const linesOf = (questions: object[]) => questions.map((question) => `${JSON.stringify(inJson(question))}\n`).join('');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writers-'));
});

const examples = resolve('examples/other-languages');
const support = resolve('test/support/writers');
const GIVES = 'returns the same attributes, places, errors and orders as the core';

describeWhere(succeeds('python3', '--version'), 'python3')('the writer in Python', () => {
  const program = `
import base64, json, sys
from decimal import Decimal
sys.path[:0] = ${JSON.stringify([join(examples, 'python'), support])}
sys.dont_write_bytecode = True
from balanced_key import balanced_key
from native_rows import native
from sharded_index import shard_attributes, shard_attributes_of_update, shard_keys
from sharded_rows import shard_columns
def number(digits, native):
    if not native: return Decimal(digits)
    return float(digits) if "." in digits else int(digits)
def plain(value, native=False):
    (kind, content), = value.items()
    return number(content, native) if kind == "N" else base64.b64decode(content) if kind == "B" else content
def notation(value):
    if isinstance(value, bytes): return {"B": base64.b64encode(value).decode()}
    return {"S": value} if isinstance(value, str) else {"N": format(Decimal(value), "f")}
def item(of): return {name: notation(value) for name, value in of.items()}
def answer(case):
    if "n" in case: return str(balanced_key(case["n"], int(case["space"])))
    if "row" in case: return item(shard_columns(case["config"], native(case["config"], case["row"])))
    given = {name: plain(value, "native" in case) for name, value in case["item"].items()}
    if "value" in case: return [item(key) for key in shard_keys(case["config"], plain(case["value"]), given)]
    of = shard_attributes_of_update if "update" in case else shard_attributes
    return item(of(case["config"], given))
for line in sys.stdin:
    try: print(json.dumps(answer(json.loads(line))))
    except ValueError as error: print(json.dumps({"error": str(error)}))
`;

  test(GIVES, () => {
    expect(answers('python3', ['-c', program], linesOf([...QUESTIONS, ...ROW_QUESTIONS]))).toEqual([
      ...ANSWERS,
      ...ROW_ANSWERS,
    ]);
  }, 60_000);

  test.each(['b"\\x00\\xff"', 'bytearray(b"\\x00\\xff")', 'Binary(b"\\x00\\xff")'])(
    'accepts binary as %s',
    (binary) => {
      const isInstalled = spawnSync('python3', ['-c', 'import boto3']).status === 0;
      const Binary = isInstalled
        ? 'from boto3.dynamodb.types import Binary'
        : 'class Binary:\n    def __init__(self, value): self.value = value\n    def __bytes__(self): return self.value';
      const text = execFileSync(
        'python3',
        ['-c', `${Binary}\nfrom sharded_index import key_text\nprint(key_text(${binary}))`],
        {
          encoding: 'utf8',
          env: { ...process.env, PYTHONPATH: join(examples, 'python'), PYTHONDONTWRITEBYTECODE: '1' },
        },
      );
      expect(text).toBe('AP8=\n');
    },
    60_000,
  );
});

describeWhere(succeeds('go', 'version'), 'go')('the writer in Go', () => {
  const program = `package main
import (
	"encoding/base64"
	"encoding/json"
	"example.com/evenshards"
	"fmt"
	"math/big"
	"os"
	"strconv"
)
type Value map[string]any
func plain(value Value, native bool) any {
	if digits, is := value["N"].(string); is {
		if whole, err := strconv.ParseInt(digits, 10, 64); native && err == nil { return whole }
		if number, err := strconv.ParseFloat(digits, 64); native && err == nil { return number }
		return json.Number(digits)
	}
	if text, is := value["B"].(string); is {
		binary, _ := base64.StdEncoding.DecodeString(text)
		return binary
	}
	for _, content := range value { return content }
	return nil
}
func notation(item map[string]any) map[string]Value {
	written := map[string]Value{}
	for name, value := range item {
		switch value := value.(type) {
		case string: written[name] = Value{"S": value}
		case []byte: written[name] = Value{"B": base64.StdEncoding.EncodeToString(value)}
		default: written[name] = Value{"N": fmt.Sprint(value)}
		}
	}
	return written
}
type Question struct {
	Config json.RawMessage
	Item   map[string]Value
	Value  Value
	Native bool
	Update bool
	N      *uint64
	Space  string
}
func answer(asked Question) (any, error) {
	if asked.N != nil {
		space, _ := new(big.Int).SetString(asked.Space, 10)
		key, err := evenshards.BalancedKey(*asked.N, space)
		return fmt.Sprint(key), err
	}
	config, err := evenshards.ParseConfig(asked.Config)
	if err != nil { return nil, err }
	given := map[string]any{}
	for name, value := range asked.Item { given[name] = plain(value, asked.Native) }
	if asked.Value == nil {
		of := evenshards.ShardAttributes
		if asked.Update { of = evenshards.ShardAttributesOfUpdate }
		attributes, err := of(config, given)
		return notation(attributes), err
	}
	keys, err := evenshards.ShardKeys(config, plain(asked.Value, false), given)
	written := []any{}
	for _, key := range keys { written = append(written, notation(key)) }
	return written, err
}
func main() {
	lines := json.NewDecoder(os.Stdin)
	for lines.More() {
		var asked Question
		if err := lines.Decode(&asked); err != nil { panic(err) }
		answered, err := answer(asked)
		if err != nil { answered = map[string]string{"error": err.Error()} }
		line, _ := json.Marshal(answered)
		fmt.Println(string(line))
	}
}`;
  let built: string;
  beforeAll(() => {
    built = join(folder, 'writer-in-go');
    writeFileSync(join(folder, 'main.go'), program);
    const module = `module main\ngo 1.22\nrequire example.com/evenshards v0.0.0\nreplace example.com/evenshards => ${examples}/go\n`;
    writeFileSync(join(folder, 'go.mod'), module);
    execFileSync('go', ['build', '-o', built, '.'], {
      cwd: folder,
      stdio: 'inherit',
      env: { ...process.env, GOFLAGS: '' },
    });
  }, 120_000);

  test(GIVES, () => {
    expect(answers(built, [], linesOf(QUESTIONS))).toEqual(ANSWERS);
  }, 60_000);
});

describeWhere(succeeds('javac', '-version'), 'javac')('the writer in Java', () => {
  beforeAll(() => {
    const questions = [...QUESTIONS, ...ROW_QUESTIONS];
    const methods = questions.map((question, at) => `static Object c${at}() { return ${questionInJava(question)}; }`);
    const program = `import java.util.*;
import java.util.stream.Collectors;
public class Cases {
  ${methods.join('\n  ')}
  public static void main(String[] ignored) throws Exception {
    for (int at = 0; at < ${questions.length}; at++) {
      try {
        System.out.println(json(Cases.class.getDeclaredMethod("c" + at).invoke(null)));
      } catch (java.lang.reflect.InvocationTargetException refused) {
        System.out.println("{\\"error\\":" + json(refused.getCause().getMessage()) + "}");
      }
    }
  }
  static String json(Object value) {
    if (value instanceof List<?> all) return all.stream().map(Cases::json).collect(Collectors.joining(",", "[", "]"));
    if (value instanceof Map<?, ?> item) {
      return item.entrySet().stream()
          .map(entry -> json(entry.getKey()) + ":" + notation(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    }
    return value.toString().chars().mapToObj(unit -> String.format("\\\\u%04x", unit)).collect(Collectors.joining("", "\\"", "\\""));
  }
  static String notation(Object value) {
    if (value instanceof byte[] bytes) return "{\\"B\\":" + json(Base64.getEncoder().encodeToString(bytes)) + "}";
    boolean isNumber = value instanceof Number;
    String text = isNumber ? new java.math.BigDecimal(value.toString()).toPlainString() : (String) value;
    return "{\\"" + (isNumber ? "N" : "S") + "\\":" + json(text) + "}";
  }
}`;
    writeFileSync(join(folder, 'Cases.java'), program);
    const sources = ['ShardedIndexWriter.java', 'ShardedRowWriter.java', 'BalancedKey.java'];
    const compile = [
      '-encoding',
      'UTF-8',
      '-d',
      folder,
      ...sources.map((file) => join(examples, 'java', file)),
      join(support, 'NativeRows.java'),
      'Cases.java',
    ];
    execFileSync('javac', compile, { cwd: folder, stdio: 'inherit' });
  }, 120_000);

  test(GIVES, () => {
    expect(answers('java', ['-cp', folder, 'Cases'])).toEqual([...ANSWERS, ...ROW_ANSWERS]);
  }, 60_000);
});

describeWhere(succeeds('mcs', '--version'), 'mcs')('the writer in C#, on Mono', () => {
  const questions = QUESTIONS.slice(0, -balanced.length);

  beforeAll(() => {
    const methods = questions.map((question, at) => `static object C${at}() { return ${questionInCSharp(question)}; }`);
    const program = `using System; using System.Collections.Generic; using System.Linq; using System.Text;
public static class Cases {
  ${methods.join('\n  ')}
  public static void Main() {
    var all = new Func<object>[] { ${questions.map((_, at) => `C${at}`).join(', ')} };
    foreach (var one in all) {
      try { Console.WriteLine(Json(one())); }
      catch (ArgumentException refused) { Console.WriteLine("{\\"error\\":" + Json(refused.Message) + "}"); }
    }
  }
  static string Json(object value) {
    if (value is string text) return "\\"" + string.Concat(text.Select(unit => "\\\\u" + ((int)unit).ToString("x4"))) + "\\"";
    if (value is IDictionary<string, object> item) return "{" + string.Join(",", item.Select(each => Json(each.Key) + ":" + Notation(each.Value))) + "}";
    return "[" + string.Join(",", ((IEnumerable<object>)value).Select(Json)) + "]";
  }
  static string Notation(object value) {
    if (value is byte[] bytes) return "{\\"B\\":" + Json(Convert.ToBase64String(bytes)) + "}";
    return "{\\"" + (value is string ? "S" : "N") + "\\":" + Json(Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture)) + "}";
  }
}`;
    writeFileSync(join(folder, 'Cases.cs'), program);
    const sources = [join(examples, 'csharp/ShardedIndexWriter.cs'), join(folder, 'Cases.cs')];
    execFileSync('mcs', ['-langversion:7', `-out:${join(folder, 'cases.exe')}`, ...sources], { stdio: 'inherit' });
  }, 120_000);

  test('returns the same attributes and errors as the core', () => {
    expect(answers('mono', [join(folder, 'cases.exe')])).toEqual(ANSWERS.slice(0, questions.length));
  }, 60_000);
});

/** The output of a program: a line of JSON for each case. */
function answers(program: string, args: string[], input = ''): unknown[] {
  const lines = execFileSync(program, args, { input, encoding: 'utf8' }).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/** The value with binary in base64. */
function inJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner) =>
    inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner,
  );
  return JSON.parse(text);
}

interface Question {
  config?: object;
  item?: DynamoDbItem;
  row?: Record<string, string>;
  value?: AttributeValue;
  native?: boolean;
  update?: boolean;
  n?: number;
  space?: string;
}

function questionInJava({ config, item, row, value, native, update, n, space }: Question): string {
  if (space !== undefined) return `BalancedKey.balancedKey(${n}L, new java.math.BigInteger("${space}"))`;
  if (row !== undefined) {
    const entries = Object.entries(row).map((entry) => entry.map(inJava).join(', '));
    return `ShardedRowWriter.shardColumns(${inJava(config)}, NativeRows.of(${inJava(config)}, Map.of(${entries.join(', ')})))`;
  }
  const plain = (each: AttributeValue) => attributeInJava(each, native);
  const entries = Object.entries(item!).flatMap(([name, each]) => [inJava(name), plain(each)]);
  const of = `${inJava(config)}, ${value === undefined ? '' : `${plain(value)}, `}Map.<String, Object>of(${entries.join(', ')})`;
  const adds = update ? 'shardAttributesOfUpdate' : 'shardAttributes';
  return `ShardedIndexWriter.${value === undefined ? adds : 'shardKeys'}(${of})`;
}

function attributeInJava(value: AttributeValue, native = false): string {
  if ('B' in value) return `Base64.getDecoder().decode("${Buffer.from(value.B).toString('base64')}")`;
  if (!('N' in value)) return inJava(Object.values(value)[0]);
  const number = Number(value.N);
  if (!native) return `new java.math.BigDecimal("${value.N}")`;
  return Number.isSafeInteger(number) ? `${number}L` : `${number}d`;
}

function inJava(value: unknown): string {
  if (typeof value === 'string') return `"${[...value.split('')].map(characterInJava).join('')}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `List.of(${value.map(inJava).join(', ')})`;
  const entries = Object.entries(value as object).map(([name, each]) => `Map.entry(${inJava(name)}, ${inJava(each)})`);
  return `Map.<String, Object>ofEntries(${entries.join(', ')})`;
}

function questionInCSharp({ config, item, value, update }: Question): string {
  const entries = Object.entries(item!).map(([name, each]) => `[${inJava(name)}] = ${attributeInCSharp(each)}`);
  const of = `${inCSharp(config)}, ${value === undefined ? '' : `${attributeInCSharp(value)}, `}${dictionary(entries)}`;
  const adds = update ? 'ShardAttributesOfUpdate' : 'ShardAttributes';
  return `ShardedIndexWriter.${value === undefined ? adds : 'ShardKeys'}(${of})`;
}

function attributeInCSharp(value: AttributeValue): string {
  if ('B' in value) return `Convert.FromBase64String("${Buffer.from(value.B).toString('base64')}")`;
  return 'N' in value ? `${value.N}m` : inJava(Object.values(value)[0]);
}

function inCSharp(value: unknown): string {
  if (Array.isArray(value)) return `new List<object> { ${value.map(inCSharp).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return inJava(value);
  return dictionary(Object.entries(value).map(([name, each]) => `[${inJava(name)}] = ${inCSharp(each)}`));
}

const dictionary = (entries: string[]) => `new Dictionary<string, object> { ${entries.join(', ')} }`;

function characterInJava(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0x7e) return `\\u${code.toString(16).padStart(4, '0')}`;
  if ('"\\'.includes(character)) return `\\${character}`;
  return code < 0x20 ? `" + (char)${code} + "` : character;
}
