/** An error that the SDK throws for an error response of the service. */
export function serviceError(name: string, message: string = name, httpStatusCode = 400): Error {
  return Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode } });
}

/** An error that the SDK throws without a response. The service may have applied the request. */
export function responseLost(): Error {
  return Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
}
