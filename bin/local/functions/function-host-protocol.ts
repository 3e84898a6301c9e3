/** An invocation that is sent to an idle host. */
export interface HostRequest {
  readonly requestId: string;
  /** The event of the function, as JSON. */
  readonly payload: string;
  /** The ARN in the request, with the version or the alias if the caller names one. */
  readonly invokedFunctionArn: string;
  /** When the invocation times out, in milliseconds since the epoch. */
  readonly deadlineMs: number;
}

/**
 * A message of a host. It sends `ready` or `failed` after it has loaded the handler, and then `result` or `failed` for
 * each request. `exits` means that the host ends after the message. At any time, it sends `notEmulated` for a call to a
 * service that is not emulated.
 */
export type HostMessage = HostAnswer | ServiceNotEmulated;

interface ServiceNotEmulated {
  readonly type: 'notEmulated';
  readonly service: string;
  readonly problem: string;
}

export type HostAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'failed'; readonly error: FunctionErrorPayload; readonly exits?: boolean };

/** A failed invocation as the Invoke API reports it. */
export interface FunctionErrorPayload {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** The payload with which Lambda's Node.js runtime reports a thrown value. */
export function errorPayload(thrown: unknown): FunctionErrorPayload {
  return thrown instanceof Error
    ? { errorType: thrown.name, errorMessage: thrown.message, trace: (thrown.stack ?? '').split('\n') }
    : { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
}
