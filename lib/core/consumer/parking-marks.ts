import { createHash, randomBytes } from 'node:crypto';
import type { DynamoDbItem } from '../foundation/attribute-value';
import { ExpressionBuilder } from '../foundation/expression';
import {
  itemIn,
  type ParkingItem,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';

/** A part in which this process is about to park keys, and the token that says so in the table. */
export interface PartInUse {
  readonly part: string;
  readonly token: string;
  /** Until when its token may be relied upon, in milliseconds since 1970. */
  readonly freshUntil: number;
  /** How many keys are being parked in it. */
  keys: number;
  written: Promise<void>;
}

/** A change of a part that waits for the next write of the marks. */
interface Change {
  readonly part: string;
  readonly token: string;
  readonly kind: 'ADD' | 'DELETE';
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A token is removed a day after its process ended without removing it. A process relies on a token for half a day. In
 * between, no request is still in flight.
 */
const TOKEN_MS = 24 * 60 * 60_000;
/** The changes of one write. With 100, an expression has about 2 KB, and DynamoDB accepts 4 KB. */
const CHANGES_OF_A_WRITE = 100;
const MARKS = 'marks';
const MARK = 'p';
const MARK_OF_PART = /^p\d+$/;
const TOKENS = 'w';

/**
 * The partition keys fall into 256 parts. While no key of a part is parked, no key of it is looked up. Similar keys get
 * different parts, so that the parts are even.
 */
export function partOf(partitionKey: string): string {
  return String(createHash('sha256').update(partitionKey).digest().readUInt8(0));
}

/**
 * One item that says in which parts a key may be parked. A part has a mark, whose value changes with each key that is parked,
 * and the tokens of processes that are parking keys in it. A mark is removed only if its part is empty, no process is at work
 * in it, and the mark is as it was before the part was read. So no crash hides a key.
 */
export class ParkingMarks {
  private readonly inUse = new Map<string, PartInUse>();
  private readonly changes: Change[] = [];
  private isWriting = false;

  constructor(
    private readonly client: ParkingTableClient,
    private readonly tableName: string,
    private readonly id: string,
  ) {}

  /** The parts in which a key may be parked. */
  async parts(): Promise<Set<string>> {
    const names = Object.keys(await this.read()).filter((name) => MARK_OF_PART.test(name));
    return new Set(names.map((name) => name.slice(MARK.length)));
  }

  /** Marks a part before a key is parked in it. Keys that are parked at the same time share their writes. */
  async use(part: string): Promise<PartInUse> {
    const now = Date.now();
    let use = this.inUse.get(part);
    if (use === undefined || use.freshUntil <= now) {
      const token = `${randomBytes(6).toString('base64url')}.${Math.ceil((now + TOKEN_MS) / 1_000)}`;
      use = { part, token, freshUntil: now + TOKEN_MS / 2, keys: 0, written: this.change(part, token, 'ADD') };
      this.inUse.set(part, use);
    }
    use.keys += 1;
    try {
      await use.written;
    } catch (error) {
      // The next key that is parked in the part writes a new token.
      if (this.inUse.get(part) === use) this.inUse.delete(part);
      throw error;
    }
    return use;
  }

  /** The write of a key has been answered. If it was not, the token stays, because the write may be done later. */
  async release(use: PartInUse): Promise<void> {
    use.keys -= 1;
    if (use.keys > 0) return;
    if (this.inUse.get(use.part) === use) this.inUse.delete(use.part);
    await this.change(use.part, use.token, 'DELETE');
  }

  /**
   * Removes the mark of a part if no key is parked in it.
   *
   * @param isEmpty reads the part
   */
  async removeIf(part: string, isEmpty: () => Promise<boolean>): Promise<void> {
    const { [MARK + part]: mark, [TOKENS + part]: tokens } = await this.read();
    if (mark === undefined) return;
    const old: string[] = Object(tokens).SS ?? [];
    const nowSeconds = Date.now() / 1_000;
    if (old.some((token) => !(Number(token.split('.')[1]) < nowSeconds)) || !(await isEmpty())) return;
    if (old.length > 0) await this.removeTokens(part, old);
    const builder = new ExpressionBuilder();
    const [markName, tokensName] = [builder.name(MARK + part), builder.name(TOKENS + part)];
    await this.update(builder, {
      UpdateExpression: `REMOVE ${markName}`,
      ConditionExpression: `${markName} = ${builder.value(mark)} AND attribute_not_exists(${tokensName})`,
    }).catch((error) => {
      // A key was parked in the part meanwhile, or is about to be.
      if ((error as Error)?.name !== 'ConditionalCheckFailedException') throw error;
    });
  }

  private change(part: string, token: string, kind: Change['kind']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.changes.push({ part, token, kind, resolve, reject });
      if (!this.isWriting) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.changes.length > 0) {
      const changes = this.nextChanges();
      await this.write(changes).then(
        () => {
          for (const { resolve } of changes) resolve();
        },
        (error) => {
          for (const { reject } of changes) reject(error);
        },
      );
    }
    this.isWriting = false;
  }

  /** Takes the changes that one expression can hold: one of each part, in the order in which they came. */
  private nextChanges(): Change[] {
    const taken = new Map<string, Change>();
    const later: Change[] = [];
    for (const change of this.changes.splice(0)) {
      if (taken.size < CHANGES_OF_A_WRITE && !taken.has(change.part)) taken.set(change.part, change);
      else later.push(change);
    }
    this.changes.push(...later);
    return [...taken.values()];
  }

  /** The mark gets a new value, so that nobody who has read the part before removes it. */
  private async write(changes: readonly Change[]): Promise<void> {
    const builder = new ExpressionBuilder();
    const mark = builder.value({ S: randomBytes(6).toString('base64url') });
    const tokens = new Map<string, string>();
    const actions = { SET: [] as string[], ADD: [] as string[], DELETE: [] as string[] };
    for (const { part, token, kind } of changes) {
      const value = tokens.get(token) ?? builder.value({ SS: [token] });
      tokens.set(token, value);
      actions.SET.push(`${builder.name(MARK + part)} = ${mark}`);
      actions[kind].push(`${builder.name(TOKENS + part)} ${value}`);
    }
    const clauses = Object.entries(actions).filter(([, each]) => each.length > 0);
    await this.update(builder, {
      UpdateExpression: clauses.map(([verb, each]) => `${verb} ${each.join(', ')}`).join(' '),
    });
  }

  private async removeTokens(part: string, tokens: string[]): Promise<void> {
    const builder = new ExpressionBuilder();
    const UpdateExpression = `DELETE ${builder.name(TOKENS + part)} ${builder.value({ SS: tokens })}`;
    await this.update(builder, { UpdateExpression });
  }

  private async read(): Promise<DynamoDbItem> {
    const answer = await this.client.getItem({ TableName: this.tableName, Key: this.key(), ConsistentRead: true });
    return itemIn(answer) ?? {};
  }

  private async update(
    builder: ExpressionBuilder,
    expressions: { UpdateExpression: string; ConditionExpression?: string },
  ): Promise<void> {
    await this.client.updateItem({ TableName: this.tableName, Key: this.key(), ...builder.request(expressions) });
  }

  private key(): ParkingItem {
    return { [PK]: { S: this.id }, [SK]: { S: MARKS } };
  }
}
