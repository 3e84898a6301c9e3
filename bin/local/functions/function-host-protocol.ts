/** The data that a function host receives at its start. */
export interface HostData {
  readonly codeDirectory: string;
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
}

/** An invocation that is sent to an idle host. */
export interface HostRequest {
  readonly requestId: string;
  /** The event of the function, as JSON. */
  readonly payload: string;
  /** The alias or version of the invocation. Absent if the caller did not use a qualifier. */
  readonly qualifier?: string | undefined;
  /** Milliseconds until the invocation times out. */
  readonly timeLeftMs: number;
}

/**
 * A message of a host. It sends `ready` or `failed` after it has loaded the handler, and then `result` or `failed` for
 * each request.
 */
export type HostAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'failed'; readonly error: FunctionErrorPayload };

/** A failed invocation as the Invoke API reports it. */
export interface FunctionErrorPayload {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** The payload with which Lambda's Node.js runtime reports a thrown value. */
export function errorPayload(thrown: unknown): FunctionErrorPayload {
  return isError(thrown)
    ? { errorType: thrown.name, errorMessage: thrown.message, trace: (thrown.stack ?? '').split('\n') }
    : { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
}

/**
 * Whether a value is an error. If an error has ended a thread, this process receives a copy, for which `instanceof
 * Error` can be false.
 */
function isError(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && 'name' in thrown;
}
