/**
 * The time of day as a tag can hold it: in UTC, without colons, such as `2026-11-21T0815Z`, or with seconds and thousandths.
 *
 * The API reference allows letters, digits, white space and `_ . / = + - % @` in the keys and values of tags.
 *
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_AddTagsToStream.html
 */
export function tagMinute(time: number): string {
  return `${isoWithoutColons(time).slice(0, 'YYYY-MM-DDTHHMM'.length)}Z`;
}

export function tagMillisecond(time: number): string {
  return isoWithoutColons(time);
}

/** The time, in milliseconds since 1970; NaN if the text is not one that was written here. */
export function parseTagTime(text: string): number {
  return Date.parse(
    text.replace(/T(\d\d)(\d\d)(\d\d\.\d{3})?Z$/, (_, hour, minute, rest) => `T${hour}:${minute}:${rest ?? '00'}Z`),
  );
}

function isoWithoutColons(time: number): string {
  return new Date(time).toISOString().replaceAll(':', '');
}
