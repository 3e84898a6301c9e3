// Preloaded into the process that makes golden bytes. It replaces random numbers and the time of day, so that the same package
// always makes the same bytes.
const crypto = require('node:crypto');

let drawn = 0;
/** Numbers that depend only on how many numbers were drawn before. */
const bytes = (size) => {
  drawn += 1;
  const blocks = Math.ceil(size / 32);
  const hashes = Array.from({ length: blocks }, (_, n) => crypto.createHash('sha256').update(`${drawn}/${n}`).digest());
  return Buffer.concat(hashes).subarray(0, size);
};

crypto.randomBytes = (size) => bytes(size);
crypto.randomUUID = () => {
  const hex = bytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
};
Math.random = () => bytes(4).readUInt32BE() / 2 ** 32;

const RealDate = Date;
const now = RealDate.parse('2026-12-01T12:00:00.000Z');
global.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now] : parts));
  }
  static now() {
    return now;
  }
};
/** Starts the random numbers again, so that a format does not depend on the formats before it. */
global.startAgain = () => {
  drawn = 0;
};
