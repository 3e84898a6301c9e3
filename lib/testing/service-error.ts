/** An error as the SDK throws it for an answer of the service. */
export function serviceError(name: string, message: string = name, httpStatusCode = 400): Error {
  return Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode } });
}

/** An error as the SDK throws it when no answer came: the request may have been applied. */
export function answerLost(): Error {
  return Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
}
