/** The bytes of a varint. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

/** The bytes of a field that holds `length` bytes: its tag (one byte for the numbers 1 to 15), the length, and these. */
export function fieldBytes(length: number): number {
  return 1 + varintBytes(length) + length;
}

/** The bytes of a field that holds a text. */
export function textFieldBytes(text: string): number {
  return fieldBytes(Buffer.byteLength(text));
}

/** The bytes of an integer field: its tag (one byte for the numbers 1 to 15) and the value. */
export function integerBytes(value: number): number {
  return 1 + varintBytes(value);
}

/** Writes protocol buffers fields with the numbers 1 to 15 into a buffer that has room for them. */
export class MessageWriter {
  constructor(
    private readonly buffer: Buffer,
    private position: number,
  ) {}

  integer(field: number, value: number): void {
    this.buffer[this.position++] = field << 3;
    this.varint(value);
  }

  /** A field of bytes. */
  bytes(field: number, bytes: Uint8Array): void {
    this.begin(field, bytes.length);
    this.buffer.set(bytes, this.position);
    this.position += bytes.length;
  }

  /** A field of text, written without a buffer of its own: most aggregates are small, and buffers are what they cost. */
  text(field: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.begin(field, bytes);
    // ASCII, by far the most common, has a faster way.
    this.buffer.write(text, this.position, bytes === text.length ? 'latin1' : 'utf8');
    this.position += bytes;
  }

  /** The head of a field that holds a message of `length` bytes: write its fields next. */
  begin(field: number, length: number): void {
    this.buffer[this.position++] = (field << 3) | 2;
    this.varint(length);
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.buffer[this.position++] = (rest % 0x80) | 0x80;
    this.buffer[this.position++] = rest;
  }
}
