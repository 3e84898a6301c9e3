// The unit tests run without a build. So synthesis must not bundle the code of a NodejsFunction, which imports the built
// package. CDK reads this variable for each new App.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:bundling-stacks': [] });
