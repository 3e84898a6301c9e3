module decode

go 1.21

require (
	github.com/aws/aws-sdk-go v1.34.0
	github.com/awslabs/kinesis-aggregation/go v0.0.0-20230214151754-527120b0ae41
)
