/** A source of random choices with a seed. */
export class Dice {
  constructor(readonly random: () => number) {}

  below(bound: number): number {
    return Math.floor(this.random() * bound);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}

/** The data of callers and services contains this text. The text must not appear in a log. */
export const CANARY = 'c4n4ry';

type Json = unknown;

/** Placeholders for deeply nested JSON, which `JSON.stringify` cannot write but a caller can send. */
const DEEP: Readonly<Record<string, string>> = {
  'some lists': `${'['.repeat(200)}${']'.repeat(200)}`,
  'many lists': `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'many attribute values': `${'{"L":['.repeat(10_000)}${']}'.repeat(10_000)}`,
};

/** The JSON text with the deeply nested parts. */
export function jsonText(json: Json): string {
  const text = JSON.stringify(json) ?? 'null';
  return Object.entries(DEEP).reduce((written, [name, levels]) => written.replaceAll(`"${name}"`, () => levels), text);
}

/**
 * Values that often cause errors in code that reads them. Each call creates new objects, because that code may change
 * an object.
 */
const HOSTILE: readonly ((dice: Dice) => Json)[] = [
  () => null,
  () => undefined,
  () => '',
  () => CANARY,
  () => CANARY.repeat(1 + 20_000),
  () => '\u0000',
  () => '\ud800',
  () => '__proto__',
  () => 'constructor',
  () => 0,
  () => -1,
  () => 0.1,
  () => 1e308,
  () => 2 ** 53,
  () => -0,
  () => true,
  () => [],
  () => ({}),
  () => [null],
  () => [[CANARY]],
  () => JSON.parse('{"__proto__": {"S": "x"}}'),
  () => ({ constructor: { prototype: CANARY } }),
  () => ({ toString: 'x', valueOf: 1, toJSON: 2 }),
  () => ({ S: CANARY }),
  () => ({ N: '1e400' }),
  () => ({ N: `${'0'.repeat(5_000)}1` }),
  () => ({ B: CANARY }),
  (dice) => dice.pick(Object.keys(DEEP)),
  (dice) => Array.from({ length: dice.below(3_000) }, () => null),
  (dice) => dice.random() * 1e21,
  (dice) => String(dice.below(1e9)),
];

export function hostileValue(dice: Dice): Json {
  return dice.pick(HOSTILE)(dice);
}

/** The JSON with some parts replaced, removed, repeated or added, as a caller can send it. */
export function mutated(json: Json, dice: Dice): Json {
  return JSON.parse(mutatedJson(json, dice));
}

/** The JSON text of a mutated value. */
export function mutatedJson(json: Json, dice: Dice): string {
  let changed = structuredClone(json);
  for (let change = 0; change <= dice.below(3); change++) changed = changedSomewhere(changed, dice);
  return jsonText(changed);
}

function changedSomewhere(json: Json, dice: Dice): Json {
  const isBranch = typeof json === 'object' && json !== null && Object.keys(json).length > 0;
  if (!isBranch || dice.chance(0.15)) return dice.chance(0.9) ? hostileValue(dice) : added(json, dice);
  const keys = Object.keys(json);
  const key = dice.pick(keys);
  const branch = json as Record<string, Json>;
  if (dice.chance(0.12)) return added(json, dice);
  const isRemoved = dice.chance(0.1);
  if (isRemoved && Array.isArray(json)) json.splice(Number(key), 1);
  else if (isRemoved) delete branch[key];
  else if (Array.isArray(json) && dice.chance(0.1)) json.push(structuredClone(json[Number(key)]));
  else branch[key] = changedSomewhere(branch[key], dice);
  return json;
}

function added(json: Json, dice: Dice): Json {
  if (Array.isArray(json)) return [...json, hostileValue(dice)];
  if (typeof json !== 'object' || json === null) return hostileValue(dice);
  const name = dice.pick([CANARY, '__proto__', 'constructor', 'toString', '', 'x'.repeat(dice.below(2_000))]);
  return Object.fromEntries([...Object.entries(json), [name, hostileValue(dice)]]);
}

/** The text with some characters replaced, removed or repeated, or truncated. */
export function mutatedText(text: string, dice: Dice): string {
  let changed = text;
  for (let change = 0; change <= dice.below(3); change++) {
    const at = dice.below(changed.length + 1);
    const rest = changed.slice(at + dice.below(4));
    changed = changed.slice(0, at) + dice.pick(['', '0', '"', '\u0000', '\ufeff', '{', CANARY, rest]) + rest;
    if (dice.chance(0.1)) changed = changed.slice(0, dice.below(changed.length + 1));
  }
  return changed;
}

export function mutatedBytes(bytes: Uint8Array, dice: Dice): Buffer {
  const changed = Buffer.from(bytes);
  for (let change = 0; change <= dice.below(4); change++) {
    if (changed.length > 0) changed[dice.below(changed.length)] = dice.below(256);
  }
  return dice.chance(0.2) ? changed.subarray(0, dice.below(changed.length + 1)) : changed;
}
