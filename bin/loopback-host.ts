const LOOPBACK = /^(localhost|127(\.\d+){3}|\[?::1\]?)$/;

/** Whether a host is this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
