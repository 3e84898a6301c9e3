// The oldest aws-cdk-lib we support calls deprecated APIs of its own, and prints a warning for each.
process.env.JSII_DEPRECATED = 'quiet';
