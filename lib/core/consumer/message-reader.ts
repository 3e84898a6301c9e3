import { CorruptAggregateError } from './consumer-errors';

/** Wire types of protocol buffers, without the two deprecated types for groups. */
const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_DELIMITED = 2;
const FOUR_BYTES = 5;

/** Source: the protocol buffers encoding guide. A varint has at most ten bytes, and a field number has 29 bits. */
const MAX_VARINT_BYTES = 10;
const MAX_FIELD = 2 ** 29 - 1;

/**
 * Reads a protocol buffers message field by field.
 *
 * @throws CorruptAggregateError if the bytes are not a message
 */
export class MessageReader {
  private position = 0;
  private wireType = VARINT;

  /** @param name names the message in errors */
  constructor(
    private readonly message: Uint8Array,
    private readonly name: string,
  ) {}

  /** The number of the next field. Undefined at the end. Read or skip the value before you read the next field. */
  nextField(): number | undefined {
    if (this.position === this.message.length) return undefined;
    const tag = this.readVarint();
    const field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (field < 1 || field > MAX_FIELD) throw this.corrupt(`has a field with the number ${field}`);
    return field;
  }

  /** The value of an integer field. A value above 2^53 is not exact. */
  integer(field: number): number {
    this.expect(field, VARINT);
    return this.readVarint();
  }

  /** The value of a field with bytes, text or a message. It is a view of the message, not a copy. */
  bytes(field: number): Uint8Array {
    this.expect(field, LENGTH_DELIMITED);
    return this.take(this.readVarint());
  }

  skip(): void {
    if (this.wireType === VARINT) this.readVarint();
    else if (this.wireType === EIGHT_BYTES) this.take(8);
    else if (this.wireType === LENGTH_DELIMITED) this.take(this.readVarint());
    else if (this.wireType === FOUR_BYTES) this.take(4);
    else throw this.corrupt(`has a field with the wire type ${this.wireType}`);
  }

  private expect(field: number, wireType: number): void {
    if (this.wireType === wireType) return;
    throw this.corrupt(`has field ${field} with the wire type ${this.wireType} instead of ${wireType}`);
  }

  private readVarint(): number {
    let value = 0;
    let factor = 1;
    for (let length = 1; length <= MAX_VARINT_BYTES; length++) {
      const byte = this.message[this.position++];
      if (byte === undefined) throw this.corrupt('ends within a number');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    throw this.corrupt(`has a number of more than ${MAX_VARINT_BYTES} bytes`);
  }

  private take(length: number): Uint8Array {
    const end = this.position + length;
    if (end > this.message.length) throw this.corrupt(`ends ${end - this.message.length} bytes too early`);
    const bytes = this.message.subarray(this.position, end);
    this.position = end;
    return bytes;
  }

  private corrupt(reason: string): CorruptAggregateError {
    return new CorruptAggregateError(`${this.name} ${reason}`);
  }
}
