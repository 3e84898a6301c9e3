import { createHash, randomBytes } from 'node:crypto';
import type { DynamoDbItem } from '../aws-client/attribute-value';
import { ExpressionBuilder, isConditionFailure } from '../aws-client/expression';
import { type Deferred, deferred } from '../kernel/deferred';
import { checkItemFormat } from '../kernel/format-version';
import {
  itemIn,
  type ParkingItem,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';

/** A period in which this process parks keys, and its token in the table. */
interface ParkingPeriod {
  readonly token: string;
  /** The time until which this process may rely on the token, in milliseconds since 1970. */
  readonly freshUntil: number;
  /** How many keys this process is parking now. */
  keys: number;
  /** The parts that this process has marked in the period. Each part has a promise, which resolves when its mark is written. */
  readonly parts: Map<string, Promise<void>>;
}

/** A part that waits for the next write of the marks. */
interface PartToMark {
  readonly part: string;
  readonly token: string;
  readonly written: Deferred<void>;
}

/**
 * A token is valid for six hours, in case its process crashes before it removes the token. A process relies on a token only for
 * the first three hours. The other three hours are for requests that are still in flight, even requests of a function that was
 * frozen between invocations.
 */
const TOKEN_MS = 6 * 60 * 60_000;
/**
 * The maximum number of parts that one write marks. With 200 parts, an expression has about 2.6 KB, and DynamoDB accepts 4 KB.
 */
const PARTS_OF_A_WRITE = 200;
/** The maximum number of tokens that one write removes. */
const TOKENS_OF_A_WRITE = 100;
const MARKS = 'marks';
const MARK = 'p';
const MARK_OF_PART = /^p\d+$/;
const TOKEN = /^t.*\.(\d+)$/;

/**
 * Returns the part of a partition key. The hash of the key decides in which of 256 parts the key is, so the parts have nearly the
 * same size. While no key of a part is parked, the store does not look up the keys of the part.
 */
export function partOf(partitionKey: string): string {
  return String(createHash('sha256').update(partitionKey).digest().readUInt8(0));
}

/**
 * Maintains the item that lists the parts in which keys may be parked. Each listed part has a mark, which gets a new value before
 * a key is parked in the part. The item also has a token for each process that is parking keys. A mark is removed only if its
 * part is empty, no process is parking keys, and the mark has not changed since the part was read. So a crash can never hide a
 * parked key.
 */
export class ParkingMarks {
  private period?: ParkingPeriod;
  private readonly waiting: PartToMark[] = [];
  private isWriting = false;

  constructor(
    private readonly client: ParkingTableClient,
    private readonly tableName: string,
    private readonly id: string,
  ) {}

  /** The parts that can contain parked keys. The other parts contain none. */
  async parts(): Promise<Set<string>> {
    const names = Object.keys(await this.read()).filter((name) => MARK_OF_PART.test(name));
    return new Set(names.map((name) => name.slice(MARK.length)));
  }

  /** Marks a part before a key is parked in it. Keys that are parked at the same time share the writes of marks. */
  async begin(part: string): Promise<ParkingPeriod> {
    const now = Date.now();
    if (this.period === undefined || this.period.freshUntil <= now) {
      const token = `t${randomBytes(6).toString('base64url')}.${Math.ceil((now + TOKEN_MS) / 1_000)}`;
      this.period = { token, freshUntil: now + TOKEN_MS / 2, keys: 0, parts: new Map() };
    }
    const { period } = this;
    period.keys += 1;
    const written = period.parts.get(part) ?? this.mark(part, period.token);
    period.parts.set(part, written);
    try {
      await written;
    } catch (error) {
      period.parts.delete(part);
      await this.end(period).catch(() => {});
      throw error;
    }
    return period;
  }

  /**
   * Call this after DynamoDB has responded to the write of a key. Without a response the token stays, because DynamoDB may apply
   * the write later.
   */
  async end(period: ParkingPeriod): Promise<void> {
    period.keys -= 1;
    if (period.keys > 0) return;
    if (this.period === period) this.period = undefined;
    const builder = new ExpressionBuilder();
    await this.update(builder, { UpdateExpression: `REMOVE ${builder.name(period.token)}` });
  }

  /**
   * Removes the mark of a part if no key is parked in it.
   *
   * @param isEmpty reads the part
   */
  async removeIf(part: string, isEmpty: () => Promise<boolean>): Promise<void> {
    const item = await this.read();
    const mark = item[MARK + part];
    const tokens = Object.keys(item).filter((name) => TOKEN.test(name));
    const nowSeconds = Date.now() / 1_000;
    const isAtWork = tokens.some((token) => Number(TOKEN.exec(token)![1]) >= nowSeconds);
    if (mark === undefined || isAtWork || !(await isEmpty())) return;
    const builder = new ExpressionBuilder();
    const expired = tokens.slice(0, TOKENS_OF_A_WRITE).map((token) => builder.name(token));
    await this.update(builder, {
      UpdateExpression: `REMOVE ${[builder.name(MARK + part), ...expired].join(', ')}`,
      ConditionExpression: `${builder.name(MARK + part)} = ${builder.value(mark)}`,
    }).catch((error) => {
      // Ignores the failed condition: another process has parked a key in the part since this process read the part, or will
      // park a key.
      if (!isConditionFailure(error)) throw error;
    });
  }

  private mark(part: string, token: string): Promise<void> {
    const written = deferred();
    this.waiting.push({ part, token, written });
    if (!this.isWriting) void this.writeAll();
    return written.promise;
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const parts = this.waiting.splice(0, PARTS_OF_A_WRITE);
      await this.write(parts).then(
        () => {
          for (const { written } of parts) written.resolve();
        },
        (error) => {
          for (const { written } of parts) written.reject(error);
        },
      );
    }
    this.isWriting = false;
  }

  /** Gives the marks a new value, so that a process that read the part earlier cannot remove the mark of the part. */
  private async write(parts: readonly PartToMark[]): Promise<void> {
    const builder = new ExpressionBuilder();
    const mark = builder.value({ S: randomBytes(6).toString('base64url') });
    const isThere = builder.value({ BOOL: true });
    const marks = [...new Set(parts.map(({ part }) => part))].map((part) => `${builder.name(MARK + part)} = ${mark}`);
    const tokens = [...new Set(parts.map(({ token }) => token))].map((token) => `${builder.name(token)} = ${isThere}`);
    await this.update(builder, { UpdateExpression: `SET ${[...marks, ...tokens].join(', ')}` });
  }

  private async read(): Promise<DynamoDbItem> {
    const response = await this.client.getItem({ TableName: this.tableName, Key: this.key(), ConsistentRead: true });
    const item = itemIn(response) ?? {};
    checkItemFormat('parking marks', item);
    return item;
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
