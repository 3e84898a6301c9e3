// CDK would write down where each resource was made. That took an eighth of a synthesis, and no test reads it.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });
