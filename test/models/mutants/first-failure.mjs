/** A reporter of jest that says in one line of JSON how a suite ended. The first test that fails ends it. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default class FirstFailure {
  onTestCaseResult(_, { status, fullName, failureMessages }) {
    if (status !== 'failed') return;
    // A machine that is busy runs out of a test's own time as well.
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
