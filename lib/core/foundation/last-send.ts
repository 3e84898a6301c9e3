/** The producer function sends nothing so long before its time-out, so that requests in flight can still be answered. */
export const PRODUCER_LAST_SEND_MS = 1_000;
