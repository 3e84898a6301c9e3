import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import published from '../../../docs/calculated-shard-vectors.json';
import { type ShardedIndexConfig, shardAttributes } from '../../../lib/core';

/** The writers of examples/other-languages, each compared with the writer for Node.js where its language is found. */

type Value = string | number | Uint8Array;
interface Case {
  config: ShardedIndexConfig;
  item: Record<string, Value>;
}

const anyText = fc.oneof(
  fc.constantFrom('a', 'Zürich', '東京', 'a#7', '😀'),
  fc.string({ unit: 'grapheme', minLength: 1 }),
);
const anyNumber = fc.oneof(fc.constantFrom(0, -0, 7, 0.5, -3.25, 1e6, 0.000001, 2 ** 53), fc.integer());
const anyKey: fc.Arbitrary<Value> = fc.oneof(anyText, anyNumber, fc.uint8Array());
const anyCount = fc.integer({ min: 1, max: 10_000 }).map((count) => ({ write: count, read: count }));

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    keyLayout: fc.constantFrom('multi-attribute' as const, 'single-attribute' as const),
    value: fc.option(fc.oneof(anyText, anyNumber), { nil: undefined }),
    isIndexedByValue: fc.boolean(),
    key: fc.record({ id: anyKey, range: fc.option(anyKey, { nil: undefined }) }),
    others: anyCount,
    own: fc.option(anyCount, { nil: undefined }),
  })
  .map(({ keyLayout, value, isIndexedByValue, key: { id, range }, others, own }) => ({
    config: {
      tableName: 'T',
      indexName: 'byStatus',
      tableKey: range === undefined ? ['id'] : ['id', 'range'],
      keyLayout,
      ...(isIndexedByValue && { valueAttribute: 'status' }),
      shardAttribute: 'byStatusShard',
      sortKeyAttributes: [],
      shards: { default: others, byValue: own && value !== undefined ? { [String(value)]: own } : {} },
      strategy: 'calculated',
    },
    item: { id, ...(range !== undefined && { range }), ...(value !== undefined && { status: value }) },
  }));

const vectors = published.vectors.flatMap(({ id, shards }) =>
  Object.entries(shards).map(([count, shard]) => ({ id, count: Number(count), shard })),
);

const cases: Case[] = [
  ...vectors.map(({ id, count }) => ({ config: wholeTable(count), item: { id } })),
  ...fc.sample(anyCase, { numRuns: 150, seed: 42 }),
];
const expected = cases.map(({ config, item }) => shardAttributes(config, item));

function wholeTable(count: number): ShardedIndexConfig {
  return {
    tableName: 'T',
    indexName: 'all',
    tableKey: ['id'],
    keyLayout: 'multi-attribute',
    shardAttribute: 'shard',
    sortKeyAttributes: [],
    shards: { default: { write: count, read: count } },
    strategy: 'calculated',
  };
}

const NEWER = { ...wholeTable(5), version: 2 } as unknown as ShardedIndexConfig;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writers-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the vectors are what the writer for Node.js computes', () => {
  expect(expected.slice(0, vectors.length)).toEqual(vectors.map(({ shard }) => ({ shard })));
});

const examples = resolve('examples/other-languages');

describeWhere('python3', ['--version'], 'the writer in Python', () => {
  const program = `
import base64, json, sys
sys.path.insert(0, ${JSON.stringify(join(examples, 'python'))})
sys.dont_write_bytecode = True
from sharded_index import shard_attributes
value = lambda of: base64.b64decode(of["binary"]) if isinstance(of, dict) else of
for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(shard_attributes(case["config"], {name: value(of) for name, of in case["item"].items()})))
`;

  test('adds what the writer for Node.js adds', () => {
    expect(answers('python3', ['-c', program])).toEqual(expected);
  }, 60_000);

  test('refuses a configuration of a newer version', () => {
    const { status, stderr } = spawnSync('python3', ['-c', program], {
      input: jsonLine({ config: NEWER, item: { id: 'a' } }),
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('config.version must be 1 or absent, got 2'),
    });
  }, 60_000);
});

