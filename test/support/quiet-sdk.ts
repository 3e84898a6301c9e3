// Disables a warning about the Node.js versions that later SDK versions require. The installed SDK supports the Node.js
// version of the tests.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
// The CDK calls its own deprecated APIs and prints a warning for each call.
process.env.JSII_DEPRECATED = 'quiet';
