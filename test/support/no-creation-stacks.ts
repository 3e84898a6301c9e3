// Without this setting, the CDK records a stack trace for each resource. That takes an eighth of a synthesis, and no test reads it.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });
