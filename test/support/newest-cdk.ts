// The library and its tests must not call deprecated APIs of the newest CDK. With this setting, such a call throws.
process.env.JSII_DEPRECATED = 'fail';

// Validation of every synthesized template would take three times as long as all tests. cloudformation.test.ts enables
// validation for its templates.
process.env.CDK_VALIDATION = 'false';
