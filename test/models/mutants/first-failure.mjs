/** A reporter of jest that says in one line of JSON how a suite ended. The first test that fails ends it. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default class FirstFailure {
  onTestCaseResult(_, { status, fullName }) {
    if (status === 'failed') end({ failed: fullName }, 1);
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
