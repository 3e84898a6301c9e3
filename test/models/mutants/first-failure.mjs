/** A jest reporter that prints the outcome of a suite as a line of JSON. The first failing test ends the suite. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default class FirstFailure {
  onTestCaseResult(_, { status, fullName, failureMessages }) {
    if (status !== 'failed') return;
    // On a busy machine a test can also exceed its own timeout.
    const isLate = failureMessages.some((message) => message.includes('Exceeded timeout of'));
    end(isLate ? { late: true } : { failed: fullName }, 1);
  }

  onTestFileResult(_, { testExecError, numPassingTests }) {
    say(testExecError ? { broken: testExecError.message } : { passed: numPassingTests });
  }
}

function end(outcome, code) {
  say(outcome);
  process.exit(code);
}

function say(outcome) {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
