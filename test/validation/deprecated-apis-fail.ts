// The newest aws-cdk-lib deprecates nothing that we call: calling it would throw.
process.env.JSII_DEPRECATED = 'fail';
