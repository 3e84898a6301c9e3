// It deprecates nothing that we call: calling it would throw.
process.env.JSII_DEPRECATED = 'fail';

// It validates every template it synthesizes, which takes three times as long as all tests. cloudformation.test.ts
// asks for it where findings count.
process.env.CDK_VALIDATION = 'false';
