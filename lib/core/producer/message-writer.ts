function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

/** The size of a field with `length` bytes: its tag (one byte for the numbers 1 to 15), the length, and the bytes. */
export function fieldBytes(length: number): number {
  return 1 + varintBytes(length) + length;
}

export function textFieldBytes(text: string): number {
  return fieldBytes(Buffer.byteLength(text));
}

/** The size of an integer field: its tag (one byte for the numbers 1 to 15) and the value. */
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

  bytes(field: number, bytes: Uint8Array): void {
    this.begin(field, bytes.length);
    this.buffer.set(bytes, this.position);
    this.position += bytes.length;
  }

  /**
   * Writes a field of text without a separate buffer, because the creation of buffers would take more time than all other work
   * on a small aggregate.
   */
  text(field: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.begin(field, bytes);
    // latin1 is faster, and most texts are ASCII.
    this.buffer.write(text, this.position, bytes === text.length ? 'latin1' : 'utf8');
    this.position += bytes;
  }

  /** Begins a field with a message of `length` bytes. The caller then writes the fields of the message. */
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
