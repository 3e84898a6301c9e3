// The SDK runs on this version of Node.js; its warning is about versions of the SDK to come.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
// CDK calls deprecated APIs of its own, and would print a warning for each.
process.env.JSII_DEPRECATED = 'quiet';
