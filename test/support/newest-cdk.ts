// The library and its tests must not call deprecated APIs of the newest CDK. A call throws.
process.env.JSII_DEPRECATED = 'fail';

// The validation of each synthesized template takes three times as long as all tests. cloudformation.test.ts turns it on for its
// templates.
process.env.CDK_VALIDATION = 'false';
