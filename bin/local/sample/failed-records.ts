/** The result that the producer function returns for one record. */
export interface RecordAnswer {
  shardId?: string;
  errorCode?: string;
  errorMessage?: string;
}

/** A text with the number of failed records and the reasons: for each error code, the count and the first message. */
export function failedRecordsText(what: string, answers: readonly RecordAnswer[]): string {
  const byCode = new Map<string, { count: number; message: string | undefined }>();
  for (const { errorCode, errorMessage } of answers) {
    if (errorCode === undefined) continue;
    const { count, message } = byCode.get(errorCode) ?? { count: 0, message: errorMessage };
    byCode.set(errorCode, { count: count + 1, message });
  }
  const reasons = [...byCode].map(([code, { count, message }]) => `${count} ${code} (${message})`);
  const failed = answers.filter(({ errorCode }) => errorCode !== undefined).length;
  return `${failed} ${what} were not delivered: ${reasons.join(', ')}`;
}