describeWhere('go', ['version'], 'the writer in Go', () => {
  const program = `package main
import (
	"encoding/base64"
	"encoding/json"
	"example.com/shardedindex"
	"fmt"
	"os"
)
func main() {
	lines := json.NewDecoder(os.Stdin)
	for lines.More() {
		var each struct {
			Config shardedindex.Config
			Item   map[string]any
		}
		if err := lines.Decode(&each); err != nil { panic(err) }
		for name, value := range each.Item {
			if binary, is := value.(map[string]any); is {
				each.Item[name], _ = base64.StdEncoding.DecodeString(binary["binary"].(string))
			}
		}
		attributes, err := shardedindex.ShardAttributes(each.Config, each.Item)
		if err != nil { fmt.Println(err); os.Exit(3) }
		if attributes == nil { attributes = map[string]any{} }
		line, _ := json.Marshal(attributes)
		fmt.Println(string(line))
	}
}`;
  let built: string;
  beforeAll(() => {
    built = join(folder, 'writer-in-go');
    writeFileSync(join(folder, 'main.go'), program);
    const module = `module main\ngo 1.22\nrequire example.com/shardedindex v0.0.0\nreplace example.com/shardedindex => ${examples}/go\n`;
    writeFileSync(join(folder, 'go.mod'), module);
    execFileSync('go', ['build', '-o', built, '.'], {
      cwd: folder,
      stdio: 'inherit',
      env: { ...process.env, GOFLAGS: '' },
    });
  }, 120_000);

  test('adds what the writer for Node.js adds', () => {
    expect(answers(built, [])).toEqual(expected);
  }, 60_000);

  test('refuses a configuration of a newer version', () => {
    const { status, stdout } = spawnSync(built, {
      input: jsonLine({ config: NEWER, item: { id: 'a' } }),
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 3, stdout: 'config.version must be 1 or absent, got 2\n' });
  });
});

describeWhere('javac', ['-version'], 'the writer in Java', () => {
  beforeAll(() => {
    const methods = cases.map(
      ({ config, item }, at) =>
        `static Object c${at}() { return ShardedIndexWriter.shardAttributes(${inJava(config)}, ${inJava(item)}); }`,
    );
    const program = `import java.util.*;
public class Cases {
  ${methods.join('\n  ')}
  public static void main(String[] ignored) throws Exception {
    for (int at = 0; at < ${cases.length}; at++) print((Map<?, ?>) Cases.class.getDeclaredMethod("c" + at).invoke(null));
    try {
      ShardedIndexWriter.shardAttributes(${inJava(NEWER)}, Map.of("id", "a"));
    } catch (IllegalArgumentException refused) {
      System.out.println(refused.getMessage());
    }
  }
  static void print(Map<?, ?> attributes) {
    var bytes = new StringBuilder();
    for (var entry : attributes.entrySet()) {
      byte[] utf8 = entry.getValue().toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
      bytes.append(entry.getKey()).append(' ').append(entry.getValue() instanceof String ? 'S' : 'N').append(' ');
      bytes.append(Base64.getEncoder().encodeToString(utf8));
    }
    System.out.println(bytes);
  }
}`;
    writeFileSync(join(folder, 'Cases.java'), program);
    const sources = [join(examples, 'java', 'ShardedIndexWriter.java'), 'Cases.java'];
    execFileSync('javac', ['-encoding', 'UTF-8', '-d', folder, ...sources], { cwd: folder, stdio: 'inherit' });
  }, 120_000);

  test('adds what the writer for Node.js adds, and refuses a configuration of a newer version', () => {
    const lines = execFileSync('java', ['-cp', folder, 'Cases'], { encoding: 'utf8' }).split('\n').slice(0, -1);
    expect(lines.pop()).toBe('config.version must be 1 or absent, got 2');
    expect(
      lines.map((line) => {
        if (line === '') return {};
        const [name, type, base64] = line.split(' ') as [string, string, string];
        const text = Buffer.from(base64, 'base64').toString();
        return { [name]: type === 'N' ? Number(text) : text };
      }),
    ).toEqual(expected);
  }, 60_000);
});

/** Skips aloud where a language is not installed. */
function describeWhere(command: string, args: string[], name: string, suite: () => void): void {
  const found = spawnSync(command, args).status === 0;
  if (found) describe(name, suite);
  else describe.skip(`${name} (skipped: there is no ${command})`, suite);
}

/** What a program prints for each case, a line of JSON each. */
function answers(program: string, args: string[]): unknown[] {
  const input = cases.map(jsonLine).join('');
  const lines = execFileSync(program, args, { input, encoding: 'utf8' }).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

function jsonLine(each: Case): string {
  return `${JSON.stringify(each, (_, value) => (value instanceof Uint8Array ? { binary: base64(value) } : value))}\n`;
}

function inJava(value: unknown): string {
  if (typeof value === 'string') return `"${[...value.split('')].map(characterInJava).join('')}"`;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `${value}L` : `${value}d`;
  if (value instanceof Uint8Array) return `Base64.getDecoder().decode("${base64(value)}")`;
  if (Array.isArray(value)) return `List.of(${value.map(inJava).join(', ')})`;
  const entries = Object.entries(value as object).flatMap(([name, each]) => [inJava(name), inJava(each)]);
  return `Map.<String, Object>of(${entries.join(', ')})`;
}

function characterInJava(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0x7e) return `\\u${code.toString(16).padStart(4, '0')}`;
  return code < 0x20 || '"\\'.includes(character) ? `\\${code.toString(8).padStart(3, '0')}` : character;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
