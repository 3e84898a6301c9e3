// It calls deprecated APIs of its own, and would print a warning for each.
process.env.JSII_DEPRECATED = 'quiet';
