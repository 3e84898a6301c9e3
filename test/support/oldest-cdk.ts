// The oldest CDK calls its own deprecated APIs and prints a warning for each call.
process.env.JSII_DEPRECATED = 'quiet';
